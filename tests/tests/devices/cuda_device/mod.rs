//! Tests of the CUDA device on a stand-in for the driver: the calls that Kiln makes, their order, and the handling of
//! errors.
//!
//! NVRTC and all parts of Kiln are real. The stand-in (`tests/fixtures/cuda_driver/driver.c`) ends the process if it is
//! used incorrectly. Examples are freeing memory while work is queued, an invalid handle, and a call without the
//! context.

mod constants;
mod graphs;
mod refusals;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kiln::compiler::{Artifact, BuildKind};
use kiln::device::{Device, DeviceBackend, DeviceError, ErrorClass, Function, StreamHandle};
use kiln::kernel::Kernel;
use kiln::prepare;
use kiln::rig::{Layout, Rig};
use kiln::{Buffer, Choice, Graph, LaunchCause, LaunchError, Stream};
use kiln_kernels::tensor_add::tensor_add;
use kiln_spec::{Backend, ElemType, LaunchPlan, Problem, ProblemValue};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::child_test;
use kiln_tests::cuda_stand_in::{build, build_nvml};

/// Runs one of the ignored tests below in a separate process, with the stand-in as the driver.
fn in_child(child: &str) {
    in_child_with(child, &[]);
}

/// Like [`in_child`], with environment variables for the stand-in. Returns standard error, or `None` if skipped.
fn in_child_with(child: &str, variables: &[(&str, &str)]) -> Option<String> {
    let needs = [Need::HostCompiler, Need::CudaOccupancy, Need::Nvrtc];
    if !have(child, &needs) {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder should be made");
    build(folder.path());
    build_nvml(folder.path());
    let mut command = child_test(module_path!(), child);
    command.env("LD_LIBRARY_PATH", folder.path());
    // The cache is empty, so NVRTC compiles in the process that has loaded the driver.
    command.env("KILN_CACHE", folder.path().join("cache"));
    command.envs(variables.iter().copied());
    let output = command.output().expect("the child should start");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{child}: {}\n{said}",
        output.status
    );
    let ran = String::from_utf8_lossy(&output.stdout);
    assert!(ran.contains("1 passed"), "{ran}");
    Some(said)
}

fn device() -> Device {
    kiln::open("cuda:0").expect("the stand-in should open")
}

fn add(stream: &Stream, x: &[f32], y: &[f32]) -> Result<Vec<f32>, LaunchError> {
    let (x, y) = (
        Buffer::from_slice(stream, x).expect("there should be room"),
        Buffer::from_slice(stream, y).expect("there should be room"),
    );
    let mut sum = Buffer::<f32>::zeros(stream, x.len()).expect("there should be room");
    tensor_add(stream, x.len() as u32, &x, &y, &mut sum)?;
    Ok(sum.to_vec(stream).expect("the sum should be read"))
}

fn class_of(error: &LaunchError) -> ErrorClass {
    match error.cause() {
        LaunchCause::Device(error) => error.class(),
        LaunchCause::Prepare(prepare::PrepareError::Device(error)) => error.class(),
        other => panic!("{other}"),
    }
}

fn free_bytes(device: &dyn DeviceBackend) -> u64 {
    let error = device
        .alloc(1 << 40, 256)
        .expect_err("there is not so much");
    let DeviceError::Oom { wanted_bytes, text } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(*wanted_bytes, 1 << 40);
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words
        .iter()
        .position(|word| *word == "bytes")
        .expect("it should say what is free");
    words[at - 1].parse().expect("that should be a number")
}

fn kernel() -> &'static Kernel {
    let kernels = kiln_kernels::catalogue();
    kernels
        .iter()
        .find(|kernel| kernel.name() == "tensor_add")
        .expect("the library should have tensor_add")
}

/// The problem of adding `n` floats.
fn problem(n: i64) -> Problem {
    kernel().problem_of([ProblemValue::Type(ElemType::F32), ProblemValue::Size(n)])
}

/// The loaded baseline of `tensor_add`, its rig for `n` elements, and its launch plan.
fn baseline(stream: &Stream, n: i64) -> (Function, Rig, LaunchPlan) {
    baseline_of(kernel(), stream, &problem(n))
}

