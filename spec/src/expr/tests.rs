//! Tests the printing, the evaluation and the three-valued logic of random expressions.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::device::limits::{DeviceLimit, DeviceLimits};
use crate::targets::CPU_LIMITS;
use crate::testing::{NAMES, any_expr, bool_expr};

/// A scope with values for some names and, optionally, a device.
#[derive(Clone, Debug, Default)]
struct Values {
    values: Vec<(&'static str, Value)>,
    limits: Option<DeviceLimits>,
}

impl Scope for Values {
    fn value(&self, name: &str) -> Option<Value> {
        if name == "row" || name == "column" || name == "f16" {
            return Some(Value::Name(name.into()));
        }
        let known = self.values.iter().find(|(known, _)| *known == name);
        known.map(|(_, value)| value.clone())
    }

    fn device(&self) -> Option<&DeviceLimits> {
        self.limits.as_ref()
    }
}

/// A scope with a value of the right kind for every name.
fn complete() -> impl Strategy<Value = Values> {
    (
        -2i64..20,
        -2i64..20,
        any::<bool>(),
        any::<bool>(),
        0i64..5000,
    )
        .prop_map(|(a, b, switch, row, n)| {
            let int = |x: i64| Value::Int(x.into());
            let layout: Arc<str> = if row { "row" } else { "column" }.into();
            let values = [
                int(a),
                int(b),
                Value::Bool(switch),
                Value::Name(layout),
                int(n),
            ];
            Values {
                values: NAMES.into_iter().zip(values).collect(),
                limits: Some(CPU_LIMITS),
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[cfg(feature = "parse")]
    #[test]
    fn an_expression_prints_to_text_that_parses_back_to_it(expr in any_expr()) {
        let text = expr.to_string();
        prop_assert_eq!(Expr::parse(&text).unwrap(), expr, "{}", text);
    }

    #[test]
    fn evaluation_never_panics(expr in any_expr(), scope in complete()) {
        let _ = evaluate(&expr, &scope);
        let _ = truth(&expr, &Values::default());
    }

    #[test]
    fn a_known_truth_is_that_of_every_completion(
        expr in bool_expr(),
        scope in complete(),
        keep in prop::collection::vec(any::<bool>(), 6),
    ) {
        let mut partial = scope.clone();
        let mut kept = keep.iter();
        partial.values.retain(|_| *kept.next().unwrap_or(&true));
        if !keep[5] {
            partial.limits = None;
        }
        let full = evaluate_bool(&expr, &scope);
        match (truth(&expr, &partial), full) {
            (Ok(Known::True), Ok(full)) => prop_assert!(full),
            (Ok(Known::False), Ok(full)) => prop_assert!(!full),
            // An unknown name makes `truth` return `Unknown`, not an error. If there is an error, it has another cause,
            // which must make the complete scope fail too.
            (Err(_), full) => prop_assert!(full.is_err()),
            _ => {}
        }
    }

    #[test]
    fn an_expression_survives_its_json(expr in any_expr()) {
        let json = serde_json::to_string(&expr).unwrap();
        prop_assert_eq!(serde_json::from_str::<Expr>(&json).unwrap(), expr);
    }
}

fn name(name: &str) -> Box<Expr> {
    Box::new(Expr::Name(name.into()))
}

#[test]
fn the_deepest_expression_survives_the_json_of_a_spec() {
    let mut expr = Expr::Name("n".into());
    while expr.depth() < Expr::MAX_DEPTH {
        expr = Expr::Call(BuiltinFunction::Min, vec![expr, Expr::Int(1)]);
    }
    let mut spec = crate::testing::plain_spec(Vec::new());
    let crate::model::ArgSpec::Slice(slice) = &mut spec.args[1] else {
        panic!("x should be a slice")
    };
    slice.fill = crate::model::Fill::Below(expr);
    let json = spec.to_json();
    assert_eq!(crate::KernelSpec::from_json(&json).unwrap(), spec);
}

#[test]
fn one_false_side_decides_where_the_other_is_unknown() {
    let unknown = || Expr::Binary(BinaryOp::Gt, name("missing"), name("A"));
    let small = Expr::Binary(
        BinaryOp::Lt,
        Box::new(Expr::Device(DeviceLimit::WarpSize)),
        Box::new(Expr::Int(1)),
    );
    let both = Expr::Binary(BinaryOp::And, Box::new(unknown()), Box::new(small));
    let device = Values {
        limits: Some(CPU_LIMITS),
        ..Values::default()
    };
    assert_eq!(truth(&both, &device), Ok(Known::False));
    assert_eq!(truth(&both, &Values::default()), Ok(Known::Unknown));
}

#[test]
fn a_guard_on_the_left_keeps_the_right_from_dividing_by_zero() {
    let zero = Values {
        values: vec![("A", Value::Int(8)), ("B", Value::Int(0))],
        limits: None,
    };
    let divides = Expr::Binary(
        BinaryOp::Eq,
        Box::new(Expr::Binary(BinaryOp::Rem, name("A"), name("B"))),
        Box::new(Expr::Int(0)),
    );
    let guard = Expr::Binary(BinaryOp::Ne, name("B"), Box::new(Expr::Int(0)));
    assert_eq!(
        evaluate_bool(&divides, &zero).unwrap_err().to_string(),
        "`A % B` divides by zero"
    );
    let guarded = Expr::Binary(BinaryOp::And, Box::new(guard), Box::new(divides));
    assert_eq!(evaluate_bool(&guarded, &zero), Ok(false));
}

#[test]
fn arithmetic_beyond_128_bits_is_an_error() {
    let mut expr = Expr::Int(i64::MAX);
    for _ in 0..3 {
        expr = Expr::Binary(BinaryOp::Mul, Box::new(expr.clone()), Box::new(expr));
    }
    let error = evaluate(&expr, &Values::default()).unwrap_err();
    assert!(matches!(error, EvalError::Overflow(_)), "{error}");
}

#[test]
fn shifts_bind_as_in_rust_and_are_by_0_to_62_bits() {
    let value = |text: &str| {
        let expr = Expr::parse(text).unwrap();
        assert_eq!(expr.to_string(), text);
        evaluate(&expr, &Values::default()).map_err(|error| error.to_string())
    };
    assert_eq!(value("1 << 3 + 1"), Ok(Value::Int(16)));
    assert_eq!(value("(1 << 3) + 1"), Ok(Value::Int(9)));
    assert_eq!(value("1 << 2 == 4"), Ok(Value::Bool(true)));
    assert_eq!(value("(-5) >> 1"), Ok(Value::Int(-3)));
    assert_eq!(value("1 << 62"), Ok(Value::Int(1 << 62)));
    for outside in ["1 << 63", "1 << (-1)", "1 >> 63"] {
        let error = value(outside).unwrap_err();
        assert!(error.contains("a shift is by 0 to 62 bits"), "{error}");
    }
}

#[test]
fn functions_do_what_their_documentation_says() {
    let int = |x| Expr::Int(x);
    let value = |function, arguments| {
        evaluate(&Expr::Call(function, arguments), &Values::default())
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        value(BuiltinFunction::DivCeil, vec![int(7), int(3)]),
        Ok(Value::Int(3))
    );
    assert_eq!(
        value(BuiltinFunction::DivCeil, vec![int(6), int(3)]),
        Ok(Value::Int(2))
    );
    assert_eq!(
        value(BuiltinFunction::NextPowerOfTwo, vec![int(65)]),
        Ok(Value::Int(128))
    );
    assert_eq!(
        value(BuiltinFunction::Min, vec![int(3), int(1), int(2)]),
        Ok(Value::Int(1))
    );
    assert_eq!(
        value(BuiltinFunction::SizeOf, vec![Expr::Name("f16".into())]),
        Ok(Value::Int(2))
    );
    assert_eq!(
        value(BuiltinFunction::SizeOf, vec![Expr::Name("row".into())]),
        Err("`size_of(row)`: size_of takes an element type".into())
    );
    assert_eq!(
        value(BuiltinFunction::DivCeil, vec![int(1), int(0)]),
        Err("`div_ceil(1, 0)` divides by zero".into())
    );
    assert_eq!(
        value(BuiltinFunction::DivCeil, vec![int(-1), int(2)]),
        Err("`div_ceil((-1), 2)`: div_ceil takes non-negative integers".into())
    );
    assert_eq!(
        value(BuiltinFunction::Min, vec![int(1)]),
        Err("`min(1)`: wrong number of arguments".into())
    );
}
