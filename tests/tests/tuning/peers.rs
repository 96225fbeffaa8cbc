//! Times kernels against peers, which are other programs. Correct peers are timed, and wrong peers are reported as
//! wrong.

use std::path::Path;
use std::process::Command;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout, tune, workspace};
use serde_json::Value;

/// A peer that computes `tensor_add`. It adds a constant, and is wrong if the constant is not 0.
const ADDER: &str = r#"
import array, json, sys, time
say = lambda answer: print(json.dumps(answer), flush=True)
say({"peer": "adder"})
for line in sys.stdin:
    [(request, value)] = json.loads(line).items()
    if request == "open":
        a, b = (array.array("f", open(arg["file"], "rb").read()) for arg in value["args"] if arg.get("access") == "in")
        c = array.array("f", (x + y + OFF for x, y in zip(a, b)))
        say({"opened": "x + y", "threads": 1})
    elif request == "write":
        open(value["c"], "wb").write(c.tobytes())
        say({"written": True})
    else:
        start, cpu = time.perf_counter_ns(), time.process_time_ns()
        for _ in range(value):
            c = array.array("f", (x + y + OFF for x, y in zip(a, b)))
        say({"ns": time.perf_counter_ns() - start, "cpu_ns": time.process_time_ns() - cpu})
"#;

const WITHOUT_THE_KERNEL: &str = r#"
import json, sys
print(json.dumps({"peer": "other"}), flush=True)
sys.stdin.readline()
print(json.dumps({"unsupported": "it only multiplies"}), flush=True)
sys.stdin.read()
"#;

#[test]
fn peers_are_timed_where_they_are_right_and_named_where_they_are_not() {
    if !have(
        "peers_are_timed_where_they_are_right_and_named_where_they_are_not",
        &[Need::HostCompiler, Need::Python],
    ) {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let script = |name: &str, text: &str| script(directory.path(), name, text);
    let right = script("right.py", &ADDER.replace("OFF", "0"));
    let wrong = script("wrong.py", &ADDER.replace("OFF", "0.01"));
    let other = script("other.py", WITHOUT_THE_KERNEL);
    let chatty = script("chatty.py", "print('hello')\n");
    let mut bench = tune(&workspace(), &directory.path().join("cache"));
    bench.args(["bench", "-k", "tensor_add", "--problem", "T=f32,n=1000003"]);
    bench.args(["--device", "cpu", "--budget", "full", "--json"]);
    for peer in [&*right, &*wrong, &*other, &*chatty, "exit 7"] {
        bench.args(["--peer", peer]);
    }
    let report: Value = serde_json::from_str(&stdout(&expect_code(&mut bench, 1)))
        .expect("the report should be JSON");
    let peers = &report[0]["kernels"][0]["outcome"]["peers"];
    let said = |place: usize| peers[place]["reason"].as_str().unwrap_or_default();
    assert_eq!(peers[0]["peer"], "adder", "{peers:#}");
    assert_eq!(peers[0]["calls"], "x + y");
    let times = peers[0]["speedup"]
        .as_f64()
        .expect("the right one is timed");
    assert!(
        times > 2.0,
        "a loop in Python is slower than any kernel: {times}"
    );
    assert!(
        said(1).contains("its outputs are not those of the kernel"),
        "{peers:#}"
    );
    assert_eq!(peers[2]["state"], "unsupported");
    assert_eq!(said(2), "it only multiplies");
    assert!(said(3).contains("it answered `hello`"), "{peers:#}");
    assert!(said(4).contains("it ended (exit status: 7)"), "{peers:#}");
}

/// The protocol that peers use, with a device whose clock advances by a millisecond per call.
const EVENTS: &str = r#"
import protocol
calls = 0
def call():
    global calls
    calls += 1
class Event:
    def record(self):
        self.at = calls
    def elapsed_time(self, later):
        return float(later.at - self.at)
taken = protocol.timed(call, 10, lambda: None, Event)
assert calls == 10 + protocol.FILLERS, calls
assert taken["device_ns"] == 10_000_000, taken
assert "device_ns" not in protocol.timed(call, 10, lambda: None, None)
"#;

#[test]
fn a_peer_on_a_gpu_counts_what_is_between_two_events_and_not_the_work_before() {
    let test = "a_peer_on_a_gpu_counts_what_is_between_two_events_and_not_the_work_before";
    if have(test, &[Need::Python]) {
        let mut python = Command::new("python3");
        python.args(["-c", EVENTS]);
        python.env("PYTHONPATH", workspace().join("benches/peers/kernels"));
        expect_code(&mut python, 0);
    }
}

#[test]
fn plain_loops_in_c_compute_what_the_kernels_do() {
    if !have(
        "plain_loops_in_c_compute_what_the_kernels_do",
        &[Need::HostCompiler, Need::Python],
    ) {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory should be had");
    let loops = workspace().join("benches/peers/kernels/c_peer.py");
    let mut bench = tune(&workspace(), &directory.path().join("cache"));
    bench.args([
        "bench",
        "-p",
        "kiln-kernels",
        "--device",
        "cpu",
        "--budget",
        "full",
        "--json",
    ]);
    bench
        .arg("--peer")
        .arg(format!("python3 '{}'", loops.display()));
    // The kernels whose loops in the peer are fast. `benches/peers/kernels/kernels.py` times all kernels.
    for problem in [
        "channels=1,samples=512,phase_bands=10,amp_bands=10,shifts=1,bins=18",
        "T=f32,n=1048576",
        "T=f32,rows=512,cols=1024,form=1",
    ] {
        bench.args(["--problem", problem]);
    }
    let output = expect_code(&mut bench, 0);
    let report: Value = serde_json::from_str(&stdout(&output)).expect("the report should be JSON");
    let kernels = report[0]["kernels"].as_array().expect("kernels are listed");
    assert!(kernels.len() >= 3, "{report:#}");
    for kernel in kernels {
        let peer = &kernel["outcome"]["peers"][0];
        let reason = peer["reason"].as_str().unwrap_or_default();
        assert!(
            peer["state"] == "measured",
            "{}: {reason} {peer:#} {}",
            kernel["kernel"],
            stderr(&output)
        );
    }
}

/// Writes a script, and returns the command that runs it.
fn script(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a script should be written");
    format!("exec python3 '{}'", path.display())
}