/// The loaded baseline of a kernel, its rig for a problem, and its launch plan.
fn baseline_of(
    kernel: &'static Kernel,
    stream: &Stream,
    problem: &Problem,
) -> (Function, Rig, LaunchPlan) {
    let device = stream.device();
    let prepared =
        prepare::get(kernel, device, Choice::Baseline, problem).expect("the baseline should load");
    let plan = kernel
        .plan(Choice::Baseline, problem, None)
        .expect("the baseline should have a plan");
    let spec = Arc::new(kernel.spec().clone());
    let rig = Rig::new(stream, &spec, problem, 1, Layout::Plain).expect("the rig should be made");
    (prepared.release.clone(), rig, plan)
}

#[test]
fn a_launch_function_adds_on_the_device() {
    in_child("child_adds");
}

#[test]
#[ignore = "the child of another test"]
fn child_adds() {
    let device = device();
    assert_eq!(device.info().limits.max_block, [1023, 1022, 63]);
    assert_eq!(device.info().limits.max_grid, [0x7fff_ffff, 65_535, 65_534]);
    assert!(device == kiln::open("cuda:0").unwrap());
    let before = free_bytes(&*device);
    for stream in [
        Stream::default_of(device.clone()),
        Stream::new(device.clone()).unwrap(),
    ] {
        assert_eq!(
            add(&stream, &[1.0, 2.0, 3.0], &[0.5; 3]).unwrap(),
            [1.5, 2.5, 3.5]
        );
        let long: Vec<f32> = (0..5000).map(|i| i as f32).collect();
        let doubled: Vec<f32> = long.iter().map(|x| 2.0 * x).collect();
        assert_eq!(add(&stream, &long, &long).unwrap(), doubled);
    }
    // Every thread makes the context current itself.
    let stream = Stream::default_of(device.clone());
    std::thread::scope(|scope| {
        for n in 14..40 {
            let stream = &stream;
            scope.spawn(move || {
                assert_eq!(
                    add(stream, &vec![1.0; n], &vec![2.0; n]).unwrap(),
                    vec![3.0; n]
                )
            });
        }
    });
    assert_eq!(free_bytes(&*device), before, "everything was freed");
}

#[test]
fn memory_whose_work_cannot_be_waited_for_is_kept_until_it_can() {
    in_child("child_keeps");
}

#[test]
#[ignore = "the child of another test"]
fn child_keeps() {
    let stream = Stream::new(device()).unwrap();
    let device = stream.device().clone();
    assert_eq!(add(&stream, &[1.0; 3], &[1.0; 3]).unwrap(), [2.0; 3]);
    let before = free_bytes(&*device);
    let x = Buffer::from_slice(&stream, &[1.0_f32; 17]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 17).unwrap();
    tensor_add(&stream, 17, &x, &x, &mut y).unwrap();
    // The queued launch still reads this memory, so it is not freed yet.
    drop(x);
    assert!(free_bytes(&*device) < before);
    assert_eq!(y.to_vec(&stream).unwrap(), [2.0; 17]);
    drop(y);
    assert_eq!(free_bytes(&*device), before, "what was kept is freed too");
}

#[test]
fn a_context_that_there_was_no_room_for_is_joined_later() {
    in_child_with("child_joins_later", &[("KILN_STAND_IN_RETAIN", "2")]);
}

#[test]
#[ignore = "the child of another test"]
fn child_joins_later() {
    let device = device();
    for _ in 0..2 {
        let error = Stream::new(device.clone()).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Oom, "{error}");
    }
    let stream = Stream::new(device).unwrap();
    assert_eq!(add(&stream, &[1.0; 3], &[1.0; 3]).unwrap(), [2.0; 3]);
}

#[test]
fn memory_is_zeroed_aligned_bounded_and_guarded() {
    in_child("child_allocates");
}

