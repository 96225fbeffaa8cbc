//! Depth-first enumeration with cuts.

use super::compiled::Cell;
use super::ranks::Ranks;
use super::rules::{Rule, Test, Tests};
use super::{Rejection, SpaceError};
use crate::limits::DeviceLimits;
use crate::model::KernelSpec;
use crate::problem::Problem;

/// Partial configs visited at most: a minute or two of work.
pub(super) const MAX_STEPS: u64 = 1_000_000_000;

/// How far an enumeration may go.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Valid configs at most.
    pub(super) configs: usize,
    /// Partial configs visited at most.
    pub(super) steps: u64,
}

pub(super) struct Enumeration {
    pub(super) ranks: Ranks,
    pub(super) rejections: Vec<Rejection>,
}

struct Walk<'a> {
    tests: &'a Tests,
    weights: &'a [u128],
    problem: &'a Problem,
    bounds: Bounds,
    ranks: Ranks,
    rejections: Vec<Rejection>,
    slots: Vec<Cell>,
    steps: u64,
}

impl Enumeration {
    pub(super) fn run(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
        weights: &[u128],
        product: u128,
        bounds: Bounds,
    ) -> Result<Enumeration, SpaceError> {
        let tests = Tests::new(spec, problem, limits)?;
        let rules = tests.rules.iter();
        let mut walk = Walk {
            tests: &tests,
            weights,
            problem,
            bounds,
            ranks: Ranks::new(product),
            rejections: rules
                .map(|rule| Rejection::none(rule, spec, limits))
                .collect(),
            slots: Vec::with_capacity(weights.len()),
            steps: 0,
        };
        if walk.passes(&tests.before, product) {
            walk.descend(0, 0)?;
        }
        Ok(Enumeration {
            ranks: walk.ranks,
            rejections: walk.rejections,
        })
    }

    /// The error of a space without configs.
    pub(super) fn empty(mut self, problem: &Problem) -> SpaceError {
        self.rejections
            .sort_by_key(|r| std::cmp::Reverse(r.configs));
        let rejected = self.rejections.iter().filter(|r| r.configs > 0);
        let line = |r: &Rejection| format!("`{}` rejects {}", r.text, r.configs);
        SpaceError::Empty {
            problem: problem.clone(),
            rejected: rejected.map(line).collect(),
        }
    }
}

impl Walk<'_> {
    /// Gives the axis `level` each of its values in turn; `rank` is that of the values before it.
    fn descend(&mut self, level: usize, rank: u128) -> Result<(), SpaceError> {
        let tests = self.tests;
        let Some(cells) = tests.cells.get(level) else {
            return self.found(rank);
        };
        let weight = self.weights[level];
        for (ordinal, cell) in cells.iter().enumerate() {
            self.steps += 1;
            if self.steps > self.bounds.steps {
                return Err(SpaceError::TooLong {
                    problem: self.problem.clone(),
                    steps: self.bounds.steps,
                    found: self.ranks.len(),
                });
            }
            self.slots.push(*cell);
            if self.passes(&tests.at[level], weight) {
                self.descend(level + 1, rank + weight * ordinal as u128)?;
            }
            self.slots.pop();
        }
        Ok(())
    }

    fn found(&mut self, rank: u128) -> Result<(), SpaceError> {
        if self.ranks.len() == self.bounds.configs {
            return Err(SpaceError::TooMany {
                problem: self.problem.clone(),
                limit: self.bounds.configs,
            });
        }
        self.ranks.push(rank);
        Ok(())
    }

    /// Whether the values so far pass; `configs` depend on it.
    fn passes(&mut self, tests: &[Test], configs: u128) -> bool {
        for test in tests {
            if !test.passes(&self.slots, &self.tests.sizes) {
                let rejection = &mut self.rejections[test.rule];
                rejection.cuts += 1;
                rejection.configs += configs;
                return false;
            }
        }
        true
    }
}

impl Rejection {
    fn none(rule: &Rule, spec: &KernelSpec, limits: &DeviceLimits) -> Rejection {
        let text = match rule {
            Rule::Constraint(index) => spec.constraints[*index].expr.to_string(),
            Rule::Grid => format!("grid within {:?}", limits.max_grid),
            Rule::Block => format!(
                "block within {:?} and {} threads",
                limits.max_block, limits.max_threads_per_block
            ),
            Rule::SharedMemory => {
                format!(
                    "shared memory within {} bytes",
                    limits.shared_bytes_per_block
                )
            }
        };
        Rejection {
            rule: rule.clone(),
            text,
            cuts: 0,
            configs: 0,
        }
    }
}
