//! Shows the progress of a run, with bars on a terminal and plain lines elsewhere. This is the only file that uses the
//! crate `indicatif`.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A stage of tuning one kernel for one problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Compiling candidates.
    Compile,
    /// Comparing the candidates' outputs with the expected outputs.
    Verify,
    /// Timing candidates against each other.
    Race,
    /// Proving the finalist against the baseline in fresh processes.
    Confirm,
}

impl Stage {
    /// The name of the stage, padded to the width of the longest name.
    fn name(self) -> &'static str {
        match self {
            Stage::Compile => "compile",
            Stage::Verify => "verify ",
            Stage::Race => "race   ",
            Stage::Confirm => "confirm",
        }
    }
}

/// Receives the progress of a run.
pub trait Reporter: Sync {
    /// A run of `tasks` tasks begins. `budget` is the time limit of the run; `None` for no limit.
    fn run_started(&self, tasks: usize, budget: Option<Duration>);
    /// A task (a kernel and a problem) with at most `trials` configs begins.
    fn task_started(&self, index: usize, name: &str, trials: u64);
    /// A stage of the current task begins, with `steps` steps.
    fn stage(&self, stage: Stage, steps: u64);
    /// A step of the current stage ends.
    fn step(&self);
    /// `trials` configs of the current task have been tried. The best so far is `best` times as fast as the baseline.
    fn tried(&self, trials: u64, best: Option<f64>);
    /// `configs` configs of the current task were checked without a launch, and `cannot` of them cannot be launched.
    fn checked(&self, configs: u64, cannot: u64);
    /// A trial is stored. The line is printed only if a line for every trial was requested.
    fn trial(&self, line: &str);
    /// The current task ends. The line describes its result.
    fn task_finished(&self, line: &str);
    /// A message that the user should see immediately.
    fn notice(&self, line: &str);
    /// The run ends.
    fn run_finished(&self);
}

/// Whether progress is shown in plain lines: without a terminal, in CI, and on a terminal on which indicatif would show
/// nothing (`TERM` is `dumb` or unset).
fn is_plain() -> bool {
    let hides_bars = ProgressDrawTarget::stderr().is_hidden();
    !std::io::stderr().is_terminal() || std::env::var_os("CI").is_some() || hides_bars
}

/// Creates a reporter: bars on a terminal, plain lines elsewhere and in CI. With `verbose`, it prints a line for every
/// trial.
pub fn reporter(verbose: bool) -> Box<dyn Reporter> {
    let plain = is_plain();
    if plain {
        Box::new(Lines {
            verbose,
            ..Lines::default()
        })
    } else {
        Box::new(Bars::new(verbose))
    }
}

/// Shows the progress of many similar steps on many threads: a bar on a terminal, an occasional line elsewhere.
#[derive(Debug)]
pub struct Counter {
    what: &'static str,
    bar: Option<ProgressBar>,
    done: Mutex<(u64, Instant)>,
    total: u64,
}

impl Counter {
    /// Creates a counter of `total` steps. `what` describes the steps.
    pub fn new(what: &'static str, total: u64) -> Counter {
        let plain = is_plain();
        let bar = (!plain).then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}, {eta} left");
            let bar = ProgressBar::new(total).with_message(what);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Counter {
            what,
            bar,
            done: Mutex::new((0, Instant::now())),
            total,
        }
    }

    /// Counts one more completed step.
    pub fn step(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        } else if let Ok(mut done) = self.done.lock() {
            done.0 += 1;
            if done.1.elapsed() >= LINE_EVERY {
                done.1 = Instant::now();
                Lines::say(&format!("{} of {} {}", done.0, self.total, self.what));
            }
        }
    }

    /// Removes the bar after the last step.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows that one step of unknown length is running: a spinner on a terminal, a line every few seconds elsewhere. The
/// display ends when the value is dropped.
#[derive(Debug)]
pub struct Waiting {
    spinner: Option<ProgressBar>,
    /// The thread that prints the lines ends when the sender is dropped.
    _ended: Option<mpsc::Sender<()>>,
}

