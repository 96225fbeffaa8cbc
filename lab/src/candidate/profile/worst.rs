//! Finds the source line with the highest cost of each kind.

use std::collections::BTreeMap;

use kiln::backend::sim::{InstructionInfo, LaunchProfile, Traffic};
use kiln_exchange::profiles::{Line, Worst, WorstKind};

use super::executed;

/// The source line of an instruction; `None` if it is not known.
pub(super) fn line_of(instruction: &InstructionInfo) -> Option<Line> {
    let line = instruction.line.clone()?;
    let call = |(file, number)| Line {
        file,
        number,
        called_at: None,
    };
    Some(Line {
        file: line.file,
        number: line.number,
        called_at: line.called_at.map(|at| Box::new(call(at))),
    })
}

const KINDS: [WorstKind; 4] = [
    WorstKind::Global,
    WorstKind::Shared,
    WorstKind::Divergence,
    WorstKind::Private,
];

/// For each kind of cost that occurs, the line with the highest cost.
pub(super) fn find(launch: &LaunchProfile) -> Vec<Worst> {
    KINDS
        .into_iter()
        .filter_map(|kind| worst(launch, kind))
        .collect()
}

fn worst(launch: &LaunchProfile, kind: WorstKind) -> Option<Worst> {
    // In an unrolled loop, many instructions come from one line, so the costs of a line are added up.
    let mut places: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
    for (i, instruction) in launch.instructions.iter().enumerate() {
        if cost(launch, kind, i) > 0 {
            let place = line_of(instruction).map_or(Place::Instruction(i), Place::Line);
            places.entry(place).or_default().push(i);
        }
    }
    let sum = |indices: &[usize]| -> u64 { indices.iter().map(|&i| cost(launch, kind, i)).sum() };
    let all: u64 = places.values().map(|indices| sum(indices)).sum();
    // If several lines have the same cost, the first line is reported.
    let (place, indices) = places
        .iter()
        .rev()
        .max_by_key(|(_, indices)| sum(indices))?;
    let most = indices
        .iter()
        .rev()
        .max_by_key(|&&i| cost(launch, kind, i))?;
    let text = &launch.instructions[*most].text;
    Some(Worst {
        kind,
        instruction: text.split_whitespace().collect::<Vec<_>>().join(" "),
        line: match place {
            Place::Line(line) => Some(line.clone()),
            Place::Instruction(_) => None,
        },
        detail: detail(launch, kind, indices),
        share_percent: 100.0 * sum(indices) as f64 / all as f64,
    })
}

/// The source line or instruction to which a cost is attributed.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Line(Line),
    /// An instruction without a source line, by its index.
    Instruction(usize),
}

/// The cost of an instruction beyond the unavoidable minimum, in the unit of its kind.
fn cost(launch: &LaunchProfile, kind: WorstKind, i: usize) -> u64 {
    let traffic = &launch.counters.traffic[i];
    match kind {
        WorstKind::Global => traffic
            .global_sectors
            .saturating_sub(traffic.global_ideal_sectors),
        WorstKind::Shared => traffic.shared_conflicts,
        WorstKind::Divergence if !executed::has_lanes(launch.instructions[i].class) => 0,
        WorstKind::Divergence => {
            (32 * launch.counters.executed[i]).saturating_sub(launch.counters.lanes[i])
        }
        WorstKind::Private => traffic.private_requests,
    }
}

fn detail(launch: &LaunchProfile, kind: WorstKind, indices: &[usize]) -> String {
    let mut traffic = Traffic::default();
    indices
        .iter()
        .for_each(|&i| traffic += &launch.counters.traffic[i]);
    let count = |counts: &[u64]| -> u64 { indices.iter().map(|&i| counts[i]).sum() };
    let per = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    match kind {
        WorstKind::Global => format!(
            "{:.1} sectors per request, {:.1} would hold the bytes",
            per(traffic.global_sectors, traffic.global_requests),
            per(traffic.global_ideal_sectors, traffic.global_requests),
        ),
        WorstKind::Shared => format!(
            "{:.2} bank conflicts per request",
            per(traffic.shared_conflicts, traffic.shared_requests)
        ),
        WorstKind::Divergence => format!(
            "{:.1} of 32 lanes",
            per(
                count(&launch.counters.lanes),
                count(&launch.counters.executed)
            )
        ),
        WorstKind::Private => format!("{} accesses to private memory", traffic.private_requests),
    }
}
