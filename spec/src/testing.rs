//! Specs and random expressions for the tests of this crate.

use proptest::prelude::*;

use crate::config::{Config, ParamValue};
use crate::device::limits::DeviceLimit;
use crate::expr::{BinaryOp, BuiltinFunction, Expr, UnaryOp};
use crate::model::{
    Access, ArgSpec, Baseline, Constraint, ElemRef, ElemType, Fill, Geometry, KernelSpec, Passing,
    ScalarArg, ScalarType, SliceArg, Tolerance, TunableParam, Work,
};
use crate::problem::{Problem, ProblemValue};

/// Names that random expressions use.
pub(crate) const NAMES: [&str; 5] = ["A", "B", "SWITCH", "LAYOUT", "n"];

/// Any expression. Its operands may have the wrong kind (an integer instead of a boolean, for example).
pub(crate) fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Expr::Int),
        (-3i64..40).prop_map(Expr::Int),
        any::<bool>().prop_map(Expr::Bool),
        prop::sample::select(&NAMES[..]).prop_map(|name| Expr::Name(name.into())),
        prop::sample::select(&["row", "f16"][..]).prop_map(|name| Expr::Name(name.into())),
        prop::sample::select(DeviceLimit::ALL).prop_map(Expr::Device),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        prop_oneof![
            (
                prop::sample::select(&[UnaryOp::Neg, UnaryOp::Not][..]),
                inner.clone()
            )
                .prop_map(|(op, x)| Expr::Unary(op, Box::new(x))),
            (
                prop::sample::select(&OPERATORS[..]),
                inner.clone(),
                inner.clone()
            )
                .prop_map(|(op, x, y)| Expr::Binary(op, Box::new(x), Box::new(y))),
            (
                prop::sample::select(&BuiltinFunction::ALL[..]),
                prop::collection::vec(inner, 1..4)
            )
                .prop_filter_map("argument count", |(function, arguments)| {
                    let fits = function.accepts(arguments.len());
                    fits.then_some(Expr::Call(function, arguments))
                }),
        ]
    })
}

const OPERATORS: [BinaryOp; 15] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::And,
    BinaryOp::Or,
];

/// An integer expression over `A`, `B` and `n` whose operands have the right kinds.
pub(crate) fn int_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-2i64..20).prop_map(Expr::Int),
        prop::sample::select(&["A", "B", "n"][..]).prop_map(|name| Expr::Name(name.into())),
        Just(Expr::Device(DeviceLimit::WarpSize)),
    ];
    leaf.prop_recursive(2, 8, 2, |inner| {
        let pair = (inner.clone(), inner);
        prop_oneof![
            (prop::sample::select(&OPERATORS[..7]), pair.clone())
                .prop_map(|(op, (x, y))| Expr::Binary(op, Box::new(x), Box::new(y))),
            (
                prop::sample::select(
                    &[
                        BuiltinFunction::Min,
                        BuiltinFunction::Max,
                        BuiltinFunction::DivCeil
                    ][..]
                ),
                pair
            )
                .prop_map(|(function, (x, y))| Expr::Call(function, vec![x, y])),
        ]
    })
}

/// A boolean expression over the parameters of [`random_spec`] whose operands have the right kinds.
pub(crate) fn bool_expr() -> impl Strategy<Value = Expr> {
    let name = |name: &str| Box::new(Expr::Name(name.into()));
    let comparison = (
        prop::sample::select(&OPERATORS[7..13]),
        int_expr(),
        int_expr(),
    )
        .prop_map(|(op, x, y)| Expr::Binary(op, Box::new(x), Box::new(y)));
    let leaf = prop_oneof![
        4 => comparison,
        1 => Just(*name("SWITCH")),
        1 => prop::sample::select(&["row", "column"][..])
            .prop_map(move |choice| Expr::Binary(BinaryOp::Eq, name("LAYOUT"), name(choice))),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|x| Expr::Unary(UnaryOp::Not, Box::new(x))),
            (
                prop::sample::select(&[BinaryOp::And, BinaryOp::Or][..]),
                inner.clone(),
                inner
            )
                .prop_map(|(op, x, y)| Expr::Binary(op, Box::new(x), Box::new(y))),
        ]
    })
}

