//! The bench of a worker that launches kernels: its device, its arms (loaded candidates) and their data. It answers the
//! requests of the parent.

mod arm;
mod expected;
mod failure;
mod kept;
mod opened;
mod reference;
mod settle;
mod timing;
mod verification;

use std::io::Write;

pub(super) use opened::Opened;
pub use reference::{check_inputs, reference_of};

pub(super) use self::expected::write_expected;
use self::failure::ArmFailure;
pub(super) use self::failure::outcome_of;
pub(super) use self::opened::spec_of;
pub(super) use self::reference::linked_in;
use super::protocol::{Reply, Request};
use crate::candidate::outcome::internal;

impl Opened {
    /// Carries out a request and returns the reply.
    pub(super) fn answer(
        &mut self,
        request: Request,
        replies: &mut impl Write,
    ) -> Result<Reply, ArmFailure> {
        match request {
            Request::Open(_) => Err((None, internal("this worker is open already"))),
            Request::OpenCompiler(_)
            | Request::Compile(_)
            | Request::OpenReference(_)
            | Request::RustReference { .. } => Err((None, internal("this worker launches"))),
            Request::Load(arm) => self
                .load(&arm)
                .map(|()| Reply::Loaded)
                .map_err(|failure| (Some(0), failure)),
            Request::Verify(job) => {
                let arm = job.arm;
                self.verify(&job, replies)
                    .map(Reply::Verified)
                    .map_err(|failure| (Some(arm), failure))
            }
            Request::WriteReference {
                arm,
                problem,
                plan,
                seed,
                path,
            } => {
                let outputs = self
                    .launch_once(arm, (&problem, seed), &plan, replies)
                    .map_err(|failure| (Some(arm), failure))?;
                write_expected(&path, &outputs)
                    .map(|()| Reply::Written)
                    .map_err(|failure| (None, failure))
            }
            Request::Sample { schedule } => self.sample(&schedule, replies).map(Reply::Samples),
            Request::Recheck {
                arms,
                seed,
                expected,
            } => self
                .recheck(&arms, seed, &expected, replies)
                .map(|()| Reply::Rechecked),
            Request::HostPace {
                arm,
                launches,
                pairs,
            } => self
                .host_pace(arm, launches, pairs)
                .map(Reply::HostPace)
                .map_err(|failure| (Some(arm), failure)),
        }
    }
}
