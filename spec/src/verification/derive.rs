//! Chooses sizes from classes, and combines them into problems.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::Config;
use crate::device::limits::DeviceLimits;
use crate::expr::{Expr, Known, evaluate_int, truth};
use crate::model::KernelSpec;
use crate::plan::{LaunchScope, PlanError};
use crate::problem::{Problem, ProblemValue};

/// Maximum number of derived problems.
pub const MAX_PROBLEMS: usize = 6;
/// Maximum total size of all slices of one problem, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum number of floating-point operations of one problem.
const MAX_OPERATIONS: i128 = 30_000_000;
/// Maximum number of threads of a launch, and maximum product of all sizes if the author declares no operations. If the
/// tuned problem has more, its number counts, because a launch as long as that is expected.
const MAX_THREADS: u64 = 1 << 20;
const MAX_PRODUCT: i128 = 1 << 21;
/// Maximum number of combinations of classes to consider.
const MAX_CANDIDATES: usize = 1024;
/// The derivation stops after this many combinations of classes for which it finds no valid small problem.
const MAX_FAILURES: usize = 64;

pub(super) struct Derive<'a> {
    pub spec: &'a KernelSpec,
    /// The configs from which tile sizes are derived.
    pub sample: &'a [Config],
    /// The config for which the problems must be valid. `None` for problems of the whole task, which need to be valid
    /// only for the baseline.
    pub only: Option<&'a Config>,
    pub like: &'a Problem,
    pub limits: Option<&'a DeviceLimits>,
    /// The constraints that mention a problem dimension.
    pub sized: Vec<&'a Expr>,
}

/// The candidate sizes of one dimension: one list per class, with the preferred size first.
struct Dimension {
    name: Arc<str>,
    classes: Vec<Vec<i64>>,
}

