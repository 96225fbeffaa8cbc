//! Checks which config is timed and compared: the config that a build would launch today. This is the fresh row for the
//! device and problem, selected by the rule of `kiln::Selection`.

use kiln_spec::DeviceKey;
use kiln_spec::baked::{BakedTable, Evidence, Index, Row, Speedup};
use kiln_tests::tables;
use serde_json::Value;

use crate::regressions::shop::{Shop, row};

const KERNELS: [(&str, &str); 1] = [("tensor_add", "(T = f32, n = 4096), (T = f32, n = 70000)")];
const HERE: &str = "fake/fake_1/Kiln Fake";

fn proven(shop: &Shop, device: &str, config: &str) -> Row {
    let kernel = tables::kernel(&shop.path("Cargo.toml"), "tensor_add", &[]);
    let device: DeviceKey = device.parse().expect("it should be a device");
    Row {
        evidence: Evidence::Proven,
        speedup: Some(Speedup {
            low_ppm: 1_900_000,
            speedup_ppm: 2_000_000,
            high_ppm: 2_100_000,
        }),
        ..tables::row(&kernel, &device, config)
    }
}

fn bake(shop: &Shop, row: Row) {
    let mut table = BakedTable::new("tensor_add");
    table
        .replace_device(&row.device.clone(), vec![row])
        .expect("the row should be one that tables hold");
    let mut index = Index::new();
    let file = index.insert("tensor_add").expect("it should be a name");
    shop.write(&format!("tuned/{file}"), &table.to_text());
    shop.write("tuned/index.toml", &index.to_text());
}

/// The config and the selection for each problem, according to `tune bench`.
fn launched(shop: &Shop, device: &str) -> Vec<(String, String)> {
    let report = shop.json(&format!("bench --device {device}"), 0);
    let rows = report[0]["kernels"]
        .as_array()
        .expect("the report should have kernels");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rows.iter()
        .map(|row| (text(&row["config"]), text(&row["selection"])))
        .collect()
}

const WIDE: &str = "VECTOR_WIDTH=4,THREADS=128,ITEMS=1,HINT=plain";
const NARROW: &str = "VECTOR_WIDTH=1,THREADS=64,ITEMS=1,HINT=plain";

#[test]
fn a_comparison_says_that_the_baseline_is_launched_because_the_row_is_stale() {
    let shop = Shop::of_library(&KERNELS);
    let device = shop.fake("plain.json", &[]);
    bake(&shop, proven(&shop, HERE, WIDE));
    shop.tune(&format!("bench --device {device} --save saved.json"), 0);
    shop.remark("tensor_add");
    let report = shop.json(&format!("compare saved.json --device {device}"), 0);
    let row = crate::regressions::shop::row(&report, "tensor_add");
    let reason = row["reason"].as_str().expect("a reason");
    let says = "launched now: baseline: no fresh row for this device or its architecture (stale: its source changed)";
    assert!(reason.contains(says), "{row:#}");
}

#[test]
fn rows_are_chosen_as_a_build_chooses_them() {
    let shop = Shop::of_library(&KERNELS);
    let device = shop.fake("plain.json", &[]);
    let selections = |shop: &Shop| -> Vec<(bool, String)> {
        let found = launched(shop, &device).into_iter();
        found
            .map(|(config, selection)| (config == WIDE, selection))
            .collect()
    };
    let texts =
        |texts: [(bool, &str); 2]| texts.map(|(wide, text)| (wide, text.to_owned())).to_vec();
    let nothing = "baseline: nothing is baked";
    assert_eq!(
        selections(&shop),
        texts([(false, nothing), (false, nothing)])
    );
    bake(&shop, proven(&shop, HERE, WIDE));
    let near = "baked for T=f32,n=4096";
    assert_eq!(selections(&shop), texts([(true, "baked"), (true, near)]));
    bake(&shop, proven(&shop, "fake/fake_1/Another", WIDE));
    let there = "baked, same architecture";
    let near = "baked for T=f32,n=4096, same architecture";
    assert_eq!(selections(&shop), texts([(true, there), (true, near)]));
    // Rows for another architecture, rows that were not measured, and rows for another source are not used.
    let none = "baseline: no fresh row for this device or its architecture";
    let unused = texts([(false, none), (false, none)]);
    bake(&shop, proven(&shop, "fake/fake_2/Kiln Fake", WIDE));
    assert_eq!(selections(&shop), unused);
    let guessed = Row {
        evidence: Evidence::Predicted,
        speedup: None,
        ..proven(&shop, HERE, WIDE)
    };
    bake(&shop, guessed);
    assert_eq!(selections(&shop), unused);
    bake(&shop, proven(&shop, HERE, WIDE));
    shop.remark("tensor_add");
    let stale =
        "baseline: no fresh row for this device or its architecture (stale: its source changed)";
    assert_eq!(selections(&shop), texts([(false, stale), (false, stale)]));
}

#[test]
fn a_baked_config_that_is_slower_than_the_one_before_is_flagged() {
    let shop = Shop::of_library(&KERNELS);
    let script = serde_json::json!({
        "time": {"base_ns": 100_000.0, "factors": {"VECTOR_WIDTH": {"4": 0.5}}},
        "noise": {"sigma": 0.006, "placement_sigma": 0.007},
    });
    shop.write("factors.json", &script.to_string());
    let device = format!("fake:{}", shop.path("factors.json").display());
    bake(&shop, proven(&shop, HERE, WIDE));
    let report = shop.json(&format!("bench --device {device} --save saved.json"), 0);
    let beside = &report[0]["kernels"][0]["outcome"]["baseline"];
    let speedup = beside["speedup"].as_f64().expect("a speed-up");
    assert!((1.9..2.1).contains(&speedup), "{beside}");
    bake(&shop, proven(&shop, HERE, NARROW));
    let report = shop.json(
        &format!("compare saved.json --device {device} --fail-above 5%"),
        1,
    );
    let row = row(&report, "tensor_add");
    assert_eq!(
        (&row["verdict"], &row["reason"]),
        (&"slower".into(), &"changed: config, launch".into())
    );
    let ratio = row["measured"]["ratio"].as_f64().expect("a ratio");
    assert!((1.9..2.1).contains(&ratio), "{row:#}");
}
