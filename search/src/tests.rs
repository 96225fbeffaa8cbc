use super::{NAMES, SpaceView, Told, by_name, neighbours};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeSet, HashMap};

/// A search space that is stored as a list of vectors of positions, with a cost for each valid config.
pub(super) struct Landscape {
    counts: Vec<u32>,
    configs: Vec<Vec<u32>>,
    indices: HashMap<Vec<u32>, usize>,
    costs: Vec<Option<f64>>,
}

impl Landscape {
    fn new(
        counts: &[u32],
        valid: impl Fn(&[u32]) -> bool,
        cost: impl Fn(&[u32]) -> Option<f64>,
    ) -> Self {
        let mut configs = vec![Vec::new()];
        for &count in counts {
            let longer = |config: &Vec<u32>| {
                let config = config.clone();
                (0..count).map(move |value| [&config[..], &[value]].concat())
            };
            configs = configs.iter().flat_map(longer).collect();
        }
        configs.retain(|config| valid(config));
        let indices = configs.iter().cloned().zip(0..).collect();
        let costs = configs.iter().map(|config| cost(config)).collect();
        Self {
            counts: counts.to_vec(),
            configs,
            indices,
            costs,
        }
    }

    /// A space with one parameter of `len` values.
    pub(super) fn line(len: u32) -> Self {
        Self::new(&[len], |_| true, |config| Some(f64::from(1 + config[0])))
    }

    /// A model of a tiled matrix multiplication. Memory traffic decreases with the tile size, and occupancy decreases
    /// with registers and shared memory. Configs that exceed a limit fail.
    fn gemm() -> Self {
        let size = |base: u32, position: u32| f64::from(base << position);
        let valid = |c: &[u32]| (16 << c[0]) * (16 << c[1]) >= (32 << c[3]) * (1 << c[4]);
        Self::new(&[5, 5, 4, 5, 4, 3], valid, |c| {
            let (m, n, k) = (size(16, c[0]), size(16, c[1]), size(4, c[2]));
            let (threads, vector, stages) = (size(32, c[3]), size(1, c[4]), f64::from(1 + c[5]));
            let shared = (m + n) * k * 4.0 * stages;
            let registers = m * n / threads + 2.0 * vector + 24.0;
            if shared > 49_152.0 || registers > 255.0 {
                return None;
            }
            let resident = (100_000.0 / shared)
                .min(65_536.0 / (registers * threads))
                .min(1_536.0 / threads)
                .floor();
            let occupancy = (resident.max(0.5) * threads / 1_536.0).min(1.0);
            let traffic = 1.0 / m + 1.0 / n;
            let memory = 60.0 * traffic / (1.0 - 0.5 / vector);
            let compute = 1.0 + 40.0 / registers + 8.0 / k;
            let latency = 0.6 / (occupancy * stages.sqrt() * (m * n / threads).sqrt().min(8.0));
            Some(memory.max(compute) + 0.3 * memory + latency)
        })
    }

    fn best(&self) -> f64 {
        self.costs
            .iter()
            .flatten()
            .copied()
            .fold(f64::INFINITY, f64::min)
    }

    fn told(&self, asked: &[usize]) -> Vec<Told> {
        asked
            .iter()
            .map(|&index| Told {
                index,
                cost: self.costs[index],
            })
            .collect()
    }
}

impl SpaceView for Landscape {
    fn len(&self) -> usize {
        self.configs.len()
    }

    fn value_counts(&self) -> &[u32] {
        &self.counts
    }

    fn is_ordinal(&self, param: usize) -> bool {
        param != 4
    }

    fn positions(&self, index: usize) -> Vec<u32> {
        self.configs[index].clone()
    }

    fn index_of(&self, positions: &[u32]) -> Option<usize> {
        self.indices.get(positions).copied()
    }
}

