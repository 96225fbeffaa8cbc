//! Stacks for the threads of a block, which kernels with barriers need. Each operating system thread has one arena of
//! stacks.

use crate::device::DeviceError;

use super::ffi::{Mapping, Stacks, page_bytes};

/// Additional distance between stacks, in bytes. Without it, the low address bits of all stacks would be equal, so all
/// stacks would compete for the same cache sets, and kernels would take up to twice the time.
const COLOUR_BYTES: usize = 192;
/// The pattern at the low end of every stack. A thread that needs more stack overwrites it. It is several cache lines
/// long because a stack frame may contain bytes that are never written.
const CANARY: [u8; 256] = [0xc5; 256];
/// Size of a huge page, in bytes. Smaller arenas do not benefit from huge pages.
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Maximum number of canaries that are checked after a launch. A sample is enough, because all threads run the same
/// code and so an overflow occurs in most stacks.
const SAMPLES: usize = 64;

/// How the stacks of an arena are arranged in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackLayout {
    /// Stacks are adjacent, in huge pages, with guard pages at both ends and canaries between them.
    Dense,
    /// Each stack has its own guard page.
    Guarded,
}

/// Memory for stacks. It grows to the size that the largest block so far needs.
#[derive(Debug)]
pub(super) struct Arena {
    stack_bytes: usize,
    mapped: Option<Mapped>,
}

#[derive(Debug)]
struct Mapped {
    mapping: Mapping,
    layout: StackLayout,
    threads: usize,
    stacks: Stacks,
}

impl Arena {
    /// Creates an arena for stacks of `stack_bytes` bytes, which must be a multiple of 64. No memory is mapped yet.
    pub fn new(stack_bytes: usize) -> Arena {
        Arena {
            stack_bytes,
            mapped: None,
        }
    }

    /// Stacks for a block of `threads` threads. Maps memory if the arena is too small or has another layout.
    pub fn stacks(&mut self, threads: usize, layout: StackLayout) -> Result<Stacks, DeviceError> {
        let fits = |mapped: &Mapped| mapped.layout == layout && mapped.threads >= threads;
        if let Some(mapped) = self.mapped.as_ref().filter(|mapped| fits(mapped)) {
            return Ok(mapped.stacks);
        }
        self.mapped = None;
        // Blocks have few different sizes. If the arena grows by powers of two, memory is rarely mapped again.
        let mapped = self.map(threads.next_power_of_two(), layout)?;
        let stacks = mapped.stacks;
        self.mapped = Some(mapped);
        Ok(stacks)
    }

    fn map(&self, threads: usize, layout: StackLayout) -> Result<Mapped, DeviceError> {
        let page = page_bytes();
        let (bytes, stride) = self.stack_and_stride(layout);
        let used = (threads * stride).next_multiple_of(page);
        let mapping = Mapping::new(used + 2 * page).map_err(|error| DeviceError::Oom {
            wanted_bytes: used as u64,
            text: format!("stacks of {threads} threads: {error}"),
        })?;
        let guard = |range| {
            let guarded = mapping.guard(range);
            guarded.map_err(|error| DeviceError::internal("mprotect", error))
        };
        guard(0..page)?;
        guard(page + used..mapping.bytes())?;
        if layout == StackLayout::Dense && used >= HUGE_PAGE_BYTES {
            mapping.ask_for_huge_pages();
        }
        for thread in 0..threads {
            let end = page + (thread + 1) * stride;
            match layout {
                StackLayout::Dense => mapping.write(end - stride, &CANARY),
                StackLayout::Guarded => guard(end - page..end)?,
            }
        }
        let base = mapping.address() + page;
        Ok(Mapped {
            mapping,
            layout,
            threads,
            stacks: Stacks {
                base,
                stride,
                bytes,
            },
        })
    }

    /// The size of a stack, and the distance from one stack to the next, in bytes.
    fn stack_and_stride(&self, layout: StackLayout) -> (usize, usize) {
        match layout {
            StackLayout::Dense => (self.stack_bytes, self.stack_bytes + COLOUR_BYTES),
            StackLayout::Guarded => {
                // Sanitizers need many times the stack of uninstrumented code.
                let bytes = (8 * self.stack_bytes).next_multiple_of(page_bytes());
                (bytes, bytes + page_bytes())
            }
        }
    }

    /// Whether a launch with blocks of `threads` threads has overrun a stack. If so, the arena is discarded. `false`
    /// for guarded stacks, because a guard page already stops an overrun.
    pub fn overran(&mut self, threads: usize) -> bool {
        let Some(mapped) = self
            .mapped
            .as_ref()
            .filter(|m| m.layout == StackLayout::Dense)
        else {
            return false;
        };
        let intact = |thread: usize| {
            let mut canary = [0; CANARY.len()];
            let offset =
                mapped.stacks.base - mapped.mapping.address() + thread * mapped.stacks.stride;
            mapped.mapping.read(offset, &mut canary);
            canary == CANARY
        };
        let overran = !(0..threads)
            .step_by(threads.div_ceil(SAMPLES).max(1))
            .all(intact);
        if overran {
            self.mapped = None;
        }
        overran
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_do_not_overlap_and_their_tops_are_aligned() {
        for layout in [StackLayout::Dense, StackLayout::Guarded] {
            let stacks = Arena::new(16384).stacks(33, layout).unwrap();
            assert!(stacks.stride > stacks.bytes);
            for thread in 0..33 {
                assert_eq!(
                    (stacks.base + thread * stacks.stride + stacks.bytes) % 16,
                    0
                );
            }
        }
    }

    #[test]
    fn an_arena_grows_and_is_kept_while_it_is_large_enough() {
        let mut arena = Arena::new(4096);
        let large = arena.stacks(64, StackLayout::Dense).unwrap();
        assert_eq!(
            arena.stacks(10, StackLayout::Dense).unwrap().base,
            large.base
        );
        assert_eq!(
            arena.stacks(10, StackLayout::Guarded).unwrap().bytes,
            8 * 4096
        );
    }

    #[test]
    fn a_canary_that_is_gone_is_noticed_once() {
        let mut arena = Arena::new(4096);
        let stacks = arena.stacks(4, StackLayout::Dense).unwrap();
        assert!(!arena.overran(4));
        let mapped = arena.mapped.as_ref().unwrap();
        let offset = stacks.base - mapped.mapping.address();
        mapped
            .mapping
            .write(offset + 2 * stacks.stride + 100, &[0; 8]);
        assert!(arena.overran(4));
        arena.stacks(4, StackLayout::Dense).unwrap();
        assert!(!arena.overran(4));
    }
}
