//! The configs that a run tries first. `tune inspect --first` compiles them ahead of the run, on a machine without the
//! GPU.

use std::fmt::Write;
use std::time::Duration;

use kiln_spec::space::SearchSpace;
use kiln_spec::{Backend, Config, DeviceLimits, Problem};

use super::error::TargetError;
use crate::run::proposals::{BASELINE_COST, Proposals, SearchInputs, batch_size};
use crate::run::space_view::KernelSpace;
use kiln_lab::candidate::inspect::InspectRow;
use kiln_project::TunedKernel;
use kiln_search::{Guide, Told};

/// What the rows of these configs are, in the column without a heading.
pub const FIRST: &str = "first";

/// Selects the configs that a run tries first, and the settings of that run.
#[derive(Clone, Copy, Debug)]
pub struct FirstConfigs<'a> {
    /// The number of configs per kernel and problem, in addition to the baseline.
    pub count: usize,
    /// The name of the run's strategy.
    pub strategy: &'a str,
    /// The run's seed.
    pub seed: u64,
    /// The run's maximum number of configs per kernel and problem. It is raised if it is smaller than `count`.
    pub trials: usize,
    /// The run's number of compile threads, from which the size of its batches follows.
    pub threads: usize,
}

impl FirstConfigs<'_> {
    /// The configs that a run tries first on a device with these limits, in order, if it has no earlier results.
    ///
    /// From the second batch on, a run's choice depends on the results before. These are not known here, so the
    /// strategy is told that every config costs as much as the baseline.
    ///
    /// # Errors
    /// If the search space cannot be built, or no strategy has this name.
    pub fn of(
        &self,
        kernel: &TunedKernel,
        problem: &Problem,
        (backend, limits): (Backend, &DeviceLimits),
    ) -> Result<Vec<Config>, TargetError> {
        let spec = &kernel.spec;
        let space = SearchSpace::build(spec, problem, limits);
        let space = space.map_err(|error| TargetError::Space {
            kernel: spec.name.clone(),
            error,
        })?;
        let view = KernelSpace::new(&space);
        // The baseline is one of the trials.
        let trials = self.trials.max(self.count.saturating_add(1));
        let inputs = SearchInputs {
            spec,
            problem,
            space: &space,
            strategy: self.strategy,
            seed: self.seed,
            most: trials.min(space.len()),
            batch: batch_size(backend, self.threads),
        };
        let mut proposals = Proposals::new(&inputs, &view, &Guide::default(), None)?;
        let mut first = Vec::new();
        while first.len() < self.count {
            let batch = proposals.next_batch();
            if batch.configs.is_empty() {
                break;
            }
            let told = batch.configs.iter().map(|&index| Told {
                index,
                cost: Some(BASELINE_COST),
            });
            proposals.tell(&batch, &told.collect::<Vec<_>>());
            first.extend(batch.configs.iter().map(|&index| space.config(index)));
        }
        first.truncate(self.count);
        Ok(first)
    }
}

/// Summarises the first configs of one target: a line per kernel and problem, and a line with the totals. Empty if
/// `rows` contains no first config.
pub fn first_summary(rows: &[InspectRow], compiles: u64, elapsed: Duration) -> String {
    let first = rows.iter().filter(|row| row.what == FIRST);
    let first: Vec<&InspectRow> = first.collect();
    let mut text = String::new();
    let mut line = |name: &str, rows: &[&InspectRow]| {
        let launchable = rows.iter().filter(|row| row.error.is_none()).count();
        let _ = write!(text, "\n{name}: {launchable} of {} compile", rows.len());
    };
    let task = |row: &InspectRow| format!("{} ({})", row.kernel, row.problem);
    for rows in first.chunk_by(|one, next| task(one) == task(next)) {
        line(&task(rows[0]), rows);
    }
    if let Some(row) = first.first() {
        line(row.target, &first);
        let seconds = elapsed.as_secs_f64();
        let _ = writeln!(
            text,
            " and can be launched, {compiles} compiles, {seconds:.1} s"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kernel: &str, what: &str, error: Option<&str>) -> InspectRow {
        InspectRow {
            target: "sm_89",
            package: "p".into(),
            kernel: kernel.into(),
            problem: "n=1".into(),
            what: what.into(),
            config: "THREADS=1".into(),
            figures: None,
            error: error.map(str::to_owned),
        }
    }

    #[test]
    fn the_first_configs_are_counted_per_problem_and_in_all() {
        let rows = [
            row("a", "baseline", None),
            row("a", FIRST, None),
            row("a", FIRST, Some("too many registers")),
            row("b", "baseline", Some("it is wrong")),
            row("b", FIRST, None),
        ];
        let summary = first_summary(&rows, 4, Duration::from_millis(12_340));
        assert_eq!(
            summary,
            "\na (n=1): 1 of 2 compile\nb (n=1): 1 of 1 compile\n\
             sm_89: 2 of 3 compile and can be launched, 4 compiles, 12.3 s\n"
        );
        assert_eq!(first_summary(&rows[..1], 1, Duration::ZERO), "");
    }
}
