//! Spaces of which only a sample is enumerated.

use kiln_spec::csp::Estimate;
use kiln_spec::space::Sampled;
use serde::Serialize;

/// The fields that describe a sample, instead of an exact number of configs.
#[derive(Serialize)]
pub struct ListedSpace {
    /// Whether the space has more valid configs than the sample.
    sampled: bool,
    listed: usize,
    /// The estimated number of valid configs; missing if the exact number is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_estimate: Option<EstimateInterval>,
    left_out: Vec<String>,
}

/// An estimate, with the interval that contains the true value for 99 of 100 samples.
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
