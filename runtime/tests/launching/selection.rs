//! Tests which baked row is selected for a device and a problem.

use std::sync::Arc;

use crate::rows;
use kiln::__private::{Evidence, KernelParts};
use kiln::backend::fake::{FakeDevice, Script};
use kiln::device::DeviceBackend as _;
use kiln::spec::expr::BinaryOp;
use kiln::spec::{Backend, Constraint, Expr, Problem, ProblemValue};
use kiln::{BaselineReason, Device, Kernel, Selection};

fn device(arch: &str, name: &str) -> Arc<FakeDevice> {
    FakeDevice::new(Script {
        arch: arch.into(),
        name: name.into(),
        ..Script::default()
    })
}

fn problem(rows: i64, columns: i64) -> Problem {
    rows::kernel().problem_of([rows, columns].map(ProblemValue::Size))
}

/// Selects as if the fake device had another backend.
fn select_as(backend: Backend, arch: &str, name: &str, problem: &Problem) -> Selection {
    let mut info = device(arch, name).info().clone();
    info.key.backend = backend;
    kiln::select::select(rows::kernel(), &info, problem)
}

#[test]
fn the_row_of_exactly_this_device_and_problem_comes_first() {
    let selection = select_as(Backend::Cuda, "sm_89", "NVIDIA L4", &problem(100, 70));
    assert_eq!(selection, Selection::Exact { row: 1 });
    let selection = select_as(Backend::Cuda, "sm_89", "NVIDIA L40", &problem(100, 70));
    assert_eq!(selection, Selection::Exact { row: 2 });
}

#[test]
fn then_the_same_problem_on_another_device_of_the_architecture() {
    let selection = select_as(Backend::Cuda, "sm_89", "NVIDIA L40", &problem(64, 256));
    assert_eq!(selection, Selection::SameArchitecture { row: 0 });
    let selection = select_as(Backend::Cuda, "sm_89", "NVIDIA RTX 4090", &problem(100, 70));
    assert_eq!(selection, Selection::SameArchitecture { row: 1 });
}

#[test]
fn then_the_nearest_problem_by_each_dimension_and_not_by_their_product() {
    // 64 x 256 and 256 x 64 have the same product; 100 x 70 is nearer to the second.
    let selection = select_as(Backend::Cuda, "sm_89", "NVIDIA L4", &problem(60, 300));
    assert!(
        matches!(selection, Selection::Nearest { row: 0, same_device: true, distance } if distance < 1.0),
        "{selection}"
    );
    let selection = select_as(Backend::Cuda, "sm_89", "NVIDIA L4", &problem(256, 64));
    assert!(
        matches!(selection, Selection::Nearest { row: 1, .. }),
        "{selection}"
    );
}

#[test]
fn never_another_vendors_or_architectures_row() {
    for (backend, arch, name) in [
        (Backend::Cuda, "sm_86", "NVIDIA L4"),
        (Backend::Hip, "sm_89", "NVIDIA L4"),
        (Backend::Hip, "gfx1100", "Radeon 8060S"),
        (Backend::Cpu, "gfx1151", "Radeon 8060S"),
    ] {
        let selection = select_as(backend, arch, name, &problem(100, 70));
        let reason = BaselineReason::NoRowForDevice;
        assert_eq!(selection, Selection::Baseline { reason });
    }
}

#[test]
fn a_row_that_this_device_cannot_launch_gives_way() {
    let mut info = device("sm_89", "NVIDIA L4").info().clone();
    info.key.backend = Backend::Cuda;
    info.limits.max_threads_per_block = 128;
    let selection = kiln::select::select(rows::kernel(), &info, &problem(64, 256));
    // Both rows of the L4 need 384 threads. The rows of the other device need 64 and 128.
    assert!(
        matches!(
            selection,
            Selection::Nearest {
                row: 3,
                same_device: false,
                ..
            }
        ),
        "{selection}"
    );
    info.limits.max_threads_per_block = 32;
    let selection = kiln::select::select(rows::kernel(), &info, &problem(64, 256));
    let Selection::Baseline {
        reason: BaselineReason::NoValidRow { row: 0, why },
    } = selection
    else {
        panic!("{selection}")
    };
    assert!(why.contains("384"), "{why}");
}

#[test]
fn a_row_serves_no_other_problem_that_the_baseline_excludes() {
    let mut info = device("sm_89", "NVIDIA L4").info().clone();
    info.key.backend = Backend::Cuda;
    let mut spec = rows::kernel().spec().clone();
    let columns = spec.problems[0].iter().nth(1).unwrap().0.to_string();
    let (columns, most) = (Expr::Name(columns), Expr::Int(100));
    let narrow = Expr::Binary(BinaryOp::Le, Box::new(columns), Box::new(most));
    spec.baseline.entry = "simple".into();
    spec.baseline.constraints = vec![Constraint { expr: narrow }];
    let parts = KernelParts {
        spec_json: spec.to_json().leak(),
        ..rows::parts(&[])
    };
    let kernel: &'static Kernel = Box::leak(Box::new(Kernel::new(parts)));
    let select = |r, c| kiln::select::select(kernel, &info, &problem(r, c));
    // The row's own problem.
    assert_eq!(select(64, 256), Selection::Exact { row: 0 });
    assert!(matches!(select(101, 70), Selection::Nearest { row: 1, .. }));
    let Selection::Baseline {
        reason: BaselineReason::NoValidRow { why, .. },
    } = select(64, 257)
    else {
        panic!("{}", select(64, 257))
    };
    assert!(why.contains("the baseline, which excludes"), "{why}");
}

#[test]
fn rows_that_are_not_proven_are_used_only_where_the_author_accepts_them() {
    let device = Device::from(device("fake_1", "Kiln Fake"));
    let selection = rows::kernel().selection(&device, &problem(100, 70));
    assert!(
        matches!(selection, Selection::Nearest { row: 5, .. }),
        "{selection}"
    );
    let accepting: &'static Kernel =
        Box::leak(Box::new(Kernel::new(rows::parts(&[Evidence::Predicted]))));
    let selection = accepting.selection(&device, &problem(100, 70));
    assert_eq!(selection, Selection::Exact { row: 6 });
}

#[test]
fn the_launch_function_launches_what_is_selected() {
    use kiln::{Buffer, Stream};
    let stream = Stream::default_of(device("fake_1", "Kiln Fake"));
    for (r, c) in [
        (64, 256),
        (100, 70),
        (1, 1),
        (64, 256),
        (3, 1000),
        (7, 7),
        (9, 9),
    ] {
        let input: Vec<f32> = (0..r * c).map(|i| i as f32).collect();
        let input = Buffer::from_slice(&stream, &input).unwrap();
        let weight = Buffer::from_slice(&stream, &vec![2.0f32; c]).unwrap();
        let mut out = Buffer::zeros(&stream, r * c).unwrap();
        for _ in 0..2 {
            rows::blend_with_rows(&stream, r as u32, c as u32, &input, &weight, &mut out).unwrap();
        }
        let out = out.to_vec(&stream).unwrap();
        let want = |i: usize| 2.0 * i as f32 + (i / c) as f32;
        assert!((0..r * c).all(|i| out[i] == want(i)));
    }
}