impl Waiting {
    /// Begins a step. `what` describes it.
    pub fn begin(what: String) -> Waiting {
        let plain = is_plain();
        if !plain {
            let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
            let spinner = ProgressBar::new_spinner().with_message(what);
            spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            spinner.enable_steady_tick(Duration::from_millis(200));
            return Waiting {
                spinner: Some(spinner),
                _ended: None,
            };
        }
        let (sender, ended) = mpsc::channel::<()>();
        let begun = Instant::now();
        std::thread::spawn(move || {
            while ended.recv_timeout(LINE_EVERY) == Err(RecvTimeoutError::Timeout) {
                let seconds = begun.elapsed().as_secs();
                Lines::say(&format!("{what}: running for {seconds} s"));
            }
        });
        Waiting {
            spinner: None,
            _ended: Some(sender),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

/// A run with at most this many tasks prints the result of each task. A run with more tasks prints only the first
/// result of each kernel, and another result from time to time.
pub const MAX_IN_FULL: usize = 12;

/// Decides which lines of a run are printed, so the lines of a long run fit on a screen.
#[derive(Debug, Default)]
struct Pace {
    in_full: bool,
    kernels: BTreeSet<String>,
    last: Option<Instant>,
}

impl Pace {
    fn of(tasks: usize, verbose: bool) -> Pace {
        Pace {
            in_full: verbose || tasks <= MAX_IN_FULL,
            ..Pace::default()
        }
    }

    /// Records that a line was printed.
    fn printed(&mut self) {
        self.last = Some(Instant::now());
    }

    /// Whether enough time has passed since the last line to print another one.
    fn is_due(&self) -> bool {
        let interval = match self.in_full {
            true => LINE_EVERY,
            false => LINE_EVERY_IN_LONG_RUN,
        };
        self.last.is_none_or(|last| last.elapsed() >= interval)
    }

    /// Whether to print the result of a task. `line` begins with the name of the kernel.
    fn prints_result(&mut self, line: &str) -> bool {
        let kernel = line.split(' ').next().unwrap_or_default();
        let first = self.kernels.insert(kernel.to_owned());
        self.in_full || first || self.is_due()
    }
}

/// Interval between the lines of a running task, without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Minimum time since the last line before a long run prints another result of a kernel.
const LINE_EVERY_IN_LONG_RUN: Duration = Duration::from_secs(30);

/// Prints plain lines on standard error, at most one every few seconds while a task runs.
#[derive(Debug, Default)]
struct Lines {
    verbose: bool,
    state: Mutex<LinesState>,
}

#[derive(Debug, Default)]
struct LinesState {
    tasks: usize,
    index: usize,
    task: String,
    planned: u64,
    pace: Pace,
}

impl LinesState {
    /// The prefix of lines in a run with many tasks: the number of the task.
    fn place(&self) -> String {
        match self.pace.in_full {
            true => String::new(),
            false => format!("[{}/{}] ", self.index + 1, self.tasks),
        }
    }
}

impl Lines {
    fn say(line: &str) {
        // A closed standard error must not end a run.
        let _ = writeln!(std::io::stderr().lock(), "tune: {line}");
    }

    fn with(&self, change: impl FnOnce(&mut LinesState)) {
        if let Ok(mut state) = self.state.lock() {
            change(&mut state);
        }
    }
}

impl Reporter for Lines {
    fn run_started(&self, tasks: usize, budget: Option<Duration>) {
        self.with(|state| {
            state.tasks = tasks;
            state.pace = Pace::of(tasks, self.verbose);
            state.pace.printed();
        });
        let budget = budget.map_or("no time limit".into(), |b| {
            format!("a budget of {} s", b.as_secs())
        });
        Self::say(&format!("{tasks} kernel problems, {budget}"));
    }

    fn task_started(&self, index: usize, name: &str, trials: u64) {
        self.with(|state| {
            name.clone_into(&mut state.task);
            state.planned = trials;
            state.index = index;
            if state.pace.in_full {
                state.pace.printed();
                Self::say(&format!(
                    "[{}/{}] {name}: up to {trials} configs",
                    index + 1,
                    state.tasks
                ));
            }
        });
    }

    fn stage(&self, _: Stage, _: u64) {}

    fn step(&self) {}

    fn tried(&self, trials: u64, best: Option<f64>) {
        self.with(|state| {
            if !state.pace.is_due() {
                return;
            }
            state.pace.printed();
            Self::say(&format!(
                "{}{}: {trials} of {} configs, {}",
                state.place(),
                state.task,
                state.planned,
                best_so_far(best)
            ));
        });
    }

    fn checked(&self, configs: u64, cannot: u64) {
        self.with(|state| {
            if !state.pace.is_due() {
                return;
            }
            state.pace.printed();
            Self::say(&format!(
                "{}: {configs} of {} configs, {cannot} cannot be launched",
                state.task, state.planned
            ));
        });
    }

    fn trial(&self, line: &str) {
        if self.verbose {
            Self::say(line);
        }
    }

    fn task_finished(&self, line: &str) {
        self.with(|state| {
            if state.pace.prints_result(line) {
                state.pace.printed();
                Self::say(&format!("{}{line}", state.place()));
            }
        });
    }

    fn notice(&self, line: &str) {
        Self::say(line);
    }

    fn run_finished(&self) {}
}

/// Shows three bars: one for the run, one for the task, and one for the stage of the task.
struct Bars {
    verbose: bool,
    pace: Mutex<Pace>,
    all: MultiProgress,
    run: ProgressBar,
    task: ProgressBar,
    stage: ProgressBar,
}

impl Bars {
    fn new(verbose: bool) -> Bars {
        let all = MultiProgress::new();
        let bar = |template: &str| {
            let bar = all.add(ProgressBar::new(0));
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("━╸─"));
            }
            bar
        };
        let run = bar("{bar:24.green} {pos}/{len} kernel problems, {elapsed} gone{msg}");
        let task = bar("{bar:24.cyan} {pos}/{len} configs, {eta} left  {msg}");
        let stage = bar("{bar:24.dim} {pos}/{len} {msg}");
        Bars {
            verbose,
            pace: Mutex::default(),
            all,
            run,
            task,
            stage,
        }
    }
}

impl Reporter for Bars {
    fn run_started(&self, tasks: usize, budget: Option<Duration>) {
        if let Ok(mut pace) = self.pace.lock() {
            *pace = Pace::of(tasks, self.verbose);
        }
        self.run.set_length(tasks as u64);
        self.run
            .set_message(budget.map_or(String::new(), |b| format!(" of {} s", b.as_secs())));
        self.run.enable_steady_tick(Duration::from_millis(200));
    }

