//! Constraint satisfaction: finds the valid configs of a product of parameters under constraints, without listing
//! them.
//!
//! A [`Model`] has parameters, expressions (a [`ExprGraph`]) and constraints; [`Model::solve`] returns the [`ConfigSet`].
//! The steps, each in its own file:
//!
//! 1. `graph`, `simplify`: expressions as one graph; equal subexpressions are one, functions of one parameter are
//!    tables, sums and products of integers are flat, comparisons have their constant on the right. `kind` proves the
//!    possible values.
//! 2. `components`: parameters that share no constraint are independent. Their product is never expanded.
//! 3. `order`: the order of a component's parameters that is estimated to leave the fewest states.
//! 4. `relax`: the consequences of a constraint before all of its parameters have values.
//! 5. `lower`, `register`, `program`: registers and steps; each is computed once, at the level of its last parameter.
//! 6. `layers`, `lanes`: the states, level by level; each step runs on all values of a parameter at once.
//! 7. `reduce`, `dag`: bottom up, the smallest graph in which every path from root to end is a valid config.
//! 8. `sample`: if the graph does not fit the budget, a graph without some of the constraints, and samples that
//!    satisfy them.
//!
//! Expressions are evaluated with one of two [`Semantics`]. An expression may have no value (a division by zero, a
//! result beyond 128 bits, kinds that do not mix); a constraint without a value is not satisfied.

mod components;
mod dag;
mod error;
mod function;
mod graph;
mod hashing;
mod kiln;
mod kind;
mod lanes;
mod layers;
mod lower;
mod model;
mod order;
mod program;
mod python;
mod reduce;
mod register;
mod relax;
mod sample;
mod semantics;
mod set;
mod simplify;
mod value;
mod varset;

pub use error::CspError;
pub use function::Function;
pub use graph::{ExprGraph, TermId};
pub use layers::LayerBudget;
pub use model::Model;
pub use sample::{Estimate, ListedSet, RelaxedSet, SampleSize};
pub use semantics::Semantics;
pub use set::ConfigSet;
pub use value::{Outcome, Value};
