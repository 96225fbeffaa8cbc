//! Tests of forced choices, and of preparing a choice before the first launch.

use std::sync::{Arc, OnceLock};

use kiln::__private::{BakedRow, ConstDimension, ConstValue, Evidence, KernelParts};
use kiln::prepare::{self, PrepareError};
use kiln::spec::{Config, ElemType, ParamValue, Problem, ProblemValue};
use kiln::{Buffer, Choice, Device, Forced, Kernel, LaunchCause, Stream};

use crate::kernels::{scale, vector_add, whole};
use crate::launch::names_the_constraint;
use crate::rows::{self, FAKE};

fn cpu() -> Device {
    kiln::open("cpu").unwrap()
}

/// The problem of `scale` for an element type.
fn of_type(ty: ElemType) -> Problem {
    let declared = scale::KERNEL.spec().problems[0].iter();
    let values = declared.map(|(_, value)| match value {
        ProblemValue::Type(_) => ProblemValue::Type(ty),
        ProblemValue::Size(_) => ProblemValue::Size(1000),
    });
    scale::KERNEL.problem_of(values)
}

/// `scale` with one row, which is for `f32`.
fn scale_with_a_row() -> &'static Kernel {
    static KERNEL: OnceLock<Kernel> = OnceLock::new();
    KERNEL.get_or_init(|| {
        let spec = scale::KERNEL.spec();
        let config = Config::new([(spec.params[0].name.clone(), ParamValue::Int(128))]);
        let problem = of_type(ElemType::F32);
        let dims: Vec<ConstDimension> = problem
            .iter()
            .map(|(_, value)| match value {
                ProblemValue::Type(ty) => ConstDimension::Type(ty),
                ProblemValue::Size(size) => ConstDimension::Size(size),
            })
            .collect();
        let row = BakedRow {
            device: FAKE,
            problem: dims.leak(),
            config: vec![ConstValue::Int(128)].leak(),
            is_baseline: false,
            symbols: rows::symbols(&scale::KERNEL, &config, &problem),
            plan: spec.plan(&config, &problem, None).unwrap(),
            evidence: Evidence::Proven,
            image: None,
        };
        Kernel::new(KernelParts {
            inputs: None,
            rows: vec![row].leak(),
            ..*scale::KERNEL.parts()
        })
    })
}

#[test]
fn a_row_is_prepared_only_for_the_element_types_of_its_problem() {
    let kernel = scale_with_a_row();
    let row = |ty| prepare::get(kernel, &cpu(), Choice::Row(0), &of_type(ty));
    assert_eq!(
        row(ElemType::F32).unwrap().release.symbol(),
        kernel.rows()[0].symbols.cpu
    );
    // The row is loaded now. Its code must nevertheless not be used for elements of another size.
    let error = row(ElemType::F16).unwrap_err();
    assert!(
        matches!(error, PrepareError::OtherTypes { row: 0, .. }),
        "{error}"
    );
    let text = error.to_string();
    assert!(text.contains("T=f32") && text.contains("T=f16"), "{text}");
}

#[test]
fn a_forced_row_that_does_not_exist_is_an_error() {
    let stream = cpu().stream();
    let forced = Arc::new(Forced::new(&vector_add::KERNEL, Choice::Row(99)));
    let [x, y] = [1.0_f32, 2.0].map(|value| Buffer::from_slice(&stream, &[value]).unwrap());
    let mut sum = Buffer::zeros(&stream, 1).unwrap();
    let error = vector_add(&stream.forced(forced), 1, &x, &y, &mut sum).unwrap_err();
    let expected = PrepareError::NoSuchRow { row: 99, rows: 0 };
    assert_eq!(*error.cause(), LaunchCause::Prepare(expected));
}

#[test]
fn a_forced_choice_is_refused_for_sizes_that_a_constraint_excludes() {
    let stream: Stream = cpu().stream();
    let forced = Arc::new(Forced::new(&whole::KERNEL, Choice::Baseline));
    let launch = |n: u32| {
        let mut y = Buffer::<f32>::zeros(&stream, n as usize).unwrap();
        whole(&stream.forced(forced.clone()), n, &mut y)
    };
    launch(64).unwrap();
    let error = launch(100).unwrap_err();
    assert!(
        matches!(error.cause(), LaunchCause::InvalidForced { .. }),
        "{error:?}"
    );
    names_the_constraint(&error);
}

#[test]
fn preparing_fails_for_every_problem_whose_launch_would_fail() {
    let device = cpu();
    let prepare = |n: i64| {
        let problem = whole::KERNEL.problem_of([ProblemValue::Size(n)]);
        whole::KERNEL.prepare(&device, &problem)
    };
    prepare(64).unwrap();
    // A launch of nothing succeeds.
    prepare(0).unwrap();
    let error = prepare(100).unwrap_err();
    assert!(
        matches!(error.cause(), LaunchCause::NoValidConfig { .. }),
        "{error:?}"
    );
    prepare(20).unwrap_err();
    let error = prepare(1 << 50).unwrap_err();
    assert!(matches!(error.cause(), LaunchCause::Plan(_)), "{error:?}");
    // The size that stands for a size beyond 63 bits.
    let error = prepare(i64::MIN).unwrap_err();
    assert!(
        matches!(error.cause(), LaunchCause::SizeTooLarge { .. }),
        "{error:?}"
    );
}
