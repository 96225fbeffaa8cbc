//! Parses configs and problems from text, as typed on a command line or stored in a baked table.

#[cfg(feature = "parse")]
pub mod diagnostic;
pub mod spelling;
pub mod time;

use std::sync::Arc;

use thiserror::Error;

use crate::config::{Config, ParamValue};
use crate::model::{ArgSpec, KernelSpec};
use crate::problem::{Problem, ProblemValue};
use crate::text::spelling::nearest;

/// Why a text is not a config or problem of a kernel. Messages quote only the wrong part of the text, and at most 64
/// characters of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TextError {
    /// The text between two commas is not `name=value`.
    #[error("`{0}` is not of the form name=value")]
    Form(String),
    /// The kernel has no parameter or dimension with this name.
    #[error("unknown {what} `{name}`\nhelp: {help}")]
    Name {
        /// A description of what was expected: a parameter or a dimension.
        what: &'static str,
        /// The unknown name.
        name: String,
        /// The most similar known name, or all known names.
        help: String,
    },
    /// The text sets this name twice.
    #[error("`{0}` is given twice")]
    Twice(String),
    /// The text does not set these names.
    #[error("no value for {0}")]
    Missing(String),
    /// The value is not allowed for its name.
    #[error("`{value}` is not a value of `{name}`\nhelp: {help}")]
    Value {
        /// The name of the parameter or dimension.
        name: String,
        /// The rejected value.
        value: String,
        /// A description of the allowed values.
        help: String,
    },
}

impl KernelSpec {
    /// Parses a config such as `NAME=value,NAME=value`. The parameters may be in any order in the text, and are in
    /// declared order in the result.
    ///
    /// # Errors
    /// If a parameter is unknown, missing or set twice, or if a value is not allowed.
    pub fn parse_config(&self, text: &str) -> Result<Config, TextError> {
        let names: Vec<_> = self.params.iter().map(|p| &*p.name).collect();
        let given = assignments(text, "tunable parameter", &names)?;
        let values = self.params.iter().zip(given).map(|(param, text)| {
            let value = param.values.iter().find(|v| v.to_string() == text);
            let value = value.ok_or_else(|| TextError::Value {
                name: param.name.to_string(),
                value: shorten(text),
                help: format!("it is one of {}", list(param.values.iter())),
            })?;
            Ok((param.name.clone(), value.clone()))
        });
        Ok(Config::new(
            values.collect::<Result<Vec<(Arc<str>, ParamValue)>, TextError>>()?,
        ))
    }

    /// Parses a problem such as `m=512,n=512`. The dimensions may be in any order in the text, and are in declared
    /// order in the result. The problem need not be one of the tuned problems.
    ///
    /// # Errors
    /// If a dimension is unknown, missing or set twice, or if a value is not a size or element type of its dimension.
    pub fn parse_problem(&self, text: &str) -> Result<Problem, TextError> {
        let names = self.dimensions();
        let given = assignments(text, "dimension", &names)?;
        let values = names.iter().zip(given).map(|(name, text)| {
            let value = self.dimension_value(name, text)?;
            Ok((Arc::from(*name), value))
        });
        Ok(Problem::new(
            values.collect::<Result<Vec<(Arc<str>, ProblemValue)>, TextError>>()?,
        ))
    }

    fn dimension_value(&self, name: &str, text: &str) -> Result<ProblemValue, TextError> {
        let wrong = |help: String| TextError::Value {
            name: name.into(),
            value: shorten(text),
            help,
        };
        if let Some(param) = self.types.iter().find(|ty| &*ty.name == name) {
            let choice = param.choices.iter().find(|ty| ty.name() == text);
            return choice
                .map(|ty| ProblemValue::Type(*ty))
                .ok_or_else(|| wrong(format!("it is one of {}", list(param.choices.iter()))));
        }
        let ty = self.args.iter().find_map(|arg| match arg {
            ArgSpec::Scalar(scalar) if scalar.name == name => Some(scalar.ty),
            _ => None,
        });
        // Only the canonical form of a size is valid: `+5` and `007` are not.
        let size = text.parse().ok().filter(|size: &i64| {
            size.to_string() == text && *size >= 0 && ty.is_none_or(|ty| ty.holds(*size))
        });
        let kind = ty.map_or("a size", |ty| ty.name());
        size.map(ProblemValue::Size).ok_or_else(|| {
            wrong(format!(
                "it is a whole number, not negative, that fits {kind}"
            ))
        })
    }
}

/// The text of each name's value, in the order of `names`.
fn assignments<'a>(
    text: &'a str,
    what: &'static str,
    names: &[&str],
) -> Result<Vec<&'a str>, TextError> {
    let mut values: Vec<Option<&str>> = vec![None; names.len()];
    let pieces = text.split(',').filter(|_| !text.trim().is_empty());
    for piece in pieces {
        let (name, value) = piece
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
            .ok_or_else(|| TextError::Form(shorten(piece)))?;
        let slot = names.iter().position(|known| *known == name);
        let slot = slot.ok_or_else(|| TextError::Name {
            what,
            name: shorten(name),
            help: match nearest(&shorten(name), names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known: {}", list(names.iter())),
            },
        })?;
        if values[slot].replace(value).is_some() {
            return Err(TextError::Twice(names[slot].into()));
        }
    }
    let missing: Vec<_> = names
        .iter()
        .zip(&values)
        .filter(|(_, v)| v.is_none())
        .collect();
    if missing.is_empty() {
        Ok(values.into_iter().flatten().collect())
    } else {
        Err(TextError::Missing(list(
            missing.iter().map(|(name, _)| name),
        )))
    }
}

