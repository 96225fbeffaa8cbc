//! What earlier results say of a space before anything is tried in it.

/// Results of the same kernel from another device or problem, by config of the space to be searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prior {
    /// For each config of the space what it cost there: `None` if nothing is known, `Some(None)` if it failed.
    pub costs: Vec<Option<Option<f64>>>,
}

impl Prior {
    /// The configs that worked, best first.
    pub fn ranked(&self) -> Vec<usize> {
        let valid = |(index, cost): (usize, &Option<Option<f64>>)| Some((index, cost.flatten()?));
        let mut ranked: Vec<(usize, f64)> =
            self.costs.iter().enumerate().filter_map(valid).collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranked.into_iter().map(|(index, _)| index).collect()
    }
}
