//! Checks the proof of a kernel against its rows.

use std::collections::BTreeMap;

use super::{Proof, ProofProblem};
use crate::decide::{ObserverId, distinct_observers};
use crate::plan::{Distinct, Plan};
use crate::sign::{AllowedSigners, PublicKey, signer, verify};
use crate::statement::Statement;

/// A row that a table marks as proven. A row is the config to launch for one problem on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowClaim {
    /// The device, `backend/arch/name`.
    pub device: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// Canonical text of the config.
    pub config: String,
    /// Symbol of the kernel's entry function in a release build.
    pub symbol: String,
}

impl RowClaim {
    /// Whether a statement is about this row of the kernel.
    pub fn is_of(&self, kernel: &str, statement: &Statement) -> bool {
        statement.kernel == kernel
            && statement.device == self.device
            && statement.problem == self.problem
            && statement.config == self.config
            && statement.symbol == self.symbol
    }
}

/// A plan that an allowed signer has signed, and its worker keys.
struct Accepted {
    plan: Plan,
    keys: Vec<PublicKey>,
}

/// Checks a kernel's proof against the rows that its table marks as proven, and returns all problems. At least
/// `replicas` distinct observers must have proven each row, or more if the plan of one of the row's statements requires
/// more. Only the keys in `signers` that are valid at `now_unix_s` (in seconds since 1970) may have signed plans.
///
/// A statement stays valid after its plan has expired, because a repository is used for years. The expiry only limits
/// what a merge accepts.
pub fn check(
    kernel: &str,
    text: &str,
    rows: &[RowClaim],
    signers: &AllowedSigners,
    replicas: u32,
    now_unix_s: u64,
) -> Vec<ProofProblem> {
    let proof = match Proof::parse(text) {
        Ok(proof) => proof,
        Err(error) => return vec![error.into()],
    };
    let mut problems = Vec::new();
    if proof.kernel != kernel {
        problems.push(ProofProblem::Kernel {
            found: proof.kernel.clone(),
            expected: kernel.into(),
        });
    }
    let plans = accepted_plans(&proof, signers, now_unix_s, &mut problems);
    let mut statements = Vec::new();
    for (text, signature) in &proof.statements {
        match accepted_statement(text, signature, &plans) {
            Ok(accepted) => statements.push(accepted),
            Err(problem) => problems.push(problem),
        }
    }
    let short = rows
        .iter()
        .filter_map(|row| too_few(kernel, row, &statements, replicas));
    problems.extend(short);
    problems
}

fn accepted_plans(
    proof: &Proof,
    signers: &AllowedSigners,
    now_unix_s: u64,
    problems: &mut Vec<ProofProblem>,
) -> BTreeMap<String, Accepted> {
    let mut plans = BTreeMap::new();
    for (text, signature) in &proof.plans {
        match accepted_plan(&format!("{text}\n"), signature, signers, now_unix_s) {
            Ok(accepted) => {
                plans.insert(accepted.plan.id(), accepted);
            }
            Err(problem) => problems.push(problem),
        }
    }
    plans
}

fn accepted_plan(
    text: &str,
    signature: &str,
    signers: &AllowedSigners,
    now_unix_s: u64,
) -> Result<Accepted, ProofProblem> {
    let plan = Plan::parse(text)?;
    let id = plan.id();
    let wrong = |source| ProofProblem::PlanSignature {
        id: id.clone(),
        source,
    };
    let by = signer(signature).map_err(wrong)?;
    verify(text.as_bytes(), signature, &by).map_err(wrong)?;
    if signers.who(&by, now_unix_s).is_none() {
        let found = by.fingerprint();
        return Err(ProofProblem::PlanSigner { id, found });
    }
    let keys = plan.worker_keys.iter().map(|line| PublicKey::parse(line));
    let keys = keys.collect::<Result<_, _>>().map_err(wrong)?;
    Ok(Accepted { plan, keys })
}

/// A valid statement, its plan and its observer.
struct Counted<'a> {
    statement: Statement,
    plan: &'a Plan,
    observer: ObserverId,
}

fn accepted_statement<'a>(
    text: &str,
    signature: &str,
    plans: &'a BTreeMap<String, Accepted>,
) -> Result<Counted<'a>, ProofProblem> {
    let text = format!("{text}\n");
    let statement = Statement::parse(&text)?;
    let (kernel, problem) = (statement.kernel.clone(), statement.problem.clone());
    let Some(accepted) = plans.get(&statement.plan) else {
        return Err(ProofProblem::NoPlan {
            kernel,
            problem,
            plan: statement.plan,
        });
    };
    let wrong = |source| ProofProblem::StatementSignature {
        kernel: kernel.clone(),
        problem: problem.clone(),
        source,
    };
    let by = signer(signature).map_err(wrong)?;
    if !accepted.keys.contains(&by) {
        return Err(ProofProblem::StatementSigner {
            kernel,
            problem,
            found: by.fingerprint(),
            plan: statement.plan,
        });
    }
    verify(text.as_bytes(), signature, &by).map_err(wrong)?;
    if !statement.is_of(&accepted.plan) {
        return Err(ProofProblem::OtherTask {
            kernel,
            problem,
            element: statement.element,
        });
    }
    let observer = ObserverId::new(&statement.observer, &by.fingerprint());
    let plan = &accepted.plan;
    Ok(Counted {
        statement,
        plan,
        observer,
    })
}

fn too_few(
    kernel: &str,
    row: &RowClaim,
    statements: &[Counted<'_>],
    replicas: u32,
) -> Option<ProofProblem> {
    let of_row = || {
        statements
            .iter()
            .filter(|s| row.is_of(kernel, &s.statement))
    };
    // The statements of a row may belong to several plans. The strictest plan decides.
    let by_key = of_row().any(|s| s.plan.distinct == Distinct::Key);
    let by = if by_key {
        Distinct::Key
    } else {
        Distinct::Device
    };
    let wanted = of_row().map(|s| s.plan.replicas).chain([replicas]).max()?;
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    // Observers are counted separately for each tuning key, because the keys differ in the conditions of the
    // measurement, for example in the driver.
    let mut by_tuning_key: BTreeMap<&str, Vec<ObserverId>> = BTreeMap::new();
    for counted in of_row() {
        let of_key = by_tuning_key.entry(&counted.statement.key).or_default();
        of_key.push(counted.observer.clone());
    }
    let counts = by_tuning_key
        .into_values()
        .map(|all| distinct_observers(all, by).len());
    let have = counts.max().unwrap_or_default();
    (have < wanted).then(|| ProofProblem::TooFew {
        kernel: kernel.into(),
        problem: row.problem.clone(),
        device: row.device.clone(),
        config: row.config.clone(),
        have,
        wanted,
    })
}