fn list(items: impl Iterator<Item = impl ToString>) -> String {
    let items: Vec<_> = items.map(|item| item.to_string()).collect();
    items.join(", ")
}

/// At most 64 characters of a text that comes from outside, with control characters replaced.
pub(crate) fn shorten(text: &str) -> String {
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut short: String = text.chars().take(64).map(printable).collect();
    if text.chars().nth(64).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ElemType, TunableParam, TypeParam};
    use crate::testing::plain_spec;

    fn spec() -> KernelSpec {
        let values = |name: &str, values: Vec<ParamValue>| TunableParam {
            name: name.into(),
            values,
        };
        let mut spec = plain_spec(vec![
            values("BLOCK", vec![ParamValue::Int(-1), ParamValue::Int(64)]),
            values(
                "UNROLL",
                vec![ParamValue::Bool(false), ParamValue::Bool(true)],
            ),
            values("LAYOUT", vec![ParamValue::Choice("row".into())]),
        ]);
        spec.types.push(TypeParam {
            name: "T".into(),
            choices: vec![ElemType::F32, ElemType::F16],
        });
        let dims = [
            ("T".into(), ProblemValue::Type(ElemType::F32)),
            ("n".into(), ProblemValue::Size(1000)),
        ];
        spec.problems = vec![Problem::new(dims)];
        spec
    }

    #[test]
    fn texts_are_read_in_any_order_and_printed_in_the_declared_one() {
        let spec = spec();
        let config = spec
            .parse_config(" LAYOUT=row, UNROLL=true ,BLOCK=-1")
            .unwrap();
        assert_eq!(config.to_string(), "BLOCK=-1,UNROLL=true,LAYOUT=row");
        assert_eq!(spec.parse_config(&config.to_string()), Ok(config));
        let problem = spec.parse_problem("n=7,T=f16").unwrap();
        assert_eq!(problem.to_string(), "T=f16,n=7");
        assert_eq!(spec.parse_problem(&problem.to_string()), Ok(problem));
        let plain = plain_spec(Vec::new());
        assert!(plain.parse_config("").unwrap().is_empty());
    }

    #[test]
    fn a_wrong_config_is_refused_with_what_would_be_right() {
        let spec = spec();
        let long = "x".repeat(1000);
        for (text, message) in [
            ("BLOCK", "`BLOCK` is not of the form name=value"),
            (
                "BLOK=64",
                "unknown tunable parameter `BLOK`\nhelp: did you mean `BLOCK`?",
            ),
            (
                "WARPS=1",
                "unknown tunable parameter `WARPS`\nhelp: known: BLOCK, UNROLL, LAYOUT",
            ),
            ("BLOCK=64,BLOCK=64", "`BLOCK` is given twice"),
            ("BLOCK=64", "no value for UNROLL, LAYOUT"),
            ("", "no value for BLOCK, UNROLL, LAYOUT"),
            (
                "BLOCK=65,UNROLL=true,LAYOUT=row",
                "`65` is not a value of `BLOCK`\nhelp: it is one of -1, 64",
            ),
            (
                "BLOCK=064,UNROLL=true,LAYOUT=row",
                "`064` is not a value of `BLOCK`\nhelp: it is one of -1, 64",
            ),
            (
                "BLOCK=64,UNROLL=1,LAYOUT=row",
                "`1` is not a value of `UNROLL`\nhelp: it is one of false, true",
            ),
        ] {
            assert_eq!(spec.parse_config(text).unwrap_err().to_string(), message);
        }
        let error = spec
            .parse_config(&format!("{long}\u{7}=1"))
            .unwrap_err()
            .to_string();
        assert!(error.len() < 200, "{error}");
    }

    #[test]
    fn a_wrong_problem_is_refused_with_what_would_be_right() {
        let spec = spec();
        let size = "help: it is a whole number, not negative, that fits u32";
        for (text, message) in [
            ("T=f32", "no value for n".to_string()),
            (
                "T=f64,n=1",
                "`f64` is not a value of `T`\nhelp: it is one of f32, f16".into(),
            ),
            ("T=f32,n=-1", format!("`-1` is not a value of `n`\n{size}")),
            ("T=f32,n=+1", format!("`+1` is not a value of `n`\n{size}")),
            (
                "T=f32,n=4294967296",
                format!("`4294967296` is not a value of `n`\n{size}"),
            ),
            (
                "T=f32,n=1e3",
                format!("`1e3` is not a value of `n`\n{size}"),
            ),
            (
                "T=f32,k=1",
                "unknown dimension `k`\nhelp: known: T, n".into(),
            ),
        ] {
            assert_eq!(spec.parse_problem(text).unwrap_err().to_string(), message);
        }
    }
}
