//! Floating-point values that can be stored as text, including infinities and NaN.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A floating-point value that is stored as its shortest exact text, because JSON has neither NaN nor infinity.
///
/// Two values are equal if their bits are equal or both are NaN, so records can be compared.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Real(pub f64);

impl PartialEq for Real {
    fn eq(&self, other: &Real) -> bool {
        self.0.to_bits() == other.0.to_bits() || (self.0.is_nan() && other.0.is_nan())
    }
}

impl Eq for Real {}

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl From<f64> for Real {
    fn from(value: f64) -> Real {
        Real(value)
    }
}

impl From<Real> for String {
    fn from(value: Real) -> String {
        value.to_string()
    }
}

/// A stored text is not a number.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a number")]
pub struct NotAReal {
    /// The stored text.
    pub text: String,
}

impl TryFrom<String> for Real {
    type Error = NotAReal;

    fn try_from(text: String) -> Result<Real, NotAReal> {
        match text.parse() {
            Ok(value) => Ok(Real(value)),
            Err(_) => Err(NotAReal { text }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_bit_pattern_survives_json(bits: u64) {
            let real = Real(f64::from_bits(bits));
            let text = serde_json::to_string(&real).unwrap();
            prop_assert_eq!(serde_json::from_str::<Real>(&text).unwrap(), real);
        }
    }

    #[test]
    fn special_values_are_readable_text() {
        let texts = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e-5]
            .map(|value| serde_json::to_string(&Real(value)).unwrap());
        assert_eq!(
            texts,
            ["\"NaN\"", "\"inf\"", "\"-inf\"", "\"-0.0\"", "\"1e-5\""]
        );
    }

    #[test]
    fn a_text_that_is_no_number_is_refused() {
        assert!(serde_json::from_str::<Real>("\"fast\"").is_err());
        assert_ne!(Real(0.0), Real(-0.0));
    }
}
