//! Confirming a finalist: is the challenger really faster than the defender? The only step that makes a claim.
//!
//! Each process is fresh, loads and allocates the two sides in a random order (the second process of a pair in
//! the reverse of the first's), and runs ABBA or BAAB blocks. The block's effect is the mean log time of the
//! challenger minus that of the defender; the process's is the median of its blocks. A process is won if its
//! effect is below -delta, and won by far if it is below -10 %. The wins are added up by
//! [`Wealth`](super::wealth::Wealth).
//!
//! The unit of replication is the process, not the launch: the placement of code and buffers shifts a kernel
//! by up to a percent for as long as its process lives, and no number of launches averages that out. So slow
//! kernels and large effects get fewer blocks per process, and never fewer than six processes.

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