#[test]
#[ignore = "the child of another test"]
fn child_allocates() {
    let device = device();
    let before = free_bytes(&*device);
    let stream = StreamHandle::DEFAULT;
    for (bytes, align) in [(1, 1), (100, 64), (5000, 1 << 14), (0, 256), (4096, 4096)] {
        for guarded in [false, true] {
            let memory = match guarded {
                false => device.alloc(bytes, align).unwrap(),
                true => device.alloc_guarded(bytes, align).unwrap(),
            };
            assert_eq!(memory.address() % align as u64, 0);
            assert_eq!(
                (memory.bytes(), memory.device_index()),
                (bytes, device.index())
            );
            let mut seen = vec![1; bytes];
            memory.read(stream, 0, &mut seen).unwrap();
            assert_eq!(seen, vec![0; bytes]);
            memory.fill(stream, 0, bytes, 7).unwrap();
            memory
                .write(stream, bytes / 2, &vec![9; bytes - bytes / 2])
                .unwrap();
            memory.read(stream, 0, &mut seen).unwrap();
            assert_eq!(seen[..bytes / 2], vec![7; bytes / 2]);
            assert_eq!(seen[bytes / 2..], vec![9; bytes - bytes / 2]);
            let error = memory.read(stream, bytes, &mut [0]).unwrap_err();
            let outside = DeviceError::OutOfBounds {
                offset: bytes,
                end: bytes + 1,
                size_bytes: bytes,
            };
            assert_eq!(error, outside);
            assert!(memory.write(stream, usize::MAX, &[0]).is_err());
        }
    }
    assert!(device.alloc(10, 3).is_err());
    assert_eq!(free_bytes(&*device), before, "everything was freed");
}

#[test]
fn launches_are_refused_timed_and_counted() {
    in_child("child_launches");
}

#[test]
#[ignore = "the child of another test"]
fn child_launches() {
    let stream = Stream::new(device()).unwrap();
    let device = stream.device().clone();
    let (function, rig, plan) = baseline(&stream, 1000);
    assert_eq!(function.static_shared_bytes(), 1024);
    // The stand-in's clock advances by one microsecond per launch.
    let span_ns = rig.time(&function, &plan, 600).unwrap();
    assert!(span_ns.abs_diff(600_000) < 100, "{span_ns}");
    assert_eq!(device.info().timer_tick_ns, 10_000);
    assert_eq!(device.occupancy(&function, 256, 0).unwrap(), 6);
    assert_eq!(device.occupancy(&function, 256, 60_000).unwrap(), 5);

    let refused = |plan: LaunchPlan, says: &str| {
        let error = rig.launch(&function, &plan).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    refused(
        LaunchPlan {
            block: [1024, 1, 1],
            ..plan
        },
        "block x is 1024, but the device allows 1023",
    );
    refused(
        LaunchPlan {
            block: [513, 1, 1],
            ..plan
        },
        "threads over launch bounds: 513 threads per block",
    );
    refused(
        LaunchPlan {
            shared_bytes: 101_000,
            ..plan
        },
        "shared memory over a block's: 1024 static and 101000 dynamic bytes",
    );
    // This exceeds 48 KiB, which loading the kernel has enabled.
    rig.launch(
        &function,
        &LaunchPlan {
            shared_bytes: 100_000,
            ..plan
        },
    )
    .unwrap();

    let error = add(&stream, &[0.0; 7], &[0.0; 7]).unwrap_err();
    assert_eq!(class_of(&error), ErrorClass::LaunchRefused, "{error}");
    assert!(error.to_string().contains("error 701"), "{error}");
    assert_eq!(add(&stream, &[1.0; 3], &[1.0; 3]).unwrap(), [2.0; 3]);

    let closed = {
        let short = Stream::new(device.clone()).unwrap();
        short.handle()
    };
    assert!(matches!(
        device.synchronize_stream(closed),
        Err(DeviceError::NotFound { .. })
    ));
    assert!(matches!(
        device.synchronize_stream(StreamHandle(77)),
        Err(DeviceError::NotFound { .. })
    ));
}

#[test]
fn whoever_waits_for_a_stream_keeps_nobody_from_launching() {
    in_child("child_waits");
}

#[test]
#[ignore = "the child of another test"]
fn child_waits() {
    let streams = [device(), device()].map(|device| Stream::new(device).unwrap());
    let [slow, quick] = &streams;
    assert_eq!(add(quick, &[1.0; 3], &[1.0; 3]).unwrap(), [2.0; 3]);
    let [x, y] = [1.0_f32; 2].map(|x| Buffer::from_slice(quick, &[x; 20]).unwrap());
    let (mut sum, mut long) = (
        Buffer::<f32>::zeros(quick, 20).unwrap(),
        Buffer::<f32>::zeros(quick, 11).unwrap(),
    );
    let eleven = Buffer::from_slice(quick, &[1.0_f32; 11]).unwrap();
    tensor_add(slow, 11, &eleven, &eleven, &mut long).unwrap();
    let waited = AtomicBool::new(false);
    let pause = || std::thread::sleep(Duration::from_millis(300));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            slow.synchronize().unwrap();
            waited.store(true, Ordering::SeqCst);
        });
        pause();
        // Creating a stream must not wait for other streams. If it waited, no other thread could launch during that
        // time.
        let opened = scope.spawn(|| Stream::new(device()).unwrap().handle());
        pause();
        tensor_add(quick, 20, &x, &y, &mut sum).unwrap();
        assert!(!waited.load(Ordering::SeqCst), "the launch had to wait");
        opened.join().unwrap();
        // The slow stream ends after this one, so the order does not depend on the load of the machine.
        assert_eq!(sum.to_vec(quick).unwrap(), [2.0; 20]);
    });
}

