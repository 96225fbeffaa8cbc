//! The memo of a launch function: its selections for the most recent problems, per thread.
//!
//! If the device and the sizes of a launch are in the memo, the launch only compares its slices with the stored
//! requirements. It evaluates no expression, takes no lock, searches no map and allocates nothing.

use std::cell::{Cell, RefCell};

use kiln_spec::LaunchPlan;

use crate::prepare::prepared::Prepared;

/// Number of problems between which one thread can alternate without selecting again.
const WAYS: usize = 4;

/// The most recent selections of one launch function on one thread. The kernel has `D` problem dimensions, `S` slices
/// and `C` computed arguments.
#[derive(Debug)]
pub struct Memo<const D: usize, const S: usize, const C: usize> {
    ways: RefCell<[Option<Resolved<D, S, C>>; WAYS]>,
    next: Cell<usize>,
}

/// Everything in a launch that depends only on the device and the sizes.
#[derive(Clone, Copy, Debug)]
pub struct Resolved<const D: usize, const S: usize, const C: usize> {
    pub(crate) device_index: u32,
    pub(crate) dims: [i64; D],
    pub(crate) plan: LaunchPlan,
    pub(crate) prepared: &'static Prepared,
    pub(crate) needs: [SliceNeeds; S],
    /// The values of the computed arguments, in order. Each value occupies the first bytes of its 64-bit word.
    pub(crate) computed: [u64; C],
}

/// What a launch requires of one slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceNeeds {
    /// The required length, in elements.
    pub(crate) len: u64,
    /// The required alignment in bytes, minus one: the bits of the slice's address that must be zero.
    pub(crate) align_mask: u64,
}

impl<const D: usize, const S: usize, const C: usize> Memo<D, S, C> {
    /// An empty memo.
    pub const fn new() -> Memo<D, S, C> {
        Memo {
            ways: RefCell::new([None; WAYS]),
            next: Cell::new(0),
        }
    }

    /// Calls `use_it` with the memoised result for a device and sizes. Returns `None` if the memo does not have it.
    #[inline]
    pub(crate) fn find<R>(
        &self,
        device_index: u32,
        dims: &[i64; D],
        use_it: impl FnOnce(&Resolved<D, S, C>) -> R,
    ) -> Option<R> {
        let ways = self.ways.borrow();
        let found = ways
            .iter()
            .flatten()
            .find(|way| way.device_index == device_index && way.dims == *dims)?;
        Some(use_it(found))
    }

    /// Memoises a result in place of the oldest one.
    pub(crate) fn remember(&self, resolved: Resolved<D, S, C>) {
        let way = self.next.get();
        self.next.set((way + 1) % WAYS);
        self.ways.borrow_mut()[way] = Some(resolved);
    }
}

impl<const D: usize, const S: usize, const C: usize> Default for Memo<D, S, C> {
    fn default() -> Self {
        Memo::new()
    }
}
