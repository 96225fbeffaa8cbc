//! Sample records that are created from a number. A test writes number `n` and knows exactly what it must read.
// Every test binary uses only a part of this module.
#![allow(dead_code)]

use kiln_cache::key::KeyParts;
use kiln_cache::record::{
    Against, Confirm, ConfirmProcess, KeptReason, MaxError, Real, RecordedBaseline, ReferenceGrade,
    RunSettings, SearchDone, TaskEnded, TimeSpent, TrialPlace, Verdict,
};
use kiln_cache::{Cache, OpenOptions, Outcome, Summary, Trial, TuningKey, Warning, Winner};
use kiln_spec::{Backend, DeviceKey, DeviceLimits, Hash, LaunchPlan, SourceHash, SpecHash};
use std::path::Path;

pub fn device() -> DeviceKey {
    DeviceKey {
        backend: Backend::Fake,
        arch: "fake".into(),
        name: "Fake, the device".into(),
    }
}

/// Key number `n`. Each number is another problem of the same kernel.
pub fn key(n: u64) -> TuningKey {
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
        kernel: "gemm",
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
        problem: &problem(n),
        protocol: 1,
        regime: "cold",
        tolerance: "relative=1e-5",
        threads: 1,
    })
}

pub fn problem(n: u64) -> String {
    format!("m={n},n=64")
}

/// Outcome number `n`. Successive numbers give all kinds of outcome.
pub fn outcome(n: u64) -> Outcome {
    let text = format!("text {n} \"quoted\" ü");
    match n % 24 {
        0 => Outcome::Rejected { constraint: text },
        1 => Outcome::CompileFailed {
            first_line: text,
            log: Hash::of("test", &n.to_le_bytes()),
        },
        2 => Outcome::CompileTimedOut { limit_ns: n },
        3 => Outcome::LaunchRefused { reason: text },
        4 => Outcome::OutOfMemory {
            needed_bytes: Some(n),
        },
        5 => Outcome::Incorrect(max_error(n)),
        6 => Outcome::NotANumber {
            output: "c".into(),
            index: n,
            inputs: (n % 2 == 1).then(|| "unusual values in `x`".into()),
        },
        7 => Outcome::GuardHit { output: text },
        8 => Outcome::InputChanged { arg: text },
        9 => Outcome::WrongLaunch {
            field: "block".into(),
            want: "(384,1,1)".into(),
            got: text,
        },
        10 => Outcome::TimedOut { limit_ns: n },
        11 => Outcome::WorkerLost {
            signal: Some(11),
            detail: text,
        },
        12 => Outcome::TooFast {
            what: "GB/s".into(),
            measured: Real(n as f64),
            peak: Real(0.5),
        },
        13 => Outcome::Internal { message: text },
        14 => Outcome::CompilerLost {
            how: text,
            crashed: n.is_multiple_of(2),
        },
        17 => Outcome::KernelFault {
            text: format!("race: {text}\nand a second line"),
        },
        18 => Outcome::Unwritten {
            output: "c".into(),
            index: n,
            count: 1,
            len: n + 1,
            inputs: None,
        },
        19 => Outcome::DiskFull { text },
        20 => Outcome::ReadsOutput {
            output: "c".into(),
            index: n,
        },
        21 => Outcome::NotComparable { text },
        22 => Outcome::NotInstalled { text },
        _ => Outcome::Measured(Summary {
            samples: 24,
            median_ns: n * 10,
            min_ns: n * 9,
            ratio_ppm: n.is_multiple_of(2).then_some(n),
        }),
    }
}

fn max_error(n: u64) -> MaxError {
    MaxError {
        output: "c".into(),
        index: n,
        got: Real(f64::NAN),
        want: Real(n as f64 / 3.0),
        error: Real(f64::INFINITY),
        bound: Real(1e-5),
        against: Against::Baseline,
        inputs: (n % 2 == 1).then(|| "beta = 0.875 instead of 0".into()),
    }
}

