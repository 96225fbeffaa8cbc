//! The properties of a device that the HIP runtime reports: its identity, its launch limits, and its fingerprint.

use std::collections::BTreeMap;
use std::fs;

use kiln_spec::{Backend, DeviceKey, DeviceLimits};

use crate::device::DeviceInfo;
use crate::device::error::DeviceError;
use crate::image::HIP_RUNTIME;

use super::ffi::HipPlace;
use super::status::HipFailure;
use super::types::Attribute;
use crate::compiler::dialect::is_test_library;

/// The assumed resolution of the time between two events, in nanoseconds. The runtime does not state a resolution. An
/// event takes ten microseconds or more, and before ROCm 6.3 the runtime queues a recording launch by launch. A sample
/// lasts at least a hundred times this value, so at least two milliseconds.
const TIMER_TICK_NS: u64 = 20_000;

/// The properties of a device.
///
/// # Errors
/// If a call of the runtime fails, or if the runtime reports an architecture that no compiler could support.
pub(super) fn device_info(place: &HipPlace) -> Result<DeviceInfo, DeviceError> {
    let (hip, ordinal) = (&place.hip, place.ordinal);
    hip.select(ordinal).map_err(HipFailure::error)?;
    let full_arch = hip.arch_name(ordinal).map_err(HipFailure::error)?;
    let key = DeviceKey {
        backend: Backend::Hip,
        arch: processor(&full_arch)?,
        name: plain(
            &hip.device_name(ordinal).map_err(HipFailure::error)?,
            &full_arch,
        ),
    };
    let (_, total) = hip.memory_info().map_err(HipFailure::error)?;
    Ok(DeviceInfo {
        key,
        limits: limits(place, total as u64)?,
        instance: BTreeMap::from([("memory_bytes".into(), total.to_string())]),
        fingerprint: fingerprint(place, full_arch)?,
        ordinal,
        timer_tick_ns: TIMER_TICK_NS,
        is_simulated: false,
    })
}

/// The processor in the driver's name of an architecture, such as `gfx90a` in `gfx90a:sramecc+:xnack-`. Code that is
/// compiled for the processor alone runs with either setting of a feature.
fn processor(arch: &str) -> Result<String, DeviceError> {
    let processor = arch.split(':').next().unwrap_or_default();
    let digits = processor.strip_prefix("gfx").unwrap_or_default();
    let is_gfx = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_gfx || is_test_library(processor) {
        return Ok(processor.into());
    }
    let text = format!("the runtime calls it {arch:?}, which is not an architecture of AMD GPUs");
    Err(DeviceError::internal(
        "reading the device's properties",
        text,
    ))
}

/// Removes control characters and repeated spaces from a product name. If the runtime has no name, returns one that
/// contains the architecture.
fn plain(name: &str, arch: &str) -> String {
    let words = name.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return format!("AMD {arch}");
    }
    words.join(" ")
}

/// The limits of launches on the device.
fn limits(place: &HipPlace, memory_bytes: u64) -> Result<DeviceLimits, DeviceError> {
    let number = |attribute| {
        let value = place.hip.attribute(attribute, place.ordinal);
        let value = value.map_err(HipFailure::error)?;
        u32::try_from(value).map_err(|error| DeviceError::internal("hipDeviceGetAttribute", error))
    };
    Ok(DeviceLimits {
        max_threads_per_block: number(Attribute::MAX_THREADS_PER_BLOCK)?,
        max_block: [
            number(Attribute::MAX_BLOCK_X)?,
            number(Attribute::MAX_BLOCK_Y)?,
            number(Attribute::MAX_BLOCK_Z)?,
        ],
        max_grid: [
            number(Attribute::MAX_GRID_X)?,
            number(Attribute::MAX_GRID_Y)?,
            number(Attribute::MAX_GRID_Z)?,
        ],
        shared_bytes_per_block: number(Attribute::SHARED_BYTES_PER_BLOCK)?,
        warp_size: number(Attribute::WARP_SIZE)?,
        lockstep_threads: number(Attribute::WARP_SIZE)?,
        warps_per_product: 1,
        multiprocessors: number(Attribute::MULTIPROCESSORS)?,
        l2_bytes: number(Attribute::L2_BYTES)?.into(),
        memory_bytes,
    })
}

/// The device fingerprint: properties that affect times and may differ between machines.
fn fingerprint(
    place: &HipPlace,
    full_arch: String,
) -> Result<BTreeMap<String, String>, DeviceError> {
    let (runtime, driver) = place.hip.versions().map_err(HipFailure::error)?;
    // If this version of the runtime does not know an attribute, the device can still be used.
    let number = |attribute| match place.hip.attribute(attribute, place.ordinal) {
        Ok(value) => value.to_string(),
        Err(_) => "unknown".into(),
    };
    let of_system = |path: &str| match fs::read_to_string(path) {
        Ok(text) => text.trim().to_owned(),
        Err(_) => "unknown".into(),
    };
    let fields = [
        ("arch", full_arch),
        (HIP_RUNTIME, runtime.to_string()),
        ("driver", driver.to_string()),
        ("kernel_driver", of_system("/sys/module/amdgpu/version")),
        ("system", of_system("/proc/sys/kernel/osrelease")),
        ("clock_khz", number(Attribute::CLOCK_KHZ)),
        ("memory_clock_khz", number(Attribute::MEMORY_CLOCK_KHZ)),
        ("memory_bus_bits", number(Attribute::MEMORY_BUS_BITS)),
        ("multiprocessors", number(Attribute::MULTIPROCESSORS)),
        ("integrated", number(Attribute::INTEGRATED)),
        (
            "timer",
            "hip events around recorded batches behind a filler".into(),
        ),
    ];
    let named = fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    Ok(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_what_stands_before_the_features() {
        assert_eq!(processor("gfx1151").unwrap(), "gfx1151");
        assert_eq!(processor("gfx90a:sramecc+:xnack-").unwrap(), "gfx90a");
        assert_eq!(processor("kiln-host").unwrap(), "kiln-host");
        for wrong in ["", "gfx", ":xnack-", "sm_89", "gfx\u{1}", "AMD"] {
            assert!(processor(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_name_is_made_printable_and_never_empty() {
        assert_eq!(
            plain(" AMD  Radeon\tGraphics ", "gfx1151"),
            "AMD Radeon Graphics"
        );
        assert_eq!(plain("\u{1}", "gfx1151"), "AMD gfx1151");
    }
}
