//! The first steps of a new user: clone, run `cargo tune`, read the report, and run it again when all is decided.
//!
//! By default, the test tunes two kernels with a few configs, and uses the `tune` of the other tests. With
//! `KILN_BARS=1` it builds the clone's own `tune`, tunes all kernels with the default budget of 5 minutes, and checks
//! that the run stays within the budget.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::{cargo, expect_code, stdout, target_dir, tune, workspace};

/// Maximum number of runs in which a decision may be inconclusive, before the test fails.
const ATTEMPTS: usize = 4;

struct Clone {
    folder: tempfile::TempDir,
}

impl Clone {
    fn new() -> Clone {
        let folder = tempfile::tempdir().expect("a temporary directory should be had");
        let mut clone = Command::new("git");
        clone.args(["clone", "--quiet"]).arg(workspace());
        clone.arg(folder.path().join("kiln"));
        expect_code(&mut clone, 0);
        let clone = Clone { folder };
        if in_full() {
            let mut build = clone.cargo();
            build.args(["build", "--release", "--quiet"]);
            build.args(["--package", "kiln-tuner", "--bin", "tune"]);
            expect_code(&mut build, 0);
        }
        clone
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("kiln")
    }

    /// A cargo command in the clone. The build artifacts of clones are kept between runs.
    fn cargo(&self) -> Command {
        let mut command = cargo(&self.root());
        command
            .env("CARGO_TARGET_DIR", target_dir().join("clone"))
            .env("CARGO_NET_OFFLINE", "true")
            .env("CI", "true");
        for name in ["KILN_TUNED", "KILN_STRICT", "KILN_CXX", "KILN_CPU_THREADS"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs `tune` with these arguments and this cache, which is empty at first. Returns the report and the duration.
    fn tune(&self, cache: &str, words: &[&str]) -> (String, Duration) {
        let start = Instant::now();
        let cache = self.folder.path().join(cache);
        let mut tune = if in_full() {
            let mut cargo = self.cargo();
            cargo.arg("tune").env("KILN_CACHE", cache);
            cargo
        } else {
            tune(&self.root(), &cache)
        };
        let output = expect_code(tune.args(words), 0);
        (stdout(&output), start.elapsed())
    }
}

#[test]
fn a_fresh_clone_is_tuned_in_its_budget_and_then_has_nothing_to_do() {
    let name = "a_fresh_clone_is_tuned_in_its_budget_and_then_has_nothing_to_do";
    if !have(name, &[Need::HostCompiler, Need::Git]) {
        return;
    }
    // Both parts share one clone, because building the clone's own `tune` takes minutes.
    let clone = Clone::new();
    tuned_in_its_budget(&clone);
    nothing_left_to_do(&clone);
}

fn tuned_in_its_budget(clone: &Clone) {
    // Limits the work instead of the time, because the work done in a given time depends on the load of the machine.
    let mut reduced = vec!["--trials", "6", "--budget", "full"];
    reduced.extend(["-k", "tensor_add", "-k", "softmax"]);
    reduced.extend(["--problem", "T=f32,n=1048576"]);
    reduced.extend(["--problem", "T=f32,rows=1024,cols=2048"]);
    let words: &[&str] = if in_full() { &["--verbose"] } else { &reduced };
    let (report, took) = clone.tune("cache", words);
    print!("{report}");
    println!("cargo tune {}: {took:.1?}", words.join(" "));
    assert!(!in_full() || took < Duration::from_secs(360), "{took:?}");
    check_report(&report);
    assert_eq!(status(&clone.root()), "", "the tree should be clean");
}

/// Checks that the same command only reads the cache once everything is decided.
fn nothing_left_to_do(clone: &Clone) {
    let mut words = vec!["--trials", "6", "--budget", "full", "-k", "tensor_add"];
    words.extend(["--problem", "T=f32,n=1048576"]);
    // Undecided tasks are searched again, so the command is repeated until everything is decided.
    let decided = (0..ATTEMPTS).find_map(|_| {
        let (report, took) = clone.tune("another-cache", &words);
        println!("cargo tune {}: {took:.1?}", words.join(" "));
        (!report.contains("inconclusive")).then_some(report)
    });
    let decided = decided.expect("a quiet moment should have come");
    let (report, took) = clone.tune("another-cache", &words);
    let last = report.lines().last().unwrap_or_default().to_owned();
    println!("again: {last}, {took:.1?}");
    assert!(last.starts_with("0 compiles, 0 launches, "), "{report}");
    assert!(!in_full() || took < Duration::from_secs(15), "{took:?}");
    for line in decided
        .lines()
        .filter(|line| line.starts_with("  winner") || line.starts_with("  proven"))
    {
        assert!(report.contains(line), "{line} is not in:\n{report}");
    }
}

/// Checks that every kernel was searched for a problem, and that each part of the report has a result.
fn check_report(report: &str) {
    let parts: Vec<&str> = report
        .split("\n\n")
        .filter(|part| part.contains("\n  trials "))
        .collect();
    let mut kernels: Vec<&str> = parts
        .iter()
        .filter_map(|part| part.split("  ").next())
        .collect();
    kernels.dedup();
    assert!(kernels.len() >= 2, "{report}");
    for kernel in kernels {
        let own = || {
            parts
                .iter()
                .filter(|part| part.starts_with(&format!("{kernel}  ")))
        };
        let searched = own().filter(|part| part.contains("\n  outcomes  measured "));
        assert!(searched.count() > 0, "{kernel} was not searched:\n{report}");
        for part in own() {
            let proven = part.contains("x the baseline [") && part.contains(" fresh processes");
            assert!(proven || part.contains("baseline kept"), "{part}");
        }
        // Proven configs are baked. A baseline that won is baked only after a complete search.
        let settled = own().any(|part| {
            part.contains("\n  proven ")
                || (part.contains("\n  outputs ") && !part.contains("its time was up"))
        });
        let table = format!("/kiln/tuned/kiln-kernels/{kernel}.toml (");
        let said = report
            .lines()
            .any(|line| line.starts_with("table: ") && line.contains(&table));
        assert_eq!(settled, said, "{kernel}:\n{report}");
        let none = report.contains(&format!("\nno table: {kernel}: "));
        assert_eq!(!settled, none, "{kernel}:\n{report}");
    }
}

/// The output of `git status` for the work tree.
fn status(root: &Path) -> String {
    let mut status = Command::new("git");
    status.current_dir(root).args(["status", "--porcelain"]);
    stdout(&expect_code(&mut status, 0))
}
