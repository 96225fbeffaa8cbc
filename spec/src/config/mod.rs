//! Configs: points of a kernel's search space.

#[doc(hidden)]
pub mod validity;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::expr::{Scope, Value};
use crate::hash::{ConfigHash, Hash};

/// The value of one tunable parameter in a config.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParamValue {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A named choice.
    Choice(Arc<str>),
}

impl ParamValue {
    /// The parameter's value as a value of the expression language.
    pub fn value(&self) -> Value {
        match self {
            ParamValue::Bool(x) => Value::Bool(*x),
            ParamValue::Int(x) => Value::Int(i128::from(*x)),
            ParamValue::Choice(x) => Value::Name(x.clone()),
        }
    }
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamValue::Bool(x) => x.fmt(f),
            ParamValue::Int(x) => x.fmt(f),
            ParamValue::Choice(x) => x.fmt(f),
        }
    }
}

/// One point of the search space: a value for every tunable parameter, in declared order.
///
/// The canonical text of a config is `NAME=value,NAME=value`. Tables, caches and hashes use this text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Config(Vec<(Arc<str>, ParamValue)>);

impl Config {
    /// A config with these values, which must be in declared order.
    pub fn new(values: impl IntoIterator<Item = (Arc<str>, ParamValue)>) -> Config {
        Config(values.into_iter().collect())
    }

    /// The value of the parameter with this name; `None` if the config does not have it.
    pub fn get(&self, name: &str) -> Option<&ParamValue> {
        self.0
            .iter()
            .find(|(param, _)| &**param == name)
            .map(|(_, value)| value)
    }

    /// Name and value of every parameter, in declared order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &ParamValue)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The number of parameters.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the config has no parameters, because the kernel has no tunable ones.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Hash of the config's canonical text.
    pub fn hash(&self) -> ConfigHash {
        ConfigHash(Hash::of("kiln config", self.to_string().as_bytes()))
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl Scope for Config {
    fn value(&self, name: &str) -> Option<Value> {
        self.get(name).map(ParamValue::value)
    }
}
