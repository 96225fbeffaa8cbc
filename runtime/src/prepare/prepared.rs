//! Loaded entries, their origin, and the table that keeps those of a kernel for the process.

use std::sync::{Mutex, OnceLock, PoisonError};

use thiserror::Error;

use crate::device::Function;

/// The two entries of one config, loaded on one device.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The release entry, without additions.
    pub release: Function,
    /// The receipt entry: the same body, plus a record of the launch.
    pub receipt: Function,
    /// The hash in both symbols.
    pub symbol_hash: u64,
    /// Hash of the config.
    pub config_hash: u64,
    /// Their origin.
    pub origin: Origin,
}

/// The origin of loaded entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The image that was embedded when the program was built.
    Image,
    /// The compiler on this machine, or the cache of earlier compiles.
    Compiler {
        /// Why no image was used.
        instead_of: NoImage,
    },
}

/// Why no image is used for a choice on a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoImage {
    /// The program contains none.
    #[error("no embedded image")]
    Missing,
    /// The embedded image is for devices of another architecture.
    #[error("only an image for {target} embedded")]
    OtherArchitecture {
        /// Its target.
        target: &'static str,
    },
    /// The device must not load it, or failed to.
    #[error("an embedded image that is refused ({why})")]
    Refused {
        /// The found and the required value.
        why: String,
    },
}

/// The loaded entries of one kernel: a slot for every choice on every device, filled on first use.
///
/// Slots are found by index, without a lock; only filling one takes a lock.
pub(crate) struct PreparedTable {
    /// Devices by index; bucket `b` has `2^b` of them, so that a slot never moves.
    buckets: [OnceLock<Box<[DeviceSlots]>>; 32],
    filling: Mutex<()>,
}

type DeviceSlots = OnceLock<Box<[OnceLock<Prepared>]>>;

/// The position of one choice on one device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The index of the device.
    pub device_index: u32,
    /// The index of the choice among those of the kernel.
    pub number: usize,
    /// The number of choices of the kernel.
    pub of: usize,
}

impl PreparedTable {
    pub(crate) const fn new() -> PreparedTable {
        PreparedTable {
            buckets: [const { OnceLock::new() }; 32],
            filling: Mutex::new(()),
        }
    }

    /// The loaded entries of a slot; prepared now if necessary.
    ///
    /// A failure is not stored: the next launch tries again.
    pub(crate) fn get_or_prepare<E>(
        &'static self,
        slot: Slot,
        prepare: impl FnOnce() -> Result<Prepared, E>,
    ) -> Result<&'static Prepared, E> {
        let slot = self.slot(slot);
        if let Some(prepared) = slot.get() {
            return Ok(prepared);
        }
        let _filling = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = slot.get() {
            return Ok(prepared);
        }
        let prepared = prepare()?;
        Ok(slot.get_or_init(|| prepared))
    }

    fn slot(&'static self, slot: Slot) -> &'static OnceLock<Prepared> {
        let number = u64::from(slot.device_index) + 1;
        let bucket = number.ilog2() as usize;
        let devices = self.buckets[bucket]
            .get_or_init(|| (0..1u64 << bucket).map(|_| OnceLock::new()).collect());
        let slots = devices[(number - (1 << bucket)) as usize]
            .get_or_init(|| (0..slot.of).map(|_| OnceLock::new()).collect());
        &slots[slot.number]
    }
}
