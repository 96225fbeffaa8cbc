//! The state of a worker that computes expected outputs with a kernel's plain-Rust reference. It opens no device: a GPU
//! may take seconds to open, and may accept only one process at a time.

use std::path::Path;
use std::sync::Arc;

use kiln::rig::Expected;
use kiln::{Kernel, ReferenceFn};
use kiln_cache::Outcome;
use kiln_spec::{KernelSpec, Problem};

use super::bench::{linked_in, outcome_of, spec_of, write_expected};
use super::protocol::{ReferenceJob, Reply};
use crate::candidate::outcome::internal;

/// A kernel's plain-Rust reference.
pub(super) struct Referee {
    spec: Arc<KernelSpec>,
    reference: ReferenceFn,
}

impl Referee {
    /// Looks up the reference in the kernels that are linked into this program.
    pub fn open(
        job: &ReferenceJob,
        catalogue: &'static [&'static Kernel],
    ) -> Result<Referee, Outcome> {
        let spec = spec_of(&job.spec_json)?;
        let kernel = linked_in(catalogue, &job.package, &spec);
        let found = kernel.and_then(|kernel| Some((kernel, kernel.reference()?)));
        let Some((kernel, reference)) = found else {
            let name = &spec.name;
            return Err(internal(format!("no reference of `{name}` is linked in")));
        };
        kiln::inputs::provide(kernel);
        Ok(Referee { spec, reference })
    }

    /// Computes the expected outputs of a problem and a seed, and writes them to a file.
    pub fn write(&self, problem: &Problem, seed: u64, path: &Path) -> Result<Reply, Outcome> {
        let expected = Expected::by_reference(self.reference, &self.spec, problem, seed);
        let expected = expected.map_err(internal)?;
        expected.check_tolerance(&self.spec).map_err(outcome_of)?;
        write_expected(path, &expected)?;
        Ok(Reply::Written)
    }
}
