//! Chooses the order in which variables get their values, with the aim of few distinct states.
//!
//! Once some variables have values, later levels depend only on the values of the largest terms that are complete (see
//! [`super::lower`]). The number of states is estimated from the number of values that these terms can have.

use super::components::Component;
use super::function::Function;
use super::graph::{ExprGraph, Fold, Op, TermId};
use super::hashing::{WordMap, mix};
use super::varset::VarSet;

/// Maximum number of variables that are tried as the first one.
const STARTS: usize = 4;

/// An estimate of the number of states takes as much time as trying this many values.
const WORTH: f64 = 100.0;

struct CostEstimate<'a> {
    graph: &'a ExprGraph,
    constraints: &'a [TermId],
    /// For each term, the base-2 logarithm of the number of values that it can have.
    bits: WordMap<TermId, f64>,
    /// For each term, its upper bound under the constraints.
    limits: WordMap<TermId, i128>,
    /// Estimates that were already computed, by the set of variables with values.
    known: WordMap<VarSet, f64>,
}

/// The order in which the component's variables get their values.
pub(super) fn order(graph: &ExprGraph, component: &Component) -> Vec<usize> {
    if component.vars.len() <= 1 {
        return component.vars.clone();
    }
    let mut estimate = CostEstimate {
        graph,
        constraints: &component.constraints,
        bits: WordMap::default(),
        limits: WordMap::default(),
        known: WordMap::default(),
    };
    for constraint in &component.constraints {
        estimate.learn(*constraint);
        estimate.limit(*constraint);
    }
    let mut starts = component.vars.clone();
    starts.sort_by_key(|var| (estimate.neighbours(*var), *var));
    starts.truncate(STARTS);
    let mut best = estimate.backward(&component.vars);
    let mut work = estimate.work(&best);
    for start in starts {
        let order = estimate.forward(start, &component.vars);
        let its = estimate.work(&order);
        if its < work {
            (best, work) = (order, its);
        }
    }
    estimate.improve(&mut best, work);
    best
}

