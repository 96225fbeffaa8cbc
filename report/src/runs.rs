//! The runs in a cache, and the selection of one for a report.

use std::collections::{BTreeMap, HashSet};

use kiln_cache::record::TaskEnded;
use kiln_cache::{Cache, CacheError, Run, Trial};
use kiln_spec::Hash;
use serde::Serialize;

use super::environment::utc;
use thiserror::Error;

/// The reason why no run matches a [`RunSelector`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunNotFound {
    /// The cache has no runs.
    #[error(
        "the cache contains no runs\nhelp: run `tune run` first; `tune cache path` says where the cache is"
    )]
    NoRuns,
    /// There is no run with the requested number.
    #[error(
        "there is no run {number}; the cache contains runs {first} to {last}\nhelp: `tune report --list` lists them"
    )]
    NoSuchNumber {
        /// The requested number.
        number: u64,
        /// The smallest number of a run in the cache.
        first: u64,
        /// The largest number of a run in the cache.
        last: u64,
    },
    /// There is no run with the requested device and kernels. The text contains the request.
    #[error("{0}\nhelp: `tune report --list` lists the runs with their devices and kernels")]
    NoneFits(String),
}

/// Selects a run of a cache: the last one that matches all fields.
#[derive(Clone, Debug, Default)]
pub struct RunSelector {
    /// The number of the run; `None` for any run.
    pub run: Option<u64>,
    /// The run must have a task of one of these kernels, and the report contains only these. Empty for all kernels.
    pub kernels: Vec<String>,
    /// The device of the run, as it was written on the command line; `None` for any device.
    pub device: Option<String>,
}

/// The records of a cache from which reports are computed.
#[derive(Clone, Debug)]
pub struct Records {
    pub(super) runs: Vec<Run>,
    pub(super) trials: BTreeMap<Hash, Vec<Trial>>,
}

/// A task of a run: one kernel and one problem.
#[derive(Clone, Debug)]
pub(super) struct RunTask<'r> {
    pub(super) kernel: String,
    pub(super) problem: String,
    pub(super) key: Hash,
    /// The record of the task's end; `None` if the run was interrupted.
    pub(super) ended: Option<&'r TaskEnded>,
}

/// One entry of the list of runs.
#[derive(Clone, Debug, Serialize)]
pub struct RunLine {
    /// The number of the run.
    pub run: u64,
    /// When the run began: date and time in UTC.
    pub began: String,
    /// Whether the run ended normally.
    pub ended: bool,
    /// The device, as it was written on the command line, if known.
    pub device: Option<String>,
    /// The names of the kernels, sorted.
    pub kernels: Vec<String>,
    /// Number of trials in the cache that this run recorded.
    pub trials: u64,
    /// The command line, if known.
    pub command: Option<String>,
}

impl Records {
    /// Reads the runs and trials of a cache.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn read(cache: &Cache) -> Result<Records, CacheError> {
        let mut trials: BTreeMap<Hash, Vec<Trial>> = BTreeMap::new();
        for trial in cache.all_trials(None)? {
            trials.entry(trial.key).or_default().push(trial);
        }
        Ok(Records {
            runs: cache.runs()?,
            trials,
        })
    }

    /// Returns the last run that matches.
    ///
    /// # Errors
    /// If no run matches. [`RunNotFound::NoSuchNumber`] contains the numbers of the runs in the cache.
    pub fn find(&self, wanted: &RunSelector) -> Result<&Run, RunNotFound> {
        if self.runs.is_empty() {
            return Err(RunNotFound::NoRuns);
        }
        let fits = |run: &&Run| {
            wanted.run.is_none_or(|number| number == run.started.run)
                && wanted
                    .device
                    .as_ref()
                    .is_none_or(|device| device_of(run) == Some(device))
                && !self.tasks(run, &wanted.kernels).is_empty()
        };
        match self.runs.iter().rfind(fits) {
            Some(run) => Ok(run),
            None => Err(self.none_fits(wanted)),
        }
    }

    fn none_fits(&self, wanted: &RunSelector) -> RunNotFound {
        let numbers: Vec<u64> = self.runs.iter().map(|run| run.started.run).collect();
        if let Some(number) = wanted.run.filter(|number| !numbers.contains(number)) {
            return RunNotFound::NoSuchNumber {
                number,
                first: numbers.iter().copied().min().unwrap_or_default(),
                last: numbers.iter().copied().max().unwrap_or_default(),
            };
        }
        let mut said = vec![
            wanted
                .run
                .map_or("no run".to_owned(), |run| format!("run {run} is not a run")),
        ];
        said.extend(
            wanted
                .device
                .as_ref()
                .map(|device| format!("on the device `{device}`")),
        );
        if wanted.kernels.is_empty() {
            said.push("with a task to report".into());
        } else {
            said.push(format!(
                "with a task of the kernel {}",
                wanted.kernels.join(" or ")
            ));
        }
        RunNotFound::NoneFits(said.join(" "))
    }

    /// The tasks of a run, in the order in which they began. If `kernels` is not empty, only the tasks of these
    /// kernels.
    pub(super) fn tasks<'r>(&self, run: &'r Run, kernels: &[String]) -> Vec<RunTask<'r>> {
        let ended = run.ended.iter().flat_map(|ended| &ended.tasks);
        let mut tasks: Vec<RunTask<'r>> = ended
            .map(|task| RunTask {
                kernel: task.kernel.clone(),
                problem: task.problem.clone(),
                key: task.key,
                ended: Some(task),
            })
            .collect();
        // The tasks of an interrupted run are determined from its trials. Trials that an earlier version of `tune`
        // stored do not contain the number of their run. They are attributed to every run that an earlier version
        // recorded.
        let known: HashSet<Hash> = tasks.iter().map(|task| task.key).collect();
        let of_run = |trial: &Trial| match trial.place {
            Some(place) => place.run == run.started.run,
            None => run.started.settings.is_none(),
        };
        let mut found: Vec<&Trial> = self
            .trials
            .iter()
            .filter(|(key, _)| !known.contains(key))
            .filter_map(|(_, trials)| {
                let own = trials.iter().filter(|trial| of_run(trial));
                own.min_by_key(|trial| trial.place)
            })
            .collect();
        found.sort_by_key(|trial| (trial.place, &trial.kernel, &trial.problem));
        tasks.extend(found.into_iter().map(|trial| RunTask {
            kernel: trial.kernel.clone(),
            problem: trial.problem.clone(),
            key: trial.key,
            ended: None,
        }));
        tasks.retain(|task| kernels.is_empty() || kernels.contains(&task.kernel));
        tasks
    }

    /// Returns the list of runs.
    pub fn lines(&self) -> Vec<RunLine> {
        let line = |run: &Run| {
            let mut kernels: Vec<String> = self
                .tasks(run, &[])
                .into_iter()
                .map(|task| task.kernel)
                .collect();
            kernels.sort();
            kernels.dedup();
            let number = run.started.run;
            let trials = self.trials.values().flatten();
            RunLine {
                run: number,
                began: utc(run.started.unix_s),
                ended: run.ended.is_some(),
                device: device_of(run).cloned(),
                kernels,
                trials: trials
                    .filter(|trial| trial.place.is_some_and(|place| place.run == number))
                    .count() as u64,
                command: run
                    .started
                    .settings
                    .as_ref()
                    .map(|settings| settings.command.clone()),
            }
        };
        self.runs.iter().map(line).collect()
    }
}

fn device_of(run: &Run) -> Option<&String> {
    run.started
        .settings
        .as_ref()
        .map(|settings| &settings.device)
}
