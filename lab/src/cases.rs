//! The cases on which candidates are verified: a problem, the seed of its inputs, and the layout of its buffers.

use kiln::rig::Layout;
use kiln::{scalars, unusual};
use kiln_spec::{Access, ElemType, KernelSpec, Problem, SliceArg};

/// Problems with more bytes of data than this are verified only for finalists, not for every trial. For a single
/// launch, the host would spend thousands of times the launch time on handling the data.
const MAX_TRIAL_BYTES: u64 = 16 << 20;

/// A problem, with the seed of its inputs, on which candidates are verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The problem of the launch.
    pub problem: Problem,
    /// The seed of the inputs.
    pub seed: u64,
    /// Whether to launch the receipt entry too. It is the instrumented version of the kernel, whose launch proves what
    /// ran.
    pub receipt: bool,
    /// How the buffers of the launch begin and end.
    pub layout: Layout,
    /// Whether another launch follows that finds the workspaces as the one before left them.
    pub again: bool,
}

/// The layouts of launches with the first seed. They have guard zones, which detect a stray write of a single element, and
/// begin at other alignments. The second seed has buffers against guard pages, which also detect a stray read.
const LAYOUTS: [Layout; 4] = [Layout::Views, Layout::Zones, Layout::Mixed, Layout::Pairs];

/// The two seeds of a run's inputs, derived from the run's `seed`. The first case of each problem uses the first seed,
/// and the second case uses the second seed. The timed launches of `tune run` use the first seed.
pub fn seeds(seed: u64) -> [u64; 2] {
    let first = seed.wrapping_mul(2) & !unusual::ANY;
    [first, first + 1]
}

/// The cases on a problem that the kernel need not support: unusual values of scalars, unusual values of one kind of inputs
/// each, and a second launch with the workspaces of the first.
pub fn unusual(spec: &KernelSpec, problem: &Problem, seed: u64) -> Vec<Case> {
    let [even, odd] = seeds(seed);
    let case = |seed, again| Case {
        problem: problem.clone(),
        seed,
        receipt: false,
        layout: Layout::Fences,
        again,
    };
    let changes = |seed| scalars::changes(spec, problem, seed);
    let with_scalars = odd | unusual::SCALARS;
    let scalars = (changes(with_scalars) != changes(odd)).then(|| case(with_scalars, false));
    let inputs = unusual::INPUTS.into_iter().filter_map(|kind| {
        let has = unusual_inputs(spec, problem, kind).next().is_some();
        has.then(|| case(even | kind, false))
    });
    let has_workspaces = spec.slices().any(SliceArg::is_kept_workspace);
    let workspaces = has_workspaces.then(|| case(even, true));
    scalars
        .into_iter()
        .chain(inputs)
        .chain(workspaces)
        .collect()
}

/// The slices that have unusual values with this seed.
pub fn unusual_inputs<'s>(
    spec: &'s KernelSpec,
    problem: &'s Problem,
    seed: u64,
) -> impl Iterator<Item = &'s SliceArg> {
    spec.slices().filter(move |slice| {
        let ty = spec.elem_type(slice, problem).unwrap_or(ElemType::F32);
        slice.access != Access::Out && unusual::varies(slice, ty, seed)
    })
}

/// The cases of a task: every verification problem and the tuned problem, with two seeds each.
pub fn cases(verification: &[Problem], problem: &Problem, seed: u64) -> Vec<Case> {
    let all = verification
        .iter()
        .filter(|&small| small != problem)
        .chain([problem]);
    let all: Vec<&Problem> = all.collect();
    // The tuned problem has the first layout.
    let numbers = (0..all.len()).rev();
    let cases = all.iter().zip(numbers);
    cases
        .flat_map(|(problem, number)| pair(problem, seed, number))
        .collect()
}

/// The cases on a problem with both seeds. `number` selects the layout of the first one.
pub fn pair(problem: &Problem, seed: u64, number: usize) -> [Case; 2] {
    let case = |which: usize, layout| Case {
        problem: problem.clone(),
        seed: seeds(seed)[which],
        // The receipt depends on the launch, not on the data, so one seed is enough.
        receipt: which == 0,
        layout,
        again: false,
    };
    let layout = LAYOUTS[number % LAYOUTS.len()];
    [case(0, layout), case(1, Layout::Fences)]
}

/// Whether every trial is verified on this problem. If not, only finalists are verified on it.
pub fn is_for_trials(spec: &KernelSpec, problem: &Problem) -> bool {
    spec.footprint_bytes(problem)
        .is_ok_and(|bytes| bytes <= MAX_TRIAL_BYTES)
}
