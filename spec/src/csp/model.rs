//! A model of parameters and constraints, from which the set of valid configs is built.

use super::components::{Component, components};
use super::error::CspError;
use super::function::Function;
use super::graph::{ExprGraph, Fold, Op, TermId};
use super::kind::Kind;
use super::layers::{LayerBudget, layers};
use super::lower::lower;
use super::order::order;
use super::program::programs;
use super::reduce::{Reduced, reduce};
use super::semantics::Semantics;
use super::set::ConfigSet;
use super::value::Value;
use super::varset::{CAPACITY, VarSet};

/// Parameters with their values, and constraints on the parameters.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) graph: ExprGraph,
    pub(super) domains: Vec<u32>,
    /// For each constraint, the terms of its conjunction. All of them must be true.
    pub(super) constraints: Vec<Vec<TermId>>,
}

impl Model {
    /// A model of parameters with these values, without constraints.
    ///
    /// # Errors
    /// If too many parameters have more than one value.
    pub fn new(semantics: Semantics, params: &[Vec<Value>]) -> Result<Model, CspError> {
        let found = params.iter().filter(|values| values.len() != 1).count();
        if found > CAPACITY {
            let most = CAPACITY;
            return Err(CspError::Parameters { found, most });
        }
        let length = |values: &Vec<Value>| u32::try_from(values.len()).unwrap_or(u32::MAX);
        Ok(Model {
            graph: ExprGraph::new(semantics, params),
            domains: params.iter().map(length).collect(),
            constraints: Vec::new(),
        })
    }

    /// The graph in which the expressions of constraints are built.
    pub fn graph(&mut self) -> &mut ExprGraph {
        &mut self.graph
    }

    /// Adds a constraint. A constraint without a value is not satisfied.
    pub fn constrain(&mut self, term: TermId) {
        let mut parts = Vec::new();
        self.conjuncts(term, &mut parts);
        self.constraints.push(parts);
    }

    /// Splits a conjunction into its operands. The conjunction is true exactly if all operands are true: if it has no
    /// value, some operand is not true.
    fn conjuncts(&mut self, term: TermId, parts: &mut Vec<TermId>) {
        let inner = match &self.graph.term(term).op {
            Op::Fold(Fold::All, ids) | Op::Apply(Function::And, ids) => ids.clone(),
            _ => {
                let truth = self.graph.apply(Function::Truth, &[term]);
                return parts.push(truth);
            }
        };
        for id in inner {
            self.conjuncts(id, parts);
        }
    }

    /// The number of constraints.
    pub fn constraints(&self) -> usize {
        self.constraints.len()
    }

    /// The configs that satisfy every constraint.
    ///
    /// # Errors
    /// If the construction exceeds the budget, or if there are more than 2^128 valid configs.
    pub fn solve(&self, budget: LayerBudget) -> Result<ConfigSet, CspError> {
        self.solve_where(budget, |_| true)
    }

    /// The configs that satisfy the constraints for whose index `wanted` returns `true`.
    ///
    /// # Errors
    /// The same errors as [`Self::solve`].
    pub fn solve_where(
        &self,
        mut budget: LayerBudget,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<ConfigSet, CspError> {
        let mut graph = self.graph.clone();
        let constraints = self.constraints.iter().enumerate();
        let constraints = constraints.filter(|(number, _)| wanted(*number));
        let constraints: Vec<TermId> = constraints.flat_map(|(_, ids)| ids).copied().collect();
        if self.is_impossible(&constraints) {
            return ConfigSet::new(&self.domains, Vec::new(), true);
        }
        let mut solved = Vec::new();
        for component in components(&graph, &constraints) {
            solved.push(solve_component(
                &mut graph,
                component,
                &self.domains,
                &mut budget,
            )?);
        }
        ConfigSet::new(&self.domains, solved, false)
    }

    /// Whether one of the constraints is known to be unsatisfied for all values of the parameters.
    pub(super) fn is_impossible(&self, constraints: &[TermId]) -> bool {
        let known = constraints.iter().filter_map(|id| self.graph.known(*id));
        known
            .into_iter()
            .any(|value| value != Some(Value::Bool(true)))
    }
}

/// The valid configs of one component.
pub(super) fn solve_component(
    graph: &mut ExprGraph,
    mut component: Component,
    domains: &[u32],
    budget: &mut LayerBudget,
) -> Result<Reduced, CspError> {
    component
        .constraints
        .sort_by_key(|id| (graph.term(*id).vars.len(), *id));
    component.constraints.dedup();
    let order = order(graph, &component);
    let mut levels = vec![0; graph.variables.len()];
    for (level, var) in order.iter().enumerate() {
        levels[*var] = level;
    }
    let constraints = with_bounds(graph, &component.constraints, &order);
    let mut lowered = lower(graph, &constraints, &levels);
    let params: Vec<usize> = order.iter().map(|var| graph.variables[*var]).collect();
    let lengths: Vec<usize> = params
        .iter()
        .map(|param| domains[*param] as usize)
        .collect();
    let programs = programs(&mut lowered, &lengths);
    let layers = layers(&programs, &mut lowered.values, budget)?;
    let domains = params.iter().map(|param| domains[*param]).collect();
    reduce(layers, params, domains)
}

/// The constraints, each preceded by the conditions that follow from it and that can be checked before all of its
/// variables have values.
fn with_bounds(graph: &mut ExprGraph, constraints: &[TermId], order: &[usize]) -> Vec<TermId> {
    let mut all = Vec::new();
    for constraint in constraints {
        let mut known = VarSet::default();
        let vars = graph.term(*constraint).vars;
        for var in order {
            let one = VarSet::one(*var);
            known = known.union(one);
            if !one.within(&vars) || graph.kind(*constraint) != Kind::Bool {
                continue;
            }
            let Some(bound) = graph.relaxed(*constraint, &known) else {
                continue;
            };
            let is_new = one.within(&graph.term(bound).vars);
            if is_new || graph.known(bound) == Some(Some(Value::Bool(false))) {
                all.push(bound);
            }
        }
        all.push(*constraint);
    }
    all
}