/// Trial number `n` under a key.
pub fn trial(key: &TuningKey, n: u64) -> Trial {
    Trial {
        kernel: "gemm".into(),
        problem: key.field("problem").into(),
        config: format!("BLOCK={n},UNROLL=4"),
        device: device(),
        key: key.hash(),
        outcome: outcome(n),
        compile_ns: n,
        verify_ns: n + 1,
        measure_ns: n + 2,
        attempt: 1,
        grade: ReferenceGrade::Reference,
        reference: None,
        // Records of earlier versions have no place, so the samples include both.
        place: n.is_multiple_of(2).then_some(TrialPlace {
            run: 1,
            order: n + 1,
            end_ns: n * 1_000,
        }),
    }
}

/// A winner under a key. It is proven if `n` is even.
pub fn winner(key: &TuningKey, n: u64) -> Winner {
    let kept = Verdict::BaselineKept {
        reason: KeptReason::NotProven,
    };
    let proven = Verdict::Proven {
        speedup_ppm: 1_100_000 + n,
        low_ppm: 1_050_000,
        high_ppm: 1_200_000 + n,
    };
    Winner {
        kernel: "gemm".into(),
        problem: key.field("problem").into(),
        device: device(),
        key: key.hash(),
        config: format!("BLOCK={n},UNROLL=4"),
        baseline: RecordedBaseline::Config {
            config: "BLOCK=1,UNROLL=1".into(),
        },
        verdict: if n.is_multiple_of(2) { proven } else { kept },
        confirm: Some(Confirm {
            processes: 9,
            wins: 9,
            median_log_ratio_ppm: -95_310,
            low_log_ratio_ppm: -182_321,
            high_log_ratio_ppm: -48_790,
        }),
        receipt: Hash::of("test", &n.to_le_bytes()),
        plan: LaunchPlan {
            grid: [n as u32, 2, 1],
            block: [64, 1, 1],
            shared_bytes: 1024,
        },
        symbol: format!("gemm_{n:016x}"),
        grade: ReferenceGrade::Reference,
    }
}

pub fn process(key: &TuningKey, config: &str, series: u64, process: u32) -> ConfirmProcess {
    ConfirmProcess {
        key: key.hash(),
        config: config.into(),
        series,
        process,
        seed: 7,
        block_log_ratio_ppm: vec![-90_000 - i64::from(process); 12],
        discarded_blocks: 0,
        clock_khz: (process == 1).then_some([1_905_000, 1_980_000]),
        receipt: Hash::of("test", b"receipt"),
    }
}

pub fn done(key: &TuningKey, trials: u64) -> SearchDone {
    SearchDone {
        kernel: "gemm".into(),
        problem: key.field("problem").into(),
        key: key.hash(),
        trials,
        grade: ReferenceGrade::Reference,
        reference: None,
        limit: None,
    }
}

/// The settings of a run.
pub fn settings() -> RunSettings {
    RunSettings {
        command: "tune run --budget 5m".into(),
        device: "fake".into(),
        machine: "a machine".into(),
        regime: "cold".into(),
        strategy: "auto".into(),
        budget_ns: Some(300_000_000_000),
        trials: None,
        jobs: 2,
        observer: [("uuid".to_owned(), "GPU-0".to_owned())].into(),
    }
}

/// The outcome of a key's task in a run.
pub fn task_ended(key: &TuningKey, n: u64) -> TaskEnded {
    TaskEnded {
        kernel: "gemm".into(),
        problem: key.field("problem").into(),
        key: key.hash(),
        state: "searched".into(),
        space: n,
        winner: n.is_multiple_of(3).then(|| winner(key, n)),
        spent: TimeSpent {
            strategy_ns: n,
            elapsed_ns: n * 10,
            ..TimeSpent::default()
        },
    }
}

/// Opens a cache that must not need a repair.
pub fn open(folder: &Path) -> Cache {
    let (cache, warnings) = Cache::open(folder, OpenOptions::new()).unwrap();
    assert_eq!(warnings, []);
    cache
}

/// Opens a cache that may need a repair.
pub fn reopen(folder: &Path) -> (Cache, Vec<Warning>) {
    Cache::open(folder, OpenOptions::new()).unwrap()
}

/// A random number generator (SplitMix64). The same seed gives the same numbers on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}