/// A small spec with random values, constraints and geometry; its baseline has a separate entry.
pub(crate) fn random_spec() -> impl Strategy<Value = KernelSpec> {
    let ints = || prop::collection::btree_set(-1i64..40, 1..5);
    (
        ints(),
        ints(),
        prop::collection::vec(bool_expr(), 0..4),
        int_expr(),
        int_expr(),
        prop::option::of(int_expr()),
    )
        .prop_map(|(a, b, constraints, grid, block, shared_bytes)| {
            let ints = |name: &str, values: &std::collections::BTreeSet<i64>| TunableParam {
                name: name.into(),
                values: values.iter().map(|x| ParamValue::Int(*x)).collect(),
            };
            let values = |name: &str, values: &[ParamValue]| TunableParam {
                name: name.into(),
                values: values.to_vec(),
            };
            let mut spec = plain_spec(vec![
                ints("A", &a),
                values("SWITCH", &[ParamValue::Bool(false), ParamValue::Bool(true)]),
                ints("B", &b),
                values(
                    "LAYOUT",
                    &[
                        ParamValue::Choice("row".into()),
                        ParamValue::Choice("column".into()),
                    ],
                ),
            ]);
            spec.constraints = constraints
                .into_iter()
                .map(|expr| Constraint { expr })
                .collect();
            spec.geometry = Geometry {
                grid: vec![grid],
                block: vec![block],
                shared_bytes,
            };
            spec
        })
}

/// A kernel that reads `x` and writes `y`, both with `n` elements, with these parameters and without constraints. The
/// baseline is the entry `simple` with one thread per block.
pub(crate) fn plain_spec(params: Vec<TunableParam>) -> KernelSpec {
    let one = || Geometry {
        grid: vec![Expr::Name("n".into())],
        block: vec![Expr::Int(1)],
        shared_bytes: None,
    };
    let slice = |name: &str, access| {
        ArgSpec::Slice(SliceArg {
            name: name.into(),
            elem: ElemRef::Fixed(ElemType::F32),
            access,
            len: Expr::Name("n".into()),
            fill: Fill::Uniform {
                low: -1.0,
                high: 1.0,
            },
            align: None,
            tolerance: None,
            compare: None,
            constant: None,
        })
    };
    let first = params.iter().map(|p| (p.name.clone(), p.values[0].clone()));
    KernelSpec {
        name: "plain".into(),
        source: "plain.cu".into(),
        entry: "plain".into(),
        geometry: one(),
        baseline: Baseline {
            entry: "simple".into(),
            config: Config::new(first),
            geometry: Some(one()),
            constraints: Vec::new(),
        },
        params,
        problems: vec![Problem::new([("n".into(), ProblemValue::Size(1000))])],
        tolerance: Tolerance {
            relative: 1e-5,
            absolute: 0.0,
        },
        args: vec![
            ArgSpec::Scalar(ScalarArg {
                name: "n".into(),
                ty: ScalarType::U32,
                value: None,
                passing: Passing::Given,
            }),
            slice("x", Access::In),
            slice("y", Access::Out),
        ],
        ..bare_spec()
    }
}

/// A kernel `k` without arguments, parameters or problems. It launches one block with one thread and is its own
/// baseline.
pub(crate) fn bare_spec() -> KernelSpec {
    let one = || vec![Expr::Int(1)];
    KernelSpec {
        name: "k".into(),
        source: "k.cu".into(),
        entry: "k".into(),
        types: Vec::new(),
        params: Vec::new(),
        constraints: Vec::new(),
        geometry: Geometry {
            grid: one(),
            block: one(),
            shared_bytes: None,
        },
        baseline: Baseline {
            entry: "k".into(),
            config: Config::default(),
            geometry: None,
            constraints: Vec::new(),
        },
        problems: Vec::new(),
        gpu_problems: Vec::new(),
        try_first: Vec::new(),
        only: Vec::new(),
        equal_stores: false,
        unwritten_reads: false,
        verify: Vec::new(),
        work: Work::default(),
        tolerance: Tolerance {
            relative: 0.0,
            absolute: 0.0,
        },
        reference: None,
        inputs: None,
        args: Vec::new(),
    }
}
