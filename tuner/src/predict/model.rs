//! The analytic model. It computes the time that a launch needs to issue its instructions and the time that it needs
//! for its memory traffic. Both depend on how well the launch fills the multiprocessors. The predicted time is the
//! longer of the two, increased if the last wave of blocks does not fill the device.
//!
//! Each term is from a textbook: Little's law for hiding latency (V. Volkov, "Understanding Latency Hiding on GPUs",
//! 2016), and square tiles for the reuse of operands within a tile (J.-W. Hong and H. T. Kung, "I/O complexity", 1981).
//! The model counts only whole waves of blocks (the last one may be nearly empty), whole warps and whole memory
//! sectors. The constants are round numbers of the magnitude that vendors document. They are the same for every target
//! and kernel, and they are not fitted to measurements. Bank conflicts are not modelled, because neither the launch
//! plan nor the resources contain them.

use kiln_spec::occupancy::BlockNeeds;
use kiln_spec::targets::{KnownTarget, Multiprocessor, Peaks};

use super::Facts;
use kiln_lab::candidate::inspect::block_needs;

/// If a config has at least this many operations per output, the model assumes that operands are kept in registers and
/// shared memory.
const REUSE_FROM: f64 = 16.0;
/// Issue slots of a load from shared memory, relative to a multiply-add. Shared memory serves 32 lanes per cycle, while
/// 128 lanes per cycle can multiply and add.
const LOAD_SLOTS: f64 = 4.0;
/// Number of instructions of every thread in addition to its work, for indices, bounds checks and the loop.
const OVERHEAD: f64 = 40.0;
/// Number of independent warp instructions that a multiprocessor needs in flight. It has four schedulers, and each must
/// cover a latency of eight cycles.
const WARPS_IN_FLIGHT: f64 = 32.0;
/// Maximum number of independent instructions that the model assumes for one thread.
const MAX_PARALLEL: f64 = 4.0;
/// Time from a load to its data on a busy device, in seconds.
const LATENCY_S: f64 = 600e-9;
/// Size of a memory sector in bytes. Memory moves whole sectors.
const SECTOR: f64 = 32.0;
/// Bandwidth of the last-level cache, divided by the bandwidth of memory.
const CACHE_FACTOR: f64 = 3.0;
/// Registers of a thread in addition to its outputs and operands.
const BASE_REGISTERS: f64 = 24.0;
/// Number of spilled words per thread that double the issue slots.
const SPILLS_TO_DOUBLE: f64 = 64.0;

/// The resource that limits the time of a config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The issue slots of the multiprocessors.
    Compute,
    /// The memory traffic.
    Memory,
}

/// The predicted time of one config.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeEstimate {
    /// Time of a launch in seconds. It is meaningful only for comparing configs of one kernel.
    pub seconds: f64,
    /// The resource that limits the time.
    pub bound: Bound,
}

/// Predicts the time of a config on a target. Returns `None` if the config cannot be launched, or if the target table
/// has no peak rates for the target.
pub fn estimate(facts: &Facts, known: &KnownTarget) -> Option<TimeEstimate> {
    let peaks = known.peaks?;
    let shape = WorkShape::new(facts);
    let filled = Filled::new(facts, &shape, known)?;
    let compute = compute_s(facts, &shape, &filled, known, &peaks);
    let memory = memory_s(facts, &shape, &filled, &peaks);
    let bound = if compute >= memory {
        Bound::Compute
    } else {
        Bound::Memory
    };
    Some(TimeEstimate {
        seconds: compute.max(memory) * filled.tail,
        bound,
    })
}

/// How a launch divides the work among blocks and threads.
struct WorkShape {
    blocks: f64,
    threads_per_block: f64,
    threads: f64,
    /// Outputs per thread.
    per_thread: f64,
    /// Outputs per block.
    per_block: f64,
    /// Whether each operand is used often enough to be kept in registers and shared memory.
    reuses: bool,
}

impl WorkShape {
    fn new(facts: &Facts) -> WorkShape {
        let blocks = facts
            .plan
            .grid
            .iter()
            .map(|&n| f64::from(n))
            .product::<f64>()
            .max(1.0);
        let threads_per_block = (facts.plan.threads_per_block() as f64).max(1.0);
        let outputs = facts.outputs as f64;
        WorkShape {
            blocks,
            threads_per_block,
            threads: blocks * threads_per_block,
            per_thread: outputs / (blocks * threads_per_block),
            per_block: outputs / blocks,
            reuses: facts.flops as f64 / outputs >= REUSE_FROM,
        }
    }

