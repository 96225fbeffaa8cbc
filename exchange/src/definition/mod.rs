//! Search spaces in files: parameters, their values, and constraints as Python expressions.
//!
//! Two formats are read: definitions (fields `params` and `constraints`), and T1 files of the FAIR auto-tuning papers
//! (field `ConfigurationSpace`). docs/search-space.md describes both.

pub(crate) mod error;
mod figures;
pub(crate) mod json;
pub(crate) mod literal;
pub(crate) mod model;
#[cfg(test)]
mod tests;

pub use error::{DefinitionError, FieldProblem};
pub use figures::{dead_values, index_sum, sum_of_indices, valid};
pub use literal::Literal;
pub use model::{DefinedConstraint, Definition, Param, Solved};

impl Definition {
    /// Reads a definition or a T1 file.
    ///
    /// # Errors
    /// The text is neither a definition nor a T1 file. The error has the line, the field and the problem.
    pub fn read(text: &str) -> Result<Definition, DefinitionError> {
        match json::is_t1(text)? {
            true => crate::t1::read::read(text),
            false => json::read(text),
        }
    }
}
