//! Constraint satisfaction: finds the valid configs among all combinations of parameter values, without listing the
//! combinations.
//!
//! A [`Model`] has parameters, expressions (an [`ExprGraph`]) and constraints. [`Model::solve`] returns the
//! [`ConfigSet`]. Solving takes the following steps, each of which begins with the names of the files that implement
//! it.
//!
//! 1. `graph`, `simplify`: build one graph of all expressions. Equal subexpressions are one term, functions of one
//!    parameter are tables, sums and products of integers are flat, and comparisons have their constant on the right.
//!    `kind` derives the possible values of each term.
//! 2. `components`: split the parameters into groups that share no constraint. The product of the groups is never
//!    expanded.
//! 3. `order`: choose the order of a component's parameters that is estimated to need the fewest states.
//! 4. `relax`: derive from each constraint conditions that follow from it and that can be checked before all of its
//!    parameters have values.
//! 5. `lower`, `register`, `program`: convert terms to registers and steps. Each register is computed once, at the
//!    level (the position in the order) of its last parameter.
//! 6. `layers`, `lanes`: compute the states, level by level. Each step computes one result for every value of a
//!    parameter at once.
//! 7. `reduce`, `dag`: build the smallest graph in which every path from the root to the end is a valid config. This
//!    proceeds from the last level to the first.
//! 8. `sample`: if the graph would exceed the budget, build a graph without some of the constraints, and draw samples
//!    that satisfy those constraints.
//!
//! Expressions are evaluated with one of two [`Semantics`]. An expression has no value if it divides by zero, if a
//! result needs more than 128 bits, or if the operands have different kinds. A constraint without a value is not
//! satisfied.

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
