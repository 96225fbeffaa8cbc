//! The proof files next to baked tables. For each row, a proof contains the signed statements of the devices that
//! measured the row. Builds do not read proofs. `tune bake --check --proofs` checks them, for example in CI.

use std::path::{Path, PathBuf};

use kiln_fleet::collect::SignedPlan;
use kiln_fleet::proof::{self, Proof, RowClaim};
use kiln_fleet::{AllowedSigners, SignedStatement};
use kiln_spec::baked::{Evidence, Row};

use super::{FleetError, Written};
use crate::error::Failure;
use crate::run::clock::unix_s;
use kiln_project::atomic_file;
use kiln_project::{Project, TunedKernel};

/// Writes the proof of every table that was written. For rows that did not change, the statements in the earlier proof
/// are kept. Returns the paths of the proofs.
///
/// # Errors
/// If a proof cannot be read or written.
pub fn write(
    project: &Project,
    written: &[Written],
    plans: &[SignedPlan],
    statements: &[SignedStatement],
) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for table in written {
        let kernel = project.one(&table.kernel)?;
        let path = path(kernel);
        let rows = claims(&kernel.committed_rows()?);
        let mut proof =
            Proof::of_rows(&table.kernel, &rows, plans, statements).map_err(FleetError::from)?;
        if let Some(earlier) = read(&path)? {
            let earlier = Proof::parse(&earlier).map_err(FleetError::from)?;
            proof.keep(&earlier, &rows).map_err(FleetError::from)?;
        }
        atomic_file::write(&path, proof.to_text().as_bytes())
            .map_err(Failure::file("write", &path))?;
        paths.push(path);
    }
    paths.dedup();
    Ok(paths)
}

/// A fault that was found in a proof.
#[derive(Clone, Debug)]
pub struct ProofFault {
    /// The path of the proof, which may not exist.
    pub path: PathBuf,
    /// The name of the kernel.
    pub kernel: String,
    /// A description of the fault.
    pub what: String,
}

/// Checks that each proven row in a project's tables is backed by signed statements from enough devices. Returns the
/// faults.
///
/// # Errors
/// If a table, a proof or `allowed_signers` cannot be read.
pub fn check(project: &Project, replicas: u32) -> Result<Vec<ProofFault>, Failure> {
    let mut faults = Vec::new();
    for kernel in &project.kernels {
        let rows = claims(&kernel.committed_rows()?);
        if rows.is_empty() {
            continue;
        }
        let path = path(kernel);
        let fault = |what: String| ProofFault {
            path: path.clone(),
            kernel: kernel.spec.name.clone(),
            what,
        };
        let signers = kernel.tuned.path().join("allowed_signers");
        let Some(text) = read(&path)? else {
            faults.push(fault(format!("{} proven rows have no proof", rows.len())));
            continue;
        };
        let allowed = std::fs::read_to_string(&signers).map_err(Failure::file("read", &signers))?;
        let allowed = AllowedSigners::parse(&allowed).map_err(FleetError::from)?;
        let problems = proof::check(
            &kernel.spec.name,
            &text,
            &rows,
            &allowed,
            replicas,
            unix_s(),
        );
        faults.extend(problems.iter().map(|problem| fault(problem.to_string())));
    }
    Ok(faults)
}

/// Returns the claims that a proof must back: the proven rows with a speed-up.
fn claims(rows: &[Row]) -> Vec<RowClaim> {
    let claims = rows
        .iter()
        .filter(|row| row.evidence == Evidence::Proven && row.speedup.is_some());
    let claim = |row: &Row| RowClaim {
        device: row.device.to_string(),
        problem: row.problem.clone(),
        config: row.config.clone(),
        symbol: row.symbol.clone(),
    };
    claims.map(claim).collect()
}

fn path(kernel: &TunedKernel) -> PathBuf {
    let name = &kernel.spec.name;
    kernel.tuned.path().join(format!("{name}.proof"))
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::file("read", path)(error)),
    }
}
