//! Selects the configs of a kernel's search space that are verified on a device.

use kiln::spec::space::SearchSpace;
use kiln::spec::{Config, ParamValue};
use kiln_tests::capability::in_full;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// The parameter that enables tensor cores, and the parameter for the number of copies in flight.
const TILES: &str = "TILES";
const STAGES: &str = "STAGES";

/// A config to verify. It is the first of the candidates that the device can launch.
#[derive(Debug)]
pub struct Wanted {
    /// The reason for verifying it.
    pub why: &'static str,
    /// The candidates, at least one.
    pub candidates: Vec<Config>,
}

/// A path through a kernel's source that few configs take.
struct Path {
    why: &'static str,
    tiles: i64,
    many_stages: bool,
}

const PATHS: [Path; 5] = [
    Path {
        why: "tensor cores, one stage",
        tiles: 1,
        many_stages: false,
    },
    Path {
        why: "tensor cores, copies in flight",
        tiles: 1,
        many_stages: true,
    },
    Path {
        why: "no tensor cores, copies in flight",
        tiles: 0,
        many_stages: true,
    },
    Path {
        why: "warpgroups, one stage",
        tiles: 2,
        many_stages: false,
    },
    Path {
        why: "warpgroups, copies in flight",
        tiles: 2,
        many_stages: true,
    },
];

/// The configs for the cpu: the first, the last and random configs.
pub fn on_cpu(space: &SearchSpace) -> Vec<Wanted> {
    let random = if in_full() { 64 } else { 1 };
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut configs = vec![("the first", 0), ("the last", space.len() - 1)];
    configs.extend((0..random).map(|_| ("random", rng.random_range(0..space.len()))));
    let alone = (0..space.len()).filter(|&place| is_alone(&space.config(place)));
    let alone: Vec<usize> = alone.collect();
    let ends = alone.first().into_iter().chain(alone.last());
    configs.extend(ends.map(|&place| ("one thread a block", place)));
    let chosen: Vec<usize> = configs.iter().map(|(_, place)| *place).collect();
    let others = choices(space, &chosen, rng.random_range(0..space.len()));
    configs.extend(others.map(|place| ("a choice that the others lack", place)));
    configs.dedup_by_key(|(_, place)| *place);
    let wanted = configs.into_iter().map(|(why, place)| Wanted {
        why,
        candidates: vec![space.config(place)],
    });
    wanted.collect()
}

/// Returns configs with several threads per block: one for each named value (such as a METHOD or a LAYOUT) that no such
/// config in `chosen` has. Each value may be a separate path through the source.
fn choices<'a>(
    space: &'a SearchSpace,
    chosen: &[usize],
    start: usize,
) -> impl Iterator<Item = usize> + use<'a> {
    let several = |place: &usize| !is_alone(&space.config(*place));
    let mut covered: Vec<usize> = chosen.iter().copied().filter(several).collect();
    let known = covered.len();
    for axis in space.axes() {
        for value in axis.values.iter() {
            let has = |place: &usize| space.config(*place).get(&axis.name) == Some(value);
            if !matches!(value, ParamValue::Choice(_)) || covered.iter().any(has) {
                continue;
            }
            let mut places = (start..space.len()).chain(0..start);
            covered.extend(places.find(|place| several(place) && has(place)));
        }
    }
    covered.into_iter().skip(known)
}

/// Whether a single thread does the work of a block. Configs for GPUs are never of this kind.
fn is_alone(config: &Config) -> bool {
    let int = |name: &str| match config.get(name) {
        Some(ParamValue::Int(value)) => Some(*value),
        _ => None,
    };
    int("THREADS") == Some(1) || int("LANES") == Some(1) || int("WALK").is_some_and(|walk| walk > 0)
}

