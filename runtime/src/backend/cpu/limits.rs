//! Properties of the host processor, and the limits of launches on the cpu device.

use std::collections::BTreeMap;
use std::fs;

use kiln_spec::{Backend, DeviceKey, DeviceLimits, Hash};

use super::processor::Processor;
use crate::device::error::DeviceError;

/// Maximum number of threads per block, whatever the options are. This is the capacity of the prelude's scheduler.
pub(super) const MAX_THREADS: u32 = 2048;
/// Maximum shared memory per block in bytes, whatever the options are. This is the size of the prelude's dynamic
/// buffer.
pub(super) const MAX_SHARED_BYTES: u32 = 262_144;
/// Largest value of `blockIdx * blockDim` on x and y. The prelude states this bound to the compiler, because g++ needs
/// it to recognise contiguous accesses.
pub(super) const INDEX_BOUND: u64 = 0x07ff_ffff;

/// The options with which the cpu device is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuOptions {
    /// Number of operating system threads that run blocks.
    pub threads: usize,
    /// Maximum number of threads per block. Smoke tests raise it (up to 2048) for rows of other devices.
    pub max_threads: u32,
    /// Maximum shared memory per block, in bytes. Smoke tests raise it (up to 256 KiB) for rows of other devices.
    pub shared_bytes: u32,
    /// Size of the stack of one GPU thread in kernels with barriers, in bytes. Values below 4096 are treated as 4096.
    pub stack_bytes: usize,
    /// Whether to bind every thread, including the one that opens the device, to its own processor. This is for
    /// measuring.
    pub pin: bool,
    /// The processor or instruction set for which kernels are compiled.
    pub target: CpuTarget,
}

impl Default for CpuOptions {
    fn default() -> Self {
        CpuOptions {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            max_threads: 1024,
            shared_bytes: 49152,
            stack_bytes: 16384,
            pin: false,
            target: CpuTarget::Native,
        }
    }
}

impl CpuOptions {
    /// The defaults, with the number of threads from `KILN_CPU_THREADS` if it is set.
    ///
    /// # Errors
    /// [`DeviceError::Setting`] if the variable is not a number from 1 to 1024.
    pub fn from_env() -> Result<CpuOptions, DeviceError> {
        let mut options = CpuOptions::default();
        if let Ok(text) = std::env::var("KILN_CPU_THREADS") {
            let threads = text.parse().ok().filter(|n| (1..=1024).contains(n));
            options.threads = threads.ok_or_else(|| DeviceError::Setting {
                what: "KILN_CPU_THREADS".into(),
                problem: format!("{text:?}, not a number from 1 to 1024"),
                help: "unset it to use every core".into(),
            })?;
        }
        Ok(options)
    }

    /// The size of a thread's stack in bytes, with the minimum applied and rounded up to a multiple of 64.
    pub(super) fn usable_stack_bytes(&self) -> usize {
        self.stack_bytes.max(4096).next_multiple_of(64)
    }

    /// Sets the largest limits that the device supports, for smoke tests of other devices' rows.
    pub fn with_raised_limits(mut self) -> CpuOptions {
        self.max_threads = MAX_THREADS;
        self.shared_bytes = MAX_SHARED_BYTES;
        self
    }
}

/// The processor or instruction set for which kernels are compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuTarget {
    /// The host processor (`-march=native`, on aarch64 `-mcpu=native`). This is for tuning; such code is never loaded
    /// on another processor.
    Native,
    /// A named instruction set, such as `x86-64-v3`. This is for images that are shipped.
    Named(String),
}

impl CpuTarget {
    /// The compiler's option for the target. On aarch64, `-march=native` would not select the processor's scheduling
    /// model, and clang would leave out extensions that the processor has.
    pub(super) fn option(&self) -> String {
        match self {
            CpuTarget::Native if cfg!(target_arch = "aarch64") => "-mcpu=native".into(),
            CpuTarget::Native => "-march=native".into(),
            CpuTarget::Named(name) => format!("-march={name}"),
        }
    }

    /// The name of the target in artifacts. The name of native code contains a hash of the processor's name and
    /// features, so it differs from the name of native code for another processor.
    pub(super) fn name(&self) -> String {
        match self {
            CpuTarget::Native => {
                let processor = Processor::read();
                let text = format!("{} {}", processor.name, processor.features);
                format!(
                    "native-{:016x}",
                    Hash::of("processor", text.as_bytes()).short()
                )
            }
            CpuTarget::Named(name) => name.clone(),
        }
    }

    /// The reason why code for the target called `name` does not run on this processor; `None` if it runs.
    pub(super) fn refuses(name: &str) -> Option<String> {
        let here = architecture();
        if name == CpuTarget::Native.name() {
            return None;
        }
        let runs = match (level_of(name), level_of(here)) {
            (Some(wanted), Some(level)) => wanted <= level,
            _ => name == here,
        };
        (!runs).then(|| format!("it was compiled for {name}, but this processor is {here}"))
    }
}

