//! Groups tasks into elements.

use super::{Element, Stage, TaskRef};

/// Groups tasks into elements of at most `per_element` tasks, once for every kind and shard. The elements are ordered
/// by kind, then by shard.
///
/// Schedulers start only a few jobs per minute, so an element should have minutes of work: several small tasks, or one
/// large task.
pub fn pack(
    stage: Stage,
    kinds: usize,
    tasks: &[TaskRef],
    shards: u32,
    per_element: usize,
) -> Vec<Element> {
    let element = |kind, shard, tasks: &[TaskRef]| Element {
        stage,
        kind,
        shard,
        tasks: tasks.to_vec(),
    };
    let mut elements = Vec::new();
    for kind in 0..kinds {
        for shard in 0..shards {
            let pieces = tasks.chunks(per_element.max(1));
            elements.extend(pieces.map(|tasks| element(kind, shard, tasks)));
        }
    }
    elements
}
