//! Tests of the generated launch function on the fake device: launches, checks and selection.

use crate::kernels::{self, scale, vector_add};
use kiln::{Buffer, Choice, DeviceError, Forced, LaunchCause, LaunchError, Selection, Stream, f16};

fn stream() -> Stream {
    Stream::default_of(kiln::open("fake").unwrap())
}

fn buffers(stream: &Stream, n: usize) -> (Buffer<f32>, Buffer<f32>, Buffer<f32>) {
    let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let b = vec![0.5; n];
    (
        Buffer::from_slice(stream, &a).unwrap(),
        Buffer::from_slice(stream, &b).unwrap(),
        Buffer::zeros(stream, n).unwrap(),
    )
}

#[test]
fn a_launch_computes_what_the_kernel_says() {
    let stream = stream();
    for n in [1, 7, 1000] {
        let (a, b, mut c) = buffers(&stream, n);
        for _ in 0..3 {
            vector_add(&stream, n as u32, &a, &b, &mut c).unwrap();
        }
        let want: Vec<f32> = (0..n).map(|i| i as f32 + 0.5).collect();
        assert_eq!(c.to_vec(&stream).unwrap(), want);
    }
}

#[test]
fn a_launch_takes_the_plan_of_its_own_sizes_after_others_with_as_many_elements() {
    // A launch on the cpu device runs exactly the blocks of its plan.
    let stream = Stream::default_of(kiln::open("cpu").unwrap());
    for (rows, columns) in [(2, 30), (30, 2), (2, 30)] {
        let mut y = Buffer::<f32>::zeros(&stream, 60).unwrap();
        kernels::number(&stream, rows, columns, &mut y).unwrap();
        let want: Vec<f32> = (0..60).map(|i| (i / columns + 1) as f32).collect();
        assert_eq!(y.to_vec(&stream).unwrap(), want);
    }
}

#[test]
fn sizes_that_a_constraint_excludes_are_refused_with_the_constraint() {
    let stream = Stream::default_of(kiln::open("cpu").unwrap());
    let launch = |n: u32| {
        let mut y = Buffer::<f32>::zeros(&stream, n as usize).unwrap();
        kernels::whole(&stream, n, &mut y).map(|()| y.to_vec(&stream).unwrap())
    };
    assert_eq!(launch(64).unwrap(), [1.0; 64]);
    let error = launch(100).unwrap_err();
    assert!(
        matches!(error.cause(), LaunchCause::NoValidConfig { .. }),
        "{error:?}"
    );
    names_the_constraint(&error);
    // The grid has no block, so nothing would be written.
    let error = launch(20).unwrap_err();
    assert!(
        matches!(error.cause(), LaunchCause::NoValidConfig { .. }),
        "{error:?}"
    );
    assert!(launch(0).unwrap().is_empty());
}

/// Checks that an error names the constraint that excludes `n=100`.
pub fn names_the_constraint(error: &LaunchError) {
    let text = error.to_string();
    assert!(
        text.contains("n=100") && text.contains("`n % THREADS == 0` is false with"),
        "{text}"
    );
}

#[test]
fn a_view_is_launched_where_it_lies() {
    let stream = stream();
    let (a, b, mut c) = buffers(&stream, 10);
    vector_add(
        &stream,
        4,
        &a.view(2..6),
        &b.view(..4),
        &mut c.view_mut(6..),
    )
    .unwrap();
    assert_eq!(
        c.to_vec(&stream).unwrap(),
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.5, 3.5, 4.5, 5.5]
    );
}

#[test]
fn a_generic_kernel_is_launched_for_each_of_its_types() {
    let stream = stream();
    let x = Buffer::from_slice(&stream, &[1.0f32, 2.0, 3.0]).unwrap();
    let mut y = Buffer::zeros(&stream, 3).unwrap();
    scale(&stream, 3, 2.0, &x, &mut y).unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [2.0, 4.0, 6.0]);
    let half = [1.0, 2.0, 3.0].map(f16::from_f32);
    let x = Buffer::from_slice(&stream, &half).unwrap();
    let mut y = Buffer::<f16>::zeros(&stream, 3).unwrap();
    scale(&stream, 3, 0.5, &x, &mut y).unwrap();
    assert_eq!(
        y.to_vec(&stream).unwrap(),
        [0.5, 1.0, 1.5].map(f16::from_f32)
    );
}

#[test]
fn a_wrong_length_is_refused_with_both_numbers_before_anything_runs() {
    let stream = stream();
    let (a, b, mut c) = buffers(&stream, 8);
    // Launch twice, because the second launch of a size uses the memo.
    vector_add(&stream, 8, &a, &b, &mut c).unwrap();
    for _ in 0..2 {
        let error = vector_add(&stream, 8, &a, &b.view(..7), &mut c).unwrap_err();
        assert!(matches!(
            error.cause(),
            LaunchCause::Length { argument, expected: 8, found: 7, .. } if argument == "b"
        ));
        assert!(error.to_string().contains("vector_add"), "{error}");
    }
}

#[test]
fn a_slice_that_the_config_cannot_load_is_refused() {
    let stream = stream();
    let (a, b, mut c) = buffers(&stream, 16);
    let error = kernels::aligned(&stream, 8, &a.view(1..9), &mut c.view_mut(..8)).unwrap_err();
    assert!(matches!(
        error.cause(),
        LaunchCause::Alignment { argument, align_bytes: 16, .. } if argument == "x"
    ));
    kernels::aligned(&stream, 8, &b.view(4..12), &mut c.view_mut(..8)).unwrap();
}

#[test]
fn memory_of_another_device_is_refused() {
    let stream = stream();
    let other = kiln::backend::fake::FakeDevice::new(kiln::backend::fake::Script::default());
    let other = Stream::default_of(other);
    let (a, _, mut c) = buffers(&stream, 4);
    let (_, b, _) = buffers(&other, 4);
    let error = vector_add(&stream, 4, &a, &b, &mut c).unwrap_err();
    assert!(matches!(error.cause(), LaunchCause::OtherDevice { argument, .. } if argument == "b"));
    let error = b.to_vec(&stream).unwrap_err();
    assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
}

#[test]
fn a_launch_of_no_elements_does_nothing() {
    let stream = stream();
    let (a, b, mut c) = buffers(&stream, 4);
    let before = c.to_vec(&stream).unwrap();
    vector_add(&stream, 0, &a.view(..0), &b.view(..0), &mut c.view_mut(..0)).unwrap();
    assert_eq!(c.to_vec(&stream).unwrap(), before);
}

#[test]
fn an_unbaked_kernel_selects_its_baseline_and_says_why() {
    let stream = stream();
    let kernel = &vector_add::KERNEL;
    let problem = kernel.spec().problems[0].clone();
    let selection = kernel.selection(stream.device(), &problem);
    assert!(
        matches!(selection, Selection::Baseline { .. }),
        "{selection}"
    );
    assert_eq!(selection.choice(), Choice::Baseline);
}

#[test]
fn a_forced_launch_is_recorded_with_its_symbol_and_plan() {
    let stream = stream();
    let forced = std::sync::Arc::new(Forced::new(&vector_add::KERNEL, Choice::Baseline));
    let (a, b, mut c) = buffers(&stream, 300);
    vector_add(&stream.forced(forced.clone()), 300, &a, &b, &mut c).unwrap();
    let launched = forced.take_launched();
    assert_eq!(launched.len(), 1);
    assert!(launched[0].symbol.starts_with("vector_add_"));
    assert_eq!(launched[0].plan.block, [128, 1, 1]);
    assert_eq!(launched[0].plan.grid, [3, 1, 1]);
}
