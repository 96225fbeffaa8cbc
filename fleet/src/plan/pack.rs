//! From tasks to elements.

use super::{Element, Stage, TaskRef};

/// Packs the tasks of every kind and shard into elements of at most `per_element` tasks, kinds first, in order.
///
/// Schedulers start few jobs a minute, so that an element should have minutes of work: several small tasks, or one
/// large one.
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