    fn task_started(&self, index: usize, name: &str, trials: u64) {
        self.run.set_position(index as u64);
        self.task.reset();
        self.task.set_length(trials);
        self.task.set_message(name.to_owned());
        self.task.set_prefix(name.to_owned());
    }

    fn stage(&self, stage: Stage, steps: u64) {
        self.stage.reset();
        self.stage.set_length(steps);
        self.stage.set_message(stage.name());
    }

    fn step(&self) {
        self.stage.inc(1);
    }

    fn tried(&self, trials: u64, best: Option<f64>) {
        self.task.set_position(trials);
        self.task
            .set_message(format!("{}: {}", self.task.prefix(), best_so_far(best)));
    }

    fn checked(&self, configs: u64, cannot: u64) {
        self.task.set_position(configs);
        self.task.set_message(format!(
            "{}: {cannot} cannot be launched",
            self.task.prefix()
        ));
    }

    fn trial(&self, line: &str) {
        if self.verbose {
            self.notice(line);
        }
    }

    fn task_finished(&self, line: &str) {
        let Ok(mut pace) = self.pace.lock() else {
            return;
        };
        if pace.prints_result(line) {
            pace.printed();
            self.notice(line);
        }
    }

    fn notice(&self, line: &str) {
        // A closed terminal must not end a run.
        let _ = self.all.println(line);
    }

    fn run_finished(&self) {
        self.stage.finish_and_clear();
        self.task.finish_and_clear();
        self.run.finish_and_clear();
    }
}

fn best_so_far(best: Option<f64>) -> String {
    match best {
        None => "no valid config yet".into(),
        Some(ratio) => format!("best so far {ratio:.2}x the baseline (not proven)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_tasks_the_first_of_each_kernel_is_told_and_of_few_all_are() {
        let lines = [
            "gemm (m=1): a",
            "gemm (m=2): b",
            "softmax (n=1): c",
            "gemm (m=3): d",
        ];
        let told = |mut pace: Pace| {
            pace.printed();
            lines.map(|line| pace.prints_result(line))
        };
        assert_eq!(told(Pace::of(68, false)), [true, false, true, false]);
        assert_eq!(told(Pace::of(68, true)), [true; 4]);
        assert_eq!(told(Pace::of(MAX_IN_FULL, false)), [true; 4]);
    }

    #[test]
    fn a_running_task_prints_nothing_right_after_another_line() {
        for tasks in [MAX_IN_FULL, 68] {
            let mut pace = Pace::of(tasks, false);
            assert!(pace.is_due());
            pace.printed();
            assert!(!pace.is_due());
        }
    }
}
