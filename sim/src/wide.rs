//! The widest vectors of the processor, whatever the build was compiled for.

use pulp::{Arch, WithSimd};

/// Runs a function that is compiled once more for each width; all that it calls must be inlined into it. Results do not
/// depend on the width: nothing is fused that the function does not fuse.
#[inline(always)]
pub(crate) fn wide<Op: WithSimd>(f: Op) -> Op::Output {
    Arch::new().dispatch(f)
}
