//! Splits variables into independent components. Two variables belong to the same component if they share a constraint
//! or are connected by a chain of shared constraints.

use super::graph::{ExprGraph, TermId};

/// Variables that depend on each other, with the constraints between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Component {
    pub(super) vars: Vec<usize>,
    pub(super) constraints: Vec<TermId>,
}

/// The components of the variables, ordered by their first variable.
pub(super) fn components(graph: &ExprGraph, constraints: &[TermId]) -> Vec<Component> {
    let mut roots: Vec<usize> = (0..graph.variables.len()).collect();
    for constraint in constraints {
        let mut vars = graph.term(*constraint).vars.iter();
        let Some(first) = vars.next() else { continue };
        for var in vars {
            let (a, b) = (root(&mut roots, first), root(&mut roots, var));
            roots[a.max(b)] = a.min(b);
        }
    }
    let mut found: Vec<Component> = vec![Component::default(); roots.len()];
    for var in 0..roots.len() {
        let root = root(&mut roots, var);
        found[root].vars.push(var);
    }
    for constraint in constraints {
        if let Some(var) = graph.term(*constraint).vars.iter().next() {
            let root = root(&mut roots, var);
            found[root].constraints.push(*constraint);
        }
    }
    found.retain(|component| !component.vars.is_empty());
    found
}

/// The first variable of the set that contains `var` (union-find). Also shortens the path from `var` to that variable.
fn root(roots: &mut [usize], mut var: usize) -> usize {
    while roots[var] != var {
        roots[var] = roots[roots[var]];
        var = roots[var];
    }
    var
}