    /// Number of independent instructions of one thread.
    fn parallel(&self) -> f64 {
        self.per_thread.clamp(1.0, MAX_PARALLEL)
    }

    /// The estimated number of registers per thread, for configs that were not compiled.
    fn registers(&self) -> f64 {
        let tile = if self.reuses {
            self.per_thread + 2.0 * self.per_thread.sqrt()
        } else {
            self.per_thread.min(2.0 * MAX_PARALLEL)
        };
        BASE_REGISTERS + tile
    }
}

/// Maximum number of registers per thread that a block with this many threads can have.
fn most_registers(known: &KnownTarget, threads: u32) -> f64 {
    let (of_block, of_thread) = match &known.multiprocessor {
        Multiprocessor::Nvidia(sm) => (sm.registers_per_block, sm.registers_per_thread),
        Multiprocessor::Amd(wgp) => (
            wgp.vector_registers * wgp.wave_size * wgp.simds,
            wgp.registers_per_thread,
        ),
        Multiprocessor::Host => (0, 0),
    };
    f64::from((of_block / threads.max(1)).min(of_thread))
}

/// How well a launch fills the device.
struct Filled {
    /// Fraction of the multiprocessors that have at least one block.
    busy: f64,
    /// Resident warps per busy multiprocessor.
    warps: f64,
    /// Fraction of the lanes of a warp that have a thread.
    lanes: f64,
    /// Time of all waves of blocks, relative to the time of evenly distributed work.
    tail: f64,
    multiprocessors: f64,
}

impl Filled {
    fn new(facts: &Facts, shape: &WorkShape, known: &KnownTarget) -> Option<Filled> {
        let needs = match &facts.resources {
            Some(resources) => block_needs(resources, &facts.plan),
            None => guessed_needs(facts, shape, known)?,
        };
        let occupancy = known
            .occupancy(&needs)
            .filter(|occupancy| occupancy.blocks > 0)?;
        let multiprocessors = f64::from(known.limits.multiprocessors.max(1));
        let fit = f64::from(occupancy.blocks);
        let resident = fit.min((shape.blocks / multiprocessors).ceil());
        let warps_per_block = f64::from(occupancy.warps) / fit;
        let waves = shape.blocks / (multiprocessors * fit);
        let warp = f64::from(known.limits.warp_size.max(1));
        Some(Filled {
            busy: (shape.blocks / multiprocessors).min(1.0),
            warps: resident * warps_per_block,
            lanes: shape.threads_per_block / (warps_per_block * warp),
            tail: if waves >= 1.0 {
                waves.ceil() / waves
            } else {
                1.0
            },
            multiprocessors,
        })
    }
}

/// The estimated needs of a block that was not compiled. Like a compiler, this estimate never uses more registers than
/// fit.
fn guessed_needs(facts: &Facts, shape: &WorkShape, known: &KnownTarget) -> Option<BlockNeeds> {
    let threads = u32::try_from(facts.plan.threads_per_block()).ok()?;
    // Hardware allocates registers in multiples. The number is rounded down to a multiple that all targets can
    // allocate.
    let most = (most_registers(known, threads) / 8.0).floor() * 8.0;
    Some(BlockNeeds {
        threads,
        registers: shape.registers().min(most) as u32,
        static_shared_bytes: 0,
        dynamic_shared_bytes: facts.plan.shared_bytes,
        barriers: 1,
    })
}

/// Spilled words per thread, as the compiler reports them. For a config that was not compiled, this is the estimated
/// number of registers beyond the number that fits.
fn spilled_words(facts: &Facts, shape: &WorkShape, known: &KnownTarget) -> f64 {
    match &facts.resources {
        Some(resources) => {
            let spills = resources.spills;
            spills.map_or(0.0, |spills| spills.weight() as f64 / 4.0)
        }
        None => {
            let threads = u32::try_from(facts.plan.threads_per_block()).unwrap_or(u32::MAX);
            (shape.registers() - most_registers(known, threads)).max(0.0)
        }
    }
}

/// Time for the issue slots, in seconds.
fn compute_s(
    facts: &Facts,
    shape: &WorkShape,
    filled: &Filled,
    known: &KnownTarget,
    peaks: &Peaks,
) -> f64 {
    let steps = (facts.flops as f64 / 2.0).max(facts.outputs as f64);
    // A thread with a square tile of r outputs loads 2·√r operands per step along the reduction, and uses each operand
    // √r times.
    let loads = if shape.reuses {
        2.0 / shape.per_thread.max(1.0).sqrt()
    } else {
        0.0
    };
    let spilled = spilled_words(facts, shape, known);
    let slots = (steps * (1.0 + LOAD_SLOTS * loads) + OVERHEAD * shape.threads)
        * (1.0 + spilled / SPILLS_TO_DOUBLE);
    let hidden = (filled.warps * shape.parallel() / WARPS_IN_FLIGHT).min(1.0);
    slots / (peaks.f32_flops_per_s as f64 / 2.0) / filled.lanes / filled.busy / hidden
}

