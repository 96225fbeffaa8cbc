//! The fake device behaves as its script specifies, and smoke tests detect its misbehaviour.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod kernels;
mod rows;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kiln::backend::fake::script::{
    CompileOutcome, FakeNoise, LaunchOutcome, OutputOutcome, ReceiptOutcome, Script, ScriptRule,
    Time, When,
};
use kiln::backend::fake::{FakeDevice, HostKernel};
use kiln::compiler::{BuildKind, CompileError, CompileLimits, CompileRequest};
use kiln::device::DeviceBackend as _;
use kiln::device::{DeviceError, ErrorClass, Function};
use kiln::rig::{Expected, Layout, Rig};
use kiln::smoke::{SmokeOptions, SmokeReport};
use kiln::spec::{ElemType, KernelSpec, LaunchPlan, ProblemValue};
use kiln::{Choice, Device, Stream};

fn script(rule: ScriptRule) -> Script {
    Script {
        placement: Some(1),
        rules: vec![rule],
        ..Script::default()
    }
}

fn smoke(script: Script) -> SmokeReport {
    let device = Device::from(FakeDevice::new(script));
    kiln::smoke::run(rows::kernel(), &device, &SmokeOptions::default(), |_, _| {})
}

#[test]
fn every_wrong_output_is_computed_as_scripted_and_seen() {
    use OutputOutcome::*;
    let wrong = [
        Zeros,
        Nan,
        OneNan,
        OneInfinite,
        Untouched,
        Partial(0.9),
        LastMissing,
        LastWrong,
        Scaled(1.001),
        Shifted,
        Reversed,
        ChangesInput,
        OneBlockOnly,
    ];
    for output in wrong {
        let report = smoke(script(ScriptRule {
            output: Some(output),
            ..ScriptRule::default()
        }));
        assert!(!report.passed(), "{output:?}\n{report}");
        // Later checks find a changed input as well, but name no entry.
        let told = report.to_string().contains(" was changed (");
        assert_eq!(told, output == ChangesInput, "{output:?}\n{report}");
    }
    assert!(smoke(script(ScriptRule::default())).passed());
}

#[test]
fn answers_that_are_right_at_first_go_wrong_later() {
    let kernel = rows::kernel();
    let reference = kernel.reference().unwrap();
    let problem = kernel.problem_of([100, 70].map(ProblemValue::Size));
    let expected = |seed| Expected::by_reference(reference, kernel.spec(), &problem, seed).unwrap();
    for (output, most_right) in [
        (OutputOutcome::Right, 20),
        (OutputOutcome::WrongAfter(3), 3),
        (OutputOutcome::WrongSometimes(0.5), 18),
    ] {
        let (rig, function, plan) = rig(ScriptRule {
            output: Some(output),
            ..ScriptRule::default()
        });
        // The same expected outputs, with which right ones were compared before.
        let expected = expected(1);
        let right = (0..20).filter(|_| {
            rig.reset().unwrap();
            rig.launch(&function, &plan).unwrap();
            rig.check(&expected).is_ok()
        });
        let right = right.count();
        assert!((1..=most_right).contains(&right), "{output:?}: {right}");
    }
    let (first, function, plan) = rig(ScriptRule {
        output: Some(OutputOutcome::FirstAnswer),
        ..ScriptRule::default()
    });
    let spec = Arc::new(kernel.spec().clone());
    let second = Rig::new(first.stream(), &spec, &problem, 2, Layout::Zones).unwrap();
    first.launch(&function, &plan).unwrap();
    second.launch(&function, &plan).unwrap();
    assert!(first.check(&expected(1)).is_ok());
    assert!(second.check(&expected(2)).is_err());
}

#[test]
fn stray_writes_hit_the_guard_zones_of_a_rig() {
    for (output, hits) in [
        (OutputOutcome::Right, false),
        (OutputOutcome::WritesBehind, true),
        (OutputOutcome::WritesBefore, true),
    ] {
        let (rig, function, plan) = rig(ScriptRule {
            output: Some(output),
            ..ScriptRule::default()
        });
        rig.launch(&function, &plan).unwrap();
        assert_eq!(rig.outputs().is_err(), hits, "{output:?}");
    }
}

/// A rig of `blend` on a device with one rule, and what is needed to launch the baseline on it.
fn rig(rule: ScriptRule) -> (Rig, Function, LaunchPlan) {
    let kernel = rows::kernel();
    let problem = kernel.problem_of([100, 70].map(ProblemValue::Size));
    let stream = Stream::default_of(FakeDevice::new(script(rule)));
    let spec: Arc<KernelSpec> = Arc::new(kernel.spec().clone());
    let rig = Rig::new(&stream, &spec, &problem, 1, Layout::Zones).unwrap();
    let prepared = kiln::prepare::get(kernel, stream.device(), Choice::Baseline, &problem);
    let plan = spec.baseline_plan(&problem, None).unwrap();
    (rig, prepared.unwrap().release.clone(), plan)
}

