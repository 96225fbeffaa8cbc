//! The statistics of measuring: race, confirm, and the rules they stand on.
//!
//! Everything here is a pure decision engine: no device, process, file or clock. An engine asks a
//! [`Lab`] to open a fresh process with some arms (kernels with their configs) loaded, gets a
//! [`Session`], and asks it for timed samples. A worker process, the fake device and the simulation
//! in [`simulate`] implement the same two traits, so that what the simulations prove is what runs.
//!
//! ```text
//! Tournament ── batch ──► race (fresh processes, random order, losers stop early)   no claim
//!      └─ finish ──► play-off of the best of all batches ──► finalist               no claim
//!                         └──► confirm (finalist against baseline, new data) ──► ClaimResult
//! ```
//!
//! A race only chooses what is worth confirming. Only [`confirm`](confirm::confirm) makes a claim, and
//! [`SideComparison`], which is two of them at once: is a kernel slower than it was, or faster? A [`Survey`]
//! only tells times.

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
