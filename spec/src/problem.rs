//! Problems: the sets of sizes and element types for which a kernel is tuned and launched.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::expr::{Scope, Value};
use crate::model::ElemType;

/// The value of one problem dimension: a size, or the element type of a type parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProblemValue {
    /// An integer size.
    Size(i64),
    /// An element type.
    Type(ElemType),
}

impl fmt::Display for ProblemValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProblemValue::Size(x) => x.fmt(f),
            ProblemValue::Type(x) => x.fmt(f),
        }
    }
}

/// A set of sizes and element types, in declared order: first the type parameters, then the sizes.
///
/// The canonical text of a problem is, for example, `m=512,n=512,k=512`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Problem(Vec<(Arc<str>, ProblemValue)>);

impl Problem {
    /// A problem with these values, which must be in declared order.
    pub fn new(values: impl IntoIterator<Item = (Arc<str>, ProblemValue)>) -> Problem {
        Problem(values.into_iter().collect())
    }

    /// The value of the dimension with this name, if the problem has it.
    pub fn get(&self, name: &str) -> Option<ProblemValue> {
        self.0
            .iter()
            .find(|(dim, _)| &**dim == name)
            .map(|(_, value)| *value)
    }

    /// The size of the dimension with this name; `None` if it is missing or is an element type.
    pub fn size(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            ProblemValue::Size(x) => Some(x),
            ProblemValue::Type(_) => None,
        }
    }

    /// By which factor a size exceeds that of another problem, at most; 1 if none does.
    pub fn growth_over(&self, other: &Problem) -> f64 {
        let grown = self.iter().filter_map(|(name, _)| {
            let (own, others) = (self.size(name)?, other.size(name)?);
            Some(own as f64 / others.max(1) as f64)
        });
        grown.fold(1.0, f64::max)
    }

    /// The same problem with a different size for one dimension.
    pub(crate) fn with_size(&self, name: &str, size: i64) -> Problem {
        self.with(name, ProblemValue::Size(size))
    }

    /// The same problem with a different value for one dimension or type parameter.
    pub(crate) fn with(&self, name: &str, value: ProblemValue) -> Problem {
        Problem::new(self.iter().map(|(other, old)| {
            let value = if **other == *name { value } else { old };
            (other.clone(), value)
        }))
    }

    /// Name and value of every dimension, in declared order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, ProblemValue)> {
        self.0.iter().map(|(name, value)| (name, *value))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl Scope for Problem {
    fn value(&self, name: &str) -> Option<Value> {
        self.get(name).map(|value| match value {
            ProblemValue::Size(x) => Value::Int(i128::from(x)),
            ProblemValue::Type(x) => Value::Name(x.name().into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_the_largest_ratio_of_a_size_and_at_least_1() {
        let problem = |rows, cols| {
            Problem::new([
                ("rows".into(), ProblemValue::Size(rows)),
                ("cols".into(), ProblemValue::Size(cols)),
            ])
        };
        let tuned = problem(1024, 512);
        assert_eq!(problem(11, 2048).growth_over(&tuned), 4.0);
        assert_eq!(problem(11, 7).growth_over(&tuned), 1.0);
        assert_eq!(problem(3, 7).growth_over(&problem(0, 7)), 3.0);
    }
}