#[test]
fn images_of_other_targets_and_damaged_ones_never_reach_the_driver() {
    in_child("child_loads");
}

#[test]
#[ignore = "the child of another test"]
fn child_loads() {
    let device = device();
    let image = |name: &str| {
        let images = kiln_tests::command::workspace().join("runtime/tests/images");
        std::fs::read(images.join(name)).unwrap()
    };
    let load = |bytes: Vec<u8>, backend, build| {
        device.load(&Artifact::new(
            backend,
            "sm_89",
            build,
            bytes,
            String::new(),
        ))
    };
    let release = |bytes| load(bytes, Backend::Cuda, BuildKind::Release);
    for name in ["sm_89.cuda12.cubin", "sm_89.cuda13.cubin"] {
        let module = release(image(name)).unwrap();
        let error = module.function("k").unwrap_err();
        assert!(matches!(error, DeviceError::NotFound { .. }), "{error:?}");
    }
    for name in [
        "sm_86.cuda13.cubin",
        "sm_90a.cuda12.cubin",
        "gfx1151.v5.hsaco",
    ] {
        let error = release(image(name)).unwrap_err();
        assert!(
            matches!(error, DeviceError::Load { .. }),
            "{name}: {error:?}"
        );
    }
    let whole = image("sm_89.cuda13.cubin");
    for kept in [0, 20, 64, whole.len() / 2, whole.len() - 1] {
        let error = release(whole[..kept].to_vec()).unwrap_err();
        assert!(
            matches!(error, DeviceError::Load { .. }),
            "{kept}: {error:?}"
        );
    }
    assert!(load(whole.clone(), Backend::Hip, BuildKind::Release).is_err());
    assert!(load(whole, Backend::Cuda, BuildKind::Check).is_err());
}

#[test]
fn a_kernel_that_takes_another_number_of_arguments_is_refused() {
    in_child("child_miscounts");
}

#[test]
#[ignore = "the child of another test"]
fn child_miscounts() {
    let stream = Stream::new(device()).unwrap();
    let (_, rig, plan) = baseline(&stream, 1000);
    let problem = problem(1000);
    let prepared = prepare::get(kernel(), stream.device(), Choice::Baseline, &problem).unwrap();
    // The receipt entry has one more parameter than the rig passes arguments.
    let error = rig
        .launch(&prepared.receipt, &plan)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("4 arguments given, but the kernel takes 5"),
        "{error}"
    );
}

#[test]
fn what_was_recorded_is_replayed_on_memory_that_outlives_it() {
    in_child("child_records");
}

#[test]
#[ignore = "the child of another test"]
fn child_records() {
    let stream = Stream::new(device()).unwrap();
    let device = stream.device().clone();
    assert_eq!(add(&stream, &[1.0; 3], &[1.0; 3]).unwrap(), [2.0; 3]);
    let before = free_bytes(&*device);

    let one = Buffer::from_slice(&stream, &[1.0_f32; 20]).unwrap();
    let x = Buffer::from_slice(&stream, &[5.0_f32; 20]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 20).unwrap();
    let mut z = Buffer::<f32>::zeros(&stream, 20).unwrap();
    let graph = Graph::capture(
        &stream,
        |stream| -> Result<(), Box<dyn std::error::Error>> {
            tensor_add(stream, 20, &x, &one, &mut y)?;
            tensor_add(stream, 20, &y, &one, &mut z)?;
            Ok(())
        },
    )
    .unwrap();
    assert_eq!(
        z.to_vec(&stream).unwrap(),
        [0.0; 20],
        "recording runs nothing"
    );
    graph.replay().unwrap();
    assert_eq!(z.to_vec(&stream).unwrap(), [7.0; 20]);
    z.copy_from_slice(&stream, &[0.0; 20]).unwrap();
    // The graph keeps the memory that it uses, although it has no other owner.
    drop((x, y, one));
    let held = before - free_bytes(&*device);
    assert!(held >= 4 * 80, "{held}");
    graph.replay().unwrap();
    assert_eq!(z.to_vec(&stream).unwrap(), [7.0; 20]);
    drop((graph, z));
    assert_eq!(free_bytes(&*device), before, "everything was freed");
}

