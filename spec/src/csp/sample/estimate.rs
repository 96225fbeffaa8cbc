//! Estimates the number of valid configs from the fraction of random configs that are valid.

use std::fmt;

/// The normal quantile for a 99 % interval.
const QUANTILE: f64 = 2.576;

/// A number of valid configs. It is exact if all configs were checked. Otherwise it is an estimate with a 99 %
/// interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimated number.
    pub about: f64,
    /// The lower end of the interval.
    pub least: f64,
    /// The upper end of the interval.
    pub most: f64,
    exact: Option<u128>,
}

impl Estimate {
    pub(super) fn exactly(count: u128) -> Estimate {
        Estimate {
            about: count as f64,
            least: count as f64,
            most: count as f64,
            exact: Some(count),
        }
    }

    /// The estimate if `accepted` of `tried` random configs are valid (Wilson's score interval). The configs were drawn
    /// from `all` configs, of which at least `known` are valid.
    pub(super) fn of(accepted: u64, tried: u64, all: u128, known: usize) -> Estimate {
        let (all, tried) = (all as f64, tried as f64);
        let share = accepted as f64 / tried;
        let square = QUANTILE * QUANTILE / tried;
        let middle = (share + square / 2.0) / (1.0 + square);
        let variance = share * (1.0 - share) / tried + square / tried / 4.0;
        let half = QUANTILE * variance.sqrt() / (1.0 + square);
        let known = known as f64;
        Estimate {
            about: (share * all).max(known),
            least: ((middle - half).max(0.0) * all).max(known),
            most: ((middle + half).min(1.0) * all).max(known),
            exact: None,
        }
    }

    /// The number of valid configs if it is exact; `None` if it is estimated.
    pub fn exact(&self) -> Option<u128> {
        self.exact
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(count) = self.exact {
            return write!(f, "{count} valid configs");
        }
        let [about, least, most] = [self.about, self.least.floor(), self.most.ceil()].map(shown);
        write!(f, "about {about} valid configs ({least} to {most})")
    }
}

/// The number as text: rounded to an integer or, from a million on, with four digits and a power of ten.
fn shown(count: f64) -> String {
    if count < 1e6 {
        return format!("{count:.0}");
    }
    format!("{count:.3e}")
}
