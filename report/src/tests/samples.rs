//! Sample runs, written to a real cache as `tune run` writes them.

use kiln_cache::key::KeyParts;
use kiln_cache::record::{
    Confirm, ConfirmProcess, KeptReason, MaxError, Real, RecordedBaseline, ReferenceGrade,
    RunEnded, RunSettings, TaskEnded, TimeSpent, TrialPlace, Verdict,
};
use kiln_cache::{Cache, OpenOptions, Outcome, Summary, Trial, TuningKey, Winner};
use kiln_spec::{Backend, DeviceKey, DeviceLimits, Hash, LaunchPlan, SourceHash, SpecHash};

use crate::{Records, RunFigures, RunSelector, gather};

/// A cache in a temporary folder.
pub(super) struct SampleCache {
    folder: tempfile::TempDir,
    cache: Cache,
}

pub(super) fn device() -> DeviceKey {
    DeviceKey {
        backend: Backend::Fake,
        arch: "fake".into(),
        name: "Fake <device>".into(),
    }
}

pub(super) fn key(kernel: &str) -> TuningKey {
    let limits = DeviceLimits {
        max_threads_per_block: 1024,
        max_block: [1024, 1024, 64],
        max_grid: [65535; 3],
        shared_bytes_per_block: 49_152,
        warp_size: 32,
        lockstep_threads: 32,
        warps_per_product: 1,
        multiprocessors: 2,
        l2_bytes: 0,
        memory_bytes: 0,
    };
    TuningKey::build(&KeyParts {
        kernel,
        source: SourceHash(Hash::of("test", b"source")),
        prelude: Hash::of("test", b"prelude"),
        spec: SpecHash(Hash::of("test", b"spec")),
        generator: "0.1.0",
        headers: None,
        flags: &["-O3".into()],
        compiler: "fakecc",
        compiler_version: "1",
        device: &device(),
        limits: &limits,
        driver: "1",
        runtime: "1",
        problem: "n=64",
        protocol: 1,
        regime: "cold",
        tolerance: "relative=1e-5",
        threads: 1,
    })
}

pub(super) fn measured(median_ns: u64) -> Outcome {
    Outcome::Measured(Summary {
        samples: 24,
        median_ns,
        min_ns: median_ns - 1,
        // The baseline takes 50 µs.
        ratio_ppm: Some(median_ns * 20),
    })
}

/// Failure number `n`. Successive numbers cycle through the groups of outcomes.
pub(super) fn failure(n: u64) -> Outcome {
    match n % 6 {
        0 => Outcome::Rejected {
            constraint: "A < 4".into(),
        },
        1 => Outcome::CompileFailed {
            first_line: "error: no".into(),
            log: Hash::of("test", b"log"),
        },
        2 => Outcome::LaunchRefused {
            reason: "too large".into(),
        },
        3 => Outcome::Incorrect(MaxError {
            output: "c".into(),
            index: n,
            got: Real(f64::NAN),
            want: Real(1.0),
            error: Real(f64::INFINITY),
            bound: Real(1e-5),
            against: kiln_cache::record::Against::Reference,
            inputs: None,
        }),
        4 => Outcome::TimedOut { limit_ns: n },
        _ => Outcome::Internal {
            message: "lost".into(),
        },
    }
}

/// Config number `n`. It has three parameters, of which `TILE` determines most of the time.
pub(super) fn config(n: u64) -> String {
    format!(
        "TILE={},VECTOR={},LAYOUT={}",
        1 << (n % 5),
        n / 5 % 40,
        ["row", "column"][(n / 200 % 2) as usize]
    )
}

/// The outcome of trial number `n`. Every seventh trial fails.
pub(super) fn outcome(n: u64) -> Outcome {
    if n % 7 == 6 {
        failure(n / 7)
    } else {
        measured(4000 * (1 << (n % 5)) + 37 * (n % 11))
    }
}

pub(super) fn trial(
    key: &TuningKey,
    run: Option<u64>,
    n: u64,
    config: &str,
    outcome: Outcome,
) -> Trial {
    Trial {
        kernel: key.kernel().into(),
        problem: key.field("problem").into(),
        config: config.into(),
        device: device(),
        key: key.hash(),
        outcome,
        compile_ns: 1_000_000 + n,
        verify_ns: 10,
        measure_ns: 20,
        attempt: 1,
        grade: ReferenceGrade::Reference,
        reference: None,
        place: run.map(|run| TrialPlace {
            run,
            order: n + 1,
            end_ns: (n + 1) * 250_000_000,
        }),
    }
}

