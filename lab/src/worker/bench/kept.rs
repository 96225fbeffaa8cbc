//! The data that a worker keeps between verified candidates: the buffers of each case and its expected outputs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kiln::Stream;
use kiln::rig::{Expected, Layout, Rig};
use kiln_cache::Outcome;
use kiln_spec::{Config, KernelSpec, Problem};

use super::expected::read_expected;
use super::failure::outcome_of;

/// Cases with more bytes of data than this are not kept, because the device needs its memory for other data.
const MAX_BYTES: u64 = 64 << 20;

/// A problem, the seed of its inputs, and the layout of its buffers.
type Case = (Problem, u64, Layout);

/// The kept rigs (the buffers of a launch), by case, and the kept expected outputs, by file.
#[derive(Default)]
pub(super) struct Kept {
    /// Whether this worker verifies several candidates one after another. Otherwise expected outputs are not kept.
    pub(super) is_used: bool,
    rigs: BTreeMap<Case, Rc<Rig>>,
    expected: BTreeMap<PathBuf, Rc<Expected>>,
}

impl Kept {
    /// Returns the rig of a case, with freshly written inputs, and with outputs that are filled with the poison
    /// pattern.
    pub(super) fn rig(
        &mut self,
        stream: &Stream,
        (spec, config): (&std::sync::Arc<KernelSpec>, &Config),
        (problem, seed, layout): (&Problem, u64, Layout),
    ) -> Result<Rc<Rig>, Outcome> {
        let case = (problem.clone(), seed, layout);
        if let Some(rig) = self.rigs.get(&case) {
            rig.reset().map_err(outcome_of)?;
            return Ok(rig.clone());
        }
        let rig = Rig::of_config(stream, spec, config, problem, seed, layout);
        let rig = Rc::new(rig.map_err(outcome_of)?);
        let bytes = spec.footprint_bytes(problem).unwrap_or(u64::MAX);
        if bytes <= MAX_BYTES && !spec.buffers_depend_on_the_config() {
            self.rigs.insert(case, rig.clone());
        }
        Ok(rig)
    }

    /// The expected outputs in a file, for a problem that is this much larger than the tuned one. A kept file is read only
    /// once.
    pub(super) fn expected(&mut self, path: &Path, growth: f64) -> Result<Rc<Expected>, Outcome> {
        if let Some(expected) = self.expected.get(path) {
            return Ok(expected.clone());
        }
        let expected = Rc::new(read_expected(path)?.of_growth(growth));
        if self.is_used {
            self.expected.insert(path.to_owned(), expected.clone());
        }
        Ok(expected)
    }
}
