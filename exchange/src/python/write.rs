//! Writes expressions of a spec as Python expressions that have the same value for every config. The two languages
//! differ: in a spec, `/` rounds towards zero, `%` has the sign of the dividend, and an expression such as a division
//! by zero has no value.

use kiln_spec::expr::{BinaryOp, BuiltinFunction, MAX_SHIFT, UnaryOp};
use kiln_spec::model::ElemType;
use kiln_spec::plan::LaunchScope;
use kiln_spec::{Expr, ParamValue, Scope, Value};

use super::error::TranslateError;

/// An expression in Python.
#[derive(Clone, Debug)]
pub(crate) struct Translation {
    /// The text of the expression.
    pub(crate) text: String,
    /// The precedence of the outermost operator.
    strength: u8,
    /// The smallest and the largest possible value of an integer expression; `None` if the expression is not an
    /// integer.
    range: Option<(i128, i128)>,
    /// The truth value of the expression if it is known to be the same for every config; otherwise `None`.
    pub(crate) truth: Option<bool>,
    /// Conditions that must all hold for the expression to have a value. None of them needs parentheses in a
    /// conjunction.
    guards: Vec<String>,
}

const SELECT: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARISON: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const SIGN: u8 = 7;
const ATOM: u8 = 8;

impl Translation {
    fn new(text: String, strength: u8) -> Translation {
        Translation {
            text,
            strength,
            range: None,
            truth: None,
            guards: Vec::new(),
        }
    }

    fn int(value: i128) -> Translation {
        let strength = if value < 0 { SIGN } else { ATOM };
        Translation::new(value.to_string(), strength).within(value, value)
    }

    fn within(mut self, least: i128, most: i128) -> Translation {
        self.range = Some((least, most));
        self
    }

    /// The text as an operand of an operator with precedence `outer`, in parentheses if it needs them.
    fn inside(&self, outer: u8) -> String {
        match self.strength < outer {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }

    fn guarded(mut self, parts: &[&Translation]) -> Translation {
        let guards = parts.iter().flat_map(|part| part.guards.iter().cloned());
        let own = std::mem::take(&mut self.guards);
        self.guards = guards.chain(own).collect();
        self.guards.dedup();
        self
    }

    /// Joins the guards and the text with `and`, for contexts in which a missing value means false.
    fn folded(mut self) -> Translation {
        if self.guards.is_empty() {
            return self;
        }
        let text = self.inside(AND);
        self.guards.push(text);
        Translation::new(self.guards.join(" and "), AND)
    }

    fn bounds(&self) -> Result<(i128, i128), TranslateError> {
        self.range.ok_or_else(|| TranslateError::NotAnInteger {
            text: self.text.clone(),
        })
    }
}

/// Writes a constraint, which is true for the same configs as `expr`.
///
/// # Errors
/// Python cannot express the constraint with the same value.
pub(crate) fn condition(
    expr: &Expr,
    scope: &LaunchScope<'_>,
) -> Result<Translation, TranslateError> {
    Ok(truth(expr, scope, true)?.folded())
}

/// Writes an integer expression that has a value for every config.
///
/// # Errors
/// The errors of [`condition`], or the expression has no value for some configs.
pub(crate) fn integer(expr: &Expr, scope: &LaunchScope<'_>) -> Result<String, TranslateError> {
    let piece = piece(expr, scope)?;
    match piece.guards.first() {
        None => Ok(piece.text),
        Some(guard) => Err(TranslateError::Undefined {
            expr: expr.to_string(),
            guard: guard.clone(),
        }),
    }
}

/// Writes an expression as a truth value. If `lenient` is set, an expression without a value counts as false.
fn truth(
    expr: &Expr,
    scope: &LaunchScope<'_>,
    lenient: bool,
) -> Result<Translation, TranslateError> {
    let Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y) = expr else {
        return piece(expr, scope);
    };
    let (word, strength, deciding) = match op {
        BinaryOp::And => ("and", AND, false),
        _ => ("or", OR, true),
    };
    // If the left side of `or` has no value, `or` has none either, even if the right side is true.
    let x = truth(x, scope, lenient && *op == BinaryOp::And)?;
    let y = truth(y, scope, lenient)?;
    let y = match (lenient, y.guards.first()) {
        (true, _) | (false, None) => y.folded(),
        (false, Some(guard)) => {
            return Err(TranslateError::UndefinedRight {
                expr: expr.to_string(),
                guard: guard.clone(),
            });
        }
    };
    let mut both = Translation::new(
        format!("{} {word} {}", x.inside(strength), y.inside(strength)),
        strength,
    );
    both.truth = match (x.truth, y.truth) {
        (Some(x), _) if x == deciding => Some(deciding),
        (Some(_), y) => y,
        _ => None,
    };
    Ok(both.guarded(&[&x]))
}

