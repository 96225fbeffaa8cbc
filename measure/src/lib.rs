//! The statistics of measuring: how configs race, how a speed-up is confirmed, and the tests that both use.
//!
//! This crate only decides. It uses no device, process, file or clock of its own. An engine (the code of a race, a
//! confirmation, a comparison or a survey) asks a [`Lab`] to open a fresh process in which some arms (kernels with
//! their configs) are loaded. The lab returns a [`Session`], and the engine asks the session for timed samples. Worker
//! processes, the fake device and the simulation in [`simulate`] implement the same two traits, so the simulations test
//! the code that runs on devices.
//!
//! ```text
//! Tournament ── batch ──► race (fresh processes, random order, losers stop early)   no claim
//!      └─ finish ──► play-off of the best of all batches ──► finalist               no claim
//!                         └──► confirm (finalist against baseline, new data) ──► ClaimResult
//! ```
//!
//! A race only selects the config that is worth confirming. Only two engines claim that one kernel is faster than
//! another: [`confirm`](confirm::confirm), and [`SideComparison`], which tests two claims at once (is a kernel slower
//! than it was, or faster?). A [`Survey`] only reports times.

pub mod arm;
pub mod claims;
pub mod comparison;
pub mod confirm;
pub mod fault;
pub mod interval;
pub mod lab;
pub mod noise;
pub mod order;
pub mod race;
pub mod roofline;
pub mod sample;
pub mod simulate;
pub mod span;
pub mod summary;
pub mod survey;
pub mod tournament;
pub mod wealth;

pub use arm::ArmId;
pub use comparison::{ComparisonSettings, Ruling, SideComparison};
pub use confirm::{
    Claim, ClaimResult, ConfirmSettings, Decision, Doubt, ProcessRecord, RaceEstimate, Sequential,
    TestStatistics, confirm, drive,
};
pub use fault::Fault;
pub use interval::Interval;
pub use lab::{Clock, Lab, Opening, Session};
pub use race::{Fate, RaceCard, RaceEntry, RaceResult, RaceSettings, Stopped, race};
pub use roofline::{AboveRoofline, LeastWork, Roofline};
pub use sample::Sample;
pub use span::{Resolution, launches_per_sample};
pub use summary::Quartiles;
pub use survey::{Survey, Surveyed};
pub use tournament::{Finalist, Raced, Tournament};
