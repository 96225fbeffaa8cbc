//! Reads and writes the files of a plan: the plan, its signature and the key of its workers. Checks who signed a plan.

use std::path::{Path, PathBuf};

use kiln_fleet::{AllowedSigners, Plan, PrivateKey, PublicKey, SignedPlan, Signer, sign, verify};

use super::FleetError;
use crate::error::Failure;
use crate::run::clock::unix_s;
use kiln_project::atomic_file;

/// A signed plan and the path of its file.
#[derive(Clone, Debug)]
pub struct PlanFile {
    /// The path of the plan. Its signature and the worker key are next to it.
    pub path: PathBuf,
    /// The plan and its signature.
    pub signed: SignedPlan,
}

impl PlanFile {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.signed.plan
    }
}

/// Reads the key that signs plans: the key at `given`, or `~/.ssh/id_ed25519`.
///
/// # Errors
/// If the key does not exist or cannot be used.
pub fn signing_key(given: Option<&Path>) -> Result<Signer, FleetError> {
    let own = || {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        home.unwrap_or_default().join(".ssh/id_ed25519")
    };
    let path = given.map_or_else(own, Path::to_owned);
    if given.is_none() && !path.exists() {
        return Err(FleetError::NoSigningKey { path });
    }
    Ok(Signer::read(&path)?)
}

/// Checks that a new plan would not overwrite the files of another plan, whose elements could not continue without
/// their worker key.
///
/// # Errors
/// If the plan or its worker key exists.
pub fn check_new(path: &Path) -> Result<(), FleetError> {
    let files = [path.to_owned(), beside(path, "key")];
    match files.into_iter().find(|file| file.exists()) {
        Some(path) => Err(FleetError::PlanExists { path }),
        None => Ok(()),
    }
}

/// Signs a plan with `key`, and writes the plan and its signature to files.
///
/// # Errors
/// If the plan is invalid, the key cannot sign, or a file cannot be written.
pub fn write(path: &Path, plan: Plan, key: &Signer) -> Result<PlanFile, Failure> {
    let text = plan.to_text().map_err(FleetError::Invalid)?;
    let signature = key.sign(text.as_bytes()).map_err(FleetError::from)?;
    write_file(path, text.as_bytes())?;
    write_file(&beside(path, "sig"), signature.as_bytes())?;
    Ok(PlanFile {
        path: path.to_owned(),
        signed: SignedPlan {
            plan,
            text,
            signature,
        },
    })
}

/// Writes the key of a plan's workers next to the plan. Only its owner can read the file.
///
/// # Errors
/// If the file cannot be written.
pub fn write_worker_key(plan: &Path, key: &PrivateKey) -> Result<PathBuf, Failure> {
    let path = beside(plan, "key");
    let text = key.to_openssh().map_err(FleetError::from)?;
    atomic_file::write_secret(&path, text.as_bytes()).map_err(Failure::file("write", &path))?;
    Ok(path)
}

/// Reads a plan and its signature. Expired plans are accepted, because the clock of a worker may be wrong.
///
/// # Errors
/// If a file cannot be read, or the plan is invalid.
pub fn read(path: &Path) -> Result<PlanFile, Failure> {
    let file = |path: &Path| std::fs::read_to_string(path).map_err(Failure::file("read", path));
    let text = file(path)?;
    let plan = Plan::parse(&text).map_err(FleetError::plan(path))?;
    let signature = file(&beside(path, "sig"))?;
    Ok(PlanFile {
        path: path.to_owned(),
        signed: SignedPlan {
            plan,
            text,
            signature,
        },
    })
}

/// Reads a plan and its signature, for commands that are not run by workers. An expired plan is an error.
///
/// # Errors
/// The errors of [`read`], and an error if the plan has expired.
pub fn read_current(path: &Path) -> Result<PlanFile, Failure> {
    let plan = read(path)?;
    match unix_s().checked_sub(plan.plan().expires_unix_s) {
        None => Ok(plan),
        Some(ago_s) => Err(Failure::from(FleetError::Expired {
            plan: plan.path,
            ago_s,
        })),
    }
}

/// Reads the private key of a plan's workers: the key at `given`, or the key next to the plan.
///
/// # Errors
/// If the key cannot be used, or is not a worker key of the plan.
pub fn read_worker_key(plan: &PlanFile, given: Option<&Path>) -> Result<PrivateKey, FleetError> {
    let path = given.map_or_else(|| beside(&plan.path, "key"), Path::to_owned);
    let key = PrivateKey::read(&path)?;
    let own = key.public();
    let mut workers = plan.plan().worker_keys.iter();
    let known = |line: &String| PublicKey::parse(line).is_ok_and(|key| key == own);
    if workers.any(known) {
        return Ok(key);
    }
    Err(FleetError::ForeignWorkerKey {
        key: path,
        plan: plan.path.clone(),
        found: own.fingerprint(),
    })
}

/// Checks that one of the allowed signers in `file` signed the plan, and returns the name of the signer. `path` is the
/// path of the plan, for error messages.
///
/// # Errors
/// If no allowed signer signed the plan, or `file` cannot be read.
pub fn check(plan: &SignedPlan, path: &Path, file: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(file).map_err(Failure::file("read", file))?;
    let refused = |why: String| {
        Failure::from(FleetError::NotAllowed {
            plan: path.to_owned(),
            signers: file.to_owned(),
            why,
        })
    };
    let allowed = AllowedSigners::parse(&text).map_err(|error| refused(error.to_string()))?;
    let key = sign::signer(&plan.signature).map_err(|error| refused(error.to_string()))?;
    verify(plan.text.as_bytes(), &plan.signature, &key)
        .map_err(|error| refused(error.to_string()))?;
    let who = allowed.who(&key, unix_s()).map(str::to_owned);
    who.ok_or_else(|| refused(format!("its key is {}", key.fingerprint())))
}

/// The index of the plan's kind with this name.
///
/// # Errors
/// If the plan has no such kind.
pub fn kind(plan: &PlanFile, name: &str) -> Result<usize, FleetError> {
    let kinds = &plan.plan().kinds;
    let found = kinds.iter().position(|kind| kind.name == name);
    found.ok_or_else(|| FleetError::NoKind {
        plan: plan.path.clone(),
        wanted: name.to_owned(),
        known: kinds.iter().map(|kind| kind.name.clone()).collect(),
    })
}

/// The path of a file next to a plan, such as `fleet.plan.sig` next to `fleet.plan`.
pub fn beside(plan: &Path, ending: &str) -> PathBuf {
    let mut name = plan.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    atomic_file::write(path, bytes).map_err(Failure::file("write", path))
}