fn piece(expr: &Expr, scope: &LaunchScope<'_>) -> Result<Translation, TranslateError> {
    match expr {
        Expr::Int(x) => Ok(Translation::int((*x).into())),
        Expr::Bool(x) => Ok(of_bool(*x)),
        Expr::Name(name) => named(name, scope),
        Expr::Device(limit) => {
            let limits = scope.limits.ok_or(TranslateError::NoDevice)?;
            Ok(Translation::int(limit.of(limits).into()))
        }
        Expr::Unary(UnaryOp::Not, x) => {
            let x = truth(x, scope, false)?;
            let mut piece = Translation::new(format!("not {}", x.inside(NOT)), NOT);
            piece.truth = x.truth.map(|truth| !truth);
            Ok(piece.guarded(&[&x]))
        }
        Expr::Unary(UnaryOp::Neg, x) => {
            let x = piece(x, scope)?;
            let (least, most) = x.bounds()?;
            let range = most.checked_neg().zip(least.checked_neg());
            arithmetic(format!("-{}", x.inside(ATOM)), SIGN, range, &[&x])
        }
        Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => truth(expr, scope, false),
        Expr::Binary(op, x, y) => binary(*op, &piece(x, scope)?, &piece(y, scope)?),
        Expr::Call(function, arguments) => call(*function, arguments, scope),
    }
}

fn of_bool(truth: bool) -> Translation {
    let text = if truth { "True" } else { "False" };
    let mut piece = Translation::new(text.into(), ATOM);
    piece.truth = Some(truth);
    piece
}

/// Writes a name. A parameter keeps its name; any other name becomes a constant.
fn named(name: &str, scope: &LaunchScope<'_>) -> Result<Translation, TranslateError> {
    let Some(param) = scope.spec.params.iter().find(|param| &*param.name == name) else {
        return match scope.value(name) {
            Some(Value::Int(x)) => Ok(Translation::int(x)),
            Some(Value::Bool(x)) => Ok(of_bool(x)),
            Some(Value::Name(x)) => Ok(Translation::new(format!("'{x}'"), ATOM)),
            None => Err(TranslateError::UnknownName { name: name.into() }),
        };
    };
    let piece = Translation::new(name.to_owned(), ATOM);
    let int = |value: &ParamValue| match value {
        ParamValue::Int(x) => Some(i128::from(*x)),
        _ => None,
    };
    let values: Option<Vec<i128>> = param.values.iter().map(int).collect();
    let values = values.unwrap_or_default();
    match (values.iter().min(), values.iter().max()) {
        (Some(least), Some(most)) => Ok(piece.within(*least, *most)),
        _ => Ok(piece),
    }
}

/// Creates an arithmetic result with a range. It is an error if the result may need more than 128 bits (`range` is
/// `None`), because the spec's expression would then have no value, but the Python expression would have one.
fn arithmetic(
    text: String,
    strength: u8,
    range: Option<(i128, i128)>,
    parts: &[&Translation],
) -> Result<Translation, TranslateError> {
    let (least, most) = range.ok_or_else(|| TranslateError::TooWide { text: text.clone() })?;
    Ok(Translation::new(text, strength)
        .within(least, most)
        .guarded(parts))
}

/// Writes any binary operator except `and` and `or`, which [`truth`] writes.
fn binary(op: BinaryOp, x: &Translation, y: &Translation) -> Result<Translation, TranslateError> {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let strength = if op == BinaryOp::Mul { PRODUCT } else { SUM };
            let range = corners(x.bounds()?, y.bounds()?, |x, y| match op {
                BinaryOp::Add => x.checked_add(y),
                BinaryOp::Sub => x.checked_sub(y),
                _ => x.checked_mul(y),
            });
            let text = format!(
                "{} {} {}",
                x.inside(strength),
                op.symbol(),
                y.inside(strength + 1)
            );
            arithmetic(text, strength, range, &[x, y])
        }
        BinaryOp::Div | BinaryOp::Rem => quotient(op, x, y),
        BinaryOp::Shl | BinaryOp::Shr => shift(op, x, y),
        _ => Ok(comparison(op, x, y)),
    }
}

