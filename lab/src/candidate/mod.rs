//! Candidates: compiles the generated source of a config, reads the resources of the code, and determines the outcome.

mod compiler;
pub mod inspect;
mod loops;
pub mod machine_code;
pub mod outcome;
pub mod profile;

pub use compiler::{Compiled, Draft, Which, Workshop};
