//! The result of inspecting one candidate.

use kiln_spec::LaunchPlan;

use super::error::InspectError;
use super::launchable::CannotLaunch;
use super::resources::Resources;

/// The resources of a compiled candidate, and whether it could be launched.
#[derive(Debug)]
pub struct Inspected {
    /// The symbol of the candidate's release entry.
    pub symbol: String,
    /// The candidate's launch plan for the problem.
    pub plan: LaunchPlan,
    /// The resources of the release entry, from the log and the image together.
    pub resources: Result<Resources, InspectError>,
    /// Whether the log contains the resources too. If so, they were compared with the resources in the image.
    pub in_log: bool,
    /// Why the candidate cannot be launched; `None` if it can.
    pub cannot: Option<CannotLaunch>,
}