/// The smallest and the largest result of `apply` at the corners of two ranges; `None` if it has no value at a corner.
fn corners(
    x: (i128, i128),
    y: (i128, i128),
    apply: impl Fn(i128, i128) -> Option<i128>,
) -> Option<(i128, i128)> {
    let all = [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)];
    let all: Option<Vec<i128>> = all.into_iter().map(|(x, y)| apply(x, y)).collect();
    let all = all?;
    Some((*all.iter().min()?, *all.iter().max()?))
}

/// Writes `/` and `%`. Python rounds down and the spec rounds towards zero. If no operand is negative, both give the
/// same result.
fn quotient(op: BinaryOp, x: &Translation, y: &Translation) -> Result<Translation, TranslateError> {
    let (from, to) = (x.bounds()?, y.bounds()?);
    let largest = from.0.unsigned_abs().max(from.1.unsigned_abs());
    let largest = i128::try_from(largest).map_err(|_| TranslateError::TooWide {
        text: x.text.clone(),
    })?;
    let plain = from.0 >= 0 && to.0 >= 0;
    let (dividend, divisor) = (x.inside(PRODUCT), y.inside(SIGN));
    // If the signs of x and y differ, (-x) / y is not negative, so rounding it down rounds it towards zero. Negating
    // the result therefore gives x / y rounded towards zero.
    let towards_zero = format!(
        "({dividend} // {divisor} if ({x} >= 0) == ({y} > 0) else -(-{minus} // {divisor}))",
        x = x.inside(SUM),
        y = y.inside(SUM),
        minus = x.inside(ATOM),
    );
    let (text, strength, range) = match (op, plain) {
        (BinaryOp::Div, true) => (format!("{dividend} // {divisor}"), PRODUCT, (0, largest)),
        (BinaryOp::Div, false) => (towards_zero, ATOM, (-largest, largest)),
        (_, true) => (format!("{dividend} % {divisor}"), PRODUCT, (0, largest)),
        (_, false) => {
            let text = format!("{} - {towards_zero} * {divisor}", x.inside(SUM));
            (text, SUM, (from.0.min(0), from.1.max(0)))
        }
    };
    let piece = arithmetic(text, strength, Some(range), &[x, y])?;
    Ok(needing(
        piece,
        to.0 <= 0 && to.1 >= 0,
        format!("{} != 0", y.inside(SUM)),
    ))
}

/// Writes `<<` and `>>`, which Python computes as the spec does.
fn shift(op: BinaryOp, x: &Translation, y: &Translation) -> Result<Translation, TranslateError> {
    let (from, by) = (x.bounds()?, y.bounds()?);
    let within = (by.0.max(0), by.1.clamp(0, MAX_SHIFT));
    let range = corners(from, within, |x, y| match op {
        BinaryOp::Shl => x.checked_mul(1 << y),
        _ => Some(x >> y),
    });
    let text = format!("({} {} {})", x.inside(SUM), op.symbol(), y.inside(SUM));
    let piece = arithmetic(text, ATOM, range, &[x, y])?;
    let guard = format!("0 <= {} <= {MAX_SHIFT}", y.inside(SUM));
    Ok(needing(piece, by.0 < 0 || by.1 > MAX_SHIFT, guard))
}

/// Adds a guard if it is needed.
fn needing(mut piece: Translation, needed: bool, guard: String) -> Translation {
    if needed {
        piece.guards.push(guard);
    }
    piece
}

fn comparison(op: BinaryOp, x: &Translation, y: &Translation) -> Translation {
    let text = format!("{} {} {}", x.inside(SUM), op.symbol(), y.inside(SUM));
    let mut piece = Translation::new(text, COMPARISON);
    piece.truth = match (op, x.range, y.range) {
        (BinaryOp::Le, Some(x), Some(y)) if x.1 <= y.0 => Some(true),
        (BinaryOp::Ge, Some(x), Some(y)) if x.0 >= y.1 => Some(true),
        (BinaryOp::Lt, Some(x), Some(y)) if x.1 < y.0 => Some(true),
        (BinaryOp::Gt, Some(x), Some(y)) if x.0 > y.1 => Some(true),
        _ => None,
    };
    let piece = piece.guarded(&[x, y]);
    // A condition that may have no value is not always true, so its constant truth value is dropped.
    let truth = piece.truth.filter(|_| piece.guards.is_empty());
    Translation { truth, ..piece }
}

