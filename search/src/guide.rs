//! What a model-based search is given.

use super::model::Settings;
use super::prior::Prior;

/// What the model-based search starts from.
#[derive(Clone, Debug, Default)]
pub struct Guide {
    /// What is known from elsewhere.
    pub priors: Vec<Prior>,
    /// Its constants.
    pub settings: Settings,
}
