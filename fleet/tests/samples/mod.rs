//! Sample plans, journals and stores, which are created from a few numbers.
// Every test binary uses only a part of this module.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Mutex;

use kiln_cache::journal::encode_after;
use kiln_cache::key::KeyParts;
use kiln_cache::record::{
    Confirm, ConfirmProcess, KeptReason, RecordedBaseline, ReferenceGrade, SearchDone, Verdict,
};
use kiln_cache::store::Position;
use kiln_cache::{Outcome, Record, Summary, Trial, TuningKey, Winner};
use kiln_fleet::collect::{Collected, Seen, collect};
use kiln_fleet::segment::{Header, Segment};
use kiln_fleet::store::{Listing, ObjectStore, StoreError};
use kiln_fleet::{
    Distinct, Element, KernelRef, Kind, Plan, PrivateKey, Settings, Stage, TaskRef, object,
};
use kiln_spec::{Backend, DeviceKey, DeviceLimits, Hash, LaunchPlan, SourceHash, SpecHash};

/// The current time in tests, in seconds since 1970. No plan has expired at this time.
pub const NOW: u64 = 1_800_000_000;

pub fn spec() -> Hash {
    Hash::of("test", b"spec")
}

pub fn source() -> Hash {
    Hash::of("test", b"source")
}

pub fn problem(n: usize) -> String {
    format!("n={n}")
}

/// A device of the fake backend with the number `n` in its name. It is of kind `n` of the sample plans.
pub fn device(n: usize) -> DeviceKey {
    DeviceKey {
        backend: Backend::Fake,
        arch: "fake".into(),
        name: format!("Fake {n}"),
    }
}

/// The tuning key of a problem on a kind of device with a driver.
pub fn key_with(kind: usize, problem: &str, driver: &str) -> TuningKey {
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
        source: SourceHash(source()),
        prelude: Hash::of("test", b"prelude"),
        spec: SpecHash(spec()),
        generator: "0.1.0",
        headers: None,
        flags: &["-O3".into()],
        compiler: "fakecc",
        compiler_version: "1",
        device: &device(kind),
        limits: &limits,
        driver,
        runtime: "1",
        problem,
        protocol: 1,
        regime: "cold",
        tolerance: "relative=1e-5",
        threads: 1,
    })
}

pub fn key(kind: usize, problem: &str) -> TuningKey {
    key_with(kind, problem, "1")
}

pub fn trial(key: &TuningKey, n: u64) -> Trial {
    Trial {
        kernel: "gemm".into(),
        problem: key.field("problem").into(),
        config: config(n),
        device: device_of(key),
        key: key.hash(),
        outcome: Outcome::Measured(Summary {
            samples: 24,
            median_ns: n * 10,
            min_ns: n * 9,
            ratio_ppm: Some(900_000),
        }),
        compile_ns: n,
        verify_ns: n + 1,
        measure_ns: n + 2,
        attempt: 1,
        grade: ReferenceGrade::Reference,
        reference: None,
        place: None,
    }
}

pub fn config(n: u64) -> String {
    format!("BLOCK={n},UNROLL=4")
}

pub fn symbol(config: &str) -> String {
    format!("gemm_{:016x}", Hash::of("test", config.as_bytes()).short())
}

fn device_of(key: &TuningKey) -> DeviceKey {
    let [backend, arch, name] =
        ["backend", "arch", "name"].map(|part| key.field(&format!("device.{part}")));
    format!("{backend}/{arch}/{name}").parse().unwrap()
}

/// A winner that is proven with a speed-up in millionths, or a decision that kept the baseline for a reason.
pub fn winner(key: &TuningKey, config: &str, outcome: Result<u64, KeptReason>) -> Winner {
    let baseline = "BLOCK=1,UNROLL=1";
    Winner {
        kernel: "gemm".into(),
        problem: key.field("problem").into(),
        device: device_of(key),
        key: key.hash(),
        config: outcome.map_or(baseline, |_| config).into(),
        baseline: RecordedBaseline::Config {
            config: baseline.into(),
        },
        verdict: match outcome {
            Ok(speedup_ppm) => Verdict::Proven {
                speedup_ppm,
                low_ppm: speedup_ppm - 10_000,
                high_ppm: speedup_ppm + 10_000,
            },
            Err(reason) => Verdict::BaselineKept { reason },
        },
        confirm: Some(Confirm {
            processes: 9,
            wins: if outcome.is_ok() { 9 } else { 4 },
            median_log_ratio_ppm: -95_310,
            low_log_ratio_ppm: -182_321,
            high_log_ratio_ppm: -48_790,
        }),
        receipt: Hash::of("test", b"receipt"),
        plan: LaunchPlan {
            grid: [1, 2, 1],
            block: [64, 1, 1],
            shared_bytes: 1024,
        },
        symbol: symbol(config),
        grade: ReferenceGrade::Reference,
    }
}

