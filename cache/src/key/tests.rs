use kiln_spec::Backend;
use proptest::prelude::*;

use super::*;

/// Key parts that own their values, so a test can change one at a time.
#[derive(Clone)]
struct Owned {
    texts: BTreeMap<&'static str, String>,
    numbers: BTreeMap<&'static str, u32>,
    flags: Vec<String>,
    device: DeviceKey,
    limits: DeviceLimits,
}

type ChangeLimits = fn(&mut DeviceLimits);

const TEXTS: [&str; 8] = [
    "kernel",
    "generator",
    "compiler",
    "compiler_version",
    "driver",
    "runtime",
    "problem",
    "regime",
];
const HASHES: [&str; 4] = ["source", "prelude", "spec", "headers"];
const NUMBERS: [&str; 2] = ["protocol", "threads"];

impl Owned {
    fn new() -> Owned {
        let names = TEXTS.iter().chain(&HASHES).chain(&["tolerance"]);
        Owned {
            texts: names.map(|name| (*name, name.to_string())).collect(),
            numbers: NUMBERS.iter().map(|name| (*name, 1)).collect(),
            flags: vec!["-O3".into()],
            device: DeviceKey {
                backend: Backend::Cuda,
                arch: "sm_89".into(),
                name: "NVIDIA L4".into(),
            },
            limits: DeviceLimits {
                max_threads_per_block: 1024,
                max_block: [1024, 1024, 64],
                max_grid: [1 << 30, 65535, 65535],
                shared_bytes_per_block: 101_376,
                warp_size: 32,
                lockstep_threads: 32,
                warps_per_product: 4,
                multiprocessors: 58,
                l2_bytes: 48 << 20,
                memory_bytes: 24 << 30,
            },
        }
    }

    fn key(&self) -> TuningKey {
        let text = |name: &str| self.texts[name].as_str();
        let hash = |name: &str| Hash::of("test", text(name).as_bytes());
        TuningKey::build(&KeyParts {
            kernel: text("kernel"),
            source: SourceHash(hash("source")),
            prelude: hash("prelude"),
            spec: SpecHash(hash("spec")),
            generator: text("generator"),
            headers: Some(hash("headers")),
            flags: &self.flags,
            compiler: text("compiler"),
            compiler_version: text("compiler_version"),
            device: &self.device,
            limits: &self.limits,
            driver: text("driver"),
            runtime: text("runtime"),
            problem: text("problem"),
            protocol: self.numbers["protocol"],
            regime: text("regime"),
            tolerance: text("tolerance"),
            threads: self.numbers["threads"],
        })
    }
}

fn changed(change: impl FnOnce(&mut Owned)) -> TuningKey {
    let mut owned = Owned::new();
    change(&mut owned);
    owned.key()
}

/// Keys that differ from the base key in one input, each with the name of the field in which the change must appear.
fn single_changes() -> Vec<(String, TuningKey)> {
    let mut cases = Vec::new();
    for name in TEXTS.iter().chain(&HASHES).chain(&["tolerance"]) {
        let key = changed(|owned| owned.texts.get_mut(name).unwrap().push('x'));
        cases.push((name.to_string(), key));
    }
    for name in NUMBERS {
        let key = changed(|owned| *owned.numbers.get_mut(name).unwrap() += 1);
        cases.push((name.to_string(), key));
    }
    cases.push(("flags".into(), changed(|o| o.flags.push("-g".into()))));
    cases.push((
        "device.backend".into(),
        changed(|o| o.device.backend = Backend::Hip),
    ));
    cases.push((
        "device.arch".into(),
        changed(|o| o.device.arch = "sm_86".into()),
    ));
    cases.push((
        "device.name".into(),
        changed(|o| o.device.name = "RTX".into()),
    ));
    let limit_changes: [(&str, ChangeLimits); 13] = [
        ("max_threads_per_block", |l| l.max_threads_per_block = 512),
        ("max_block_x", |l| l.max_block[0] = 1),
        ("max_block_y", |l| l.max_block[1] = 1),
        ("max_block_z", |l| l.max_block[2] = 1),
        ("max_grid_x", |l| l.max_grid[0] = 1),
        ("max_grid_y", |l| l.max_grid[1] = 1),
        ("max_grid_z", |l| l.max_grid[2] = 1),
        ("shared_bytes_per_block", |l| l.shared_bytes_per_block = 1),
        ("warp_size", |l| l.warp_size = 64),
        ("lockstep_threads", |l| l.lockstep_threads = 1),
        ("warps_per_product", |l| l.warps_per_product = 1),
        ("multiprocessors", |l| l.multiprocessors = 1),
        ("l2_bytes", |l| l.l2_bytes = 1),
    ];
    for (name, change) in limit_changes {
        cases.push((format!("device.{name}"), changed(|o| change(&mut o.limits))));
    }
    cases
}

