//! The regime of timed launches: what the caches contain when a timed launch begins. The regime is part of the tuning
//! key, and times of different regimes are never compared.

use kiln_spec::{Backend, DeviceLimits};

/// The content of the last-level cache at the start of a timed launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// Other data: timed launches cycle through several copies of the data that together are larger than the cache.
    Cold,
    /// The data of the previous launch: every launch works on the same data.
    Hot,
}

/// Minimum size of all copies together, in bytes. The reported size of the L2 is not enough, because AMD GPUs have an
/// Infinity Cache of up to 128 MiB behind the L2 that the driver does not report.
const MIN_BYTES: u64 = 128 << 20;

/// Minimum number of copies. With fewer copies, a cache that keeps frequently used lines would still hold a part of the
/// data.
const FEWEST_SETS: u64 = 3;

/// Maximum number of copies. A kernel whose data would need more copies is limited by the launch overhead, not by
/// memory.
const MAX_SETS: u64 = 4096;

impl Regime {
    /// Both regimes.
    pub const ALL: [Regime; 2] = [Regime::Cold, Regime::Hot];

    /// The default regime of a backend. On a GPU, the data usually comes from elsewhere, so launches are cold. On the
    /// cpu, one program usually runs the kernel repeatedly over its own data, so launches are hot.
    pub fn of_backend(backend: Backend) -> Regime {
        match backend {
            Backend::Cuda | Backend::Hip => Regime::Cold,
            Backend::Cpu | Backend::Fake => Regime::Hot,
        }
    }

    /// The name of the regime in tuning keys and reports.
    pub fn name(self) -> &'static str {
        match self {
            Regime::Cold => "cold",
            Regime::Hot => "hot",
        }
    }

    /// A sentence that explains the regime.
    pub fn meaning(self) -> &'static str {
        match self {
            Regime::Cold => {
                "Other data: launches use several copies of the data in turn, which together are larger than the cache"
            }
            Regime::Hot => "The data of the previous launch: every launch works on the same data",
        }
    }

    /// The regime with this name; `None` if there is none.
    pub fn named(name: &str) -> Option<Regime> {
        Regime::ALL.into_iter().find(|regime| regime.name() == name)
    }

    /// The number of copies of the data that timed launches cycle through; 1 in the hot regime. `data_bytes` is the
    /// size of one copy. If there are several copies, they use at most a quarter of the device's memory together.
    pub fn sets(self, data_bytes: u64, limits: &DeviceLimits) -> usize {
        if self == Regime::Hot {
            return 1;
        }
        let data_bytes = data_bytes.max(1);
        let wanted = MIN_BYTES.max(2 * limits.l2_bytes).div_ceil(data_bytes);
        let room = match limits.memory_bytes {
            0 => MAX_SETS,
            bytes => bytes / 4 / data_bytes,
        };
        let sets = wanted.clamp(FEWEST_SETS, MAX_SETS).min(room).max(1);
        usize::try_from(sets).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(l2_bytes: u64, memory_bytes: u64) -> DeviceLimits {
        DeviceLimits {
            l2_bytes,
            memory_bytes,
            ..kiln_spec::targets::TARGETS[0].limits
        }
    }

    #[test]
    fn copies_are_larger_than_the_cache_together_and_leave_most_of_the_memory_free() {
        let gib = 1 << 30;
        for (data, l2, memory) in [
            (1 << 20, 48 << 20, 24 * gib),
            (1 << 20, 96 << 20, 24 * gib),
            (3 << 20, 6 << 20, 0),
            (12 << 30, 48 << 20, 24 * gib),
            (1, 48 << 20, 24 * gib),
            (0, 0, 0),
        ] {
            let sets = Regime::Cold.sets(data, &limits(l2, memory)) as u64;
            let fits = memory == 0 || sets == 1 || sets * data <= memory / 4;
            let exceeds = sets * data >= (2 * l2).max(MIN_BYTES);
            assert!((1..=MAX_SETS).contains(&sets) && fits);
            assert!(exceeds || sets == MAX_SETS || sets == 1, "{data} {sets}");
            assert_eq!(Regime::Hot.sets(data, &limits(l2, memory)), 1);
        }
    }
}