pub fn process(key: &TuningKey, config: &str, process: u32) -> ConfirmProcess {
    ConfirmProcess {
        key: key.hash(),
        config: config.into(),
        series: 0,
        process,
        seed: 7,
        block_log_ratio_ppm: vec![-90_000; 12],
        discarded_blocks: 0,
        clock_khz: None,
        receipt: Hash::of("test", b"receipt"),
    }
}

pub fn done(key: &TuningKey, trials: u64) -> Record {
    Record::SearchDone(SearchDone {
        kernel: "gemm".into(),
        problem: key.field("problem").into(),
        key: key.hash(),
        trials,
        grade: ReferenceGrade::Reference,
        reference: None,
        limit: None,
    })
}

/// The records of a session for a task: its key, a confirmation of the config, and the decision.
pub fn session(key: &TuningKey, config: &str, outcome: Result<u64, KeptReason>) -> Vec<Record> {
    vec![
        Record::Key(key.clone()),
        Record::ConfirmProcess(process(key, config, 0)),
        Record::ConfirmProcess(process(key, config, 1)),
        Record::Sealed(winner(key, config, outcome)),
        done(key, 2),
    ]
}

/// A plan of `kinds` kinds and `problems` problems. It has one search element for each pair of them, and requires two
/// observers.
pub fn plan(kinds: usize, problems: usize, workers: &[&PrivateKey]) -> Plan {
    let task = |n| TaskRef {
        kernel: "gemm".into(),
        problem: problem(n),
        configs: Vec::new(),
    };
    let tasks: Vec<TaskRef> = (0..problems).map(task).collect();
    Plan {
        schema: kiln_fleet::plan::PLAN_SCHEMA,
        package: "sample".into(),
        generator: "0.1.0".into(),
        created_unix_s: NOW - 1000,
        expires_unix_s: NOW + 1000,
        replicas: 2,
        distinct: Distinct::Device,
        claims: 100,
        shards: 1,
        settings: Settings {
            trials: Some(200),
            budget_ns: None,
            strategy: "auto".into(),
            regime: None,
            seed: 1,
        },
        kinds: (0..kinds)
            .map(|n| Kind {
                name: format!("kind{n}"),
                device: device(n).to_string(),
            })
            .collect(),
        kernels: vec![KernelRef {
            name: "gemm".into(),
            spec: spec().to_string(),
            source: source().to_string(),
        }],
        elements: kiln_fleet::plan::pack(Stage::Search, kinds, &tasks, 1, 1),
        worker_keys: workers
            .iter()
            .map(|key| key.public().to_openssh().unwrap())
            .collect(),
        previous: None,
    }
}

/// A plan that continues another plan and has these elements.
pub fn continued(plan: &Plan, elements: Vec<Element>) -> Plan {
    Plan {
        elements,
        previous: Some(plan.id()),
        ..plan.clone()
    }
}

/// An element with one task, problem `n` on kind 0.
pub fn element(stage: Stage, n: usize, configs: &[&str]) -> Element {
    Element {
        stage,
        kind: 0,
        shard: 0,
        tasks: vec![TaskRef {
            kernel: "gemm".into(),
            problem: problem(n),
            configs: configs.iter().map(|config| (*config).to_owned()).collect(),
        }],
    }
}

/// The observer on device number `n`. Every device has its own host.
pub fn observer(n: usize) -> BTreeMap<String, String> {
    [("uuid", format!("GPU-{n}")), ("host", format!("node{n}"))]
        .map(|(name, text)| (name.to_owned(), text))
        .into()
}

/// The header of a segment.
pub fn header(
    plan: &str,
    element: u32,
    observer: BTreeMap<String, String>,
    attempt: u64,
) -> Header {
    let start = Position::start(0);
    Header {
        schema: kiln_fleet::segment::SEGMENT_SCHEMA,
        plan: plan.into(),
        element,
        attempt: format!("{attempt:032x}"),
        journal: String::new(),
        first: 0,
        last: 0,
        chain_before: start.chain,
        chain_after: start.chain,
        observer,
    }
}

/// The frames of a journal with these records.
pub fn frames(journal: u64, records: &[Record]) -> Vec<u8> {
    encode_after(records, Position::start(journal)).unwrap().0
}

