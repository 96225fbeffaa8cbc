//! Chooses the constraints to leave out if the exact graph exceeds the budget. Components that fit the budget keep all
//! their constraints. For every other component, constraints are added while the graph can still be built, those with
//! few parameters first.

use super::super::components::{Component, components};
use super::super::error::CspError;
use super::super::graph::{ExprGraph, TermId};
use super::super::layers::LayerBudget;
use super::super::model::{Model, solve_component};
use super::super::reduce::Reduced;
use super::super::set::ConfigSet;
use super::checks::Checks;
use super::relaxed::RelaxedSet;

/// One attempt to build a component may use this fraction (1 / `SHARE`) of the budget's work.
const SHARE: u64 = 16;

/// One attempt may use this fraction (1 / `MEMORY`) of the budget's memory. The graph should fit into a cache, because
/// samples walk it at random.
const MEMORY: u64 = 64;

/// Maximum number of attempts, over all components, to build a component with fewer constraints.
const TRIES: u32 = 64;

impl Model {
    /// Builds the set of configs that satisfy every constraint, as [`Self::solve`] does, if its graph fits the budget.
    /// Otherwise, leaves out the constraints that do not fit. The result then contains the configs that satisfy the
    /// others, and the left-out constraints, which have to be checked for each config. The construction may use three
    /// times the budget.
    ///
    /// # Errors
    /// If there are more than 2^128 valid configs, or if more than 2^128 configs satisfy the constraints that fit.
    pub fn relaxed(&self, budget: LayerBudget) -> Result<RelaxedSet, CspError> {
        let constraints: Vec<TermId> = self.constraints.iter().flatten().copied().collect();
        if self.is_impossible(&constraints) {
            let set = ConfigSet::new(&self.domains, Vec::new(), true)?;
            return Ok(RelaxedSet::new(
                set,
                Checks::new(&self.graph, &[]),
                Vec::new(),
            ));
        }
        let mut builder = WithoutBuilder {
            graph: self.graph.clone(),
            domains: &self.domains,
            exact: budget,
            refill: budget,
            left: budget,
            share: LayerBudget {
                kept: budget.kept / MEMORY,
                looked_at: budget.looked_at / SHARE,
            },
            tries: TRIES,
            solved: Vec::new(),
            left_out: Vec::new(),
        };
        for component in components(&self.graph, &constraints) {
            builder.add(component)?;
        }
        let WithoutBuilder {
            solved, left_out, ..
        } = builder;
        let numbers = self.constraints.iter().enumerate();
        let numbers = numbers.filter(|(_, ids)| ids.iter().any(|id| left_out.contains(id)));
        let numbers = numbers.map(|(number, _)| number).collect();
        let checks = Checks::new(&self.graph, &left_out);
        // If constraints were left out, more than 2^128 configs in the set do not mean that there are that many valid
        // configs.
        let set = ConfigSet::new(&self.domains, solved, false).map_err(|error| match error {
            CspError::TooMany if !left_out.is_empty() => CspError::TooLong,
            other => other,
        })?;
        Ok(RelaxedSet::new(set, checks, numbers))
    }
}

struct WithoutBuilder<'a> {
    graph: ExprGraph,
    domains: &'a [u32],
    /// The remaining budget for components with all of their constraints. `refill` is the size of the last refill.
    exact: LayerBudget,
    refill: LayerBudget,
    /// The remaining budget for components with fewer constraints. One attempt may use at most `share` of it.
    left: LayerBudget,
    share: LayerBudget,
    tries: u32,
    solved: Vec<Reduced>,
    left_out: Vec<TermId>,
}

impl WithoutBuilder<'_> {
    fn add(&mut self, component: Component) -> Result<(), CspError> {
        let (graph, domains) = (&mut self.graph, self.domains);
        match solve_component(graph, component.clone(), domains, &mut self.exact) {
            Ok(found) => self.solved.push(found),
            Err(CspError::TooLong) => {
                // Refill the budget for later components. Each refill is half of the previous one, so the total is
                // bounded.
                self.refill = self.refill.share(2);
                self.exact = self.refill;
                self.relax(component)?;
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// Adds a component whose graph with all constraints exceeds the budget. Keeps as many of its constraints as fit.
    /// First adds half of them at once, and then smaller groups if the graph becomes too large. This takes few attempts
    /// if most constraints fit.
    fn relax(&mut self, component: Component) -> Result<(), CspError> {
        let mut pending = component.constraints;
        pending.sort_by_key(|id| (self.graph.term(*id).vars.len(), *id));
        pending.dedup();
        let vars = component.vars;
        let mut unlimited = LayerBudget {
            kept: u64::MAX,
            looked_at: u64::MAX,
        };
        let mut kept = Vec::new();
        let mut solved = self.solve(&vars, &kept, &mut unlimited)?;
        let mut size = pending.len() / 2;
        while !pending.is_empty() && self.tries > 0 && self.left.looked_at > 0 {
            let count = size.clamp(1, pending.len());
            let more = [&kept, &pending[..count]].concat();
            let granted = LayerBudget {
                looked_at: self.share.looked_at.min(self.left.looked_at),
                ..self.share
            };
            let mut budget = granted;
            let found = self.solve(&vars, &more, &mut budget);
            self.left.spend_as(granted, budget);
            self.tries -= 1;
            match found {
                Ok(found) => {
                    (kept, solved) = (more, found);
                    pending.drain(..count);
                    size = count * 2;
                }
                Err(_) if count == 1 => self.left_out.push(pending.remove(0)),
                Err(_) => size = count / 2,
            }
        }
        self.left_out.append(&mut pending);
        self.solved.append(&mut solved);
        Ok(())
    }

    fn solve(
        &mut self,
        vars: &[usize],
        constraints: &[TermId],
        budget: &mut LayerBudget,
    ) -> Result<Vec<Reduced>, CspError> {
        let parts = components(&self.graph, constraints).into_iter();
        let parts = parts.filter(|part| part.vars.iter().all(|var| vars.contains(var)));
        parts
            .map(|part| solve_component(&mut self.graph, part, self.domains, budget))
            .collect()
    }
}
