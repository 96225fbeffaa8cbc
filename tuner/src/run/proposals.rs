//! Which configs a search tries, in which order and in which batches. A run evaluates the batches, and
//! `tune inspect --first` compiles the first of them ahead of a run.

use kiln_spec::hash::Hasher;
use kiln_spec::space::SearchSpace;
use kiln_spec::{Backend, KernelSpec, Problem};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::run::space_view::KernelSpace;
use kiln_search::{Guide, Strategy, Told, UnknownStrategy};

/// The cost of the baseline. Every cost is a time divided by the baseline's time.
pub(crate) const BASELINE_COST: f64 = 1.0;

/// The inputs that determine which configs a search tries first.
#[derive(Clone, Copy)]
pub(crate) struct SearchInputs<'a> {
    /// The kernel.
    pub spec: &'a KernelSpec,
    /// The problem.
    pub problem: &'a Problem,
    /// The search space.
    pub space: &'a SearchSpace,
    /// The name of the strategy.
    pub strategy: &'a str,
    /// The seed of the search.
    pub seed: u64,
    /// Maximum number of configs to try, including the baseline.
    pub most: usize,
    /// Maximum number of configs in a batch: [`batch_size`].
    pub batch: usize,
}

/// The configs that a search tries, batch by batch.
pub(crate) struct Proposals<'a> {
    strategy: Box<dyn Strategy + 'a>,
    /// The configs to try before the strategy is asked.
    fixed: Vec<usize>,
    /// Whether the strategy is never asked, because a fleet's plan lists the configs.
    is_listed: bool,
    tried: usize,
    most: usize,
    batch: usize,
}

/// Configs to try together.
pub(crate) struct Batch {
    /// The indices of the configs; empty if nothing is left to try.
    pub configs: Vec<usize>,
    /// Whether the strategy chose the configs. If not, the spec or a fleet's plan lists them.
    pub is_chosen: bool,
}

impl<'a> Proposals<'a> {
    /// Begins a search. `view` is the view of the inputs' space. `guide` contains earlier results. `listed` are the
    /// only configs to try, if a fleet's plan lists them.
    ///
    /// # Errors
    /// If no strategy has this name.
    pub(crate) fn new(
        inputs: &SearchInputs<'_>,
        view: &'a KernelSpace<'_>,
        guide: &Guide,
        listed: Option<Vec<usize>>,
    ) -> Result<Proposals<'a>, UnknownStrategy> {
        let SearchInputs {
            spec, space, most, ..
        } = *inputs;
        let rng = search_rng(inputs.seed, spec, inputs.problem);
        let mut strategy = kiln_search::with_guide(inputs.strategy, view, most, rng, guide)?;
        let tried = tell_baseline(spec, space, strategy.as_mut());
        let is_listed = listed.is_some();
        let mut fixed = listed.unwrap_or_else(|| first_configs(spec, space, guide));
        fixed.truncate(most.saturating_sub(tried));
        Ok(Proposals {
            strategy,
            fixed,
            is_listed,
            tried,
            most,
            batch: inputs.batch,
        })
    }

    /// The number of configs whose results were told, including the baseline.
    pub(crate) fn tried(&self) -> usize {
        self.tried
    }

    /// The configs to try next.
    pub(crate) fn next_batch(&mut self) -> Batch {
        let is_chosen = self.fixed.is_empty();
        let configs = if !is_chosen {
            let count = self.batch.min(self.fixed.len());
            self.fixed.drain(..count).collect()
        } else if self.is_listed {
            Vec::new()
        } else {
            let left = self.most.saturating_sub(self.tried);
            self.strategy.ask(self.batch.min(left))
        };
        Batch { configs, is_chosen }
    }

    /// Receives the results of a batch. Results are missing if the time ended.
    pub(crate) fn tell(&mut self, batch: &Batch, told: &[Told]) {
        self.tried += batch.configs.len();
        self.strategy.tell(told);
    }

    /// The strategy's [`outlook`](Strategy::outlook).
    pub(crate) fn outlook(&self) -> Option<f64> {
        self.strategy.outlook()
    }
}

/// Whether the configs of a batch race together in the same processes. On the cpu each config races alone, because a
/// candidate could corrupt the memory of its process.
pub(crate) fn race_together(backend: Backend) -> bool {
    backend != Backend::Cpu
}

/// Maximum number of configs in a batch, for this number of compile threads.
///
/// A batch has at least two configs per compile thread, so one slow compile does not leave the other threads idle. If
/// the configs of a batch race together, the batch is also large enough that starting their processes takes only a
/// small part of the time.
pub(crate) fn batch_size(backend: Backend, threads: usize) -> usize {
    let least = if race_together(backend) { 16 } else { 4 };
    (threads * 2).max(least)
}

/// The random number generator of a search. It depends on the kernel's name, the problem and the seed, and not on the
/// device or the compiler, so that the first configs are known on a machine without the device.
fn search_rng(seed: u64, spec: &KernelSpec, problem: &Problem) -> ChaCha8Rng {
    let mut hasher = Hasher::new("kiln search 1");
    hasher.field(spec.name.as_bytes());
    hasher.field(problem.to_string().as_bytes());
    ChaCha8Rng::seed_from_u64(seed ^ hasher.finish().short())
}

/// Reports the baseline to the strategy, if it is a config of the tuned entry, so the strategy does not request this
/// config again. Returns the number of configs that were reported.
fn tell_baseline(spec: &KernelSpec, space: &SearchSpace, strategy: &mut dyn Strategy) -> usize {
    let told: Vec<_> = baseline_in(spec, space)
        .map(|index| Told {
            index,
            cost: Some(BASELINE_COST),
        })
        .into_iter()
        .collect();
    strategy.tell(&told);
    told.len()
}

/// The index of the baseline; `None` if it is another entry or not in the space.
fn baseline_in(spec: &KernelSpec, space: &SearchSpace) -> Option<usize> {
    let is_config = !spec.baseline_is_another_entry();
    is_config
        .then(|| space.index_of(&spec.baseline.config))
        .flatten()
}

/// The configs that the spec lists to be tried first, except the baseline and configs with an earlier result.
fn first_configs(spec: &KernelSpec, space: &SearchSpace, guide: &Guide) -> Vec<usize> {
    let baseline = baseline_in(spec, space);
    let known = |index: usize| {
        let priors = &guide.priors;
        baseline == Some(index) || priors.iter().any(|one| one.costs.contains_key(&index))
    };
    let mut first = Vec::new();
    for index in spec
        .try_first
        .iter()
        .filter_map(|config| space.index_of(config))
    {
        if !known(index) && !first.contains(&index) {
            first.push(index);
        }
    }
    first
}