pub(super) fn winner(key: &TuningKey, config: &str, verdict: Verdict) -> Winner {
    Winner {
        kernel: key.kernel().into(),
        problem: key.field("problem").into(),
        device: device(),
        key: key.hash(),
        config: config.into(),
        baseline: RecordedBaseline::Config {
            config: "TILE=1".into(),
        },
        verdict,
        confirm: Some(Confirm {
            processes: 9,
            wins: 9,
            median_log_ratio_ppm: -95_310,
            low_log_ratio_ppm: -182_321,
            high_log_ratio_ppm: -48_790,
        }),
        receipt: Hash::of("test", b"receipt"),
        plan: LaunchPlan {
            grid: [7, 2, 1],
            block: [64, 1, 1],
            shared_bytes: 1024,
        },
        symbol: "gemm_00ff".into(),
        grade: ReferenceGrade::Reference,
    }
}

pub(super) const PROVEN: Verdict = Verdict::Proven {
    speedup_ppm: 1_100_000,
    low_ppm: 1_050_000,
    high_ppm: 1_200_000,
};

pub(super) const KEPT: Verdict = Verdict::BaselineKept {
    reason: KeptReason::NothingFaster,
};

pub(super) fn spent() -> TimeSpent {
    TimeSpent {
        strategy_ns: 12_345,
        compile_ns: 5_000_000_000,
        verify_ns: 1_000_000_000,
        race_ns: 2_000_000_000,
        confirm_ns: 3_000_000_000,
        elapsed_ns: 12_000_000_000,
    }
}

impl SampleCache {
    pub(super) fn new() -> SampleCache {
        let folder = tempfile::tempdir().unwrap();
        let (cache, _) = Cache::open(folder.path(), OpenOptions::new()).unwrap();
        SampleCache { folder, cache }
    }

    /// Writes a run of one kernel that ended normally after these trials. Returns the number of the run.
    pub(super) fn run(
        &self,
        kernel: &str,
        trials: &[(String, Outcome)],
        decision: Option<Verdict>,
    ) -> u64 {
        let run = self.begin(kernel, trials);
        let key = key(kernel);
        let best = trials.iter().find(|(_, outcome)| outcome.is_valid());
        let config = best.map_or("TILE=1", |(config, _)| config);
        let winner = decision.map(|verdict| winner(&key, config, verdict));
        for process in 0..9 {
            self.cache
                .confirm_process(ConfirmProcess {
                    key: key.hash(),
                    config: config.into(),
                    series: run,
                    process,
                    seed: 7,
                    block_log_ratio_ppm: vec![-90_000 - i64::from(process) * 1000; 5],
                    discarded_blocks: 0,
                    clock_khz: None,
                    receipt: Hash::of("test", b"receipt"),
                })
                .unwrap();
        }
        self.end(run, &key, winner);
        run
    }

    /// Writes a run of one kernel that was interrupted after these trials. Returns the number of the run.
    pub(super) fn begin(&self, kernel: &str, trials: &[(String, Outcome)]) -> u64 {
        let settings = RunSettings {
            command: format!("tune run -k '{kernel}'"),
            device: "fake".into(),
            machine: "a <machine>".into(),
            regime: "cold".into(),
            strategy: "auto".into(),
            budget_ns: Some(60_000_000_000),
            trials: Some(200),
            jobs: 2,
            observer: [("host".into(), "a <host>".into())].into(),
        };
        let run = self
            .cache
            .begin_run("0.1.0", 1_700_000_000, 42, Some(settings))
            .unwrap();
        self.store(kernel, Some(run), trials);
        run
    }

    pub(super) fn store(&self, kernel: &str, run: Option<u64>, trials: &[(String, Outcome)]) {
        let key = key(kernel);
        self.cache.remember_key(&key).unwrap();
        let numbered = (0..).zip(trials);
        let trials =
            numbered.map(|(n, (config, outcome))| trial(&key, run, n, config, outcome.clone()));
        self.cache.finish_all(trials.collect()).unwrap();
    }

    fn end(&self, run: u64, key: &TuningKey, winner: Option<Winner>) {
        let task = TaskEnded {
            kernel: key.kernel().into(),
            problem: key.field("problem").into(),
            key: key.hash(),
            state: "searched to its end".into(),
            space: 4000,
            winner,
            spent: spent(),
        };
        let ended = RunEnded {
            run,
            unix_s: 1_700_000_012,
            elapsed_ns: Some(12_345_000_000),
            tasks: vec![task],
        };
        self.cache.finish_run(ended).unwrap();
    }

    pub(super) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The figures of a run, read as `tune report` reads them.
    pub(super) fn figures(&self, run: u64) -> RunFigures {
        let view = Cache::view(self.folder.path()).unwrap();
        let records = Records::read(&view).unwrap();
        let wanted = RunSelector {
            run: Some(run),
            ..RunSelector::default()
        };
        gather(&view, &records, records.find(&wanted).unwrap(), &[]).unwrap()
    }
}

/// Trials `0..count`.
pub(super) fn trials(count: u64) -> Vec<(String, Outcome)> {
    // If there are more trials than configs, the parameter `PASS` distinguishes them.
    (0..count)
        .map(|n| (format!("{},PASS={}", config(n), n / 400), outcome(n)))
        .collect()
}