fn seeded(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Runs a strategy until it has returned `budget` configs or the whole space. Returns these configs.
fn search(name: &str, space: &Landscape, budget: usize, batch: usize, seed: u64) -> Vec<usize> {
    let mut strategy = by_name(name, space, budget, seeded(seed)).unwrap();
    let mut asked = Vec::new();
    while asked.len() < budget {
        let next = strategy.ask(batch.min(budget - asked.len()));
        if next.is_empty() {
            break;
        }
        strategy.tell(&space.told(&next));
        asked.extend(next);
    }
    asked
}

fn best_of(space: &Landscape, asked: &[usize]) -> f64 {
    asked
        .iter()
        .filter_map(|&index| space.costs[index])
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn every_strategy_asks_for_every_config_of_a_small_space_once() {
    for name in NAMES {
        for len in [0, 1, 2, 3, 40] {
            let space = Landscape::line(len);
            let mut asked = search(name, &space, 1_000, 3, 1);
            asked.sort_unstable();
            assert!(
                asked.iter().copied().eq(0..len as usize),
                "{name}, {len}: {asked:?}"
            );
        }
    }
}

#[test]
fn no_strategy_asks_for_more_than_it_may_or_twice() {
    let space = Landscape::gemm();
    for name in NAMES {
        for batch in [1, 7, 16] {
            let mut strategy = by_name(name, &space, 60, seeded(3)).unwrap();
            let mut seen = BTreeSet::new();
            for _ in 0..60 / batch {
                let asked = strategy.ask(batch);
                assert!(!asked.is_empty() && asked.len() <= batch, "{name}");
                assert!(
                    asked
                        .iter()
                        .all(|&index| index < space.len() && seen.insert(index)),
                    "{name}"
                );
                strategy.tell(&space.told(&asked));
            }
        }
    }
}

#[test]
fn a_config_told_without_asking_is_never_asked_for() {
    let space = Landscape::line(50);
    for name in NAMES {
        let mut strategy = by_name(name, &space, 10, seeded(3)).unwrap();
        strategy.tell(&space.told(&[7, 31]));
        let mut seen = BTreeSet::new();
        loop {
            let asked = strategy.ask(8);
            if asked.is_empty() {
                break;
            }
            strategy.tell(&space.told(&asked));
            seen.extend(asked);
        }
        assert!(
            seen.len() == 48 && !seen.contains(&7) && !seen.contains(&31),
            "{name}: {seen:?}"
        );
    }
}

#[test]
fn the_same_seed_asks_alike_and_another_seed_does_not() {
    let space = Landscape::gemm();
    for name in NAMES {
        let run = |seed| search(name, &space, 48, 8, seed);
        assert_eq!(run(5), run(5), "{name}");
        assert_ne!(run(5), run(6), "{name}");
    }
}

#[test]
fn a_space_in_which_everything_fails_is_searched_to_its_end() {
    let space = Landscape::new(&[6, 6], |_| true, |_| None);
    for name in NAMES {
        assert_eq!(search(name, &space, 100, 5, 1).len(), 36, "{name}");
    }
}

#[test]
fn costs_that_are_no_costs_count_as_failures() {
    let space = Landscape::line(30);
    let mut strategy = by_name("auto", &space, 29, seeded(1)).unwrap();
    for round in 0..3 {
        let asked = strategy.ask(8);
        let cost = [Some(f64::NAN), Some(-1.0), Some(0.0), Some(f64::INFINITY)];
        let told: Vec<Told> = asked
            .iter()
            .map(|&index| Told {
                index,
                cost: if round == 0 {
                    cost[index % 4]
                } else {
                    Some(2.0)
                },
            })
            .collect();
        strategy.tell(&told);
        strategy.tell(&[Told {
            index: 1_000,
            cost: Some(1.0),
        }]);
    }
    assert_eq!(strategy.ask(100).len(), 6);
}

#[test]
fn a_search_goes_on_when_results_come_late() {
    let space = Landscape::gemm();
    let mut strategy = by_name("auto", &space, 100, seeded(1)).unwrap();
    let first = strategy.ask(10);
    let second = strategy.ask(10);
    strategy.tell(&space.told(&second));
    let third = strategy.ask(10);
    strategy.tell(&space.told(&first));
    let all: BTreeSet<usize> = [first, second, third].concat().into_iter().collect();
    assert_eq!(all.len(), 30);
}

#[test]
fn auto_tries_the_whole_space_where_the_budget_allows_it_and_promises_nothing_less() {
    let space = Landscape::line(60);
    for (budget, whole) in [(60, true), (59, false)] {
        let mut strategy = by_name("auto", &space, budget, seeded(1)).unwrap();
        let mut promised = false;
        for _ in 0..30 {
            let asked = strategy.ask(1);
            strategy.tell(&space.told(&asked));
            promised |= strategy.outlook().is_some();
        }
        assert_eq!(promised, !whole, "{budget}");
    }
    let large = Landscape::line(3_000);
    let strategy = by_name("auto", &large, 3_000, seeded(1)).unwrap();
    assert_eq!(strategy.name(), "exhaustive");
}

#[test]
fn an_unknown_strategy_is_refused_with_the_known_names() {
    let space = Landscape::line(3);
    let error = by_name("simulated-annealing", &space, 10, seeded(1))
        .err()
        .unwrap();
    assert!(error.to_string().contains(
        "`simulated-annealing`; the strategies are auto, annealing, differential-evolution"
    ));
}

#[test]
fn the_optimum_of_a_small_space_is_found_by_a_quarter_of_it() {
    // 400 configs with a curved valley, and a second valley that is less deep.
    let cost = |c: &[u32]| {
        let (x, y) = (f64::from(c[0]), f64::from(c[1]));
        let valley = |cx: f64, cy: f64, depth: f64| {
            -depth / (1.0 + (x - cx).powi(2) / 9.0 + (y - cy).powi(2) / 4.0)
        };
        Some(2.0 + valley(14.0, 5.0, 1.0) + valley(3.0, 15.0, 0.6))
    };
    let space = Landscape::new(&[20, 20], |_| true, cost);
    let found = (0..8)
        .filter(|&seed| best_of(&space, &search("auto", &space, 100, 8, seed)) == space.best())
        .count();
    assert!(found >= 7, "{found} of 8");
}

#[test]
fn auto_beats_random_sampling_at_equal_budget_on_a_landscape_like_gemm() {
    let space = Landscape::gemm();
    let regret = |name: &str| {
        let one = |seed| best_of(&space, &search(name, &space, 128, 4, seed)) / space.best() - 1.0;
        let mut all: Vec<f64> = (0..8).map(one).collect();
        all.sort_by(f64::total_cmp);
        all.iter().sum::<f64>() / 8.0
    };
    let (auto, random) = (regret("auto"), regret("random"));
    println!(
        "{} configs, 128 tried: auto ends {:.2} % above the best, random {:.2} %",
        space.len(),
        auto * 100.0,
        random * 100.0
    );
    assert!(auto < 0.7 * random, "{auto} {random}");
}

#[test]
fn neighbours_differ_in_one_parameter_and_adjacent_ones_come_first() {
    let space = Landscape::gemm();
    let differs = |a: &[u32], b: &[u32]| a.iter().zip(b).filter(|(a, b)| a != b).count();
    for index in (0..space.len()).step_by(97) {
        let found = neighbours(&space, index);
        let here = &space.configs[index];
        assert!(
            found
                .iter()
                .all(|&other| differs(here, &space.configs[other]) == 1)
        );
        let all = (0..space.len()).filter(|&other| differs(here, &space.configs[other]) == 1);
        let (mut sorted, mut all): (Vec<usize>, Vec<usize>) = (found.clone(), all.collect());
        sorted.sort_unstable();
        all.sort_unstable();
        assert_eq!(sorted, all);
    }
}

#[test]
fn a_value_that_a_constraint_rules_out_is_skipped_on_the_way_to_the_adjacent_one() {
    let space = Landscape::new(&[8], |config| ![3, 4].contains(&config[0]), |_| Some(1.0));
    let index = space.indices[&vec![2]];
    let found: Vec<u32> = neighbours(&space, index)
        .into_iter()
        .map(|other| space.configs[other][0])
        .collect();
    assert_eq!(found, [1, 5, 0, 6, 7]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_search_survives_any_costs(costs in prop::collection::vec(prop::option::of(any::<f64>()), 30), batch in 1usize..9) {
        let space = Landscape::new(&[5, 6], |_| true, |config| costs[(config[0] * 6 + config[1]) as usize]);
        prop_assert_eq!(search("auto", &space, 29, batch, 1).len(), 29);
    }
}
