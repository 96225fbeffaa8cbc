//! The source lines of instructions.

use std::fmt;

/// The source line to which the compiler assigned an instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// The file, by the name that the line tables give it.
    pub file: String,
    /// The number of the line, from 1.
    pub number: u32,
    /// If the line belongs to an inlined function, the file and the line in the kernel from which that function was
    /// called, directly or through other inlined functions.
    pub called_at: Option<(String, u32)>,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.number)?;
        match &self.called_at {
            Some((file, number)) => write!(f, ", called at {file}:{number}"),
            None => Ok(()),
        }
    }
}
