//! The results of earlier searches, which are known before the search starts.

use std::collections::BTreeMap;

/// Results of an earlier search of the same kernel, on another device or for another problem. The configs are those of
/// the space to be searched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prior {
    /// The cost of each config that was tried, by the index of the config in the space to be searched. `None` if it
    /// failed.
    pub costs: BTreeMap<usize, Option<f64>>,
}

impl Prior {
    /// The valid configs, best first.
    pub fn ranked(&self) -> Vec<usize> {
        let mut ranked: Vec<(usize, f64)> = self.valid().collect();
        ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
        ranked.into_iter().map(|(index, _)| index).collect()
    }

    /// The valid configs with their costs.
    pub fn valid(&self) -> impl Iterator<Item = (usize, f64)> {
        let positive = |cost: &f64| cost.is_finite() && *cost > 0.0;
        self.costs
            .iter()
            .filter_map(move |(&index, cost)| Some((index, cost.filter(positive)?)))
    }
}
