//! Compares the outputs of the machine's GPU with those of its simulation, bit for bit.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::import;
use super::manifest::Manifest;
use super::programs;
use crate::step;

/// The step that launched the kernels.
const STEP: &str = "outputs";

/// Launches on a simulated GPU what the step launched on the machine, and prints which outputs are equal.
///
/// # Errors
/// If the results are damaged or lack the step, or if the simulated GPU launches nothing. Different outputs are not an
/// error: a GPU may add in another order than its simulation.
pub(super) fn compare(results: &Path, profile: &str) -> Result<(), String> {
    let (manifest, steps) = import::read_results(results)?;
    let key = &manifest.device.key;
    let launched = steps.iter().rev().find(|step| step["step"] == STEP);
    let launched = launched.ok_or_else(|| {
        format!("gpu-day: the results have no step `{STEP}`\nhelp: a call with more `--seconds` reaches it")
    })?;
    let there = rows(&launched["output"]);
    let device = simulation(&manifest)?;
    eprintln!("xtask: gpu-day: launching the same on {device}");
    let mut smoke = Command::new(programs::tune(profile)?);
    smoke.args(["smoke", "--package", "kiln-kernels"]);
    smoke.args(["--device", &device, "--json-lines"]);
    smoke.args(chosen(&launched["output"]));
    smoke.current_dir(step::root());
    let said = smoke
        .output()
        .map_err(|error| format!("gpu-day: cannot start tune: {error}"))?;
    let lines = String::from_utf8_lossy(&said.stdout);
    let lines = lines
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let here = rows(&Value::Array(lines.collect()));
    if here.is_empty() {
        let why = String::from_utf8_lossy(&said.stderr);
        return Err(format!("gpu-day: tune smoke: {}", why.trim()));
    }
    print!("{}", table((key, &there), (&device, &here)));
    Ok(())
}

/// A row or baseline, and the hash of its outputs; `None` if it was not launched or has too much data.
type Hashed = (String, Option<String>);

fn rows(smoked: &Value) -> Vec<Hashed> {
    let smoked = smoked.as_array().into_iter().flatten();
    let row = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap_or_default();
        let name = format!("{} {}", text("kernel"), text("row"));
        (name, one["outputs"].as_str().map(str::to_owned))
    };
    smoked.map(row).collect()
}

/// The words that choose the kernels and the problems of the rows.
fn chosen(smoked: &Value) -> Vec<String> {
    let smoked = smoked.as_array().into_iter().flatten();
    let (mut kernels, mut problems) = (BTreeSet::new(), BTreeSet::new());
    for one in smoked {
        let text = |name: &str| one[name].as_str().unwrap_or_default();
        kernels.insert(text("kernel"));
        // A row is named after its device and, in parentheses at the end, its problem.
        let problem = text("row").rsplit_once('(').map(|(_, problem)| problem);
        problems.extend(problem.and_then(|problem| problem.strip_suffix(')')));
    }
    let kernels: Vec<&str> = kernels.into_iter().collect();
    let problems = problems
        .into_iter()
        .flat_map(|problem| ["--problem", problem]);
    let kernels = ["--kernel".to_owned(), kernels.join(",")];
    kernels
        .into_iter()
        .chain(problems.map(str::to_owned))
        .collect()
}

/// The device that computes as the machine's device should: its simulation, or the `cpu` device itself.
fn simulation(manifest: &Manifest) -> Result<String, String> {
    let key = &manifest.device.key;
    let mut parts = key.split('/');
    match (parts.next(), parts.next()) {
        (Some("cpu"), _) => Ok("cpu".to_owned()),
        (Some(_), Some(arch)) => Ok(format!("sim:{arch}")),
        _ => Err(format!(
            "gpu-day: the results are from no device: its key is `{key}`"
        )),
    }
}

/// A line for each row with outputs on both sides, and the number of equal ones.
fn table((key, there): (&str, &[Hashed]), (device, here): (&str, &[Hashed])) -> String {
    let mut text = String::new();
    let (mut equal, mut both) = (0, 0);
    for (name, outputs) in there {
        let other = here.iter().find(|(other, _)| other == name);
        let state = match (outputs, other.and_then(|(_, outputs)| outputs.as_ref())) {
            (Some(outputs), Some(other)) => {
                both += 1;
                equal += usize::from(outputs == other);
                if outputs == other {
                    "equal"
                } else {
                    "different"
                }
            }
            (None, _) => "no outputs on the machine",
            (_, None) => "no outputs here",
        };
        let _ = writeln!(text, "{state:<10} {name}");
    }
    let _ = writeln!(
        text,
        "{equal} of {both} have the same outputs on {key} and {device}, bit for bit"
    );
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn outputs_are_compared_row_by_row() {
        let row =
            |row: &str, outputs: Value| json!({"kernel": "gelu", "row": row, "outputs": outputs});
        let there = rows(&json!([
            row("a", json!("1")),
            row("b", json!("2")),
            row("c", json!("3")),
            row("d", Value::Null),
        ]));
        let here = rows(&json!([
            row("b", json!("5")),
            row("a", json!("1")),
            row("d", json!("6"))
        ]));
        let expected = "equal      gelu a\ndifferent  gelu b\nno outputs here gelu c\n\
                        no outputs on the machine gelu d\n\
                        1 of 2 have the same outputs on gpu and sim, bit for bit\n";
        assert_eq!(table(("gpu", &there), ("sim", &here)), expected);
    }

    #[test]
    fn the_same_kernels_and_problems_are_chosen() {
        let row = |kernel: &str, row: &str| json!({"kernel": kernel, "row": row});
        let smoked = json!([
            row("b", "baseline (T=f32,n=1)"),
            row("a", "cuda/sm_90/NVIDIA H100 (80 GB) (n=2)"),
            row("b", "cuda/sm_90/NVIDIA H100 (80 GB) (T=f32,n=1)"),
        ]);
        let words = [
            "--kernel",
            "a,b",
            "--problem",
            "T=f32,n=1",
            "--problem",
            "n=2",
        ];
        assert_eq!(chosen(&smoked), words);
    }
}