#[test]
fn every_false_receipt_is_seen() {
    use ReceiptOutcome::*;
    for receipt in [
        Missing,
        OldNonce,
        Symbol(1),
        Config(1),
        Block([128, 1, 1]),
        Grid([9, 9, 9]),
        SharedBytes(1),
        Threads(1),
    ] {
        let report = smoke(script(ScriptRule {
            // The rule matches the config of a single row, so only one launch is wrong.
            when: When {
                config: BTreeMap::from([("TILE_R".into(), "16".into())]),
                ..When::default()
            },
            receipt: Some(receipt),
            ..ScriptRule::default()
        }));
        let failed = report.failures().count();
        assert!(
            failed > 0 && failed < report.checks.len(),
            "{receipt:?}\n{report}"
        );
        assert!(report.to_string().contains("receipt"), "{report}");
    }
}

#[test]
fn refusals_and_faults_have_their_error_classes() {
    for (launch, class) in [
        (LaunchOutcome::Refused, ErrorClass::LaunchRefused),
        (LaunchOutcome::Oom, ErrorClass::Oom),
        (LaunchOutcome::KernelFault, ErrorClass::Invalid),
        (LaunchOutcome::Sticky, ErrorClass::Sticky),
        (LaunchOutcome::Lost, ErrorClass::DeviceLost),
    ] {
        let kernel = rows::kernel();
        let device = FakeDevice::new(script(ScriptRule {
            launch: Some(launch),
            ..ScriptRule::default()
        }));
        let stream = Stream::default_of(device.clone());
        let problem = kernel.problem_of([100, 70].map(ProblemValue::Size));
        let spec = Arc::new(kernel.spec().clone());
        let rig = Rig::new(&stream, &spec, &problem, 1, Layout::Plain).unwrap();
        let prepared =
            kiln::prepare::get(kernel, stream.device(), Choice::Baseline, &problem).unwrap();
        let plan = spec.baseline_plan(&problem, None).unwrap();
        let error = match rig.launch(&prepared.release, &plan).unwrap_err() {
            kiln::rig::RigError::Device(error) => error,
            other => panic!("{other}"),
        };
        assert_eq!(error.class(), class, "{error}");
        // After a sticky error, the device can no longer be used in this process.
        let usable = device.alloc(16, 16).is_ok();
        let sticks = matches!(launch, LaunchOutcome::Sticky | LaunchOutcome::Lost);
        assert_eq!(usable, !sticks);
    }
}

#[test]
fn compiles_fail_and_are_cut_as_scripted() {
    let kernel = rows::kernel();
    let problem = &kernel.spec().problems[0];
    let unit = kiln::prepare::generate(
        kernel,
        "blend",
        &kernel.config(Choice::Row(0)),
        problem,
        kiln::spec::Backend::Fake,
    )
    .unwrap();
    let compile = |outcome| {
        let device = FakeDevice::new(script(ScriptRule {
            compile: Some(outcome),
            ..ScriptRule::default()
        }));
        let mut request = CompileRequest::new("blend", unit.text.as_str());
        request.limits = CompileLimits {
            deadline: Duration::from_millis(50),
            memory_bytes: 1 << 20,
            ..CompileLimits::default()
        };
        device.compiler().unwrap().compile(&request)
    };
    assert!(compile(CompileOutcome::Works).is_ok());
    assert!(compile(CompileOutcome::SlowMs(1)).is_ok());
    let failed = compile(CompileOutcome::Fails("error: no".into())).unwrap_err();
    assert_eq!(failed.to_string(), "`blend` does not compile: error: no");
    assert!(matches!(
        compile(CompileOutcome::Endless),
        Err(CompileError::TimedOut { .. })
    ));
    assert!(matches!(
        compile(CompileOutcome::MemoryBomb),
        Err(CompileError::OutOfMemory { .. })
    ));
    let device = FakeDevice::new(Script::default());
    let request = CompileRequest::new("x", "int x;").with_build(BuildKind::Check);
    assert!(device.compiler().unwrap().compile(&request).is_err());
}

#[test]
fn an_allocation_beyond_the_devices_memory_is_refused_and_freed_memory_is_free() {
    let mut script = Script::default();
    script.limits.memory_bytes = 1000;
    let device = FakeDevice::new(script);
    let first = device.alloc(800, 16).unwrap();
    let error = device.alloc(300, 16).unwrap_err();
    assert!(
        matches!(
            error,
            DeviceError::Oom {
                wanted_bytes: 300,
                ..
            }
        ),
        "{error}"
    );
    drop(first);
    assert!(device.alloc(1000, 16).is_ok());
}

