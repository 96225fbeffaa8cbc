//! The initial state of a block.

use super::exec::{PtxBlock, no_arrivals};
use super::flight::Flight;
use super::kernel::Kernel;
use super::regs::LANES;
use super::shared::Shared;
use super::space::base;
use super::warp::Warp;
use crate::traffic::Requests;
use crate::{Counters, Fault, Launch, MemoryView, Program};

impl Program for Kernel {
    type Block<'a> = PtxBlock<'a>;

    fn block<'a>(
        &'a self,
        launch: &'a Launch,
        memory: &'a MemoryView,
        index: [u32; 3],
        seed: u64,
    ) -> Result<PtxBlock<'a>, Fault> {
        debug_assert!(base(super::code::Room::Shared) < 1 << 44);
        self.check(launch)?;
        let template = self.template(launch, seed);
        let threads = launch.threads();
        let count = threads.div_ceil(32) as u32;
        let templates = std::iter::repeat_n(template, count as usize);
        let warps = (0..count).zip(templates).map(|(warp, mut regs)| {
            self.fill_warp(&mut regs, launch, index, warp);
            let lanes = (threads - u64::from(warp) * 32).min(32);
            let lanes = ((1u64 << lanes) - 1) as u32;
            let garbage = (seed >> 11) as u8 | 0x41;
            let local = vec![garbage; self.code.local_bytes as usize * LANES];
            let mut warp = Warp::new(regs, lanes, local);
            if self.code.has_warpgroups() {
                warp.flight = Some(Box::new(Flight::new(self.code.words as usize)));
            }
            warp
        });
        let warps: Vec<Warp> = warps.collect();
        let mut shared = Shared::new(
            self.shared_total(launch),
            self.code.granule,
            warps.len(),
            seed,
        );
        if self.code.has_warpgroups() {
            shared.watch_proxy();
        }
        self.gaps().for_each(|gap| shared.forbid(gap));
        Ok(PtxBlock {
            kernel: self,
            launch,
            memory,
            index,
            barriers: no_arrivals(warps.len()),
            warps,
            shared,
            counters: Counters::of_program(self.code.insts.len()),
            requests: Requests::default(),
            dropped: Default::default(),
        })
    }

    fn instructions(&self) -> usize {
        self.code.insts.len()
    }
}
