//! Selects the config that a build of the current sources would launch, by the rule of `kiln_spec::selection`. The
//! selection uses the rows that the macro would use: the rows of the package and of the local tables in the folder that
//! `KILN_TUNED` names.

use std::path::Path;

use kiln_spec::baked::{Evidence, ResolvedRow, Row, TUNED_VARIABLE, local_tables_folder, overlay};
use kiln_spec::selection::{Fit, Offer, best_first};
use kiln_spec::{Config, Problem};

use crate::error::Failure;
use kiln_lab::candidate::Which;
use kiln_project::{TableFolder, TunedKernel};

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
    let rows = rows(kernel)?;
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
    let stale = rows
        .iter()
        .filter(here)
        .find_map(|row| kernel.stale_part(row));
    let stale = stale.filter(|_| fits.is_empty());
    let stale = stale.map_or_else(String::new, |which| {
        format!(" (stale: its {which} changed)")
    });
    Ok(Present {
        config: None,
        why: format!("{why}{stale}"),
    })
}

/// The rows of the kernel that a build uses, and the stale rows that it leaves out.
fn rows(kernel: &TunedKernel) -> Result<Vec<Row>, Failure> {
    let root = kernel.tuned.path().parent().unwrap_or(Path::new("."));
    let given = std::env::var_os(TUNED_VARIABLE);
    let local = match local_tables_folder(given, root, &kernel.package) {
        Some(folder) => TableFolder::new(folder).rows(&kernel.spec.name)?,
        None => Vec::new(),
    };
    let committed = kernel.committed_rows()?;
    let used = overlay(&local, &committed, &|row| kernel.is_fresh(row));
    Ok(used.into_iter().map(|used| used.row.clone()).collect())
}

/// Resolves a row if a build would use it: the kernel must accept the row's evidence, and the row must not be stale.
/// Otherwise returns `None`.
fn resolved(kernel: &TunedKernel, row: &Row) -> Option<ResolvedRow> {
    let accepted = row.evidence == Evidence::Proven || kernel.accepts.contains(&row.evidence);
    if !accepted || !kernel.is_fresh(row) {
        return None;
    }
    row.resolve(&kernel.spec).ok()
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