impl Derive<'_> {
    pub fn problems(&self) -> Vec<Problem> {
        let sizes = self.like.iter().filter_map(|(name, value)| match value {
            ProblemValue::Size(size) => Some(self.dimension(name, size)),
            ProblemValue::Type(_) => None,
        });
        let dimensions: Vec<Dimension> = sizes.collect();
        let mut chosen: Vec<Problem> = Vec::new();
        let mut covered = BTreeSet::new();
        let mut candidates = self.candidates(&dimensions);
        let mut failures = 0;
        while chosen.len() < MAX_PROBLEMS && failures < MAX_FAILURES {
            // Choose the combination with the most new pairs of classes. If several have equally many, choose the
            // first.
            let new_pairs =
                |choice: &Vec<usize>| pairs(choice).filter(|p| !covered.contains(p)).count();
            let best = candidates
                .iter()
                .enumerate()
                .rev()
                .max_by_key(|(_, c)| new_pairs(c));
            let Some((index, gain)) = best.map(|(i, c)| (i, new_pairs(c))) else {
                break;
            };
            if gain == 0 {
                break;
            }
            let choice = candidates.remove(index);
            match self.realise(&dimensions, &choice) {
                Some(problem) => {
                    covered.extend(pairs(&choice));
                    if !chosen.contains(&problem) {
                        chosen.push(problem);
                    }
                }
                None => failures += 1,
            }
        }
        chosen
    }

    /// Combinations of one class per dimension: first those with the same class for all dimensions, and then mixed
    /// ones.
    fn candidates(&self, dimensions: &[Dimension]) -> Vec<Vec<usize>> {
        let most = dimensions
            .iter()
            .map(|d| d.classes.len())
            .max()
            .unwrap_or(1);
        let uniform = (0..most).rev().map(|class| {
            let choice = dimensions.iter().map(|d| class.min(d.classes.len() - 1));
            choice.collect::<Vec<_>>()
        });
        let mut all: Vec<Vec<usize>> = Vec::new();
        let mixtures = (0..MAX_CANDIDATES).map(|n| {
            let mut rest = n;
            let choice = dimensions.iter().map(|d| {
                let class = rest % d.classes.len();
                rest /= d.classes.len();
                class
            });
            choice.collect::<Vec<_>>()
        });
        let count = dimensions
            .iter()
            .fold(1usize, |n, d| n.saturating_mul(d.classes.len()));
        for choice in uniform.chain(mixtures.take(count)) {
            if !all.contains(&choice) {
                all.push(choice);
            }
        }
        all
    }

    /// A valid problem with sizes from the chosen classes that stays within the limits on bytes and operations.
    fn realise(&self, dimensions: &[Dimension], choice: &[usize]) -> Option<Problem> {
        let classes: Vec<&[i64]> = dimensions
            .iter()
            .zip(choice)
            .map(|(dimension, class)| &dimension.classes[*class][..])
            .collect();
        let mut picks = vec![0; classes.len()];
        loop {
            let sizes: Vec<i64> = classes.iter().zip(&picks).map(|(c, i)| c[*i]).collect();
            let problem = self.problem(dimensions, &sizes);
            if self.is_small(&problem) && self.is_valid(&problem) {
                return Some(problem);
            }
            // The problem is too large or not valid. Reduce the largest size that still has another candidate.
            let next = |i: &usize| classes[*i].len() > picks[*i] + 1;
            let largest = (0..picks.len()).filter(next).max_by_key(|i| sizes[*i])?;
            picks[largest] += 1;
        }
    }

    fn problem(&self, dimensions: &[Dimension], sizes: &[i64]) -> Problem {
        Problem::new(self.like.iter().map(|(name, value)| {
            let index = dimensions.iter().position(|d| d.name == *name);
            let value = index.map_or(value, |i| ProblemValue::Size(sizes[i]));
            (name.clone(), value)
        }))
    }

    fn is_small(&self, problem: &Problem) -> bool {
        let bytes = self.spec.footprint_bytes(problem);
        let most = match self.spec.work.flops {
            Some(_) => MAX_OPERATIONS,
            None => MAX_OPERATIONS.min(self.operations(self.like).max(MAX_PRODUCT)),
        };
        bytes.is_ok_and(|bytes| bytes <= MAX_BYTES)
            && self.operations(problem) <= most
            && self.threads(problem) <= self.threads(self.like).max(MAX_THREADS)
    }

    /// The number of threads of the baseline's launch; 0 if it cannot be launched.
    fn threads(&self, problem: &Problem) -> u64 {
        let plan = self.spec.baseline_plan(problem, self.limits);
        plan.map_or(0, |plan| {
            plan.blocks().saturating_mul(plan.threads_per_block())
        })
    }

    /// The operations of a launch, as declared, or else the product of all sizes.
    pub fn operations(&self, problem: &Problem) -> i128 {
        match &self.spec.work.flops {
            Some(flops) => evaluate_int(flops, problem).unwrap_or(i128::MAX),
            None => problem.iter().fold(1, |product: i128, (name, _)| {
                product.saturating_mul(problem.size(name).unwrap_or(1).max(1).into())
            }),
        }
    }

    /// Whether the baseline can be launched for the problem, and also the config for which the problems are derived. If
    /// they are derived for all configs, and the baseline is another entry, some config of the sample must be valid.
    pub fn is_valid(&self, problem: &Problem) -> bool {
        let valid = |config: &Config| self.can_launch(config, problem);
        let by_config = match self.only {
            Some(config) => valid(config),
            None if self.spec.baseline_is_another_entry() => {
                self.sample.is_empty() || self.sample.iter().any(valid)
            }
            None => true,
        };
        by_config && self.spec.check_baseline(problem, self.limits).is_ok()
    }

    /// Whether a config can be launched for the problem. Constraints that mention no size are not checked, because
    /// their value does not depend on the problem.
    fn can_launch(&self, config: &Config, problem: &Problem) -> bool {
        let scope = LaunchScope {
            config,
            problem,
            limits: self.limits,
            spec: self.spec,
        };
        let mut sized = self.sized.iter();
        sized.all(|expr| truth(expr, &scope).is_ok_and(|known| known != Known::False))
            && match (self.spec.geometry.plan(&scope), self.limits) {
                (Ok(plan), Some(limits)) => plan.check(limits).is_ok(),
                (Ok(_), None) => true,
                (Err(PlanError::Eval { error, .. }), None) => error.is_unknown(),
                (Err(_), _) => false,
            }
    }

    fn dimension(&self, name: &Arc<str>, size: i64) -> Dimension {
        let declared = self.declared_sizes(name);
        let classes = if declared.iter().all(|size| *size <= 1) {
            // The dimension is a switch, not an extent, so use only its declared values.
            declared.iter().map(|size| vec![*size]).collect()
        } else {
            self.classes(name, &declared)
        };
        let mut dimension = Dimension {
            name: name.clone(),
            classes,
        };
        dimension.classes.retain(|class| !class.is_empty());
        if dimension.classes.is_empty() {
            dimension.classes.push(vec![size]);
        }
        dimension
    }

    fn declared_sizes(&self, name: &str) -> BTreeSet<i64> {
        let problems = self.spec.problems.iter().chain([self.like]);
        problems.filter_map(|problem| problem.size(name)).collect()
    }

    /// The sizes of the four classes: one element, less than a tile, whole tiles, and tiles with a remainder.
    fn classes(&self, name: &str, declared: &BTreeSet<i64>) -> Vec<Vec<i64>> {
        let tiles = self.tiles(name);
        let smallest = tiles.iter().copied().find(|tile| *tile > 1).unwrap_or(4);
        let largest = tiles.last().copied().unwrap_or(smallest).max(2);
        let fallback = declared.first().copied();
        let ragged = [
            prime_above(2 * largest),
            prime_above(largest),
            prime_above(smallest),
        ];
        let sweeps = self.sweeps(name).into_iter().map(prime_above);
        let sweeps = sweeps.filter(|size| *size > ragged[0]);
        let wanted = [
            vec![1],
            vec![prime_below(smallest), smallest / 2],
            vec![2 * largest, largest],
            sweeps.chain(ragged).collect(),
        ];
        let most = declared.last().copied().unwrap_or(1);
        wanted
            .into_iter()
            .map(|sizes| {
                let mut possible = self.possible(name, &sizes, &tiles);
                if possible.is_empty() {
                    // The kernel may need large sizes, so try larger ones, up to the largest declared size.
                    let first = sizes.first().copied().unwrap_or(1).max(2 * largest);
                    let doubled = std::iter::successors(Some(first), |size| size.checked_mul(2));
                    let mut larger = doubled.take_while(|size| *size < most).flat_map(|size| {
                        let size = if sizes.len() > 2 {
                            prime_above(size)
                        } else {
                            size
                        };
                        self.possible(name, &[size], &tiles)
                    });
                    possible.extend(larger.next().or(fallback));
                }
                possible
            })
            .collect()
    }

    /// Checks each size by changing only this dimension of `like`. If a size is not valid, it is replaced by the next
    /// multiple of a tile that is valid, or dropped if there is none.
    fn possible(&self, name: &str, sizes: &[i64], tiles: &BTreeSet<i64>) -> Vec<i64> {
        let mut possible = Vec::new();
        for size in sizes.iter().copied().filter(|size| *size > 0) {
            let multiples = tiles
                .iter()
                .map(|tile| size.div_euclid(*tile) * tile + tile);
            let mut candidates = [size].into_iter().chain(multiples);
            let found = candidates.find(|size| self.is_valid(&self.like.with_size(name, *size)));
            possible.extend(found.filter(|size| !possible.contains(size)));
        }
        possible
    }
}

fn pairs(choice: &[usize]) -> impl Iterator<Item = (usize, usize, usize, usize)> + '_ {
    let first = choice.iter().enumerate();
    first.flat_map(move |(i, a)| {
        let second = choice.iter().enumerate().skip(i);
        second.map(move |(j, b)| (i, *a, j, *b))
    })
}

fn is_prime(n: i64) -> bool {
    n > 1 && (2..).take_while(|d| d * d <= n).all(|d| n % d != 0)
}

/// The largest prime below `n`; 2 for small `n`.
fn prime_below(n: i64) -> i64 {
    (2..n).rev().find(|x| is_prime(*x)).unwrap_or(2)
}

/// The smallest prime above `n`.
fn prime_above(n: i64) -> i64 {
    (n + 1..).find(|x| is_prime(*x)).unwrap_or(n + 1)
}
