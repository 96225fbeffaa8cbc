//! Sums the counters of a launch over a range of instructions.

use std::ops::Range;

use kiln::backend::sim::{Class, LaunchProfile, Traffic};
use kiln_exchange::profiles::Executed;

/// The sums over the instructions in `range`.
pub(super) fn sum(launch: &LaunchProfile, range: Range<usize>) -> Executed {
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
            .entry(class_name(launch.instructions[i].class).to_owned())
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

/// Whether instructions of a class are executed in each lane of a warp. Branches, barriers and scalar instructions are
/// executed once per warp.
pub(super) fn has_lanes(class: Class) -> bool {
    use Class::{Barrier, Flow, Scalar, ScalarMemory, Unknown};
    !matches!(class, Scalar | Flow | Barrier | ScalarMemory | Unknown)
}

/// The name of a class in tables and JSON.
pub(in crate::candidate) fn class_name(class: Class) -> &'static str {
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
