//! Faults in the geometry: the launch differs from the intended one.

use super::trial::{Plant, Subject};
use super::{BOTH, Fault};
use crate::kernels;
use kiln::spec::LaunchPlan;

const REVERSED: Subject = Subject {
    kernel: &kernels::reversed::KERNEL,
    config: "",
    types: "T=f32",
};
const BLOCKS: Subject = Subject {
    kernel: &kernels::blocks::KERNEL,
    config: "THREADS=64,ROWS=2",
    types: "T=i32",
};

pub(super) fn faults() -> Vec<Fault> {
    let of = |what, change: fn(&mut LaunchPlan), subject| Fault {
        what,
        on: BOTH,
        plant: Plant::Geometry(change),
        subject,
    };
    vec![
        of("a block is missing", |plan| plan.grid[0] -= 1, BLOCKS),
        of("a block too many", |plan| plan.grid[0] += 1, REVERSED),
        of(
            "the grid along another axis",
            |plan| plan.grid.swap(0, 1),
            BLOCKS,
        ),
        of("half of the threads", |plan| plan.block[0] /= 2, REVERSED),
        of(
            "the block along another axis",
            |plan| plan.block.swap(0, 1),
            BLOCKS,
        ),
        of(
            "dynamic shared memory is four bytes short",
            |plan| plan.shared_bytes -= 4,
            REVERSED,
        ),
        of(
            "more dynamic shared memory than intended",
            |plan| plan.shared_bytes += 1024,
            REVERSED,
        ),
    ]
}