#[test]
fn a_recording_that_is_spoiled_is_an_error_and_the_stream_goes_on() {
    in_child("child_spoils");
}

#[test]
#[ignore = "the child of another test"]
fn child_spoils() {
    let stream = Stream::new(device()).unwrap();
    let x = Buffer::from_slice(&stream, &[1.0_f32; 20]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 20).unwrap();
    tensor_add(&stream, 20, &x, &x, &mut y).unwrap();

    // Copies cannot be recorded.
    let copied = Graph::capture(&stream, |stream| x.to_vec(stream).map(|_| ()));
    assert!(
        matches!(copied, Err(DeviceError::Unsupported { .. })),
        "{copied:?}"
    );
    // The closure's error is returned. A panic in the closure also ends the recording.
    let failed = Graph::capture(&stream, |_| Err(DeviceError::internal("it", "said no")));
    assert!(failed.unwrap_err().to_string().contains("said no"));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = Graph::capture(&stream, |_| -> Result<(), DeviceError> {
            panic!("in the middle")
        });
    }));
    assert!(panicked.is_err());
    let default = Stream::default_of(stream.device().clone());
    let refused = Graph::capture(&default, |_| Ok::<(), DeviceError>(()));
    assert!(
        matches!(refused, Err(DeviceError::Unsupported { .. })),
        "{refused:?}"
    );

    assert_eq!(add(&stream, &[1.0; 3], &[1.0; 3]).unwrap(), [2.0; 3]);
    let graph = Graph::capture(&stream, |stream| {
        tensor_add(stream, 20, &x, &x, &mut y).map_err(|e| DeviceError::internal("launch", e))
    });
    graph.unwrap().replay().unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [2.0; 20]);
}

#[test]
fn a_broken_context_stays_broken_and_says_so() {
    in_child("child_breaks");
}

#[test]
#[ignore = "the child of another test"]
fn child_breaks() {
    let stream = Stream::new(device()).unwrap();
    let before = add(&stream, &[1.0; 3], &[1.0; 3]).unwrap();
    assert_eq!(before, [2.0; 3]);
    let x = Buffer::from_slice(&stream, &[1.0_f32; 13]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 13).unwrap();
    // The launch itself succeeds. The next call that waits reports its error.
    tensor_add(&stream, 13, &x, &x, &mut y).unwrap();
    let error = stream.synchronize().unwrap_err();
    assert_eq!(error.class(), ErrorClass::Sticky, "{error}");
    assert!(
        error.to_string().contains("700 CUDA_ERROR_ILLEGAL_ADDRESS"),
        "{error}"
    );
    let again = tensor_add(&stream, 13, &x, &x, &mut y).unwrap_err();
    assert_eq!(class_of(&again), ErrorClass::Sticky, "{again}");
    assert_eq!(y.to_vec(&stream).unwrap_err().class(), ErrorClass::Sticky);
    assert_eq!(
        stream.device().alloc(10, 1).unwrap_err().class(),
        ErrorClass::Sticky
    );
    assert_eq!(
        Stream::new(device()).unwrap_err().class(),
        ErrorClass::Sticky
    );
}

#[test]
fn a_batch_is_recorded_brought_to_the_device_and_timed_as_one() {
    // Queueing a launch takes the host nine times as long as the device needs for the launch.
    let variables = [("KILN_STAND_IN_HOST_US", "9"), ("KILN_STAND_IN_TRACE", "1")];
    let Some(said) = in_child_with("child_times_batches", &variables) else {
        return;
    };
    let calls: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("stand-in: call cu"))
        .collect();
    let (event, graph) = ("EventRecord", "GraphLaunch");
    let (begin, upload, create) = ("StreamBeginCapture", "GraphUpload", "EventCreate");
    // The first batch creates the filler. After that, every batch is queued behind the filler, which begins when the
    // events exist.
    let filler = [begin, upload];
    let batch = [begin, upload, create, create, graph, event, graph, event];
    let long = [
        begin, upload, begin, upload, create, create, graph, event, graph, graph, graph, event,
    ];
    assert_eq!(calls, [&filler[..], &batch, &batch, &batch, &long].concat());
}

