//! What a build would launch today: the rule of `kiln::select`, on the tables that the macro would read: those that
//! `KILN_TUNED` names, else the package's own.

use std::path::{Path, PathBuf};

use kiln::select::distance;
use kiln_spec::baked::{Evidence, Freshness, Hashes, Row};
use kiln_spec::{Config, DeviceKey, Problem};

use crate::candidate::Which;
use crate::exit::Failure;
use crate::local_tables;
use crate::project::TunedKernel;

/// What would be launched for a problem on a device, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    /// The config of the tuned entry; `None` for the baseline.
    pub config: Option<Config>,
    /// Why it is this one, for people.
    pub why: String,
}

impl Present {
    /// As a workshop takes it.
    pub fn which(&self) -> Which<'_> {
        self.config.as_ref().map_or(Which::Baseline, Which::Config)
    }
}

/// A fresh row that may be used, with how well it fits.
struct Candidate {
    config: Option<Config>,
    same_device: bool,
    distance: f64,
    row: Row,
}

/// What would be launched of a kernel for a problem on a device.
///
/// # Errors
/// When a table cannot be read or understood.
pub fn present(
    kernel: &TunedKernel,
    problem: &Problem,
    device: &kiln::device::DeviceInfo,
) -> Result<Present, Failure> {
    let rows = local_tables::rows_in(&kernel.spec.name, &tables(kernel))?;
    let all = rows.len();
    let mut candidates: Vec<Candidate> = rows
        .into_iter()
        .filter_map(|row| candidate(kernel, row, problem, &device.key))
        .collect();
    let usable = candidates.len();
    candidates.sort_by(|a, b| {
        a.rank()
            .partial_cmp(&b.rank())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let limits = Some(&device.limits);
    let valid = candidates
        .into_iter()
        .find(|candidate| match &candidate.config {
            Some(config) => kernel.spec.check_config(config, problem, limits).is_ok(),
            None => kernel.spec.check_baseline(problem, limits).is_ok(),
        });
    Ok(match valid {
        Some(candidate) => Present {
            why: candidate.why(),
            config: candidate.config,
        },
        None => Present {
            config: None,
            why: match (all, usable) {
                (0, _) => "baseline: nothing is baked".into(),
                (_, 0) => "baseline: no fresh row for this device or its architecture".into(),
                _ => "baseline: no baked row can be launched here".into(),
            },
        },
    })
}

/// The folder of tables that a build reads: as the macro has it, a relative one is below the package.
fn tables(kernel: &TunedKernel) -> PathBuf {
    let given = std::env::var_os("KILN_TUNED").filter(|given| !given.is_empty());
    let package = kernel.tuned.parent().unwrap_or(Path::new("."));
    given.map_or_else(|| kernel.tuned.clone(), |given| package.join(given))
}

fn candidate(
    kernel: &TunedKernel,
    row: Row,
    problem: &Problem,
    device: &DeviceKey,
) -> Option<Candidate> {
    let accepted = row.evidence == Evidence::Proven || kernel.accepts.contains(&row.evidence);
    let same_arch = row.device.backend == device.backend && row.device.arch == device.arch;
    let now = Hashes::now(&kernel.spec, kernel.source.hash(), row.device.backend);
    if !accepted || !same_arch || row.freshness(&now) != Freshness::Fresh {
        return None;
    }
    let resolved = row.resolve(&kernel.spec).ok()?;
    Some(Candidate {
        same_device: row.device.name == device.name,
        distance: distance(&resolved.problem, problem)?,
        config: (!resolved.is_baseline).then_some(resolved.config),
        row,
    })
}

impl Candidate {
    /// Exact problems before near ones, this device before others, then by distance.
    fn rank(&self) -> (bool, bool, f64) {
        (self.distance > 0.0, !self.same_device, self.distance)
    }

    fn why(&self) -> String {
        let what = if self.config.is_some() {
            "baked"
        } else {
            "baked baseline"
        };
        let device = if self.same_device {
            ""
        } else {
            ", same architecture"
        };
        if self.distance > 0.0 {
            format!("{what} for {}{device}", self.row.problem)
        } else {
            format!("{what}{device}")
        }
    }
}
