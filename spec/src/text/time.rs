//! Formats durations for people.

use std::fmt;
use std::time::Duration;

/// A duration, displayed with at most three digits in the unit that suits it: `2.5 s`.
///
/// ```
/// # use kiln_spec::time::Nanoseconds;
/// assert_eq!(Nanoseconds(2_500_000_000).to_string(), "2.5 s");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanoseconds(pub u64);

impl From<Duration> for Nanoseconds {
    fn from(duration: Duration) -> Nanoseconds {
        Nanoseconds(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Units with their lengths in nanoseconds, longest first.
const UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];

impl fmt::Display for Nanoseconds {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        // A value that would round to 1000 of one unit is shown in the next longer unit.
        let unit = UNITS.iter().find(|(_, length)| ns >= length * 0.9995);
        let (name, length) = unit.unwrap_or(&UNITS[UNITS.len() - 1]);
        let number = ns / length;
        let decimals = match number {
            ..9.995 => 2,
            ..99.95 => 1,
            _ => 0,
        };
        let text = format!("{number:.decimals$}");
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        write!(f, "{text} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_in_its_own_unit_with_three_digits_at_most() {
        for (ns, text) in [
            (0, "0 ns"),
            (1, "1 ns"),
            (999, "999 ns"),
            (1_000, "1 µs"),
            (999_499, "999 µs"),
            (999_500, "1 ms"),
            (1_234_567, "1.23 ms"),
            (12_345_678, "12.3 ms"),
            (99_960_000, "100 ms"),
            (2_500_000_000, "2.5 s"),
            (9_999_999_999, "10 s"),
            (60_000_000_000, "60 s"),
            (3_600_000_000_000, "3600 s"),
        ] {
            assert_eq!(Nanoseconds(ns).to_string(), text, "{ns}");
        }
    }
}
