//! Computes the symbols of entries (their names in compiled artifacts) for every family of compilers.

use kiln_spec::codegen::{CodegenError, Symbol, Target, symbol_hash};
use kiln_spec::{Config, KernelSpec, Problem, SourceHash};

/// The symbols of one release entry and config, for each family of compilers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbols {
    pub(crate) cpu: String,
    pub(crate) cuda: String,
    pub(crate) hip: String,
}

impl Symbols {
    /// Computes the symbols of an entry with a config. `problem` determines the types of type parameters.
    pub(crate) fn new(
        source: SourceHash,
        spec: &KernelSpec,
        entry: &str,
        config: &Config,
        problem: &Problem,
    ) -> Result<Symbols, CodegenError> {
        let symbol = |target| {
            let hash = symbol_hash(source, spec, entry, config, problem, target);
            hash.map(|hash| Symbol::release(entry, hash).as_str().to_owned())
        };
        Ok(Symbols {
            cpu: symbol(Target::Cpu)?,
            cuda: symbol(Target::Cuda)?,
            hip: symbol(Target::Hip)?,
        })
    }
}
