//! The valid configs of a model, as a product of components that is never multiplied out.

use super::dag::{Count, Dag, DagStep};
use super::error::CspError;
use super::reduce::Reduced;

/// The configs that satisfy every constraint, numbered from 0. A config is a list of places: for each parameter, the
/// index of its value.
///
/// The order of the configs depends only on the parameters, their values and the constraints.
#[derive(Clone, Debug)]
pub struct ConfigSet {
    params: usize,
    /// The parameters with one value. They belong to no component.
    fixed: Vec<usize>,
    components: Vec<Reduced>,
    /// For each component, the number of configs of all components after it.
    weights: Vec<u128>,
    len: u128,
}

macro_rules! with {
    ($component:expr, $dag:ident => $body:expr) => {
        match $component {
            Reduced::Narrow($dag) => $body,
            Reduced::Wide($dag) => $body,
        }
    };
}

impl ConfigSet {
    pub(super) fn new(
        domains: &[u32],
        components: Vec<Reduced>,
        is_empty: bool,
    ) -> Result<ConfigSet, CspError> {
        let lens: Vec<u128> = components.iter().map(Reduced::len).collect();
        let mut weights = vec![0; lens.len()];
        let mut len = 1u128;
        if is_empty || lens.contains(&0) {
            len = 0;
        } else {
            for (weight, own) in weights.iter_mut().zip(&lens).rev() {
                *weight = len;
                len = len.checked_mul(*own).ok_or(CspError::TooMany)?;
            }
        }
        Ok(ConfigSet {
            params: domains.len(),
            fixed: (0..domains.len())
                .filter(|param| domains[*param] == 1)
                .collect(),
            components,
            weights,
            len,
        })
    }

    /// The number of valid configs.
    pub fn len(&self) -> u128 {
        self.len
    }

    /// Whether no config is valid.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of parameters, including those with one value.
    pub fn params(&self) -> usize {
        self.params
    }

    /// The groups of parameters that depend on each other. For each group, the sorted indices of its parameters and the
    /// number of their valid combinations. Parameters with one value belong to no group.
    pub fn components(&self) -> impl ExactSizeIterator<Item = (Vec<usize>, u128)> {
        self.components.iter().map(|component| {
            let mut params = with!(component, dag => dag.params.clone());
            params.sort_unstable();
            (params, component.len())
        })
    }

    /// The places of the config with this index: for each parameter, the index of its value.
    ///
    /// # Panics
    /// If the index is not below [`Self::len`].
    pub fn places(&self, index: u128) -> Vec<u32> {
        let mut places = vec![0; self.params];
        self.write_places(index, &mut places);
        places
    }

    /// Like [`Self::places`], but writes the places to a slice.
    ///
    /// # Panics
    /// If the index is not below [`Self::len`], or if the slice is too short.
    pub fn write_places(&self, index: u128, places: &mut [u32]) {
        assert!(index < self.len, "config {index} of {}", self.len);
        let mut rest = index;
        for (component, weight) in self.components.iter().zip(&self.weights) {
            let own = quotient(rest, *weight);
            rest -= own * weight;
            with!(component, dag => dag.places_of(narrowed(own, dag), places));
        }
    }

    /// The index of the config with these places; `None` if the config is not valid.
    pub fn index_of(&self, places: &[u32]) -> Option<u128> {
        let is_fixed = || self.fixed.iter().all(|param| places[*param] == 0);
        if self.len == 0 || places.len() != self.params || !is_fixed() {
            return None;
        }
        let mut index = 0;
        for (component, weight) in self.components.iter().zip(&self.weights) {
            index += with!(component, dag => dag.index_of(places)?.wide()) * weight;
        }
        Some(index)
    }

    /// Calls `visit` for each valid config that differs from config `index` in one parameter. `visit` receives the
    /// parameter, the place of the other value and the index of the other config. The parameters are visited in the
    /// order of the components.
    ///
    /// # Panics
    /// If the index is not below [`Self::len`].
    pub fn neighbours(&self, index: u128, mut visit: impl FnMut(usize, u32, u128)) {
        const FEW: usize = 64;
        assert!(index < self.len, "config {index} of {}", self.len);
        let (mut few, mut many) = (
            ([0; FEW], [DagStep::default(); FEW]),
            (Vec::new(), Vec::new()),
        );
        let (places, path): (&mut [u32], &mut [DagStep]) = if self.params <= FEW {
            (&mut few.0, &mut few.1)
        } else {
            many.0.resize(self.params, 0);
            many.1.resize(self.params, DagStep::default());
            (&mut many.0, &mut many.1)
        };
        let mut rest = index;
        for (component, weight) in self.components.iter().zip(&self.weights) {
            let own = quotient(rest, *weight);
            rest -= own * weight;
            let others = index - own * weight;
            with!(component, dag => {
                dag.neighbours(narrowed(own, dag), places, path, |param, place, theirs| {
                    visit(param, place, others + theirs.wide() * weight);
                });
            });
        }
    }

    /// For each parameter, the number of valid configs that have each of its values. Each number is given as two
    /// factors: the number within the parameter's component, and the number of combinations of all other components.
    /// `None` for a parameter with one value.
    pub fn marginals(&self) -> Vec<Option<(Vec<u128>, u128)>> {
        let mut all = vec![None; self.params];
        for component in &self.components {
            let own = component.len();
            let others = self.len.checked_div(own).unwrap_or(0);
            with!(component, dag => {
                for (param, counts) in dag.params.iter().zip(dag.marginals()) {
                    all[*param] = Some((counts, others));
                }
            });
        }
        all
    }

    /// Size in bytes, including the graphs.
    pub fn bytes(&self) -> usize {
        let components = self.components.iter();
        let graphs: usize = components.map(|part| with!(part, dag => dag.bytes())).sum();
        let own = self.components.capacity() * size_of::<Reduced>();
        size_of::<ConfigSet>() + own + self.weights.capacity() * size_of::<u128>() + graphs
    }
}

impl Reduced {
    fn len(&self) -> u128 {
        with!(self, dag => dag.len.wide())
    }
}

/// Converts an index to the integer type that a graph uses for counts.
fn narrowed<C: Count>(index: u128, _: &Dag<C>) -> C {
    C::of(index)
}

/// The quotient `x / y`. The indices of most spaces fit 64 bits, for which division is fast.
fn quotient(x: u128, y: u128) -> u128 {
    match (u64::try_from(x), u64::try_from(y)) {
        (Ok(x), Ok(y)) => (x / y).into(),
        _ => x / y,
    }
}