/// The configs for a GPU: more than for the cpu, and one for every path through the source. Only compiling shows which
/// configs need too many registers, so each config has others in reserve.
pub fn on_gpu(space: &SearchSpace, is_simulated: bool) -> Vec<Wanted> {
    const RESERVE: usize = 12;
    let random = match (in_full(), is_simulated) {
        (true, _) => 64,
        (false, true) => 1,
        (false, false) => 3,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut draw = |fits: &dyn Fn(&Config) -> bool| -> Vec<Config> {
        // Each draw starts at a random index and continues through all configs, because possibly only a few fit.
        let starts = (0..RESERVE).map(|_| rng.random_range(0..space.len()));
        let drawn = starts.filter_map(|start| {
            let mut places = (start..space.len()).chain(0..start);
            places.find_map(|place| Some(space.config(place)).filter(fits))
        });
        drawn.collect()
    };
    let mut wanted = vec![
        Wanted {
            why: "the first",
            candidates: (0..space.len().min(RESERVE))
                .map(|place| space.config(place))
                .collect(),
        },
        Wanted {
            why: "the last",
            candidates: (0..space.len())
                .rev()
                .take(RESERVE)
                .map(|place| space.config(place))
                .collect(),
        },
    ];
    if is_simulated && !in_full() {
        wanted.remove(0);
    }
    wanted.extend((0..random).map(|_| Wanted {
        why: "random",
        candidates: draw(&|_| true),
    }));
    let paths = PATHS.iter().filter(|path| path.is_in(space));
    wanted.extend(paths.map(|path| Wanted {
        why: path.why,
        candidates: draw(&|config| path.is_taken_by(config)),
    }));
    wanted.retain(|wanted| !wanted.candidates.is_empty());
    wanted
}

/// Random configs whose products are computed by warpgroups.
pub fn of_warpgroups(space: &SearchSpace) -> Vec<Wanted> {
    let count = if in_full() { 32 } else { 2 };
    let mut rng = ChaCha8Rng::seed_from_u64(90);
    let is_wanted = |config: &Config| config.get(TILES) == Some(&ParamValue::Int(2));
    let mut draw = || {
        let start = rng.random_range(0..space.len());
        let mut places = (start..space.len()).chain(0..start);
        places.find_map(|place| Some(space.config(place)).filter(is_wanted))
    };
    let configs = (0..count).filter_map(|_| draw());
    let wanted = configs.map(|config| Wanted {
        why: "warpgroups",
        candidates: vec![config],
    });
    wanted.collect()
}

impl Path {
    /// Whether the kernel has this path.
    fn is_in(&self, space: &SearchSpace) -> bool {
        [TILES, STAGES]
            .iter()
            .all(|name| space.axes().iter().any(|axis| &*axis.name == *name))
    }

    fn is_taken_by(&self, config: &Config) -> bool {
        let int = |name: &str| match config.get(name) {
            Some(ParamValue::Int(value)) => Some(*value),
            _ => None,
        };
        let stages = int(STAGES).is_some_and(|stages| (stages >= 2) == self.many_stages);
        stages && int(TILES) == Some(self.tiles)
    }
}

#[cfg(test)]
mod tests {
    use kiln::spec::targets::target;

    use super::*;
    use crate::verify::of_each_type;

    #[test]
    fn a_thread_is_alone_in_its_block_on_the_cpu_and_on_no_gpu() {
        for (arch, wanted) in [("cpu", 10), ("sm_86", 0), ("gfx1151", 0)] {
            let limits = target(arch).unwrap().limits;
            let has_some = |kernel: &&&'static kiln::Kernel| {
                let problem = &kernel.spec().problems[0];
                let space = SearchSpace::build(kernel.spec(), problem, &limits).unwrap();
                (0..space.len()).any(|place| is_alone(&space.config(place)))
            };
            let found = kiln_kernels::catalogue().iter().filter(has_some);
            assert_eq!(found.count(), wanted, "{arch}");
        }
    }

    #[test]
    fn on_a_gpu_tensor_cores_and_copies_in_flight_are_among_what_is_verified() {
        let limits = target("sm_89").unwrap().limits;
        for kernel in kiln_kernels::catalogue() {
            let mut found = Vec::new();
            for like in of_each_type(kernel) {
                let space = SearchSpace::build(kernel.spec(), like, &limits).unwrap();
                found.extend(on_gpu(&space, true).into_iter().map(|wanted| wanted.why));
            }
            let tiled = ["gemm_f16", "conv3x3", "flash_attention"].contains(&kernel.name());
            for path in &PATHS[..2] {
                assert_eq!(found.contains(&path.why), tiled, "{}", kernel.name());
            }
        }
    }
}
