//! The hip backend records batches before it times them. If the runtime cannot record, it queues the launches one by
//! one.
use std::sync::Arc;

use kiln::rig::{HostPace, Layout, Rig, RigError};
use kiln::{Choice, Stream, prepare};
use kiln_spec::{ElemType, ProblemValue};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::child_test;
use kiln_tests::hip_host;

/// Runs one of the ignored tests below in a separate process, in which these calls of the runtime fail.
fn in_child(child: &str, faults: &str) {
    if !have(child, &[Need::HostCompiler]) {
        return;
    }
    // Builds the library first, because a child process must not build.
    hip_host::library();
    let mut command = child_test(module_path!(), child);
    command.env("KILN_HIP_HOST_FAULTS", faults);
    let output = command.output().expect("the child should start");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{faults}: {said}");
    assert!(said.contains("1 passed"), "{said}");
}

/// An addition on the host's runtime, ready to launch.
struct Addition {
    rig: Rig,
    release: kiln::device::Function,
    plan: kiln_spec::LaunchPlan,
}

fn addition_on(stream: Stream) -> Addition {
    let kernels = kiln_kernels::catalogue();
    let kernel = kernels.iter().find(|kernel| kernel.name() == "tensor_add");
    let kernel = kernel.expect("the library should have tensor_add");
    let problem = kernel.problem_of([ProblemValue::Type(ElemType::F32), ProblemValue::Size(5000)]);
    let prepared = prepare::get(kernel, stream.device(), Choice::Baseline, &problem)
        .expect("the baseline should load");
    let plan = kernel.plan(Choice::Baseline, &problem, None);
    let plan = plan.expect("the baseline should have a plan");
    let spec = Arc::new(kernel.spec().clone());
    let rig = Rig::new(&stream, &spec, &problem, 1, Layout::Plain);
    Addition {
        rig: rig.expect("the rig should be made"),
        release: prepared.release.clone(),
        plan,
    }
}

/// Times batches of additions, and returns the first error of the device.
fn time_batches() -> Result<(), String> {
    let Addition { rig, release, plan } = addition_on(Stream::default_of(hip_host::device()));
    for launches in [2, 2, 30] {
        rig.time(&release, &plan, launches)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[test]
fn a_batch_is_launched_as_one() {
    // Launches in a recording do not call the launch function. The three batches have two, two and thirty launches.
    // Each batch is a replay of its recording after a replay of the filler, so the sixth replay is the third batch.
    in_child(
        "child_fails_to_launch_the_third_batch",
        "hipGraphLaunch@6=1",
    );
    in_child("child_times", "hipGraphLaunch@7=1");
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
fn a_row_of_launches_is_paced_one_by_one_and_as_one_recording() {
    // The launches are recorded once. The recording is replayed once to warm up, and once for each of the five pairs,
    // so the sixth replay is the last one.
    in_child("child_paces", "hipStreamEndCapture@2=1,hipGraphLaunch@7=1");
    in_child("child_fails_to_pace", "hipGraphLaunch@6=1");
    // Seven launches are recorded, and seven launches run in each of six rows, which makes 49.
    in_child("child_paces", "hipModuleLaunchKernel@50=1");
    in_child("child_fails_to_pace", "hipModuleLaunchKernel@49=1");
}

#[test]
fn a_device_that_records_nothing_has_no_pace() {
    let stream = Stream::default_of(kiln::open("cpu").expect("the cpu device is always there"));
    if !have(
        "hip_timing a_device_that_records_nothing_has_no_pace",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let Addition { rig, release, plan } = addition_on(stream);
    let error = rig.host_pace(&release, &plan, 7, 5).unwrap_err();
    let unsupported = matches!(
        error,
        RigError::Device(kiln::DeviceError::Unsupported { .. })
    );
    assert!(unsupported, "{error:?}");
}

fn pace() -> Result<Vec<HostPace>, RigError> {
    let Addition { rig, release, plan } = addition_on(Stream::default_of(hip_host::device()));
    rig.host_pace(&release, &plan, 7, 5)
}

#[test]
#[ignore = "the child of another test"]
fn child_paces() {
    let pairs = pace().unwrap();
    assert_eq!(pairs.len(), 5);
    let spans = pairs
        .iter()
        .flat_map(|pair| [pair.one_by_one_ns, pair.replayed_ns]);
    assert!(spans.clone().all(|ns| ns > 0), "{pairs:?}");
}

#[test]
#[ignore = "the child of another test"]
fn child_fails_to_pace() {
    let error = pace().unwrap_err();
    let unsupported = matches!(
        error,
        RigError::Device(kiln::DeviceError::Unsupported { .. })
    );
    assert!(!unsupported, "{error:?}");
}

#[test]
#[ignore = "the child of another test"]
fn child_times() {
    time_batches().unwrap();
}

#[test]
#[ignore = "the child of another test"]
fn child_fails_to_launch_the_third_batch() {
    assert!(time_batches().unwrap_err().contains("hipGraphLaunch"));
}

#[test]
#[ignore = "the child of another test"]
fn child_is_broken() {
    let said = time_batches().unwrap_err();
    assert!(said.contains("(719)"), "{said}");
}
