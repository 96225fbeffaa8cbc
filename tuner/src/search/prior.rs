//! What earlier results say of a space before anything is tried in it.

/// Results of the same kernel from another device or problem, by config of the space to be searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prior {
    /// For each config of the space what it cost there: `None` if nothing is known, `Some(None)` if it failed.
    pub costs: Vec<Option<Option<f64>>>,
}
