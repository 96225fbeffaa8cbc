//! Confirms a finalist: tests whether the challenger (the finalist) is really faster than the defender (the baseline).
//! A search makes no claim without this step.
//!
//! Every process is fresh, and loads and allocates the two sides in a random order. Processes come in pairs, and the
//! second process of a pair reverses the orders of the first. Each process runs blocks of four samples, ABBA or BAAB.
//! The effect of a block is the mean log time of the challenger minus the mean log time of the defender, and the effect
//! of a process is the median of its blocks. A process is a win if its effect shows that the challenger is faster by
//! more than delta ([`ConfirmSettings::delta`], normally 1 %), and a far win if it shows more than 10 %.
//! [`Wealth`](super::wealth::Wealth) combines the wins.
//!
//! The unit of replication is the process, not the launch, because the placement of code and buffers changes the time
//! of a kernel by up to a percent for the lifetime of its process. More launches in the same process do not average
//! this out. Slow kernels and large effects therefore get fewer blocks per process, but a proof always needs at least
//! six processes.

mod drive;
mod effect;
mod evidence;
mod ledger;
mod sequence;
mod settings;
#[cfg(test)]
mod tests;

pub use drive::{Sequential, confirm, drive};
pub use evidence::{ClaimResult, Decision, Doubt, ProcessPlan, ProcessRecord, TestStatistics};
pub use sequence::ClaimTest;
pub use settings::{Claim, ConfirmSettings, RaceEstimate};
