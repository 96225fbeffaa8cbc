//! Batches of the hip backend are recorded before they are timed, and queued where the runtime does not record.
#![forbid(unsafe_code)]

use std::process::Command;
use std::sync::Arc;

use kiln::rig::{Layout, Rig};
use kiln::{Choice, Stream, prepare};
use kiln_spec::{ElemType, ProblemValue};
use kiln_tests::capability::{Need, have};
use kiln_tests::hip_host;

/// Runs one of the ignored tests below in a process of its own, where those calls of the runtime fail.
fn in_child(child: &str, faults: &str) {
    if !have(child, &[Need::HostCompiler]) {
        return;
    }
    // Built before it is asked for: a child does not build.
    hip_host::library();
    let program = std::env::current_exe().expect("this program should have a path");
    let mut command = Command::new(program);
    command.args([child, "--exact", "--ignored", "--nocapture"]);
    command.env("KILN_HIP_HOST_FAULTS", faults);
    let output = command.output().expect("the child should start");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{faults}: {said}");
    assert!(said.contains("1 passed"), "{said}");
}

/// Times batches of additions; what the device says of the first that fails.
fn time_batches() -> Result<(), String> {
    let kernels = kiln_kernels::catalogue();
    let kernel = kernels.iter().find(|kernel| kernel.name() == "tensor_add");
    let kernel = kernel.expect("the library should have tensor_add");
    let stream = Stream::default_of(hip_host::device());
    let problem = kernel.problem_of([ProblemValue::Type(ElemType::F32), ProblemValue::Size(5000)]);
    let prepared = prepare::get(kernel, &**stream.device(), Choice::Baseline, &problem)
        .expect("the baseline should load");
    let plan = kernel.plan(Choice::Baseline, &problem, None);
    let plan = plan.expect("the baseline should have a plan");
    let spec = Arc::new(kernel.spec().clone());
    let rig = Rig::new(&stream, &spec, &problem, 1, Layout::Plain);
    let rig = rig.expect("the rig should be made");
    for launches in [2, 2, 30] {
        rig.time(&prepared.release, &plan, launches)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[test]
fn a_batch_is_launched_as_one() {
    // The launches of a recording are no calls of the launch function: three batches have two, two and thirty.
    in_child(
        "child_fails_to_launch_the_third_graph",
        "hipGraphLaunch@3=1",
    );
    in_child("child_times", "hipGraphLaunch@4=1");
}

#[test]
fn where_recording_fails_batches_are_queued_and_it_is_not_tried_again() {
    for fault in [
        "hipStreamBeginCapture@1=801",
        "hipStreamEndCapture@1=900",
        "hipGraphInstantiate@1=2",
        "hipGraphUpload@1=801",
        "hipStreamCreateWithFlags@1=1",
    ] {
        in_child("child_times", &format!("{fault},hipGraphLaunch@1=1"));
    }
}

#[test]
fn a_recording_that_ends_the_process_is_no_reason_to_queue() {
    in_child("child_is_broken", "hipGraphInstantiate@1=719");
}

#[test]
#[ignore = "the child of another test"]
fn child_times() {
    time_batches().unwrap();
}

#[test]
#[ignore = "the child of another test"]
fn child_fails_to_launch_the_third_graph() {
    assert!(time_batches().unwrap_err().contains("hipGraphLaunch"));
}

#[test]
#[ignore = "the child of another test"]
fn child_is_broken() {
    let said = time_batches().unwrap_err();
    assert!(said.contains("(719)"), "{said}");
}