impl CostEstimate<'_> {
    /// The base-2 logarithm of the number of values that a term can have. Also records it for every operand of the
    /// term.
    fn learn(&mut self, id: TermId) -> f64 {
        if let Some(bits) = self.bits.get(&id) {
            return *bits;
        }
        let term = self.graph.term(id);
        let bits = match &term.op {
            Op::Const(_) => 0.0,
            Op::Table { values, .. } => {
                let mut distinct: WordMap<_, ()> = WordMap::default();
                distinct.extend(values.iter().map(|value| (*value, ())));
                (distinct.len() as f64).log2()
            }
            Op::Linear { terms, .. } => terms.iter().map(|(_, id)| self.learn(*id)).sum(),
            Op::Fold(_, ids) | Op::Apply(_, ids) => ids.iter().map(|id| self.learn(*id)).sum(),
        };
        let bits = bits.min(self.width(id));
        self.bits.insert(id, bits);
        bits
    }

    /// Records the limit if the constraint has the form `term <= limit`.
    fn limit(&mut self, constraint: TermId) {
        if let Op::Apply(Function::Le, arguments) = &self.graph.term(constraint).op
            && let [left, right] = arguments.as_slice()
            && let Some(limit) = self.graph.known_int(*right)
        {
            let known = self.limits.entry(*left).or_insert(i128::MAX);
            *known = (*known).min(limit.into());
        }
    }

    /// The base-2 logarithm of the number of values that the sum or product of the operands `own` can have under the
    /// constraints. `own` are operands of the sum or product `whole`.
    fn limited(&self, whole: TermId, own: &[TermId]) -> f64 {
        let Some((least, _)) = self.graph.number_range(whole) else {
            return self.width(whole);
        };
        let room = match &self.graph.term(whole).op {
            Op::Fold(Fold::Product, _) if least >= 0 => self.room_of_product(own),
            _ => self.limits.get(&whole).map(|limit| (*limit - least) as f64),
        };
        room.map_or(self.width(whole), |room| (room.max(0.0) + 1.0).log2())
    }

    /// The largest value that the product of the non-negative factors `own` can have under the constraints.
    fn room_of_product(&self, own: &[TermId]) -> Option<f64> {
        let range = |id: &TermId| self.graph.number_range(*id).unwrap_or((0, 0));
        let rooms = self.limits.iter().filter_map(|(id, limit)| {
            let factors = match &self.graph.term(*id).op {
                Op::Fold(Fold::Product, factors) => factors.as_slice(),
                _ => std::slice::from_ref(id),
            };
            let beyond = factors.iter().filter(|id| !own.contains(id));
            let smallest: f64 = beyond.map(|id| range(id).0.max(1) as f64).product();
            let more = own.iter().filter(|id| !factors.contains(id));
            let largest: f64 = more.clone().map(|id| range(id).1 as f64).product();
            let is_part = more.clone().count() == 0;
            let has_part = factors.iter().all(|id| own.contains(id));
            (is_part || has_part).then_some(*limit as f64 / smallest * largest)
        });
        rooms.reduce(f64::min)
    }

    /// The base-2 logarithm of the number of values in a term's range.
    fn width(&self, id: TermId) -> f64 {
        match self.graph.kind(id) {
            super::kind::Kind::Bool => 1.0,
            super::kind::Kind::Int { least, most } => ((most - least) as f64 + 1.0).log2(),
            _ => f64::INFINITY,
        }
    }

    fn places(&self, var: usize) -> f64 {
        let term = self.graph.param(self.graph.variables[var]);
        match &self.graph.term(term).op {
            Op::Table { values, .. } => (values.len().max(1) as f64).log2(),
            _ => 0.0,
        }
    }

    /// The number of variables that share a constraint with `var`, including `var` itself.
    fn neighbours(&self, var: usize) -> usize {
        let vars = self.constraints.iter().map(|id| self.graph.term(*id).vars);
        let one = VarSet::one(var);
        let shared = vars.filter(|vars| one.within(vars));
        shared.fold(one, VarSet::union).len()
    }

    /// The order that starts with `start` and always continues with the variable that leaves the fewest states.
    fn forward(&mut self, start: usize, vars: &[usize]) -> Vec<usize> {
        let mut known = VarSet::one(start);
        let mut order = vec![start];
        let mut left: Vec<usize> = vars.iter().copied().filter(|var| *var != start).collect();
        while !left.is_empty() {
            let cost = |estimate: &mut Self, var: usize| {
                let after = estimate.states(known.union(VarSet::one(var)));
                (after, estimate.places(var))
            };
            let var = left.remove(self.cheapest(&left, cost));
            known = known.union(VarSet::one(var));
            order.push(var);
        }
        order
    }

    /// Chooses an order from its end: first the variable that takes the least work as the last one, then the variable
    /// before it, and so on.
    fn backward(&mut self, vars: &[usize]) -> Vec<usize> {
        let mut order = Vec::with_capacity(vars.len());
        let mut left = vars.to_vec();
        while !left.is_empty() {
            let others = |var: usize| {
                let others = left.iter().filter(|other| **other != var);
                others.fold(VarSet::default(), |set, var| set.union(VarSet::one(*var)))
            };
            let cost = |estimate: &mut Self, var: usize| {
                let before = estimate.states(others(var));
                (before + estimate.places(var), before)
            };
            let last = self.cheapest(&left, cost);
            order.push(left.remove(last));
        }
        order.reverse();
        order
    }

    /// The index of the first variable with the lowest cost.
    fn cheapest(
        &mut self,
        vars: &[usize],
        mut cost: impl FnMut(&mut Self, usize) -> (f64, f64),
    ) -> usize {
        let mut best = (f64::INFINITY, f64::INFINITY, 0);
        for (i, var) in vars.iter().enumerate() {
            let (first, second) = cost(self, *var);
            if (first, second) < (best.0, best.1) {
                best = (first, second, i);
            }
        }
        best.2
    }

    /// The estimated work of an order: the number of values tried and of states created.
    fn work(&mut self, order: &[usize]) -> f64 {
        let mut known = VarSet::default();
        let (mut states, mut work) = (0f64, 0.0);
        for var in order {
            known = known.union(VarSet::one(*var));
            work += (states + self.places(*var)).exp2();
            states = self.states(known);
            work += 4.0 * states.exp2();
        }
        work
    }

    /// Moves single variables while this saves work and the search costs less than it can save.
    fn improve(&mut self, order: &mut Vec<usize>, mut work: f64) {
        let mut moved = true;
        while moved {
            moved = false;
            for from in 0..order.len() {
                for to in 0..order.len() {
                    if self.known.len() as f64 * WORTH > work {
                        return;
                    }
                    let mut other = order.clone();
                    let var = other.remove(from);
                    other.insert(to, var);
                    let its = self.work(&other);
                    if its < work * 0.999 {
                        (*order, work, moved) = (other, its, true);
                    }
                }
            }
        }
    }

    /// The base-2 logarithm of the number of states after the variables `known` have values.
    fn states(&mut self, known: VarSet) -> f64 {
        if let Some(states) = self.known.get(&known) {
            return *states;
        }
        let mut carried = Carried::default();
        for constraint in self.constraints {
            self.collect(*constraint, &known, &mut carried, true);
        }
        let combinations: f64 = carried.vars.iter().map(|var| self.places(var)).sum();
        let states = carried
            .bits
            .iter()
            .map(|known| known.1)
            .sum::<f64>()
            .min(combinations);
        self.known.insert(known, states);
        states
    }

    /// Collects those parts of a term that later levels need once the variables `known` have values.
    fn collect(&self, id: TermId, known: &VarSet, carried: &mut Carried, is_root: bool) {
        let term = self.graph.term(id);
        if !term.vars.meets(known) || (is_root && term.vars.within(known)) {
            return;
        }
        if term.vars.within(known) {
            return carried.add(u64::from(id.0), self.bits[&id], term.vars);
        }
        match &term.op {
            Op::Linear { terms, .. } => {
                let parts = terms.iter().map(|(factor, id)| (*factor as u64, *id));
                self.collect_parts(id, parts, known, carried, 0);
            }
            Op::Fold(fold, ids) => {
                let seed = match fold {
                    Fold::Product => 1,
                    Fold::Any => 2,
                    Fold::All => 3,
                };
                self.collect_parts(id, ids.iter().map(|id| (1, *id)), known, carried, seed);
            }
            Op::Apply(_, ids) => {
                for id in ids {
                    self.collect(*id, known, carried, false);
                }
            }
            Op::Const(_) | Op::Table { .. } => {}
        }
    }

    /// Collects the operands of a sum or product. The complete operands are combined to a single value.
    fn collect_parts(
        &self,
        whole: TermId,
        parts: impl Iterator<Item = (u64, TermId)>,
        known: &VarSet,
        carried: &mut Carried,
        seed: u64,
    ) {
        let (mut count, mut key, mut bits) = (0, seed, 0.0);
        let mut vars = VarSet::default();
        let mut own = Vec::new();
        for (factor, id) in parts {
            let term = self.graph.term(id);
            if term.vars.within(known) {
                own.push(id);
                count += 1;
                key = if count == 1 && factor == 1 {
                    u64::from(id.0)
                } else {
                    mix(mix(key, factor), u64::from(id.0)) | 1 << 63
                };
                bits += self.bits[&id];
                vars = vars.union(term.vars);
            } else {
                self.collect(id, known, carried, false);
            }
        }
        if count > 0 {
            carried.add(key, bits.min(self.limited(whole, &own)), vars);
        }
    }
}

/// The values that a state contains.
#[derive(Default)]
struct Carried {
    /// For each value, its identity and the base-2 logarithm of the number of values that it can have.
    bits: Vec<(u64, f64)>,
    vars: VarSet,
}

impl Carried {
    fn add(&mut self, key: u64, bits: f64, vars: VarSet) {
        self.vars = self.vars.union(vars);
        match self.bits.iter_mut().find(|known| known.0 == key) {
            Some(known) => known.1 = known.1.min(bits),
            None => self.bits.push((key, bits)),
        }
    }
}
