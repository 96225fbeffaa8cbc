//! Times kernels against peers: other programs that compute the same result as a kernel.
//!
//! A peer is a command that answers requests with one JSON object per line (docs/peers.md). The peer reads the kernel's
//! inputs from files. Its outputs may differ from the expected outputs by at most twice the kernel's tolerance. Its
//! samples alternate with the kernel's samples, like the samples of a baseline.

mod data;
mod lab;
mod process;
mod protocol;

pub use data::{Given, GivenError, OutputError};
pub use lab::{KERNEL, PEER, PeerClock, PeerLab};
pub use process::{PeerError, PeerProcess};
