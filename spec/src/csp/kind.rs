//! Derives the kind of an expression and, for numbers, the range that covers all values of its parameters.

use super::function::Function;
use super::python::{EXACT, floor_div};
use super::semantics::Semantics;
use super::value::{Outcome, Value};
use crate::expr::MAX_SHIFT;

/// Integers up to this magnitude are called safe. If the result of an operation is safe, the operation is computed in
/// 64 bits without overflow checks.
pub(super) const SAFE: i128 = 1 << 62;

/// The kind of an expression. It holds for every combination of its parameters' values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Always an integer in this range.
    Int { least: i64, most: i64 },
    /// Always a double other than NaN, in this range.
    Float { least: f64, most: f64 },
    /// Always a boolean.
    Bool,
    /// Always a name.
    Name,
    /// The kind is not known, or the expression may have no value.
    Any,
}

impl Kind {
    /// The kind of the integers from `least` to `most`. `Any` if the bounds are not safe.
    pub(super) fn ints(least: i128, most: i128) -> Kind {
        if least < -SAFE || most > SAFE {
            return Kind::Any;
        }
        Kind::Int {
            least: least as i64,
            most: most as i64,
        }
    }

    fn floats(bounds: &[f64]) -> Kind {
        if !bounds.iter().all(|bound| bound.is_finite()) {
            return Kind::Any;
        }
        Kind::Float {
            least: bounds.iter().copied().fold(f64::INFINITY, f64::min),
            most: bounds.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The most precise kind that contains all these outcomes.
    pub(super) fn of_all(values: impl IntoIterator<Item = Outcome>) -> Kind {
        let mut values = values.into_iter().map(Kind::of);
        let first = values.next().unwrap_or(Kind::Any);
        values.fold(first, Kind::union)
    }

    fn of(value: Outcome) -> Kind {
        match value {
            Some(Value::Int(x)) => Kind::ints(x, x),
            Some(Value::Float(x)) => Kind::floats(&[x]),
            Some(Value::Bool(_)) => Kind::Bool,
            Some(Value::Name(_)) => Kind::Name,
            None => Kind::Any,
        }
    }

    fn union(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Int { least: a, most: b }, Kind::Int { least: c, most: d }) => Kind::Int {
                least: a.min(c),
                most: b.max(d),
            },
            (Kind::Float { least: a, most: b }, Kind::Float { least: c, most: d }) => {
                Kind::floats(&[a, b, c, d])
            }
            (Kind::Bool, Kind::Bool) => Kind::Bool,
            (Kind::Name, Kind::Name) => Kind::Name,
            _ => Kind::Any,
        }
    }

    /// The kind as a number. In semantics that treat booleans as integers, a boolean becomes an integer from 0 to 1.
    pub(super) fn number(self, semantics: Semantics) -> Kind {
        match (self, semantics) {
            (Kind::Bool, Semantics::Python) => Kind::Int { least: 0, most: 1 },
            (kind, _) => kind,
        }
    }

    /// The range of an integer kind; `None` for other kinds.
    pub(super) fn range(self) -> Option<(i128, i128)> {
        match self {
            Kind::Int { least, most } => Some((least.into(), most.into())),
            _ => None,
        }
    }

    /// The bounds of a kind of doubles, or of a kind of integers if all of them can be converted to doubles exactly.
    /// `None` for other kinds.
    fn doubles(self) -> Option<(f64, f64)> {
        match self {
            Kind::Float { least, most } => Some((least, most)),
            Kind::Int { .. } => {
                let (least, most) = self.range()?;
                (least >= -EXACT && most <= EXACT).then_some((least as f64, most as f64))
            }
            _ => None,
        }
    }
}

/// The kind of a function's result.
pub(super) fn result(semantics: Semantics, function: Function, arguments: &[Kind]) -> Kind {
    proven(semantics, function, arguments).unwrap_or(Kind::Any)
}

fn proven(semantics: Semantics, function: Function, arguments: &[Kind]) -> Option<Kind> {
    use Function as F;
    let numbers: Vec<Kind> = arguments.iter().map(|k| k.number(semantics)).collect();
    match (function, arguments) {
        (F::Not | F::Truth, [Kind::Bool]) => return Some(Kind::Bool),
        (F::And | F::Or, [Kind::Bool, Kind::Bool]) => return Some(Kind::Bool),
        (F::Eq | F::Ne, [Kind::Bool, Kind::Bool] | [Kind::Name, Kind::Name]) => {
            return Some(Kind::Bool);
        }
        (F::Select, [Kind::Bool, x, y]) => return Some(x.union(*y)),
        (F::Not | F::Truth | F::And | F::Or | F::Select, _) => return None,
        _ => {}
    }
    if let Some(ranges) = numbers
        .iter()
        .map(|kind| kind.range())
        .collect::<Option<Vec<_>>>()
    {
        return integers(semantics, function, &ranges);
    }
    if semantics == Semantics::Kiln {
        return None;
    }
    let ranges = numbers.iter().map(|kind| kind.doubles());
    let mixed = matches!(function, F::Min | F::Max) && numbers.iter().any(|k| k.range().is_some());
    match ranges.collect::<Option<Vec<_>>>() {
        Some(ranges) if !mixed => doubles(function, &ranges),
        _ => None,
    }
}

