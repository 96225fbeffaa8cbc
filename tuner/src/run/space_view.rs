//! Adapts a kernel's search space to the interface of search strategies.

use kiln_spec::ParamValue;
use kiln_spec::space::SearchSpace;

use kiln_search::SpaceView;

/// A kernel's search space, with its configs numbered from 0.
#[derive(Debug)]
pub struct KernelSpace<'a> {
    space: &'a SearchSpace,
    value_counts: Vec<u32>,
}

impl<'a> KernelSpace<'a> {
    /// Creates the view of a space.
    pub fn new(space: &'a SearchSpace) -> KernelSpace<'a> {
        let counts = space
            .axes()
            .iter()
            .map(|axis| u32::try_from(axis.values.len()).unwrap_or(u32::MAX));
        KernelSpace {
            space,
            value_counts: counts.collect(),
        }
    }
}

impl SpaceView for KernelSpace<'_> {
    fn len(&self) -> usize {
        self.space.len()
    }

    fn value_counts(&self) -> &[u32] {
        &self.value_counts
    }

    fn is_ordinal(&self, param: usize) -> bool {
        let values = &self.space.axes()[param].values;
        values
            .iter()
            .all(|value| matches!(value, ParamValue::Int(_)))
    }

    fn value(&self, param: usize, position: u32) -> f64 {
        match self.space.axes()[param].values.get(position as usize) {
            Some(ParamValue::Int(value)) => *value as f64,
            _ => f64::from(position),
        }
    }

    fn positions(&self, index: usize) -> Vec<u32> {
        self.space
            .ordinals(index)
            .into_iter()
            .map(|ordinal| u32::try_from(ordinal).unwrap_or(u32::MAX))
            .collect()
    }

    fn index_of(&self, positions: &[u32]) -> Option<usize> {
        self.space.index_at(positions)
    }
}
