//! Loaded entries, their origin, and the table that keeps a kernel's entries for the rest of the process.

use std::sync::{Mutex, OnceLock, PoisonError};

use thiserror::Error;

use crate::device::Function;

/// The two entries of one config, loaded on one device.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The release entry, which is the kernel without additions.
    pub release: Function,
    /// The receipt entry, which is the same kernel plus code that writes a record of the launch.
    pub receipt: Function,
    /// The hash that is part of both symbols.
    pub symbol_hash: u64,
    /// The hash of the config.
    pub config_hash: u64,
    /// Where the entries come from.
    pub origin: Origin,
}

/// Where loaded entries come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The image that was embedded when the program was built.
    Image,
    /// The compiler on this machine, or the cache of its earlier results.
    Compiler {
        /// The reason why no image was used.
        instead_of: NoImage,
    },
}

/// The reason why no image is used for a choice on a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoImage {
    /// The program contains no image for the choice.
    #[error("no embedded image")]
    Missing,
    /// The embedded image is for devices of another architecture.
    #[error("only an image for {target} embedded")]
    OtherArchitecture {
        /// The target of the embedded image.
        target: &'static str,
    },
    /// The image does not match what the device requires, or the device failed to load it.
    #[error("an embedded image that is refused ({why})")]
    Refused {
        /// The text of the error, with the found and the required value.
        why: String,
    },
}

/// The loaded entries of one kernel. The table has a slot for every choice on every device. The first use of a slot
/// fills it.
///
/// Looking up a slot by its index takes no lock. Only filling a slot takes a lock.
pub(crate) struct PreparedTable {
    /// The slots of every device, by the device's index. Bucket `b` has room for `2^b` devices and never grows, so a
    /// slot never moves.
    buckets: [OnceLock<Box<[DeviceSlots]>>; 32],
    filling: Mutex<()>,
}

type DeviceSlots = OnceLock<Box<[OnceLock<Prepared>]>>;

/// The position of one choice on one device in a [`PreparedTable`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The index of the device.
    pub device_index: u32,
    /// The index of the choice among the kernel's choices.
    pub number: usize,
    /// The number of the kernel's choices.
    pub of: usize,
}

impl PreparedTable {
    pub(crate) const fn new() -> PreparedTable {
        PreparedTable {
            buckets: [const { OnceLock::new() }; 32],
            filling: Mutex::new(()),
        }
    }

    /// The loaded entries in a slot. If the slot is empty, calls `prepare`.
    ///
    /// A failure is not stored, so the next launch tries again.
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
