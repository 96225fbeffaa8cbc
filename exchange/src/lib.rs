//! Files that other tuners read and write, and recorded tuning spaces. There is one module per format, with its reader
//! and its writer.
//!
//! | module | format | read as | written from |
//! | --- | --- | --- | --- |
//! | [`definition`] | a search space: parameters, and constraints in Python | [`Definition`](definition::Definition) | |
//! | [`t1`] | T1, the problem definitions of the FAIR auto-tuning papers | [`Definition`](definition::Definition) | a kernel's spec, a definition |
//! | [`t4`] | T4 results files, version 1.0.0 | [`Recording`](recording::Recording) | [`Results`] |
//! | [`kernel_tuner`] | cache files of Kernel Tuner | [`Recording`](recording::Recording) | [`Results`] |
//! | [`curves`] | what `tune replay --curves` writes | [`Curves`](curves::Curves) | search runs |
//! | [`profiles`] | what `tune inspect --profile --json` prints | [`ProfileRow`](profiles::ProfileRow)s | profiles |
//! | [`fleet`] | what `tune fleet status --json` prints | [`PlanStatus`](fleet::PlanStatus) | a plan's state |
//! | [`python`] | Python expressions | [`PythonExpr`](python::PythonExpr) | expressions of a spec |
//!
//! ```
//! use kiln_exchange::definition::Definition;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = r#"{"params": [{"name": "BLOCK", "values": [32, 64, 128]}], "constraints": ["BLOCK <= 64"]}"#;
//! let space = Definition::read(text)?.solve()?;
//! assert_eq!(space.len(), 2);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod curves;
pub mod definition;
pub mod fleet;
pub mod kernel_tuner;
mod lines;
pub mod profiles;
pub mod python;
pub mod recording;
mod results;
pub mod t1;
pub mod t4;

pub use results::of_recording::of_recording;
pub use results::of_trials::{Exported, LeftOut, of_trials};
pub use results::{ResultRow, Results};