#[test]
fn each_field_alone_changes_the_hash_and_is_named() {
    let base = Owned::new().key();
    let cases = single_changes();
    for (field, key) in &cases {
        assert_ne!(key.hash(), base.hash(), "{field} is not part of the hash");
        let differences = base.differences(key);
        let named: Vec<_> = differences.iter().map(|d| d.field.as_str()).collect();
        assert_eq!(named, [field.as_str()]);
    }
    // Every field of the key except its schema has a case, so a new field cannot be forgotten here.
    let tried: std::collections::BTreeSet<_> = cases.iter().map(|(f, _)| f.clone()).collect();
    let fields = base.fields().keys().filter(|f| *f != "schema").cloned();
    assert_eq!(tried, fields.collect());
    assert!(tried.len() >= 18, "only {} fields", tried.len());
}

#[test]
fn what_tells_one_device_from_another_of_its_kind_is_in_no_key() {
    let other = changed(|o| o.limits.memory_bytes -= 1 << 20);
    assert_eq!(other, Owned::new().key());
}

#[test]
fn flags_split_differently_are_different_keys() {
    let one = changed(|o| o.flags = vec!["-D A".into()]);
    let two = changed(|o| o.flags = vec!["-D".into(), "A".into()]);
    assert_ne!(one.hash(), two.hash());
}

#[test]
fn an_explanation_names_the_field_with_both_values() {
    let stored = [
        changed(|o| o.texts.get_mut("driver").unwrap().push_str(" 575")),
        changed(|o| o.texts.get_mut("problem").unwrap().push_str(" other")),
        changed(|o| o.texts.get_mut("kernel").unwrap().push('2')),
    ];
    let explanation = explain(&stored, &Owned::new().key()).unwrap();
    assert_eq!(
        explanation.differences,
        [KeyDifference {
            field: "driver".into(),
            stored: Some("driver 575".into()),
            wanted: Some("driver".into()),
        }]
    );
}

#[test]
fn a_stored_key_itself_has_no_differences_and_another_kernel_no_explanation() {
    let key = Owned::new().key();
    let other = changed(|o| o.texts.get_mut("kernel").unwrap().push('2'));
    assert!(explain([&key], &key).unwrap().differences.is_empty());
    assert!(explain([&other], &key).is_none());
}

#[test]
fn a_key_whose_fields_were_edited_is_refused() {
    let text = serde_json::to_string(&Owned::new().key()).unwrap();
    assert!(serde_json::from_str::<TuningKey>(&text).is_ok());
    let edited = text.replace("NVIDIA L4", "NVIDIA L40");
    assert_ne!(edited, text);
    assert!(serde_json::from_str::<TuningKey>(&edited).is_err());
}

proptest! {
    #[test]
    fn keys_survive_json(driver: String, problem: String) {
        let key = changed(|o| {
            o.texts.insert("driver", driver);
            o.texts.insert("problem", problem);
        });
        let text = serde_json::to_string(&key).unwrap();
        prop_assert_eq!(serde_json::from_str::<TuningKey>(&text).unwrap(), key);
    }
}
