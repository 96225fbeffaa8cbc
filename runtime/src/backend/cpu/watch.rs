//! Input of a check build, which checks every access of its kernels: the memory that they may use,
//! and room to remember accesses in. The prelude's `watch_*.h` do the rest.

use crate::device::{DeviceError, KernelArgs};

use super::ffi::{CELL_BYTES, LaunchWatch, Mapping, MemoryTable};
use super::memory::Order;

/// `kiln_cpu_memory_kind` of the prelude.
#[derive(Clone, Copy, Debug)]
pub(super) enum MemoryKind {
    Argument = 0,
    Shared = 1,
    Variable = 2,
    Constant = 3,
    Own = 4,
}

/// Most room for accesses, in bytes: enough for 256 MiB of memory that kernels write, in elements of 4 bytes. Of what is
/// beyond, only the bounds are checked.
const MAX_BYTES: u64 = 16 << 30;
/// Room that is kept from one launch to the next, in bytes.
const KEPT_BYTES: usize = 1 << 30;
/// Intervals have 32 bits in the prelude: from here on they begin again.
const MAX_INTERVALS: u64 = 3 << 30;

/// The accesses that launches made, which the next launch takes for old ones.
#[derive(Debug, Default)]
pub(super) struct History {
    cells: Option<Mapping>,
    interval: u64,
}

impl History {
    /// What a launch needs that uses that many bytes of memory.
    pub fn for_launch<'a>(
        &'a mut self,
        memory_bytes: u64,
        memory: &'a MemoryTable,
    ) -> Result<LaunchWatch<'a>, DeviceError> {
        // A cell for each byte at most, and as much again for those of larger granules that were there before.
        let cells = memory_bytes.saturating_mul(2).saturating_add(8192);
        let bytes = cells.saturating_mul(CELL_BYTES as u64).min(MAX_BYTES);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let fits = |cells: &Mapping| cells.bytes() >= bytes && self.interval < MAX_INTERVALS;
        if !self.cells.as_ref().is_some_and(fits) {
            self.cells = None;
            self.interval = 0;
        }
        let cells = match self.cells.take() {
            Some(cells) => cells,
            None => Mapping::sparse(bytes).map_err(|error| DeviceError::Oom {
                wanted_bytes: bytes as u64,
                text: format!("room to watch a launch: {error}"),
            })?,
        };
        Ok(LaunchWatch {
            memory,
            cells: self.cells.insert(cells),
            interval: &mut self.interval,
        })
    }

    /// Gives back what only a large launch needs.
    pub fn tidy(&mut self) {
        if self
            .cells
            .as_ref()
            .is_some_and(|cells| cells.bytes() > KEPT_BYTES)
        {
            *self = History::default();
        }
    }
}

/// The memory that a kernel may use, and its size in bytes: what the launch says, else every allocation of the device.
pub(super) fn memory_of(args: KernelArgs<'_>, order: &Order) -> (MemoryTable, u64) {
    let kind = MemoryKind::Argument as u32;
    let declared = args.memory();
    if declared.is_empty() {
        let allocations = order.allocations();
        let bytes = allocations.iter().map(|(_, bytes)| bytes).sum();
        let rows = allocations
            .iter()
            .map(|&(address, bytes)| ("", address, bytes, kind));
        return (MemoryTable::new(rows), bytes);
    }
    let bytes = declared.iter().map(|memory| memory.bytes).sum();
    let rows = declared
        .iter()
        .map(|memory| (memory.name, memory.address, memory.bytes, kind));
    (MemoryTable::new(rows), bytes)
}
