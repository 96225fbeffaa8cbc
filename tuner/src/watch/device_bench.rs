//! Times the kernels of a project on one device, for `tune bench`.

use kiln_spec::{Backend, Problem};
use serde::Serialize;

use super::bench::{self, Benched, TimingOutcome};
use super::compare::budget_ns;
use super::error::WatchError;
use super::saved::{Recorded, Saved};
use super::stage::WatchSession;
use super::throughput::Yardsticks;
use super::{copied, kept, least, table};
use crate::error::Failure;
use crate::progress::{Counter, Reporter};
use crate::run::budget::Budget;
use kiln_project::{Project, TunedKernel};

/// The content of one line of `tune bench --json-lines`.
#[derive(Serialize)]
pub struct Line<'a> {
    device: &'a str,
    regime: &'static str,
    #[serde(flatten)]
    yardsticks: Yardsticks,
    kernel: &'a Benched,
}

/// The results of `tune bench` on one device.
#[derive(Serialize)]
pub struct OnDevice {
    /// The key of the device.
    pub device: String,
    /// The regime: `cold` or `hot` caches.
    pub regime: &'static str,
    /// The copy bandwidth and the launch overhead of the device.
    #[serde(flatten)]
    pub yardsticks: Yardsticks,
    /// The results, one per kernel and problem.
    pub kernels: Vec<Benched>,
}

/// Kernels and problems, in the order in which they are timed.
pub type Tasks<'a> = Vec<(&'a TunedKernel, &'a Problem)>;

/// Lists the kernels and problems to time. The first problem of every kernel comes first, then the second problem of
/// each, and so on. A short budget therefore reaches every kernel.
pub fn tasks<'a>(project: &'a Project, wanted: &[String], backend: Backend) -> Tasks<'a> {
    let of = |kernel: &'a TunedKernel| kernel.spec.problems_on(backend);
    let counts = project.kernels.iter().map(|kernel| of(kernel).count());
    let nth = |n| {
        let kernels = project.kernels.iter();
        kernels.filter_map(move |kernel| Some((kernel, of(kernel).nth(n)?)))
    };
    let meant =
        |task: &(&TunedKernel, &Problem)| wanted.is_empty() || wanted.contains(&task.1.to_string());
    (0..counts.max().unwrap_or(0))
        .flat_map(nth)
        .filter(meant)
        .collect()
}

/// The inputs of `tune bench` on one device.
pub struct BenchRun<'a> {
    /// The kernels and problems to time on this device.
    pub tasks: &'a [(&'a TunedKernel, &'a Problem)],
    /// The time budget of the whole command.
    pub budget: &'a Budget,
    /// Number of kernels and problems that remain, on this device and on later devices.
    pub left: usize,
    /// Receives the progress messages.
    pub reporter: &'a dyn Reporter,
}

impl BenchRun<'_> {
    /// Times each kernel on a device and adds the kernels that work to `saved`. `say` receives each result immediately.
    ///
    /// # Errors
    /// If a table cannot be read, or `say` returns an error.
    pub fn on(
        &self,
        stage: &WatchSession<'_>,
        saved: &mut Saved,
        say: &mut dyn FnMut(&Line<'_>) -> Result<(), Failure>,
    ) -> Result<OnDevice, Failure> {
        // Each of the two device measurements gets a twentieth of the remaining time. The rest is for the kernels.
        let share_ns = budget_ns(self.budget, 1) / 20;
        let yardsticks = Yardsticks {
            launch_ns: self.known(
                stage,
                "what a launch costs",
                least::launch_ns(stage, share_ns),
            ),
            copy_bytes_per_s: self.known(
                stage,
                "how fast memory is copied",
                copied::bytes_per_s(stage, share_ns),
            ),
        };
        let mut section = kept::section(saved, stage.info, stage.workshop.compiler, stage.regime);
        let progress = Counter::new("kernel problems", self.tasks.len() as u64);
        let device = stage.info.key.to_string();
        let mut kernels = Vec::new();
        for (at, (kernel, problem)) in self.tasks.iter().enumerate() {
            let budget_ns = budget_ns(self.budget, self.left - at);
            let (benched, draft) = bench::bench(stage, kernel, problem, yardsticks, budget_ns)?;
            if let Some(draft) = draft {
                let recorded = recorded(&benched);
                let problem = problem.to_string();
                section
                    .kernels
                    .push(kept::keep(saved, kernel, &problem, &draft, recorded));
            }
            say(&Line {
                device: &device,
                regime: stage.regime.name(),
                yardsticks,
                kernel: &benched,
            })?;
            kernels.push(benched);
            progress.step();
        }
        progress.finish();
        saved.sections.push(section);
        Ok(OnDevice {
            device,
            regime: stage.regime.name(),
            yardsticks,
            kernels,
        })
    }

    /// The measured value. If the measurement failed, prints a notice and returns `None`.
    fn known(
        &self,
        stage: &WatchSession<'_>,
        what: &str,
        measured: Result<u64, WatchError>,
    ) -> Option<u64> {
        measured
            .inspect_err(|error| {
                let reason = error.to_string();
                let reason = reason.lines().next().unwrap_or_default();
                let line = format!("{what} on {} is not known: {reason}", stage.device);
                self.reporter.notice(&line);
            })
            .ok()
    }
}

fn recorded(benched: &Benched) -> Option<Recorded> {
    match &benched.outcome {
        TimingOutcome::Measured(measured) => Some(measured.time),
        _ => None,
    }
}

/// The text that `tune bench` prints.
pub fn to_text(reports: &[OnDevice]) -> String {
    let each = reports.iter().map(|report| {
        let Yardsticks {
            launch_ns,
            copy_bytes_per_s,
        } = report.yardsticks;
        let unknown = || "an unknown time".to_owned();
        let launch =
            launch_ns.map_or_else(unknown, |ns| kiln_spec::time::Nanoseconds(ns).to_string());
        let copy = copy_bytes_per_s.map_or(String::new(), |bytes| {
            format!(", a copy moves {:.1} GB/s", bytes as f64 / 1e9)
        });
        let table = table::of_bench(&report.kernels);
        let OnDevice { device, regime, .. } = report;
        format!("device {device}, {regime} caches, an empty launch takes {launch}{copy}\n\n{table}")
    });
    each.collect::<Vec<_>>().join("\n")
}