/// A segment with the whole journal of device `n`, as if its signature had been verified. The journal's identity is `n
/// + 1`.
pub fn observed(plan: &Plan, element: u32, n: usize, records: &[Record]) -> Segment {
    let journal = n as u64 + 1;
    let header = header(&plan.id(), element, observer(n), journal);
    let (_, bytes) = Segment::build(&header, &frames(journal, records)).unwrap();
    let mut segment = Segment::parse(&bytes, &object::name_of(&bytes)).unwrap();
    segment.author = format!("SHA256:{n}");
    segment
}

/// Signs a segment, puts the segment and its signature into a store, and returns the segment's name there.
pub fn put(store: &dyn ObjectStore, worker: &PrivateKey, bytes: &[u8]) -> String {
    let segment = Segment::parse(bytes, &object::name_of(bytes)).unwrap();
    let name = segment.object();
    store.put(&name, bytes).unwrap();
    let signature = worker.sign(bytes).unwrap();
    store
        .put(&object::signature(&name), signature.as_bytes())
        .unwrap();
    name
}

/// Publishes a whole journal of device `n` for an element.
pub fn publish(
    store: &dyn ObjectStore,
    worker: &PrivateKey,
    plan: &Plan,
    (element, n): (u32, usize),
    records: &[Record],
) -> String {
    let journal = n as u64 + 1;
    let header = header(&plan.id(), element, observer(n), journal);
    let (_, bytes) = Segment::build(&header, &frames(journal, records)).unwrap();
    put(store, worker, &bytes)
}

/// Collects the objects of a plan without a record of earlier merges.
pub fn collected(store: &dyn ObjectStore, plan: &Plan) -> Collected {
    collect(store, plan, NOW, &mut Seen::default()).unwrap()
}

/// A store in memory, whose objects can be changed freely.
#[derive(Debug, Default)]
pub struct Memory(pub Mutex<BTreeMap<String, Vec<u8>>>);

impl ObjectStore for Memory {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.0.lock().unwrap().insert(name.into(), bytes.into());
        Ok(())
    }

    fn get(&self, name: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, StoreError> {
        let objects = self.0.lock().unwrap();
        match objects.get(name) {
            Some(bytes) if bytes.len() > max_bytes => Err(StoreError::TooLarge {
                name: name.into(),
                bytes: bytes.len() as u64,
                most: max_bytes as u64,
            }),
            found => Ok(found.cloned()),
        }
    }

    fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        let objects = self.0.lock().unwrap();
        let names = objects.keys().filter(|name| name.starts_with(prefix));
        Ok(Listing {
            names: names.cloned().collect(),
            ignored: Vec::new(),
        })
    }
}

/// The number of cases of a test: `few`, or `all` if the variable KILN_BARS is set.
pub fn cases(few: usize, all: usize) -> usize {
    if std::env::var_os("KILN_BARS").is_some() {
        all
    } else {
        few
    }
}

/// A random number generator (SplitMix64). The same seed gives the same numbers on every machine.
#[derive(Clone)]
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

    /// Returns true with a probability of `ppm` millionths.
    pub fn happens(&mut self, ppm: u64) -> bool {
        self.below(1_000_000) < ppm
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for n in (1..list.len()).rev() {
            list.swap(n, self.below(n as u64 + 1) as usize);
        }
    }
}

/// The place of a confirmation by device `n` for an element.
pub fn place(plan: &Plan, element: u32, n: usize) -> kiln_fleet::statement::Place {
    kiln_fleet::statement::Place {
        plan: plan.id(),
        element,
        attempt: format!("{n:032x}"),
        journal: n as u64 + 1,
        series: 0,
        observer: observer(n),
    }
}

/// A segment of journal 9 with one record, whose payload is any JSON. The checksum, chain and name are valid.
pub fn raw_segment(header: &Header, payload: &str) -> (Header, Vec<u8>) {
    let start = Position::start(9);
    let body = format!("1 {:016x} 1 {} {payload}", 9, start.chain);
    let mut frame = format!("\u{1e}{:08x} {body}", crc32c(body.as_bytes())).into_bytes();
    frame.push(b'\n');
    let (header, bytes) = Segment::build(header, &frame).unwrap();
    (header, bytes)
}

/// CRC-32C, computed bit by bit.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32| {
        if crc & 1 == 1 {
            (crc >> 1) ^ 0x82f6_3b78
        } else {
            crc >> 1
        }
    };
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc))
    })
}
