//! The inputs of a model-based search.

use super::model::Settings;
use super::prior::Prior;

/// The inputs of a model-based search.
#[derive(Clone, Debug, Default)]
pub struct Guide {
    /// Results from other devices or problems.
    pub priors: Vec<Prior>,
    /// Its constants.
    pub settings: Settings,
}
