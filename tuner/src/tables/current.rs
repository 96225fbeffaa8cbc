//! Selects the config that a build of the current sources would launch, by the rule of `kiln_spec::selection`. The
//! selection uses the tables that the macro would read: the tables in the folder `KILN_TUNED` if this variable is set,
//! and otherwise the package's own tables.

use std::path::{Path, PathBuf};

use kiln_spec::baked::{
    Evidence, Freshness, Hashes, ResolvedRow, Row, TUNED_VARIABLE, tables_folder,
};
use kiln_spec::selection::{Fit, Offer, best_first};
use kiln_spec::{Config, Problem};

use crate::error::Failure;
use crate::tables::local;
use kiln_lab::candidate::Which;
use kiln_project::TunedKernel;

/// The config that a build would launch for a problem on a device, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    /// The config of the tuned entry; `None` for the baseline.
    pub config: Option<Config>,
    /// Why this config is selected, as text.
    pub why: String,
}

impl Present {
    /// The candidate in the form that a workshop accepts.
    pub fn which(&self) -> Which<'_> {
        self.config.as_ref().map_or(Which::Baseline, Which::Config)
    }
}

/// Selects the config that a build would launch for a problem on a device.
///
/// # Errors
/// If a table cannot be read or parsed.
pub fn present(
    kernel: &TunedKernel,
    problem: &Problem,
    device: &kiln::device::DeviceInfo,
) -> Result<Present, Failure> {
    let rows = local::rows_in(&kernel.spec.name, &tables(kernel))?;
    let usable = rows.iter().map(|row| resolved(kernel, row));
    let usable: Vec<Option<ResolvedRow>> = usable.collect();
    let offers = rows.iter().zip(&usable).enumerate();
    let offers = offers.filter_map(|(number, (row, resolved))| {
        Some(Offer {
            row: number,
            backend: row.device.backend,
            arch: &row.device.arch,
            device: &row.device.name,
            problem: resolved.as_ref()?.problem.clone(),
        })
    });
    let fits = best_first(offers, &device.key, problem);
    let limits = Some(&device.limits);
    for fit in &fits {
        let Some(resolved) = &usable[fit.row] else {
            continue;
        };
        let checked = match resolved.is_baseline {
            true => kernel.spec.check_baseline(problem, limits),
            false => kernel.spec.check_config(&resolved.config, problem, limits),
        };
        if checked.is_ok() {
            return Ok(Present {
                config: (!resolved.is_baseline).then(|| resolved.config.clone()),
                why: why(fit, resolved.is_baseline, &rows[fit.row]),
            });
        }
    }
    let why = match (rows.is_empty(), fits.is_empty()) {
        (true, _) => "baseline: nothing is baked",
        (_, true) => "baseline: no fresh row for this device or its architecture",
        _ => "baseline: no baked row can be launched here",
    };
    let here =
        |row: &&Row| row.device.backend == device.key.backend && row.device.arch == device.key.arch;
    let stale = rows.iter().filter(here).find_map(|row| stale(kernel, row));
    let stale = stale.filter(|_| fits.is_empty());
    let stale = stale.map_or_else(String::new, |which| {
        format!(" (stale: its {which} changed)")
    });
    Ok(Present {
        config: None,
        why: format!("{why}{stale}"),
    })
}

/// The folder of the tables that a build reads.
fn tables(kernel: &TunedKernel) -> PathBuf {
    let root = kernel.tuned.parent().unwrap_or(Path::new("."));
    tables_folder(std::env::var_os(TUNED_VARIABLE), root, &kernel.package)
}

/// Resolves a row if a build would use it: the kernel must accept the row's evidence, and the row must not be stale.
/// Otherwise returns `None`.
fn resolved(kernel: &TunedKernel, row: &Row) -> Option<ResolvedRow> {
    let accepted = row.evidence == Evidence::Proven || kernel.accepts.contains(&row.evidence);
    if !accepted || stale(kernel, row).is_some() {
        return None;
    }
    row.resolve(&kernel.spec).ok()
}

/// The part that changed since a row was baked; `None` if the row is fresh.
fn stale(kernel: &TunedKernel, row: &Row) -> Option<&'static str> {
    let now = Hashes::now(&kernel.spec, kernel.source.hash(), row.device.backend);
    match row.freshness(&now) {
        Freshness::Stale { which, .. } => Some(which),
        Freshness::Fresh => None,
    }
}

fn why(fit: &Fit, is_baseline: bool, row: &Row) -> String {
    let what = if is_baseline {
        "baked baseline"
    } else {
        "baked"
    };
    let device = if fit.same_device {
        ""
    } else {
        ", same architecture"
    };
    if fit.distance > 0.0 {
        format!("{what} for {}{device}", row.problem)
    } else {
        format!("{what}{device}")
    }
}
