//! Tells what the steps of a call found: what to read before the next call.

use std::fmt::Write as _;

use serde_json::Value;

/// Maximum number of failed tests that are named.
const NAMED: usize = 8;

/// What the steps found, a line each: the state of each step, the remarks of the gate, kernels that are not as fast as
/// themselves, and failed tests.
pub(super) fn of(steps: &[Value]) -> String {
    let mut text = states(steps);
    let of_step = |name: &str| steps.iter().rev().find(|step| step["step"] == name);
    if let Some(gate) = of_step("gate") {
        text += &remarks(&gate["output"]["checks"]);
    }
    if let Some(compared) = of_step("itself-compare") {
        text += &against_themselves(&compared["output"]["rows"]);
    }
    for name in ["library", "device_prelude"] {
        if let Some(tests) = of_step(name) {
            text += &failures(name, &tests["output"]);
        }
    }
    text
}

fn texts(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The steps in each state.
fn states(steps: &[Value]) -> String {
    let mut text = String::new();
    for state in ["passed", "failed", "cut off", "no time", "skipped"] {
        let names = steps.iter().filter(|step| step["state"] == state);
        let names: Vec<&str> = names.map(|step| texts(&step["step"])).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "{state}: {}", names.join(", "));
        }
    }
    text
}

/// The checks of the gate that did not simply pass, and the time that a process needs to open the GPU.
fn remarks(checks: &Value) -> String {
    let mut text = String::new();
    for check in checks.as_array().into_iter().flatten() {
        if let Some(seconds) = check["start_seconds"].as_f64() {
            let _ = writeln!(text, "gate: a process opens the GPU in {seconds} s");
        }
        if check["state"] != "passed" {
            let (name, state) = (texts(&check["name"]), texts(&check["state"]));
            let _ = writeln!(text, "gate: {name} {state}: {}", texts(&check["said"]));
        }
    }
    text
}

/// The verdict on each kernel that was compared with itself.
fn against_themselves(rows: &Value) -> String {
    let rows = rows.as_array().into_iter().flatten();
    let line = |row: &Value| {
        let (kernel, verdict) = (texts(&row["kernel"]), texts(&row["verdict"]));
        let ratio = row["measured"]["ratio"].as_f64();
        let ratio = ratio.map_or(String::new(), |ratio| format!(" ({ratio:.3})"));
        format!("itself: {kernel} compared with itself: {verdict}{ratio}\n")
    };
    rows.map(line).collect()
}

/// The number of tests that passed, and the names of the others, each with the reason.
fn failures(program: &str, tests: &Value) -> String {
    let tests: Vec<&Value> = tests.as_array().into_iter().flatten().collect();
    let others: Vec<&&Value> = tests
        .iter()
        .filter(|test| test["state"] != "passed")
        .collect();
    let (passed, all) = (tests.len() - others.len(), tests.len());
    let mut text = format!("{program}: {passed} of {all} tests passed\n");
    for test in others.iter().take(NAMED) {
        let (name, state) = (texts(&test["test"]), texts(&test["state"]));
        let _ = writeln!(text, "  {name}: {state}: {}", reason(texts(&test["said"])));
    }
    if others.len() > NAMED {
        let _ = writeln!(text, "  and {} more", others.len() - NAMED);
    }
    text
}

/// Why a test failed: the line after the place of the panic, or else the last line.
fn reason(said: &str) -> &str {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.clone().next_back().unwrap_or_default();
    let panic = lines.find(|line| line.contains("panicked at "));
    panic.and_then(|_| lines.next()).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_summary_names_what_did_not_pass_and_nothing_else() {
        let checks = json!([
            {"name": "driver", "state": "passed", "said": "fine", "start_seconds": 0.4},
            {"name": "guards", "state": "marked", "said": "refused"},
        ]);
        let tests = json!([
            {"test": "is_right::gemm", "state": "passed", "said": ""},
            {"test": "is_right::gelu", "state": "failed", "said": "\nthread 'x' panicked at a.rs:1:\n it is wrong\nnote: run with it"},
            {"test": "is_right::conv", "state": "cut off"},
        ]);
        let steps = [
            json!({"step": "gate", "state": "passed", "output": {"checks": checks}}),
            json!({"step": "itself-compare", "state": "passed",
                   "output": {"rows": [{"kernel": "gemm", "verdict": "same", "measured": {"ratio": 1.0034}}]}}),
            json!({"step": "library", "state": "failed", "output": tests}),
        ];
        let expected = "passed: gate, itself-compare\nfailed: library\n\
                        gate: a process opens the GPU in 0.4 s\ngate: guards marked: refused\n\
                        itself: gemm compared with itself: same (1.003)\n\
                        library: 1 of 3 tests passed\n  is_right::gelu: failed: it is wrong\n  \
                        is_right::conv: cut off: \n";
        assert_eq!(of(&steps), expected);
        // Steps of a call that was cut off may have printed anything.
        assert_eq!(
            of(&[json!({"step": "gate", "state": "cut off", "output": "{"})]),
            "cut off: gate\n"
        );
    }
}
