//! The result of inspecting one candidate.

use kiln_spec::LaunchPlan;

use super::error::InspectError;
use super::launchable::CannotLaunch;
use super::resources::Resources;

/// The resources of a compiled candidate, and whether it could be launched.
#[derive(Debug)]
pub struct Inspected {
    /// Its release entry.
    pub symbol: String,
    /// Its launch plan.
    pub plan: LaunchPlan,
    /// The resources of the release entry, from log and image together.
    pub resources: Result<Resources, InspectError>,
    /// Whether the log contained them too, so that two sources agree.
    pub in_log: bool,
    /// Why it cannot be launched, if it cannot.
    pub cannot: Option<CannotLaunch>,
}