fn call(
    function: BuiltinFunction,
    arguments: &[Expr],
    scope: &LaunchScope<'_>,
) -> Result<Translation, TranslateError> {
    if function == BuiltinFunction::SizeOf {
        return size_of(&arguments[0], scope);
    }
    let pieces = arguments.iter().map(|argument| piece(argument, scope));
    let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
    let parts: Vec<&Translation> = pieces.iter().collect();
    let ranges = pieces.iter().map(Translation::bounds);
    let ranges = ranges.collect::<Result<Vec<_>, _>>()?;
    match function {
        BuiltinFunction::Min | BuiltinFunction::Max => {
            let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
            let text = format!("{}({})", function.name(), texts.join(", "));
            let pick = |ends: Vec<i128>| match function {
                BuiltinFunction::Min => ends.into_iter().min(),
                _ => ends.into_iter().max(),
            };
            let least = pick(ranges.iter().map(|range| range.0).collect());
            let most = pick(ranges.iter().map(|range| range.1).collect());
            arithmetic(text, ATOM, least.zip(most), &parts)
        }
        BuiltinFunction::NextPowerOfTwo => next_power_of_two(&pieces[0], ranges[0]),
        _ => div_ceil(&pieces[0], &pieces[1], ranges[0], ranges[1]),
    }
}

fn div_ceil(
    x: &Translation,
    y: &Translation,
    from: (i128, i128),
    to: (i128, i128),
) -> Result<Translation, TranslateError> {
    let text = format!(
        "({} + {} - 1) // {}",
        x.inside(SUM),
        y.inside(PRODUCT),
        y.inside(SIGN)
    );
    let least = i128::from(from.0 > 0);
    let range = from.1.checked_add(to.1).map(|_| (least, from.1.max(0)));
    let piece = arithmetic(text, PRODUCT, range, &[x, y])?;
    let piece = needing(piece, from.0 < 0, format!("{} >= 0", x.inside(SUM)));
    Ok(needing(piece, to.0 <= 0, format!("{} > 0", y.inside(SUM))))
}

/// Writes `next_power_of_two`. Python has no such function for integers, so the text has one choice per power.
fn next_power_of_two(x: &Translation, range: (i128, i128)) -> Result<Translation, TranslateError> {
    /// The largest number of choices.
    const MAX_CHOICES: u32 = 40;
    let mut text = String::new();
    let mut power = 0;
    while 1i128 << power < range.1 {
        text += &format!(
            "{} if {} <= {} else ",
            1i128 << power,
            x.inside(SUM),
            1i128 << power
        );
        power += 1;
        if power > MAX_CHOICES {
            return Err(TranslateError::TooManyPowers {
                text: x.text.clone(),
            });
        }
    }
    text += &(1i128 << power).to_string();
    let strength = if power == 0 { ATOM } else { SELECT };
    let piece = arithmetic(text, strength, Some((1, 1i128 << power)), &[x])?;
    Ok(needing(
        piece,
        range.0 < 1,
        format!("{} > 0", x.inside(SUM)),
    ))
}

fn no_type(argument: String) -> TranslateError {
    TranslateError::SizeOfNoType { argument }
}

/// Writes the size of a type in bytes: a constant, or one choice per value of a type parameter.
fn size_of(argument: &Expr, scope: &LaunchScope<'_>) -> Result<Translation, TranslateError> {
    let Expr::Name(name) = argument else {
        return Err(no_type(argument.to_string()));
    };
    let bytes = |ty: &str| {
        let known = ElemType::from_name(ty)
            .ok_or_else(|| TranslateError::UnknownType { name: ty.into() })?;
        Ok::<i128, TranslateError>(known.bytes() as i128)
    };
    let Some(param) = scope.spec.params.iter().find(|param| *param.name == **name) else {
        return match scope.value(name) {
            Some(Value::Name(ty)) => Ok(Translation::int(bytes(&ty)?)),
            _ => Err(no_type(name.to_string())),
        };
    };
    let sizes = param.values.iter().map(|value| bytes(&value.to_string()));
    let sizes = sizes.collect::<Result<Vec<i128>, _>>()?;
    let mut text = String::new();
    for (value, size) in param.values.iter().zip(&sizes).skip(1) {
        text += &format!("{size} if {name} == '{value}' else ");
    }
    text += &sizes.first().copied().unwrap_or_default().to_string();
    let least = sizes.iter().min().copied().unwrap_or_default();
    let most = sizes.iter().max().copied().unwrap_or_default();
    let strength = if sizes.len() > 1 { SELECT } else { ATOM };
    Ok(Translation::new(text, strength).within(least, most))
}
