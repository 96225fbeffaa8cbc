//! The order in which variables get their values: the one that should leave the fewest distinct states behind.
//!
//! After some variables have values, all that later ones need to know of them are the values of the largest terms that
//! are complete (see [`super::lower`]). How many combinations of those there can be is estimated from how many
//! values each can take.

use super::components::Component;
use super::graph::{Fold, Graph, Op, TermId};
use super::hashing::{WordMap, mix};
use super::varset::VarSet;

/// First variables tried at most.
const STARTS: usize = 12;

struct Estimate<'a> {
    graph: &'a Graph,
    constraints: &'a [TermId],
    /// Base-2 logarithm of how many values a term can take.
    bits: WordMap<TermId, f64>,
}

/// An order of the component's variables.
pub(super) fn order(graph: &Graph, component: &Component) -> Vec<usize> {
    if component.vars.len() <= 1 {
        return component.vars.clone();
    }
    let mut estimate = Estimate {
        graph,
        constraints: &component.constraints,
        bits: WordMap::default(),
    };
    for constraint in &component.constraints {
        estimate.learn(*constraint);
    }
    let mut starts = component.vars.clone();
    starts.sort_by_key(|var| (estimate.neighbours(*var), *var));
    starts.truncate(STARTS);
    let orders = starts
        .iter()
        .map(|start| estimate.greedy(*start, &component.vars));
    let best = orders.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(|| component.vars.clone(), |(_, order)| order)
}

impl Estimate<'_> {
    /// How many values a term, and everything in it, can take.
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

    /// The logarithm of the length of a term's range.
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

    /// How many variables share a constraint with one.
    fn neighbours(&self, var: usize) -> usize {
        let vars = self.constraints.iter().map(|id| self.graph.term(*id).vars);
        let one = VarSet::one(var);
        let shared = vars.filter(|vars| one.within(vars));
        shared.fold(one, VarSet::union).len()
    }

    /// The order that starts with `start` and goes on with the variable that leaves the fewest states each time; and
    /// the work it is expected to take.
    fn greedy(&self, start: usize, vars: &[usize]) -> (f64, Vec<usize>) {
        let mut known = VarSet::one(start);
        let mut order = vec![start];
        let mut states = self.states(&known);
        let mut work = self.places(start).exp2() + states.exp2();
        let mut left: Vec<usize> = vars.iter().copied().filter(|var| *var != start).collect();
        while !left.is_empty() {
            let mut best = (f64::INFINITY, f64::INFINITY, 0);
            for (i, var) in left.iter().enumerate() {
                let after = self.states(&known.union(VarSet::one(*var)));
                let steps = states + self.places(*var);
                if (after, steps) < (best.0, best.1) {
                    best = (after, steps, i);
                }
            }
            let var = left.remove(best.2);
            known = known.union(VarSet::one(var));
            order.push(var);
            states = best.0;
            work += best.1.exp2() + states.exp2();
        }
        (work, order)
    }

    /// The logarithm of how many states there are once `known` have values.
    fn states(&self, known: &VarSet) -> f64 {
        let mut carried = Carried::default();
        for constraint in self.constraints {
            self.collect(*constraint, known, &mut carried, true);
        }
        let combinations: f64 = carried.vars.iter().map(|var| self.places(var)).sum();
        carried.bits.min(combinations)
    }

    /// What later variables need of a term.
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

    /// The complete parts of a sum or product are one value.
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
        for (factor, id) in parts {
            let term = self.graph.term(id);
            if term.vars.within(known) {
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
            carried.add(key, bits.min(self.width(whole)), vars);
        }
    }
}

/// The values that a state consists of.
#[derive(Default)]
struct Carried {
    seen: Vec<u64>,
    bits: f64,
    vars: VarSet,
}

impl Carried {
    fn add(&mut self, key: u64, bits: f64, vars: VarSet) {
        if !self.seen.contains(&key) {
            self.seen.push(key);
            self.bits += bits;
            self.vars = self.vars.union(vars);
        }
    }
}