/// The number `n` of an `x86-64-v<n>` level; `None` for other targets.
fn level_of(name: &str) -> Option<u32> {
    match name.strip_prefix("x86-64")? {
        "" => Some(1),
        level => level.strip_prefix("-v")?.parse().ok(),
    }
}

/// The most capable named instruction set that this processor fully supports.
#[cfg(target_arch = "x86_64")]
pub(super) fn architecture() -> &'static str {
    macro_rules! has {
        ($($feature:tt),*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
    }
    if !has!("cmpxchg16b", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3") {
        "x86-64"
    } else if !has!(
        "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"
    ) {
        "x86-64-v2"
    } else if !has!("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl") {
        "x86-64-v3"
    } else {
        "x86-64-v4"
    }
}

/// The most capable named instruction set that this processor fully supports.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn architecture() -> &'static str {
    std::env::consts::ARCH
}

/// The key by which rows for this processor are selected.
pub(super) fn device_key() -> DeviceKey {
    DeviceKey {
        backend: Backend::Cpu,
        arch: architecture().into(),
        name: Processor::read().name.clone(),
    }
}

/// The limits of a device with these options.
pub(super) fn device_limits(options: &CpuOptions) -> DeviceLimits {
    let max_threads = options.max_threads.clamp(1, MAX_THREADS);
    DeviceLimits {
        max_threads_per_block: max_threads,
        max_block: [max_threads, max_threads, 64],
        max_grid: [i32::MAX as u32, 65535, 65535],
        shared_bytes_per_block: options.shared_bytes.min(MAX_SHARED_BYTES),
        warp_size: 32,
        lockstep_threads: 1,
        warps_per_product: 1,
        multiprocessors: u32::try_from(options.threads).unwrap_or(u32::MAX),
        l2_bytes: last_level_cache_bytes(),
        memory_bytes: meminfo_bytes("MemTotal").unwrap_or(0),
    }
}

/// The device fingerprint: properties that affect times and may differ between machines.
pub(super) fn fingerprint(options: &CpuOptions) -> BTreeMap<String, String> {
    let processor = Processor::read().clone();
    let governor = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let system = fs::read_to_string("/proc/sys/kernel/osrelease");
    let fields = [
        ("processor", processor.name),
        ("model", processor.model),
        ("features", processor.features),
        ("threads", options.threads.to_string()),
        (
            "last_level_cache_bytes",
            last_level_cache_bytes().to_string(),
        ),
        (
            "clocks",
            governor.map_or("unknown".into(), |text| text.trim().into()),
        ),
        (
            "system",
            system.map_or("unknown".into(), |text| text.trim().into()),
        ),
        ("timer", "thread cpu time".into()),
    ];
    fields
        .into_iter()
        .map(|(name, value)| (name.to_string(), value))
        .collect()
}

/// Size of the last-level cache, in bytes; 0 if it is unknown.
fn last_level_cache_bytes() -> u64 {
    let size_of = |index: u32| {
        let text = fs::read_to_string(format!(
            "/sys/devices/system/cpu/cpu0/cache/index{index}/size"
        ))
        .ok()?;
        let text = text.trim();
        let (digits, unit) = match text.strip_suffix('K') {
            Some(digits) => (digits, 1 << 10),
            None => (text.strip_suffix('M')?, 1 << 20),
        };
        digits.parse::<u64>().ok().map(|size| size * unit)
    };
    (0..8).filter_map(size_of).max().unwrap_or(0)
}

/// The value of a line in `/proc/meminfo`, in bytes; `None` if it cannot be read.
pub(super) fn meminfo_bytes(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_for_lower_levels_runs_and_code_for_others_does_not() {
        let here = architecture();
        assert_eq!(CpuTarget::refuses(here), None);
        assert_eq!(CpuTarget::refuses(&CpuTarget::Native.name()), None);
        assert!(CpuTarget::refuses("x86-64-v9").is_some());
        assert!(CpuTarget::refuses("native-0000000000000000").is_some());
        if here.starts_with("x86-64") {
            assert_eq!(CpuTarget::refuses("x86-64"), None);
        }
    }

    #[test]
    fn raised_limits_stay_within_what_the_prelude_can_hold() {
        let options = CpuOptions {
            max_threads: 1 << 20,
            shared_bytes: 1 << 30,
            ..CpuOptions::default()
        };
        let limits = device_limits(&options);
        assert_eq!(limits.max_threads_per_block, MAX_THREADS);
        assert_eq!(limits.shared_bytes_per_block, MAX_SHARED_BYTES);
    }
}
