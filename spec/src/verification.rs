//! Derives small problems on which a kernel is verified before it is timed.
//!
//! Kernels often fail if a size is smaller than a tile, just above a tile, or prime. Wherever the geometry or a
//! constraint divides a dimension, its divisor is a tile size of the dimension. From the tile sizes, this module
//! derives four classes of sizes for each dimension: one element, less than a tile, whole tiles, and tiles with a
//! remainder. If a dimension is only a switch (all its declared sizes are 0 or 1), it keeps its declared sizes.
//!
//! The derived problems mix the classes of different dimensions, so that most pairs of classes occur within
//! [`MAX_PROBLEMS`] problems.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::{Config, ParamValue};
use crate::device::limits::DeviceLimits;
use crate::expr::{BinaryOp, BuiltinFunction, Expr, Known, evaluate_int, truth};
use crate::model::KernelSpec;
use crate::plan::{LaunchScope, PlanError};
use crate::problem::{Problem, ProblemValue};

/// Maximum number of derived problems.
pub const MAX_PROBLEMS: usize = 6;
/// Maximum total size of all slices of one problem, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum number of floating-point operations of one problem.
const MAX_OPERATIONS: i128 = 30_000_000;
/// Maximum number of combinations of classes to consider.
const MAX_CANDIDATES: usize = 1024;
/// The derivation stops after this many combinations of classes for which it finds no valid small problem.
const MAX_FAILURES: usize = 64;

/// The problems for verifying these configs, with the element types of `like`. If the author declares problems for
/// verification, they are the declared ones with the same element types. Otherwise they are up to [`MAX_PROBLEMS`]
/// derived problems. Each problem is valid for every config and for the baseline.
///
/// The result depends only on the arguments. It is empty if none of the problems is valid.
pub fn verification_problems(
    spec: &KernelSpec,
    configs: &[Config],
    like: &Problem,
    limits: Option<&DeviceLimits>,
) -> Vec<Problem> {
    let constraints = spec.constraints.iter().map(|c| &c.expr);
    let dims = spec.dimensions();
    let derive = Derive {
        spec,
        configs,
        like,
        limits,
        sized: constraints
            .filter(|expr| dims.iter().any(|dim| expr.names().contains(dim)))
            .collect(),
    };
    if spec.verify.is_empty() {
        return derive.problems();
    }
    let same_types = |problem: &&Problem| {
        let mut types = spec.types.iter();
        types.all(|ty| problem.get(&ty.name) == like.get(&ty.name))
    };
    let declared = spec.verify.iter().filter(same_types);
    declared.filter(|p| derive.is_valid(p)).cloned().collect()
}

struct Derive<'a> {
    spec: &'a KernelSpec,
    configs: &'a [Config],
    like: &'a Problem,
    limits: Option<&'a DeviceLimits>,
    /// The constraints that mention a problem dimension.
    sized: Vec<&'a Expr>,
}

/// The candidate sizes of one dimension: one list per class, with the preferred size first.
struct Dimension {
    name: Arc<str>,
    classes: Vec<Vec<i64>>,
}

