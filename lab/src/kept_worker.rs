//! A worker process that is kept between the verifications of several candidates.

use crate::cases::Case;
use crate::verify::{FailedCase, Proof, UNWATCHED, Verifier};
use crate::worker::{ArmJob, OPENING, Request, Worker};

/// A worker that verifies several candidates one after another. It is used only on GPUs, where a candidate cannot
/// affect the verification of the next one: each candidate has its own code, and all data that a candidate could
/// corrupt is written again. If a candidate fails, it is verified again in a fresh worker, whose verdict is final.
#[derive(Debug, Default)]
pub struct KeptWorker(Option<Worker>);

impl KeptWorker {
    /// Like [`Verifier::verify`], but reuses the worker of the previous candidate if that worker still runs.
    ///
    /// # Errors
    /// The errors of [`Verifier::verify`].
    pub fn verify(
        &mut self,
        verifier: &Verifier<'_>,
        arm: &ArmJob,
        cases: &[Case],
    ) -> Result<Proof, FailedCase> {
        let jobs = verifier.jobs(arm, cases, UNWATCHED)?;
        if let Some(mut worker) = self.0.take() {
            let load = Request::Load(Box::new(arm.clone()));
            let loaded = worker.ask(&load, OPENING);
            let loaded = loaded.map_err(FailedCase::from);
            if let Ok(proof) =
                loaded.and_then(|_| verifier.ask(&mut worker, arm, jobs.clone(), UNWATCHED))
            {
                self.0 = Some(worker);
                return Ok(proof);
            }
        }
        let mut worker = verifier.open(arm)?;
        let proof = verifier.ask(&mut worker, arm, jobs, UNWATCHED)?;
        self.0 = Some(worker);
        Ok(proof)
    }

    /// Ends the worker, which releases the device.
    pub fn end(&mut self) {
        self.0 = None;
    }
}
