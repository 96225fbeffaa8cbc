//! The acceptance criterion of `tune compare`, on the fake device with the noise of a real machine: a slow-down of 5 %
//! in one of three kernels is flagged, and three kernels that were edited without an effect are not.

use kiln_tests::capability::in_full;

use crate::regressions::shop::{Shop, row, symbol};

const KERNELS: [(&str, &str); 3] = [
    ("tensor_add", "(T = f32, n = 4096)"),
    ("tensor_mul", "(T = f32, n = 4096)"),
    ("gelu", "(T = f32, n = 4096, form = 1)"),
];

/// Saves the times of the kernels, and then changes a remark in each, so that none is identical and all are measured.
fn edited() -> (Shop, String) {
    let shop = Shop::of_library(&KERNELS);
    let plain = shop.fake("plain.json", &[]);
    shop.tune(&format!("bench --device {plain} --save saved.json.gz"), 0);
    for (kernel, _) in KERNELS {
        shop.remark(kernel);
    }
    (shop, plain)
}

/// The number of comparisons, out of `runs`, that fail at 5 %.
fn failing(shop: &Shop, device: &str, runs: u32, seed: u32) -> u32 {
    let mut failing = 0;
    for run in 0..runs {
        let words = format!(
            "compare saved.json.gz --device {device} --fail-above 5% --seed {}",
            seed + run
        );
        let mut command = kiln_tests::command::tune(&shop.path(""), &shop.path("cache"));
        let output = command.args(words.split(' ')).arg("--json").output();
        let output = output.expect("tune should start");
        let text = kiln_tests::command::stdout(&output);
        let report: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("{error}: {text}{}", kiln_tests::command::stderr(&output))
        });
        let code = i32::from(report["failed"] == true);
        assert_eq!(output.status.code(), Some(code), "{report:#}");
        failing += u32::from(code == 1);
    }
    failing
}

#[test]
fn a_slow_down_of_five_percent_is_flagged_and_unchanged_kernels_are_not() {
    let (shop, plain) = edited();
    let now = shop.json(&format!("bench --device {plain}"), 0);
    // With few runs, the slow-down is so large that no noise hides it, so the suite never fails by chance.
    let (runs, slowdown) = if in_full() { (100, 1.05) } else { (1, 1.12) };
    let slower = shop.fake("slower.json", &[(symbol(&now, "gelu"), slowdown)]);
    let flagged = failing(&shop, &slower, runs, 1);
    let alarms = failing(&shop, &plain, runs, 10_001);
    println!(
        "planted slow-down of {:.0} % in one of three kernels: flagged in {flagged} of {runs} runs; unchanged: {alarms} of {runs}",
        (slowdown - 1.0) * 100.0
    );
    assert!(flagged * 100 >= runs * 95, "{flagged} of {runs}");
    assert!(alarms * 100 <= runs, "{alarms} of {runs}");
}

#[test]
fn both_sides_prove_by_receipts_what_ran() {
    let (shop, plain) = edited();
    let report = shop.json(&format!("compare saved.json.gz --device {plain}"), 0);
    for (kernel, _) in KERNELS {
        let measured = &row(&report, kernel)["measured"];
        let receipt = |side: &str| {
            let side = &measured[side];
            let (symbol, receipt) = (side["symbol"].as_str(), side["receipt"].as_str());
            let (symbol, receipt) = (symbol.expect("a symbol"), receipt.expect("a receipt"));
            let hash = symbol.rsplit('_').next().expect("a hash");
            assert!(
                receipt.starts_with(&format!("symbol {hash} config ")),
                "{receipt}"
            );
            assert!(
                receipt.contains(" block [256, 1, 1] grid [16, 1, 1] "),
                "{receipt}"
            );
            symbol.to_owned()
        };
        assert_ne!(
            receipt("then"),
            receipt("now"),
            "each side is a kernel of its own"
        );
    }
}

#[test]
fn a_side_that_runs_something_else_is_found_by_its_receipt() {
    let (shop, plain) = edited();
    let symbols = shop.json(
        &format!("compare saved.json.gz --device {plain} -k gelu"),
        0,
    );
    let of = |side: &str| {
        let symbol = &row(&symbols, "gelu")["measured"][side]["symbol"];
        symbol.as_str().expect("a symbol").to_owned()
    };
    for (side, verdict, code) in [("then", "broken", 0), ("now", "failed", 1)] {
        let script = serde_json::json!({"rules": [{
            "when": {"symbol": format!("{}_receipt", of(side)), "receipt": true},
            "receipt": {"block": [128, 1, 1]},
        }]});
        shop.write("lying.json", &script.to_string());
        let device = format!("fake:{}", shop.path("lying.json").display());
        let report = shop.json(
            &format!("compare saved.json.gz --device {device} -k gelu"),
            code,
        );
        let row = row(&report, "gelu");
        assert_eq!(row["verdict"], verdict, "{row:#}");
        let reason = row["reason"].as_str().expect("a reason");
        assert!(reason.contains("128"), "{reason}");
    }
}

#[test]
fn a_launch_that_takes_most_of_the_time_is_said_to() {
    let shop = Shop::of_library(&KERNELS[..1]);
    let quick = serde_json::json!({"time": {"base_ns": 3_000.0}, "rules": [
        {"when": {"entry": "kiln_least_launch"}, "time": {"base_ns": 2_000.0}},
    ]});
    shop.write("quick.json", &quick.to_string());
    let device = format!("fake:{}", shop.path("quick.json").display());
    let report = shop.json(&format!("bench --device {device}"), 0);
    let throughput = &report[0]["kernels"][0]["outcome"]["throughput"];
    assert_eq!(throughput["launch_bound"], true, "{throughput:#}");
    // The fake device cannot record launches, so there is no time of a replay.
    let replayed = &report[0]["kernels"][0]["outcome"]["replayed"];
    assert!(replayed.is_null(), "{replayed:#}");
    let percent = throughput["launch_percent"].as_f64().expect("a share");
    assert!((percent - 66.7).abs() < 1.0, "{percent}");
    let text = kiln_tests::command::stdout(&shop.tune(&format!("bench --device {device}"), 0));
    assert!(text.contains("launch-bound (67 %)"), "{text}");
    let plain = shop.fake("plain.json", &[]);
    let report = shop.json(&format!("bench --device {plain}"), 0);
    let throughput = &report[0]["kernels"][0]["outcome"]["throughput"];
    assert_eq!(throughput["launch_bound"], false, "{throughput:#}");
}