impl Derive<'_> {
    fn problems(&self) -> Vec<Problem> {
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
        let operations = match &self.spec.work.flops {
            Some(flops) => evaluate_int(flops, problem).unwrap_or(i128::MAX),
            None => problem.iter().fold(1, |product: i128, (name, _)| {
                product.saturating_mul(problem.size(name).unwrap_or(1).max(1).into())
            }),
        };
        bytes.is_ok_and(|bytes| bytes <= MAX_BYTES) && operations <= MAX_OPERATIONS
    }

    /// Whether every config and the baseline can be launched for the problem. Constraints that mention no size are not
    /// checked, because their value does not depend on the problem.
    fn is_valid(&self, problem: &Problem) -> bool {
        let valid = |config: &Config| {
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
        };
        self.spec.check_baseline(problem, self.limits).is_ok() && self.configs.iter().all(valid)
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
        let wanted = [
            vec![1],
            vec![prime_below(smallest), smallest / 2],
            vec![2 * largest, largest],
            vec![
                prime_above(2 * largest),
                prime_above(largest),
                prime_above(smallest),
            ],
        ];
        wanted
            .into_iter()
            .map(|sizes| self.possible(name, sizes, &tiles, fallback))
            .collect()
    }

    /// Checks each size by changing only this dimension of `like`. If a size is not valid, it is replaced by the next
    /// multiple of a tile that is valid, or dropped if there is none. If no size is left, the result is `fallback`.
    fn possible(
        &self,
        name: &str,
        sizes: Vec<i64>,
        tiles: &BTreeSet<i64>,
        fallback: Option<i64>,
    ) -> Vec<i64> {
        let mut possible = Vec::new();
        for size in sizes.into_iter().filter(|size| *size > 0) {
            let multiples = tiles
                .iter()
                .map(|tile| size.div_euclid(*tile) * tile + tile);
            let mut candidates = [size].into_iter().chain(multiples);
            let found = candidates.find(|size| self.is_valid(&self.with_size(name, *size)));
            possible.extend(found.filter(|size| !possible.contains(size)));
        }
        if possible.is_empty() {
            possible.extend(fallback);
        }
        possible
    }

    /// The problem `like` with a different size for one dimension.
    fn with_size(&self, name: &str, size: i64) -> Problem {
        Problem::new(self.like.iter().map(|(other, value)| {
            let changed = **other == *name;
            let value = if changed {
                ProblemValue::Size(size)
            } else {
                value
            };
            (other.clone(), value)
        }))
    }

    /// The tile sizes of a dimension, in ascending order: the values of the expressions by which the geometry and the
    /// constraints divide the dimension. If nothing divides it, they are the values of all integer parameters in the
    /// configs, because each may be a tile size inside the kernel.
    fn tiles(&self, name: &str) -> BTreeSet<i64> {
        let mut divisors = Vec::new();
        let geometry = &self.spec.geometry;
        let exprs = geometry.grid.iter().chain(&geometry.block);
        let constraints = self.spec.constraints.iter().map(|c| &c.expr);
        for expr in exprs.chain(constraints) {
            expr.walk(&mut |part| divisors.extend(divisor_of(part, name)));
        }
        let baseline = [&self.spec.baseline.config];
        let configs = || self.configs.iter().chain(baseline);
        let mut tiles = BTreeSet::new();
        for config in configs() {
            let scope = LaunchScope {
                config,
                problem: self.like,
                limits: self.limits,
                spec: self.spec,
            };
            let values = divisors.iter().filter_map(|e| evaluate_int(e, &scope).ok());
            tiles.extend(values.filter_map(plausible));
        }
        if tiles.is_empty() {
            let values = configs().flat_map(|config| config.iter().map(|(_, value)| value));
            tiles.extend(values.filter_map(|value| match value {
                ParamValue::Int(x) => plausible((*x).into()),
                _ => None,
            }));
        }
        tiles
    }
}

/// The size as an `i64` if it is plausible for a tile (1 to 4096); otherwise `None`.
fn plausible(size: i128) -> Option<i64> {
    i64::try_from(size)
        .ok()
        .filter(|size| (1..=4096).contains(size))
}

/// The divisor, if `expr` is a division of an expression that contains the dimension; otherwise `None`.
fn divisor_of<'a>(expr: &'a Expr, dimension: &str) -> Option<&'a Expr> {
    let (dividend, divisor) = match expr {
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, x, y) => (&**x, &**y),
        Expr::Call(BuiltinFunction::DivCeil, arguments) => match &arguments[..] {
            [x, y] => (x, y),
            _ => return None,
        },
        _ => return None,
    };
    dividend.names().contains(dimension).then_some(divisor)
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
