//! The input for the checks of a check build (a build that checks every memory access): the memory that the kernel may
//! access, and the history of accesses. The code of the checks is in the prelude's `watch_*.h`.

use crate::device::{DeviceError, KernelArgs};

use super::ffi::{CELL_BYTES, LaunchWatch, Mapping, MemoryTable};
use super::memory::Order;

/// Mirrors `kiln_cpu_memory_kind` of the prelude.
#[derive(Clone, Copy, Debug)]
pub(super) enum MemoryKind {
    Argument = 0,
    Shared = 1,
    Variable = 2,
    Constant = 3,
    Own = 4,
    Output = 6,
}

/// Maximum size of the history in bytes. It suffices for 256 MiB of memory that kernels write in elements of 4 bytes.
/// If a launch uses more memory, only bounds are checked in the ranges for which there is no room.
const MAX_BYTES: u64 = 16 << 30;
/// Maximum size of a history that is kept from one launch to the next, in bytes.
const KEPT_BYTES: usize = 1 << 30;
/// The prelude numbers intervals with 32 bits, so the count restarts when it reaches this number.
const MAX_INTERVALS: u64 = 3 << 30;

/// The address space in bytes of the history of a launch that uses `memory_bytes` bytes of memory.
pub fn history_bytes(memory_bytes: u64) -> u64 {
    // Each granule has a cell, and a granule has at least one byte. The factor 2 leaves room for the cells of earlier
    // accesses, whose granules were larger.
    let cells = memory_bytes.saturating_mul(2).saturating_add(8192);
    cells.saturating_mul(CELL_BYTES as u64).min(MAX_BYTES)
}

/// The history of accesses. The next launch treats the accesses in it as old.
#[derive(Debug, Default)]
pub(super) struct History {
    cells: Option<Mapping>,
    interval: u64,
}

impl History {
    /// The input of a launch that uses `memory_bytes` bytes of memory.
    pub fn for_launch<'a>(
        &'a mut self,
        memory_bytes: u64,
        memory: &'a MemoryTable,
    ) -> Result<LaunchWatch<'a>, DeviceError> {
        let bytes = usize::try_from(history_bytes(memory_bytes)).unwrap_or(usize::MAX);
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

    /// Frees the history if it is so large that only a large launch needs it.
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

/// The memory that a kernel may access, and its total size in bytes. This is the memory that `args` lists or, if it
/// lists none, every allocation of the device.
pub(super) fn memory_of(args: KernelArgs<'_>, order: &Order) -> (MemoryTable, u64) {
    let declared = args.memory();
    if declared.is_empty() {
        let allocations = order.allocations();
        let bytes = allocations.iter().map(|(_, bytes)| bytes).sum();
        let rows = allocations
            .iter()
            .map(|&(address, bytes)| ("", address, bytes, MemoryKind::Argument as u32));
        return (MemoryTable::new(rows), bytes);
    }
    let bytes = declared.iter().map(|memory| memory.bytes).sum();
    let rows = declared.iter().map(|memory| {
        let kind = match memory.has_content {
            true => MemoryKind::Argument,
            false => MemoryKind::Output,
        };
        (memory.name, memory.address, memory.bytes, kind as u32)
    });
    (MemoryTable::new(rows), bytes)
}
