//! Runs code with the widest vectors of the processor, even if the build targets an older processor.

use pulp::{Arch, WithSimd};

/// Runs a function that is compiled once for each vector width. All functions that it calls must be inlined into it.
/// Results do not depend on the width, because the compiler does not fuse operations by itself.
#[inline(always)]
pub(crate) fn wide<Op: WithSimd>(f: Op) -> Op::Output {
    Arch::new().dispatch(f)
}
