//! A candidate: a config from generated text to compiled code, what that takes up, and what became of it.

mod compiler;
pub mod inspect;
pub mod outcome;

pub use compiler::{Compiled, Draft, Which, Workshop};
