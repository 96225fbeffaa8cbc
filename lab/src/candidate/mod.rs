//! A candidate: from the generated text of a config to compiled code, its resources, and its outcome.

mod compiler;
pub mod inspect;
mod loops;
pub mod machine_code;
pub mod outcome;
pub mod profile;

pub use compiler::{Compiled, Draft, Which, Workshop};
