//! The reads of shared memory by `wgmma`, which go through the asynchronous proxy.
//!
//! NVIDIA, "PTX ISA", "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".

use super::{Shared, Wrong};
use crate::FaultKind;
use crate::lanes::of_mask;
use crate::marks::Touch;
use crate::ptx::cells::{Intent, Who};
use crate::ptx::descriptor::PIECE;
use crate::ptx::notes::Note;
use crate::ptx::proxy::{self, Reading};
use crate::ptx::regs::LANES;

impl Shared {
    /// Begins the reads of a `wgmma` of this group: 16 bytes for each lane of `mask`.
    ///
    /// # Errors
    /// Why a read is wrong.
    pub fn begin_reads(
        &mut self,
        at: &[u32; LANES],
        mask: u32,
        who: Who,
        group: u32,
    ) -> Result<(), Wrong> {
        self.read_pieces(at, mask, who)?;
        let Some(proxy) = &mut self.proxy else {
            return Ok(());
        };
        let known = |other| self.cells.known(who.warp, other);
        let unseen = of_mask(mask).find(|&lane| !proxy.is_visible(at[lane], who.warp, known));
        if let Some(lane) = unseen {
            let offset = at[lane].into();
            return Err(Wrong::Kind(FaultKind::BeforeFence { offset }));
        }
        proxy.begin(Reading {
            who,
            group,
            at: *at,
            mask,
        });
        Ok(())
    }

    /// Ends the reads of a warp's `wgmma` groups below `end`. The race checks treat them as reads at this time, too.
    ///
    /// # Errors
    /// Why a read is wrong.
    pub fn end_reads(&mut self, warp: u8, end: u32) -> Result<(), Wrong> {
        let done = match &mut self.proxy {
            Some(proxy) => proxy.end(warp, end),
            None => return Ok(()),
        };
        let mut reads = done.iter();
        reads.try_for_each(|read| self.read_pieces(&read.at, read.mask, read.who))
    }

    fn read_pieces(&mut self, at: &[u32; LANES], mask: u32, who: Who) -> Result<(), Wrong> {
        if self.marks.touch(at, PIECE, mask, Touch::Read) {
            let note = Note {
                touch: Touch::Read,
                who,
                clock: self.cells.clock(who.warp),
                bytes: PIECE,
                mask,
            };
            self.notes.push(note, at, &mut self.cells);
            return Ok(());
        }
        let mut of_lanes = of_mask(mask);
        of_lanes.try_for_each(|lane| {
            self.check(at[lane].into(), PIECE, Intent::Read, who)
                .map(drop)
        })
    }

    /// Records `fence.proxy.async` of lanes of a warp.
    pub fn fence_proxy(&mut self, warp: u8, mask: u32) {
        let clock = self.cells.clock(warp);
        if let Some(proxy) = &mut self.proxy {
            proxy.fence(warp, mask, clock);
        }
    }

    /// Records that a warp issues a `wgmma`.
    ///
    /// # Errors
    /// If the block has a part of a warpgroup, or if another warp of the warpgroup has issued another instruction.
    pub fn issue(&mut self, who: Who, descriptors: [u64; 2]) -> Result<(), FaultKind> {
        let warps = self.cells.warps();
        let is_whole = warps.is_multiple_of(proxy::WARPS);
        let proxy = self.proxy.as_mut().filter(|_| is_whole);
        let what = match proxy.map(|proxy| proxy.issue(who.warp, who.pc, descriptors)) {
            Some(true) => return Ok(()),
            Some(false) => {
                "the warps of a warpgroup execute different `wgmma.mma_async` instructions, or have different \
                 descriptors"
                    .to_owned()
            }
            None => format!(
                "a warpgroup has {} warps, but the block has {warps}, which is not a multiple",
                proxy::WARPS
            ),
        };
        Err(FaultKind::Invalid { what })
    }
}
