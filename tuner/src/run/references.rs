//! Finds out what the plain-Rust references compute, so that results which were compared with another reference do not
//! count.

use std::sync::PoisonError;

use kiln_cache::record::ReferenceGrade;
use kiln_lab::worker::WorkerError;
use kiln_lab::{peaks, reference};
use kiln_spec::verification::Sizes;
use kiln_spec::{Hash, Problem};

use crate::run::context::RunContext;
use crate::run::tuning;
use crate::task::Task;

impl RunContext<'_> {
    /// Digest of what a task's plain-Rust reference computes now; `None` if outputs are not compared with one.
    ///
    /// # Errors
    /// If the reference fails or takes too long.
    pub(crate) fn reference(&self, task: &Task<'_>) -> Result<Option<Hash>, WorkerError> {
        let digests = self.references.lock();
        let mut digests = digests.unwrap_or_else(PoisonError::into_inner);
        let key = task.key.hash();
        if let Some(known) = digests.get(&key) {
            return Ok(*known);
        }
        let made = digest(self, task)?;
        digests.insert(key, made);
        Ok(made)
    }
}

fn digest(context: &RunContext<'_>, task: &Task<'_>) -> Result<Option<Hash>, WorkerError> {
    let Some(problem) = problem(context, task) else {
        return Ok(None);
    };
    let bench = tuning::bench(context, task);
    reference::digest(&bench, &task.kernel.spec, &problem, context.folder).map(Some)
}

/// The problem on which a task's reference is compared with its earlier self: the largest of the small ones, which is
/// ragged, or the tuned problem if there are no small ones. `None` if no reference is linked in.
fn problem(context: &RunContext<'_>, task: &Task<'_>) -> Option<Problem> {
    let (spec, tuned) = (&task.kernel.spec, task.problem);
    let grade = context.grade(task);
    let is_whole = grade == ReferenceGrade::Reference;
    if !is_whole && grade != ReferenceGrade::ReferenceInSmall {
        return None;
    }
    let small = Sizes::new(spec, &[], tuned, Some(&context.info.limits)).shared();
    let small = small.into_iter();
    let small = small.filter(|problem| kiln_lab::cases::is_for_trials(spec, problem));
    let largest = small.max_by_key(|problem| peaks::work(spec, problem).bytes);
    largest.or_else(|| is_whole.then(|| tuned.clone()))
}
