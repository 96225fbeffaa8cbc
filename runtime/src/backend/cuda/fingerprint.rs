//! The properties of a CUDA device: its identity, its limits, and the fingerprint that is part of the keys of
//! results.

use std::collections::BTreeMap;
use std::fs;

use kiln_spec::{Backend, DeviceKey, DeviceLimits};

use crate::device::{DeviceError, DeviceInfo};
use crate::image::CUDA_DRIVER;

use super::driver::FoundDriver;
use super::error::of_call;
use super::numbers::DeviceAttribute as Attribute;

/// The key of the UUID among the properties that identify an individual device.
pub(super) const INSTANCE_UUID: &str = "uuid";

/// The assumed resolution of the time between two events, in nanoseconds. The driver's documentation states half a
/// microsecond for the events (`cuEventElapsedTime`), and the front end of the GPU needs additional time between two
/// recordings. A sample lasts at least a hundred times this value, so at least one millisecond.
const TICK_NS: u64 = 10_000;

/// All properties of a device that can be queried without a context.
///
/// # Errors
/// The driver's error.
pub(super) fn device_info(found: &FoundDriver, ordinal: u32) -> Result<DeviceInfo, DeviceError> {
    let driver = &found.driver;
    let number = i32::try_from(ordinal).unwrap_or(i32::MAX);
    let device = driver.device(number).map_err(of_call)?;
    let attribute = |attribute| driver.attribute(device, attribute).map_err(of_call);
    let name = driver.device_name(device).map_err(of_call)?;
    let (major, minor) = (
        attribute(Attribute::CapabilityMajor)?,
        attribute(Attribute::CapabilityMinor)?,
    );
    let limits = limits(found, device)?;
    let mut fingerprint = fingerprint(found, device)?;
    fingerprint.insert("compute_capability".into(), format!("{major}.{minor}"));
    fingerprint.insert("multiprocessors".into(), limits.multiprocessors.to_string());
    fingerprint.insert("l2_bytes".into(), limits.l2_bytes.to_string());
    Ok(DeviceInfo {
        key: DeviceKey {
            backend: Backend::Cuda,
            arch: format!("sm_{major}{minor}"),
            name: printable(&name),
        },
        instance: instance(found, device, &name, limits.memory_bytes)?,
        limits,
        fingerprint,
        ordinal,
        timer_tick_ns: TICK_NS,
        is_simulated: false,
    })
}

fn limits(found: &FoundDriver, device: i32) -> Result<DeviceLimits, DeviceError> {
    let number = |attribute| {
        let value = found.driver.attribute(device, attribute).map_err(of_call)?;
        Ok::<u32, DeviceError>(u32::try_from(value).unwrap_or(0))
    };
    let capability = (
        number(Attribute::CapabilityMajor)?,
        number(Attribute::CapabilityMinor)?,
    );
    Ok(DeviceLimits {
        max_threads_per_block: number(Attribute::MaxThreadsPerBlock)?,
        max_block: [
            number(Attribute::MaxBlockX)?,
            number(Attribute::MaxBlockY)?,
            number(Attribute::MaxBlockZ)?,
        ],
        max_grid: [
            number(Attribute::MaxGridX)?,
            number(Attribute::MaxGridY)?,
            number(Attribute::MaxGridZ)?,
        ],
        shared_bytes_per_block: number(Attribute::MaxSharedPerBlockOptIn)?,
        warp_size: number(Attribute::WarpSize)?,
        lockstep_threads: number(Attribute::WarpSize)?,
        // Only GPUs of this compute capability have `wgmma` (PTX ISA, "Target ISA Notes" of `wgmma.mma_async`).
        warps_per_product: if capability == (9, 0) { 4 } else { 1 },
        multiprocessors: number(Attribute::Multiprocessors)?,
        l2_bytes: number(Attribute::L2CacheSize)?.into(),
        memory_bytes: found.driver.device_memory(device).map_err(of_call)?,
    })
}

fn fingerprint(found: &FoundDriver, device: i32) -> Result<BTreeMap<String, String>, DeviceError> {
    let mut fields = BTreeMap::new();
    fields.insert(CUDA_DRIVER.to_owned(), found.version.to_string());
    if let Some(version) = kernel_module() {
        fields.insert("driver".into(), version);
    }
    fields.insert(
        "timer".into(),
        "cuda events around recorded batches behind a filler".into(),
    );
    let numbers = [
        ("clock_khz", Attribute::ClockRate),
        ("memory_clock_khz", Attribute::MemoryClockRate),
        ("memory_bus_bits", Attribute::MemoryBusWidth),
        ("ecc", Attribute::EccEnabled),
    ];
    for (name, attribute) in numbers {
        // If this driver does not report an attribute, the device can still be used.
        let value = found.driver.attribute(device, attribute);
        let value = value.map_or("unknown".into(), |value| value.to_string());
        fields.insert(name.into(), value);
    }
    Ok(fields)
}

/// The version of the driver's kernel module, such as `580.159.03`; `None` if the system does not report it.
fn kernel_module() -> Option<String> {
    version_in(&fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

fn version_in(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("NVRM version"))?;
    let is_version =
        |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    line.split_whitespace().find(is_version).map(str::to_owned)
}

/// The properties that identify this device among others of its kind: its UUID in the format of `nvidia-smi`, and its
/// memory size.
fn instance(
    found: &FoundDriver,
    device: i32,
    name: &str,
    memory_bytes: u64,
) -> Result<BTreeMap<String, String>, DeviceError> {
    let uuid = found.driver.device_uuid(device).map_err(of_call)?;
    let fields = [
        (INSTANCE_UUID, uuid_text(uuid, is_mig(name))),
        ("memory_bytes", memory_bytes.to_string()),
    ];
    Ok(fields.map(|(name, value)| (name.to_owned(), value)).into())
}

/// Whether a product name denotes a part of a GPU, such as `NVIDIA A100-SXM4-40GB MIG 1g.5gb`.
fn is_mig(name: &str) -> bool {
    name.split_whitespace().any(|word| word == "MIG")
}

/// A UUID in the format of `nvidia-smi -L`.
fn uuid_text(uuid: [u8; 16], mig: bool) -> String {
    let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    let kind = if mig { "MIG" } else { "GPU" };
    format!("{kind}-{}", parts.join("-"))
}

/// Converts a product name to one that a baked table can contain.
fn printable(name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let name = name.trim();
    if name.is_empty() {
        "unnamed".into()
    } else {
        name.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_modules_version_is_read_from_either_form_of_the_line() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\nGCC version:  gcc version 12.2.0\n";
        assert_eq!(version_in(closed).as_deref(), Some("550.54.14"));
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159  Release Build  (root@host)\n";
        assert_eq!(version_in(open).as_deref(), Some("580.159"));
        assert_eq!(version_in("GCC version:  gcc version 12.2.0\n"), None);
    }

    #[test]
    fn names_and_numbers_are_written_as_tables_and_nvidia_smi_write_them() {
        let uuid = std::array::from_fn(|i| i as u8);
        let digits = "00010203-0405-0607-0809-0a0b0c0d0e0f";
        assert_eq!(
            uuid_text(uuid, is_mig("NVIDIA L4")),
            format!("GPU-{digits}")
        );
        let part = is_mig("NVIDIA A100-SXM4-40GB MIG 1g.5gb");
        assert_eq!(uuid_text(uuid, part), format!("MIG-{digits}"));
        assert_eq!(printable("NVIDIA L4\n"), "NVIDIA L4");
        assert_eq!(printable(" \u{7} "), "unnamed");
    }
}
