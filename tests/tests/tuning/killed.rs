//! Kills `tune` with `kill -9` at random moments of a run. No trial that was reported as stored may be lost, at most
//! one config may be repeated, no process may remain, and the next run must complete the search.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use kiln_cache::{JournalError, Record, journal};
use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::{expect_code, stderr, stdout, tune_alone, tune_program};
use serde_json::Value;

const MANIFEST: &str =
    "[package]\nname = \"killed\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";

const LIB: &str = r#"
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "scale.cu",
    params(THREADS in [32, 64, 128], ITEMS in [1, 2, 4], FAULT in [0, 1]),
    where(FAULT == 0 || ITEMS == 4),
    baseline(THREADS = 32, ITEMS = 1, FAULT = 0),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 10000)),
    tolerance(relative = 1e-6),
)]
unsafe extern "C" {
    pub fn scale(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#;

// Some configs are wrong, so trials with different outcomes are at stake.
const SOURCE: &str = r#"
extern "C" __global__ void scale(unsigned n, const float* x, float* y) {
    unsigned first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (unsigned i = first; i < first + ITEMS && i < n; ++i) y[i] = (FAULT ? 3.0f : 2.0f) * x[i];
}
"#;

/// The seed for the random moments. The test prints it, and `KILN_SEED` overrides it.
const SEED: u64 = 0x6b69_6c6e;

/// For each config, the outcomes of its acknowledged or stored trials.
type Trials = BTreeMap<String, BTreeSet<String>>;

#[test]
fn a_killed_run_loses_no_acknowledged_trial_and_the_next_one_ends_it() {
    let name = "a_killed_run_loses_no_acknowledged_trial_and_the_next_one_ends_it";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let rounds = if in_full() { 100 } else { 6 };
    let mut random = Random(std::env::var("KILN_SEED").map_or(SEED, |text| {
        text.parse().expect("KILN_SEED should be a number")
    }));
    println!("seed {}", random.0);
    let stage = Stage::new();
    let mut totals = Totals::default();
    for round in 0..rounds {
        // Every second round finds compiled artifacts, so kills hit launches as often as compiles.
        let warm = round % 2 == 1;
        let span = if warm { stage.warm } else { stage.cold };
        let moment = span.mul_f64(random.fraction());
        let what = format!("round {round}, killed after {moment:?} of {span:?}");
        // If the machine is busier now than during the complete runs, every kill may have come before the first trial.
        // The last kill then waits for a trial.
        let least = usize::from(round + 1 == rounds && totals.acknowledged == 0);
        stage.round(&what, warm, (moment, least), &mut totals);
    }
    println!(
        "kills: {}, all before the end, acknowledged trials: {}, lost: {}, changed: {}, configs started twice: \
         {} (at most {} in a round), processes left behind: 0, runs that went on to a decision: {rounds}",
        totals.killed,
        totals.acknowledged,
        totals.lost,
        totals.changed,
        totals.repeated,
        totals.most_repeated
    );
    assert_eq!((totals.lost, totals.changed), (0, 0));
    assert!(totals.most_repeated <= 1);
    assert!(totals.acknowledged > 0, "no kill came after a trial");
}

#[derive(Default)]
struct Totals {
    killed: usize,
    acknowledged: usize,
    lost: usize,
    changed: usize,
    repeated: usize,
    most_repeated: usize,
}

/// The crate, and the configs and the duration of an uninterrupted run.
struct Stage {
    folder: tempfile::TempDir,
    configs: BTreeSet<String>,
    cold: Duration,
    warm: Duration,
}

impl Stage {
    fn new() -> Stage {
        let folder = tempfile::tempdir().expect("a temporary directory should be had");
        let write = |path: &str, text: &str| {
            std::fs::write(folder.path().join(path), text).expect("a file should be written");
        };
        for inner in ["src", "tmp"] {
            std::fs::create_dir(folder.path().join(inner)).expect("a folder should be made");
        }
        write("Cargo.toml", MANIFEST);
        write("src/lib.rs", LIB);
        write("src/scale.cu", SOURCE);
        tune_program();
        let mut stage = Stage {
            folder,
            configs: BTreeSet::new(),
            cold: Duration::ZERO,
            warm: Duration::ZERO,
        };
        stage.cold = stage.uninterrupted("whole");
        let artifacts = stage.path("whole/artifacts");
        copy_folder(&artifacts, &stage.path("warm/artifacts"));
        stage.warm = stage.uninterrupted("warm");
        stage.configs = stage.stored("whole", "uninterrupted").into_keys().collect();
        println!(
            "an uninterrupted run: {} configs, {:?}, {:?} with compiled artifacts",
            stage.configs.len(),
            stage.cold,
            stage.warm
        );
        stage
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn tune(&self, cache: &str) -> Command {
        let mut command = tune_alone(self.folder.path(), &self.path(cache));
        command.env("TMPDIR", self.path("tmp"));
        command
    }

    fn run(&self, cache: &str) -> Command {
        let mut command = self.tune(cache);
        command.args(["run", "--verbose", "--budget", "full", "--trials", "all"]);
        command.args(["--device", "cpu"]);
        command
    }

    fn uninterrupted(&self, cache: &str) -> Duration {
        let start = Instant::now();
        let output = expect_code(&mut self.run(cache), 0);
        let elapsed = start.elapsed();
        let said = acknowledged(&stderr(&output));
        assert!(said.len() > 5, "{}", stderr(&output));
        elapsed
    }

    /// Kills one run, runs again to the end, and compares the acknowledged trials with the stored trials.
    fn round(
        &self,
        what: &str,
        warm: bool,
        (mut moment, least): (Duration, usize),
        totals: &mut Totals,
    ) {
        let cache = "killed";
        // If the machine is faster now than when the duration was measured, the run may have ended before the kill.
        // Such a run does not count, and the next one is killed earlier.
        let first = loop {
            self.start_over(cache, warm);
            let (running, text) = self.kill_after(cache, moment, least);
            if running {
                break text;
            }
            moment = moment.mul_f64(0.7);
        };
        self.no_process_left(what);
        let again = self.run(cache).output().expect("tune should start");
        assert!(again.status.success(), "{what}: {}", stderr(&again));
        self.no_process_left(what);
        let said = acknowledged(&first);
        let stored = self.stored(cache, what);
        let lost = said.keys().filter(|config| !stored.contains_key(*config));
        let lost = lost.count();
        let changed = said.iter().filter(|(config, outcomes)| {
            let kept = stored.get(*config);
            kept.is_some_and(|kept| kept != *outcomes)
        });
        let changed = changed.count();
        let repeated = self.started_twice(cache);
        let configs: BTreeSet<String> = stored.into_keys().collect();
        assert_eq!(
            configs, self.configs,
            "{what}: other configs than without a kill"
        );
        assert!(
            lost == 0 && changed == 0 && repeated <= 1,
            "{what}: {lost} lost, {changed} changed, {repeated} repeated\n{first}"
        );
        totals.killed += 1;
        totals.acknowledged += said.values().map(BTreeSet::len).sum::<usize>();
        totals.lost += lost;
        totals.changed += changed;
        totals.repeated += repeated;
        totals.most_repeated = totals.most_repeated.max(repeated);
    }

    /// Starts with an empty cache, or with a cache that only has compiled artifacts.
    fn start_over(&self, cache: &str, warm: bool) {
        let _ = std::fs::remove_dir_all(self.path(cache));
        if warm {
            let to = self.path(cache).join("artifacts");
            copy_folder(&self.path("whole/artifacts"), &to);
        }
    }

    /// Starts a run, and kills it after a time, but not before it has acknowledged `least` trials. Returns whether the
    /// run was still active, and its standard error.
    fn kill_after(&self, cache: &str, moment: Duration, least: usize) -> (bool, String) {
        let log = std::fs::File::create(self.path("stderr")).expect("a file should be made");
        let mut run = self.run(cache);
        run.stdout(Stdio::null()).stderr(log).process_group(0);
        let mut child = run.spawn().expect("tune should start");
        std::thread::sleep(moment);
        let written = || std::fs::read_to_string(self.path("stderr")).unwrap_or_default();
        let mut running = || child.try_wait().expect("tune should be known").is_none();
        while running() && acknowledged(&written()).len() < least {
            std::thread::sleep(Duration::from_millis(5));
        }
        let running = running();
        // Only the main program receives the signal. Its workers must notice by themselves.
        let _ = child.kill();
        child.wait().expect("tune should end");
        let text = std::fs::read_to_string(self.path("stderr"));
        (running, text.expect("what tune wrote should be read"))
    }

    /// All stored trials according to `tune cache export`. Before that, `tune cache verify` must find no damage.
    fn stored(&self, cache: &str, what: &str) -> Trials {
        let verify = self.tune(cache).args(["cache", "verify"]).output();
        let verify: Output = verify.expect("tune should start");
        assert!(
            verify.status.success(),
            "{what}: {}{}",
            stdout(&verify),
            stderr(&verify)
        );
        let export = expect_code(self.tune(cache).args(["cache", "export"]), 0);
        let export: Value =
            serde_json::from_str(&stdout(&export)).expect("the export should be JSON");
        let entries = export["entries"].as_array().expect("entries are a list");
        assert!(
            entries.iter().any(|entry| entry.get("winner").is_some()),
            "{what}: nothing was decided"
        );
        let mut trials = Trials::new();
        for trial in entries.iter().filter_map(|entry| entry.get("trial")) {
            let config = trial["config"]
                .as_str()
                .expect("a config is text")
                .to_owned();
            trials
                .entry(config)
                .or_default()
                .insert(shown(&trial["outcome"]));
        }
        trials
    }

    /// The number of configs that the journal records as started more than once.
    fn started_twice(&self, cache: &str) -> usize {
        let mut starts = BTreeMap::<String, usize>::new();
        let path = self.path(cache).join("journal.kiln");
        journal::read::<JournalError>(&path, 0, &mut |_, record| {
            if let Record::Start { trial, .. } = record {
                *starts.entry(trial.config).or_default() += 1;
            }
            Ok(())
        })
        .expect("the journal should be read");
        starts.values().filter(|&&count| count > 1).count()
    }

    /// Checks that soon after the end of the run, no process uses the crate's folder or its cache.
    fn no_process_left(&self, what: &str) {
        let patience = Instant::now() + Duration::from_secs(120);
        loop {
            let left = processes_in(self.folder.path());
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < patience, "{what}: left behind: {left:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The trials that `--verbose` printed, in the form `tune: KERNEL (PROBLEM) CONFIG: OUTCOME`.
fn acknowledged(text: &str) -> Trials {
    let mut trials = Trials::new();
    // A last line without a newline may be truncated, so it is ignored.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for line in whole
        .lines()
        .filter_map(|line| line.strip_prefix("tune: scale (n=10000) "))
    {
        let (config, outcome) = line.split_once(": ").expect("a trial has an outcome");
        trials
            .entry(config.to_owned())
            .or_default()
            .insert(outcome.to_owned());
    }
    trials
}

/// A stored outcome in the form that `--verbose` prints.
fn shown(outcome: &Value) -> String {
    let outcome: kiln_cache::Outcome =
        serde_json::from_value(outcome.clone()).expect("an outcome should be read");
    outcome.to_string()
}

/// The command lines of the processes whose working directory or arguments are in a folder.
fn processes_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("/proc should be read");
    let processes = entries.flatten().map(|entry| entry.path()).filter(|path| {
        let own = path.ends_with(std::process::id().to_string());
        let here = std::fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        here && !own
    });
    let command = |path: PathBuf| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ")
    };
    processes.map(command).collect()
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().expect("a cache has a folder"))
        .expect("a folder should be made");
    expect_code(Command::new("cp").arg("-a").arg(from).arg(to), 0);
}

/// A small random number generator, so a seed always gives the same moments.
struct Random(u64);

impl Random {
    /// A number from 0 to below 1.
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
