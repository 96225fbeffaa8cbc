//! Peers: other programs that compute the same as a kernel.
//!
//! A peer is a command that answers with one JSON object per line (docs/peers.md). It gets the kernel's inputs as
//! files, its outputs must be right within the kernel's tolerance, and its samples alternate with the kernel's, as
//! those of a baseline do.

mod data;
mod lab;
mod process;
mod protocol;

pub use data::{Given, GivenError, OutputError};
pub use lab::{KERNEL, PEER, PeerClock, PeerLab};
pub use process::{PeerError, PeerProcess};
