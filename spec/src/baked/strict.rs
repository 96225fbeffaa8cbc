//! `KILN_STRICT`: whether a missing or stale row is an error.

use thiserror::Error;

use crate::text::shorten;

/// The environment variable that makes a missing or stale row an error.
pub const STRICT_VARIABLE: &str = "KILN_STRICT";

/// The value of `KILN_STRICT` is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "KILN_STRICT is `{value}`, which is neither on (`1`, `true`, `yes`, `on`) nor off (`0`, `false`, `no`, `off`, empty)\n\
     help: set KILN_STRICT=1 to make missing and stale rows errors, or unset it"
)]
pub struct StrictError {
    value: String,
}

/// Whether builds are strict. `value` is the value of [`STRICT_VARIABLE`]; `None` if it is not set. The case of the
/// letters does not matter.
///
/// # Errors
/// If the value is unknown. It is not treated as off, because a typing mistake must not turn a check off.
pub fn is_strict(value: Option<&str>) -> Result<bool, StrictError> {
    match value.unwrap_or_default().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "" | "0" | "false" | "no" | "off" => Ok(false),
        other => Err(StrictError {
            value: shorten(other),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strict_build_is_asked_for_in_the_usual_words_and_a_mistake_is_an_error() {
        for on in ["1", "true", "yes", "on", "TRUE"] {
            assert_eq!(is_strict(Some(on)), Ok(true), "{on}");
        }
        for off in [
            None,
            Some(""),
            Some("0"),
            Some("false"),
            Some("no"),
            Some("off"),
        ] {
            assert_eq!(is_strict(off), Ok(false), "{off:?}");
        }
        let error = is_strict(Some("ture")).expect_err("a mistake is an error");
        assert!(
            error.to_string().contains("KILN_STRICT is `ture`"),
            "{error}"
        );
    }
}
