//! Bakes predicted rows: for each problem, the config that the analytic model chooses for a GPU that was never
//! measured.

use std::fmt::Write;
use std::path::PathBuf;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::BuildKind;
use kiln_cache::Cache;
use kiln_spec::baked::{Evidence, Row};
use kiln_spec::space::SearchSpace;
use kiln_spec::{DeviceKey, Problem};
use rayon::prelude::*;
use serde::Serialize;

use super::{Facts, Judged, estimate, judge, offered, rank};
use crate::compile_only::CompileTarget;
use crate::error::Failure;
use crate::tables::bake;
use kiln_lab::LabError;
use kiln_lab::candidate::{Compiled, Which, Workshop};
use kiln_lab::scratch::temporary_folder;
use kiln_project::{Project, TunedKernel};

/// Number of best predictions that are compiled and then ranked again with their compiled resources.
const COMPILED: usize = 32;

/// The predictions for one kernel on one device.
#[derive(Clone, Debug, Serialize)]
pub struct Prediction {
    /// The name of the kernel.
    pub kernel: String,
    /// The device for which the rows are written.
    pub device: String,
    /// The scores of the model on measurements of this kernel.
    pub judged: Vec<Judged>,
    /// The chosen configs, as pairs of problem and config.
    pub picked: Vec<(String, String)>,
    /// The table with the chosen configs; `None` if no config was chosen.
    pub table: Option<PathBuf>,
    /// Why no config was chosen; `None` if configs were chosen.
    pub refused: Option<String>,
}

impl Prediction {
    /// The prediction as text: the scores of the model, then the chosen configs, or why no config was chosen.
    pub fn to_text(&self) -> String {
        let mut text = format!("{} for {}\n", self.kernel, self.device);
        for Judged {
            device,
            problem,
            score,
        } in &self.judged
        {
            let _ = writeln!(text, "  judged on {device} ({problem}): {score}");
        }
        for (problem, config) in &self.picked {
            let _ = writeln!(text, "  ({problem}): {config}, predicted, never measured");
        }
        if let Some(table) = &self.table {
            let _ = writeln!(
                text,
                "  wrote {}; used only if the kernel's spec says `evidence(predicted)`",
                table.display()
            );
        }
        if let Some(why) = &self.refused {
            let _ = writeln!(text, "  no prediction: {why}");
        }
        text
    }
}

/// Bakes the model's choice for every problem for which the target has no measured row. The model makes no choice for a
/// kernel on which it does not beat random order, or for which there are too few measurements to test it.
///
/// # Errors
/// If the cache, a table or a temporary folder cannot be read or written.
pub fn bake_untuned(
    project: &Project,
    cache: &Cache,
    target: &CompileTarget,
) -> Result<Vec<Prediction>, Failure> {
    let folder = temporary_folder("predict")?;
    let artifacts = ArtifactCache::in_cache(cache.folder()).map_err(LabError::Device)?;
    let workshop = target.workshop(&artifacts, folder.path());
    let kernels = project.kernels.iter();
    kernels
        .map(|kernel| predict(kernel, cache, target, &workshop))
        .collect()
}

fn predict(
    kernel: &TunedKernel,
    cache: &Cache,
    target: &CompileTarget,
    workshop: &Workshop<'_>,
) -> Result<Prediction, Failure> {
    let device = DeviceKey {
        backend: target.known.backend,
        arch: target.known.arch.into(),
        name: target.known.product.into(),
    };
    let judged = judge(kernel, cache)?;
    let mut prediction = Prediction {
        kernel: kernel.spec.name.clone(),
        device: device.to_string(),
        refused: offered(&judged).err().map(|refusal| refusal.to_string()),
        judged,
        picked: Vec::new(),
        table: None,
    };
    if prediction.refused.is_some() {
        return Ok(prediction);
    }
    let mut rows = kernel.rows_of(&device)?;
    prediction.picked = pick(kernel, target, &device, workshop, &mut rows);
    if prediction.picked.is_empty() {
        prediction.refused = Some(format!("every problem has a row of {device}"));
    } else {
        prediction.table = Some(bake::replace_rows(kernel, &device, rows)?);
    }
    Ok(prediction)
}

/// Adds the model's choice for each problem to `rows`, which are the device's rows. Measured rows are kept, and earlier
/// predictions are replaced. Returns the choices as pairs of problem and config.
fn pick(
    kernel: &TunedKernel,
    target: &CompileTarget,
    device: &DeviceKey,
    workshop: &Workshop<'_>,
    rows: &mut Vec<Row>,
) -> Vec<(String, String)> {
    let mut picked = Vec::new();
    for problem in kernel.spec.problems_on(device.backend) {
        let text = problem.to_string();
        let measured = |row: &Row| row.problem == text && row.evidence != Evidence::Predicted;
        if rows.iter().any(measured) {
            continue;
        }
        rows.retain(|row| row.problem != text);
        if let Some(row) = row(kernel, problem, target, device, workshop) {
            picked.push((text, row.config.clone()));
            rows.push(row);
        }
    }
    picked
}

/// The row with the model's choice for a problem. The configs with the best predictions are compiled, and then ranked
/// again with the registers and spills that the compiler reports. `None` if no config can be predicted and compiled.
fn row(
    kernel: &TunedKernel,
    problem: &Problem,
    target: &CompileTarget,
    device: &DeviceKey,
    workshop: &Workshop<'_>,
) -> Option<Row> {
    let spec = &kernel.spec;
    let space = SearchSpace::build(spec, problem, &target.info.limits).ok()?;
    let mut first = rank(spec, &space, target.known);
    first.truncate(COMPILED);
    let compile = |(index, _): &(usize, _)| {
        let config = space.config(*index);
        let made = workshop
            .make(kernel, Which::Config(&config), problem, BuildKind::Release)
            .ok()?;
        let facts = Facts::of(spec, &config, problem)?.compiled(made.resources?);
        Some((estimate(&facts, target.known)?.seconds, *index, made))
    };
    let compiled: Vec<Option<(f64, usize, Compiled)>> = first.par_iter().map(compile).collect();
    let best = compiled
        .into_iter()
        .flatten()
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let arm = best?.2.arm;
    Some(Row {
        device: device.clone(),
        problem: problem.to_string(),
        entry: spec.entry.clone(),
        config: arm.config.to_string(),
        evidence: Evidence::Predicted,
        speedup: None,
        baseline: spec.baseline_text(),
        symbol: arm.release,
        plan: arm.plan,
        hashes: kernel.hashes(device.backend),
        image: None,
    })
}