#[test]
#[ignore = "the child of another test"]
fn child_times_batches() {
    // The default stream can be used, too, because recording uses a separate stream.
    let stream = Stream::default_of(device());
    let (function, rig, plan) = baseline(&stream, 1000);
    for (launches, ns) in [(1, 1000), (2, 2000), (600, 600_000), (10_000, 10_000_000)] {
        let span_ns = rig.time(&function, &plan, launches).unwrap();
        assert!(span_ns.abs_diff(ns) < ns / 100, "{launches}: {span_ns}");
    }
}

#[test]
fn the_start_of_a_batch_is_no_part_of_its_time() {
    in_child_with(
        "child_times_short_batches",
        &[("KILN_STAND_IN_START_US", "8")],
    );
}

#[test]
#[ignore = "the child of another test"]
fn child_times_short_batches() {
    let stream = Stream::new(device()).unwrap();
    let (function, rig, plan) = baseline(&stream, 1000);
    // A launch takes one microsecond, and an idle device needs eight microseconds before it begins. The time per launch
    // must be the same for any number of launches per sample.
    for launches in [1, 2, 3, 50] {
        let span_ns = rig.time(&function, &plan, launches).unwrap();
        assert!(
            span_ns.abs_diff(u64::from(launches) * 1000) < 10,
            "{launches}: {span_ns}"
        );
    }
}

#[test]
fn where_recording_is_refused_batches_are_queued_and_it_is_not_tried_again() {
    // The errors "not supported" and "out of memory".
    for code in ["801", "2"] {
        let variables = [
            ("KILN_STAND_IN_HOST_US", "9"),
            ("KILN_STAND_IN_TRACE", "1"),
            ("KILN_STAND_IN_RECORDING", code),
        ];
        let Some(said) = in_child_with("child_times_what_is_queued", &variables) else {
            return;
        };
        assert_eq!(
            said.matches("call cuStreamBeginCapture").count(),
            1,
            "{said}"
        );
        assert_eq!(said.matches("call cuGraphLaunch").count(), 0, "{said}");
    }
}

#[test]
#[ignore = "the child of another test"]
fn child_times_what_is_queued() {
    let stream = Stream::new(device()).unwrap();
    let (function, rig, plan) = baseline(&stream, 1000);
    for _ in 0..2 {
        let span_ns = rig.time(&function, &plan, 30).unwrap();
        assert!(span_ns.abs_diff(300_000) < 100, "{span_ns}");
    }
}

#[test]
fn a_recording_that_ends_the_process_is_no_reason_to_queue() {
    let refused = [("KILN_STAND_IN_RECORDING", "719")];
    in_child_with("child_breaks_while_recording", &refused);
}

#[test]
#[ignore = "the child of another test"]
fn child_breaks_while_recording() {
    let stream = Stream::new(device()).unwrap();
    let (function, rig, plan) = baseline(&stream, 1000);
    let error = rig.time(&function, &plan, 30).unwrap_err().to_string();
    assert!(error.contains("cuStreamBeginCapture: error 719"), "{error}");
}

#[test]
fn a_process_that_measures_keeps_nothing_in_the_cache() {
    for (result, calls) in [("0", 2), ("215", 1), ("719", 1)] {
        let variables = [
            ("KILN_STAND_IN_LIMIT", result),
            ("KILN_STAND_IN_TRACE", "1"),
        ];
        let Some(said) = in_child_with("child_is_made_ready", &variables) else {
            return;
        };
        assert_eq!(said.matches("call cuCtx").count(), calls, "{said}");
    }
}

#[test]
#[ignore = "the child of another test"]
fn child_is_made_ready() {
    let device = device();
    match device.ready_for_timing() {
        // A device without such a limit is ready to use.
        Ok(()) => assert_ne!(std::env::var("KILN_STAND_IN_LIMIT").unwrap(), "719"),
        Err(error) => assert_eq!(error.class(), ErrorClass::Sticky, "{error}"),
    }
}
