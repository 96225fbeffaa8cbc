//! Spaces that are sampled instead of counted exactly.

use kiln_spec::csp::Estimate;
use kiln_spec::space::Sampled;
use serde::Serialize;

/// The replacement of an exact count.
#[derive(Serialize)]
pub struct ListedSpace {
    /// Whether there are more valid configs than are listed.
    sampled: bool,
    listed: usize,
    /// Absent if the count is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_estimate: Option<EstimateInterval>,
    left_out: Vec<String>,
}

/// An estimate, and the interval that contains the true value in 99 of 100 samples.
#[derive(Serialize)]
struct EstimateInterval {
    about: f64,
    least: f64,
    most: f64,
}

impl From<Sampled> for ListedSpace {
    fn from(sampled: Sampled) -> ListedSpace {
        let Estimate {
            about, least, most, ..
        } = sampled.valid;
        let is_estimate = sampled.valid.exact().is_none();
        ListedSpace {
            sampled: !sampled.is_complete,
            listed: sampled.listed,
            valid_estimate: is_estimate.then_some(EstimateInterval { about, least, most }),
            left_out: sampled.left_out,
        }
    }
}