#[test]
fn times_follow_the_script_and_its_noise() {
    let time = |noise: FakeNoise, seed, config: Choice| -> Vec<u64> {
        let kernel = rows::kernel();
        let problem = kernel.problem_of([100, 70].map(ProblemValue::Size));
        let stream = Stream::default_of(FakeDevice::new(Script {
            seed,
            placement: Some(1),
            computes: false,
            noise,
            time: Time {
                base_ns: 1_000_000.0,
                factors: BTreeMap::from([(
                    "THREADS".to_owned(),
                    BTreeMap::from([("384".to_owned(), 0.5)]),
                )]),
                ..Time::default()
            },
            ..Script::default()
        }));
        let spec = Arc::new(kernel.spec().clone());
        let rig = Rig::new(&stream, &spec, &problem, 1, Layout::Plain).unwrap();
        let prepared = kiln::prepare::get(kernel, stream.device(), config, &problem).unwrap();
        let plan = kernel.plan(config, &problem, None).unwrap();
        (0..200)
            .map(|_| rig.time(&prepared.release, &plan, 2).unwrap())
            .collect()
    };
    let none = FakeNoise::default();
    assert!(
        time(none.clone(), 1, Choice::Baseline)
            .iter()
            .all(|&ns| ns == 2_000_000)
    );
    assert!(
        time(none, 1, Choice::Row(0))
            .iter()
            .all(|&ns| ns == 1_000_000)
    );
    let noisy = FakeNoise {
        sigma: 0.01,
        ..FakeNoise::default()
    };
    let times = time(noisy.clone(), 1, Choice::Baseline);
    assert_eq!(times, time(noisy.clone(), 1, Choice::Baseline));
    assert_ne!(times, time(noisy, 2, Choice::Baseline));
    let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
    assert!((mean / 2e6 - 1.0).abs() < 0.01, "{mean}");
    let throttled = FakeNoise {
        throttle_after: Some(100),
        throttle_factor: 1.5,
        ..FakeNoise::default()
    };
    let times = time(throttled, 1, Choice::Baseline);
    assert_eq!((times[99], times[100]), (2_000_000, 3_000_000));
    let spiky = FakeNoise {
        spike_probability: 0.1,
        spike_factor: 3.0,
        ..FakeNoise::default()
    };
    let times = time(spiky, 1, Choice::Baseline);
    let spikes = times.iter().filter(|&&ns| ns == 6_000_000).count();
    assert!((5..40).contains(&spikes), "{spikes}");
}

#[test]
fn a_host_kernel_computes_for_an_entry_without_a_rust_reference() {
    let kernel = &kernels::aligned::KERNEL;
    let spec = Arc::new(kernel.spec().clone());
    kiln::backend::fake::provide(
        "aligned",
        HostKernel {
            spec,
            compute: Arc::new(|call| {
                let x = call.input::<f32>(1);
                let mut y = call.take_output::<f32>(2);
                for (y, x) in y.iter_mut().zip(x) {
                    *y = f64::from(x);
                }
                call.put_output::<f32>(2, y);
            }),
        },
    );
    let stream = Stream::default_of(FakeDevice::new(Script::default()));
    let x = kiln::Buffer::from_slice(&stream, &[1.0f32; 8]).unwrap();
    let mut y = kiln::Buffer::zeros(&stream, 8).unwrap();
    kernels::aligned(&stream, 8, &x, &mut y).unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [1.0; 8]);
    assert_eq!(ElemType::F32, <f32 as kiln::Element>::TYPE);
}

const CHILD: &str = "KILN_FAKE_TEST_CHILD";

/// Runs a launch with this outcome in a child process, which is a second run of this test binary.
fn in_child(outcome: &str, deadline: Duration) -> Option<Output> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "a_child_launches_what_it_is_told_to",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(CHILD, outcome)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + deadline;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() >= end {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Some(child.wait_with_output().unwrap())
}

#[test]
#[ignore = "the child of other tests"]
fn a_child_launches_what_it_is_told_to() {
    let outcome = match std::env::var(CHILD).as_deref() {
        Ok("crash") => LaunchOutcome::Crash,
        Ok("abort") => LaunchOutcome::Abort,
        Ok("exit") => LaunchOutcome::Exit(7),
        Ok("hang") => LaunchOutcome::Hang,
        Ok("crash after 3") => LaunchOutcome::CrashAfter(3),
        _ => LaunchOutcome::Works,
    };
    let (rig, function, plan) = rig(ScriptRule {
        launch: Some(outcome),
        ..ScriptRule::default()
    });
    for launch in 0..5 {
        rig.launch(&function, &plan).unwrap();
        println!("launch {launch} is done");
    }
}

#[test]
fn crashes_aborts_exits_and_hangs_are_real() {
    let long = Duration::from_secs(60);
    let status = |outcome| in_child(outcome, long).unwrap().status;
    assert!(status("works").success());
    assert_eq!(status("crash").signal(), Some(11));
    assert_eq!(status("abort").signal(), Some(6));
    assert_eq!(status("exit").code(), Some(7));
    let late = in_child("crash after 3", long).unwrap();
    assert_eq!(late.status.signal(), Some(11));
    let said = String::from_utf8_lossy(&late.stdout).into_owned();
    assert!(
        said.contains("launch 2 is done") && !said.contains("launch 3"),
        "{said}"
    );
    assert!(in_child("hang", Duration::from_secs(2)).is_none());
}
