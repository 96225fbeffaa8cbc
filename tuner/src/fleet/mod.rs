//! One plan, tuned by many machines: writes plans, does one element of one, and turns what a store holds into rows.
//!
//! Plans, signatures, stores and decisions are those of [`kiln_fleet`]; this module has the devices.

mod attempts;
mod element;
mod error;
mod kind;
mod plan;
pub mod proofs;
mod publishing;
mod rows;
mod scratch;
pub mod signer;
pub mod state;
mod statements;

pub use element::{Work, work};
pub use error::FleetError;
pub use plan::{PlanOptions, continuing, make, settings};
pub use rows::{Written, check_sources, write_rows};
pub use signer::PlanFile;
