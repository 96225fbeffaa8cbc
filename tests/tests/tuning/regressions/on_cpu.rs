//! Regression checks on the cpu device, where nothing is simulated: the slow-down is additional work.

use kiln_tests::capability::{Need, have, in_full};

use crate::regressions::shop::{Shop, row};

/// `rounds` dependent operations per element that do not change the element: they multiply by one and add zero.
fn source(rounds: u32, remark: &str) -> String {
    format!(
        "static_assert(true, \"{remark}\");
extern \"C\" __global__ void rounds(unsigned n, float one, float zero, const float* x, float* y) {{
  const unsigned i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  for (int round = 0; round < {rounds}; ++round) value = value * one + zero;
  y[i] = value;
}}
"
    )
}

const CRATE: &str = r#"
#[kiln::tuned_kernel(
    source = "rounds.cu",
    params(THREADS in [128, 256]),
    baseline(THREADS = 256),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 32768)),
    verify((n = 1), (n = 257)),
    tolerance(relative = 0.0),
)]
unsafe extern "C" {
    pub fn rounds(
        n: u32,
        #[value(1.0)] one: f32,
        #[value(0.0)] zero: f32,
        #[len(n)] x: &[f32],
        #[len(n)] y: &mut [f32],
    );
}
"#;

/// The loop is unrolled by a divisor of this number and of a number 5 % larger, so only the work differs between the
/// two.
const ROUNDS: u32 = 640;

fn shop() -> Shop {
    let shop = Shop::empty();
    shop.write("src/lib.rs", CRATE);
    shop.write("src/rounds.cu", &source(ROUNDS, "as it was"));
    shop.tune("bench --device cpu --save saved.json", 0);
    shop
}

/// The number of comparisons, out of `runs`, that fail at 5 % if the source has this number of rounds.
fn flagged(shop: &Shop, rounds: u32, runs: u32) -> u32 {
    shop.write("src/rounds.cu", &source(rounds, "as it is"));
    let mut flagged = 0;
    for run in 0..runs {
        let words = format!(
            "compare saved.json --device cpu --budget full --fail-above 5% --seed {run} --json"
        );
        let mut command = kiln_tests::command::tune(&shop.path(""), &shop.path("cache"));
        let output = command
            .args(words.split(' '))
            .output()
            .expect("tune should start");
        let text = kiln_tests::command::stdout(&output);
        let report: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("{error}: {text}{}", kiln_tests::command::stderr(&output))
        });
        let row = row(&report, "rounds");
        let (measured, verdict) = (&row["measured"], &row["verdict"]);
        let (ratio, interval) = (&measured["ratio"], &measured["interval"]);
        println!(
            "{rounds} rounds: {verdict} {ratio} {interval} in {} processes",
            measured["processes"]
        );
        flagged += u32::from(report["failed"] == true);
    }
    flagged
}

#[test]
fn extra_work_is_flagged_and_a_remark_is_not() {
    if !have(
        "extra_work_is_flagged_and_a_remark_is_not",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let shop = shop();
    // The suite uses three times the work, which no noise can hide. The acceptance criterion is 5 %.
    let (runs, rounds) = if in_full() {
        (10, ROUNDS * 105 / 100)
    } else {
        (1, ROUNDS * 3)
    };
    let slower = flagged(&shop, rounds, runs);
    let alarms = flagged(&shop, ROUNDS, runs);
    let percent = (rounds - ROUNDS) * 100 / ROUNDS;
    println!(
        "cpu: {percent} % more work flagged in {slower} of {runs} runs; a remark in {alarms} of {runs}"
    );
    assert!(slower * 10 >= runs * 9, "{slower} of {runs}");
    assert_eq!(alarms, 0, "of {runs}");
}
