//! Sums over a range of instructions.

use std::collections::BTreeMap;
use std::ops::Range;

use kiln::backend::sim::{Class, LaunchProfile, Traffic};
use serde::Serialize;

/// What some instructions executed and moved.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Executed {
    /// Warp instructions.
    pub warp_instructions: u64,
    /// The same by class.
    pub by_class: BTreeMap<&'static str, u64>,
    /// Matrix instructions per 100 warp instructions.
    pub matrix_per_100: f64,
    /// Fused multiply-adds of f32 per 100 warp instructions.
    pub multiply_adds_per_100: f64,
    /// The mean number of lanes that take part in an instruction that does something in each lane, of 32.
    pub active_lanes: f64,
    /// Barriers that a warp reached.
    pub barriers: u64,
    /// Accesses of a warp to global memory.
    pub global_requests: u64,
    /// Sectors of 32 bytes per access to global memory.
    pub sectors_per_request: Option<f64>,
    /// The bytes that lanes asked for, of those in the sectors, in percent.
    pub sector_use_percent: Option<f64>,
    /// Accesses of a warp to shared memory.
    pub shared_requests: u64,
    /// Additional cycles per access to shared memory because of bank conflicts; 0 is the best.
    pub conflicts_per_request: Option<f64>,
    /// Accesses of a warp to private memory: most are spills.
    pub private_requests: u64,
}

impl Executed {
    /// The sums of the instructions of a range.
    pub fn of(launch: &LaunchProfile, range: Range<usize>) -> Executed {
        let counters = &launch.counters;
        let mut sum = Executed::default();
        let (mut lanes, mut with_lanes) = (0, 0);
        let mut traffic = Traffic::default();
        for i in range {
            let count = counters.executed[i];
            if count == 0 {
                continue;
            }
            sum.warp_instructions += count;
            *sum.by_class
                .entry(class_name(launch.instructions[i].class))
                .or_default() += count;
            if has_lanes(launch.instructions[i].class) {
                with_lanes += count;
                lanes += counters.lanes[i];
            }
            traffic += &counters.traffic[i];
        }
        let of_class = |class| sum.by_class.get(class_name(class)).copied().unwrap_or(0);
        let per = |part: u64, whole: u64| part as f64 / whole as f64;
        let asked = |part: u64, whole: u64| (whole > 0).then(|| per(part, whole));
        let all = sum.warp_instructions.max(1);
        sum.matrix_per_100 = 100.0 * per(of_class(Class::Matrix), all);
        sum.multiply_adds_per_100 = 100.0 * per(of_class(Class::MultiplyAdd), all);
        sum.active_lanes = per(lanes, with_lanes.max(1));
        sum.barriers = of_class(Class::Barrier);
        sum.global_requests = traffic.global_requests;
        sum.sectors_per_request = asked(traffic.global_sectors, traffic.global_requests);
        sum.sector_use_percent = asked(100 * traffic.global_ideal_sectors, traffic.global_sectors);
        sum.shared_requests = traffic.shared_requests;
        sum.conflicts_per_request = asked(traffic.shared_conflicts, traffic.shared_requests);
        sum.private_requests = traffic.private_requests;
        sum
    }
}

/// Whether an instruction does something in each lane. Branches, barriers and the scalar unit do not.
pub(super) fn has_lanes(class: Class) -> bool {
    use Class::{Barrier, Flow, Scalar, ScalarMemory, Unknown};
    !matches!(class, Scalar | Flow | Barrier | ScalarMemory | Unknown)
}

/// The name of a class in tables and JSON.
pub(super) fn class_name(class: Class) -> &'static str {
    match class {
        Class::Scalar => "scalar",
        Class::Flow => "flow",
        Class::Barrier => "barrier",
        Class::ScalarMemory => "scalar memory",
        Class::Vector => "vector",
        Class::MultiplyAdd => "multiply-add",
        Class::Exchange => "exchange",
        Class::Matrix => "matrix",
        Class::Shared => "shared memory",
        Class::Global => "global memory",
        Class::Copy => "asynchronous copy",
        Class::Private => "private memory",
        _ => "unknown",
    }
}
