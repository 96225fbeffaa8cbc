//! The inputs of a model-based search other than the space.

use super::model::Settings;
use super::prior::Prior;

/// The inputs of a model-based search other than the space.
#[derive(Clone, Debug, Default)]
pub struct Guide {
    /// Results of the same kernel from other devices or problems.
    pub priors: Vec<Prior>,
    /// The constants of the search.
    pub settings: Settings,
}