fn integers(semantics: Semantics, function: Function, ranges: &[(i128, i128)]) -> Option<Kind> {
    use Function as F;
    Some(match (function, ranges) {
        (F::Eq | F::Ne | F::Lt | F::Le | F::Gt | F::Ge, [_, _]) => Kind::Bool,
        (F::Neg, [(a, b)]) => Kind::ints(-b, -a),
        (F::Abs, [(a, b)]) if *a <= 0 && *b >= 0 => Kind::ints(0, (-a).max(*b)),
        (F::Abs, [(a, b)]) => Kind::ints(a.abs().min(b.abs()), a.abs().max(b.abs())),
        (F::Add, [(a, b), (c, d)]) => Kind::ints(a + c, b + d),
        (F::Sub, [(a, b), (c, d)]) => Kind::ints(a - d, b - c),
        (F::Mul, [x, y]) => corners(*x, *y, |x, y| x.checked_mul(y))?,
        (F::Min, [(a, b), (c, d)]) => Kind::ints(*a.min(c), *b.min(d)),
        (F::Max, [(a, b), (c, d)]) => Kind::ints(*a.max(c), *b.max(d)),
        (F::TrueDiv, _) if semantics == Semantics::Python => {
            let exact = |(a, b): &(i128, i128)| *a >= -EXACT && *b <= EXACT;
            if !ranges.iter().all(exact) {
                return None;
            }
            let ranges: Vec<_> = ranges.iter().map(|r| (r.0 as f64, r.1 as f64)).collect();
            return doubles(function, &ranges);
        }
        (F::FloorDiv | F::TruncDiv | F::FloorMod | F::TruncRem, [_, (c, d)])
            if *c <= 0 && *d >= 0 =>
        {
            return None;
        }
        (F::FloorDiv, [x, y]) => corners(*x, *y, floor_div)?,
        (F::TruncDiv, [x, y]) => corners(*x, *y, |x, y| Some(x / y))?,
        (F::FloorMod, [_, (c, d)]) => Kind::ints((c + 1).min(0), (d - 1).max(0)),
        (F::TruncRem, [(a, b), (c, d)]) => {
            let most = c.abs().max(d.abs()) - 1;
            Kind::ints((*a).clamp(-most, 0), (*b).clamp(0, most))
        }
        (F::Shl | F::Shr, [_, (c, d)]) if *c < 0 || *d > MAX_SHIFT => return None,
        (F::Shl, [x, y]) => corners(*x, *y, |x, y| x.checked_mul(1 << y))?,
        (F::Shr, [x, y]) => corners(*x, *y, |x, y| Some(x >> y))?,
        (F::DivCeil, [(a, b), (c, d)]) if *a >= 0 && *c >= 1 => {
            Kind::ints((a + d - 1) / d, (b + c - 1) / c)
        }
        (F::NextPowerOfTwo, [(a, b)]) if *a >= 1 => Kind::ints(*a, b * 2),
        _ => return None,
    })
}

/// The range of a function that is monotone in each argument. Its extremes are at the corners of the arguments'
/// ranges.
fn corners(
    (a, b): (i128, i128),
    (c, d): (i128, i128),
    f: impl Fn(i128, i128) -> Option<i128>,
) -> Option<Kind> {
    let at = [f(a, c)?, f(a, d)?, f(b, c)?, f(b, d)?];
    let least = at.iter().min()?;
    let most = at.iter().max()?;
    Some(Kind::ints(*least, *most))
}

fn doubles(function: Function, ranges: &[(f64, f64)]) -> Option<Kind> {
    use Function as F;
    Some(match (function, ranges) {
        (F::Eq | F::Ne | F::Lt | F::Le | F::Gt | F::Ge, [_, _]) => Kind::Bool,
        (F::Neg, [(a, b)]) => Kind::floats(&[-a, -b]),
        (F::Abs, [(a, b)]) => Kind::floats(&[0.0, a.abs(), b.abs()]),
        (F::Add, [(a, b), (c, d)]) => Kind::floats(&[a + c, b + d]),
        (F::Sub, [(a, b), (c, d)]) => Kind::floats(&[a - d, b - c]),
        (F::Mul, [(a, b), (c, d)]) => Kind::floats(&[a * c, a * d, b * c, b * d]),
        (F::Min | F::Max, [(a, b), (c, d)]) => Kind::floats(&[*a, *b, *c, *d]),
        (F::TrueDiv | F::FloorDiv | F::FloorMod, [_, (c, d)]) if *c <= 0.0 && *d >= 0.0 => {
            return None;
        }
        (F::TrueDiv, [(a, b), (c, d)]) => Kind::floats(&[a / c, a / d, b / c, b / d]),
        (F::FloorDiv, [(a, b), (c, d)]) => {
            let quotients = [a / c, a / d, b / c, b / d];
            let least = quotients.iter().fold(f64::INFINITY, |x, y| x.min(*y)) - 1.0;
            Kind::floats(&[least, quotients.iter().fold(least, |x, y| x.max(*y)) + 1.0])
        }
        (F::FloorMod, [_, (c, d)]) => Kind::floats(&[c.min(0.0), d.max(0.0)]),
        _ => return None,
    })
}