/// Time for the memory traffic, in seconds. The traffic is the minimum number of bytes, plus the data that blocks fetch
/// again from the last-level cache. The rate depends on the number of loads in flight.
fn memory_s(facts: &Facts, shape: &WorkShape, filled: &Filled, peaks: &Peaks) -> f64 {
    let rate = peaks.memory_bytes_per_s as f64;
    let again = if shape.reuses {
        4.0 * facts.flops as f64 / shape.per_block.max(1.0).sqrt() / CACHE_FACTOR
    } else {
        0.0
    };
    let access = f64::from(facts.access_bytes);
    // Threads of a warp that are adjacent along x access the same sectors.
    let row = f64::from(facts.plan.block[0].min(32)) * access;
    let used = (row / SECTOR).min(1.0);
    let in_flight = filled.warps * 32.0 * access * shape.parallel();
    let needed = rate * LATENCY_S / filled.multiprocessors;
    let flowing = (in_flight / needed).min(1.0) * filled.busy;
    (facts.bytes as f64 + again) / rate / used / flowing
}

#[cfg(test)]
mod tests {
    use kiln_spec::LaunchPlan;
    use kiln_spec::targets::target;

    use super::*;
    use kiln_lab::candidate::inspect::{Resources, Spills};

    fn facts(grid: u32, threads: u32, flops_per_output: u64) -> Facts {
        let outputs = 1 << 24;
        Facts {
            plan: LaunchPlan {
                grid: [grid, 1, 1],
                block: [threads, 1, 1],
                shared_bytes: 0,
            },
            outputs,
            flops: flops_per_output * outputs,
            bytes: 12 * outputs,
            access_bytes: 4,
            resources: None,
        }
    }

    fn seconds(facts: &Facts) -> f64 {
        estimate(facts, target("sm_89").unwrap()).unwrap().seconds
    }

    #[test]
    fn no_guess_is_faster_than_the_roofline() {
        let peaks = target("sm_89").unwrap().peaks.unwrap();
        for flops in [1, 8, 512, 8192] {
            for (grid, threads) in [(65_536, 256), (1024, 128), (58, 1024), (7, 33)] {
                let facts = facts(grid, threads, flops);
                let least = (facts.bytes as f64 / peaks.memory_bytes_per_s as f64)
                    .max(facts.flops as f64 / peaks.f32_flops_per_s as f64);
                assert!(seconds(&facts) >= least * 0.999, "{facts:?}");
            }
        }
    }

    #[test]
    fn what_is_worse_by_the_book_is_guessed_slower() {
        let good = facts(16_384, 256, 512);
        // Each of the other configs has one weakness: a partly filled warp, too few blocks, spills, or narrow rows.
        assert!(seconds(&facts(131_072, 33, 512)) > seconds(&good));
        assert!(seconds(&facts(10, 256, 512)) > seconds(&good));
        let spills = Some(Spills::Bytes {
            stores: 256,
            loads: 256,
        });
        let plain = Resources {
            registers: 64,
            ..Resources::default()
        };
        let spilling = Resources { spills, ..plain };
        assert!(seconds(&good.compiled(spilling)) > seconds(&good.compiled(plain)));
        let mut narrow = facts(65_536, 256, 1);
        narrow.plan.block = [4, 64, 1];
        assert!(seconds(&narrow) > seconds(&facts(65_536, 256, 1)));
    }

    #[test]
    fn wide_accesses_keep_memory_busy_with_fewer_threads() {
        let mut narrow = facts(58, 128, 1);
        let slow = seconds(&narrow);
        narrow.access_bytes = 16;
        assert!(seconds(&narrow) < slow);
    }

    #[test]
    fn what_cannot_be_launched_has_no_estimate() {
        let known = target("sm_89").unwrap();
        let plain = Resources {
            registers: 255,
            ..Resources::default()
        };
        assert_eq!(estimate(&facts(64, 1024, 1).compiled(plain), known), None);
        assert_eq!(estimate(&facts(64, 256, 1), target("cpu").unwrap()), None);
    }
}
