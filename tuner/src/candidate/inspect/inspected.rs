//! What is found of one candidate.

use kiln_spec::LaunchPlan;

use super::error::InspectError;
use super::launchable::CannotLaunch;
use super::resources::Resources;

/// What a compiled candidate takes up, and whether it could be launched.
#[derive(Debug)]
pub struct Inspected {
    /// Its release entry.
    pub symbol: String,
    /// Its launch plan.
    pub plan: LaunchPlan,
    /// What the release entry takes up, by log and image together.
    pub resources: Result<Resources, InspectError>,
    /// Whether the log told it too, so that two sources agree.
    pub in_log: bool,
    /// Why it cannot be launched, if it cannot.
    pub cannot: Option<CannotLaunch>,
}
