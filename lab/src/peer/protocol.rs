//! The requests to a peer and its answers, as one JSON object per line (docs/peers.md).

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A request to a peer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Asked<'a> {
    /// Prepare for a kernel and a problem, and call the function once.
    Open(&'a PeerWork),
    /// Call the function this many times, and report the time.
    Time(u32),
    /// Write the outputs into these files. The keys are argument names.
    Write(&'a BTreeMap<String, PathBuf>),
}

/// A kernel and a problem, with the arguments of a launch.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PeerWork {
    pub(super) kernel: String,
    /// Sizes and element types, by name.
    pub(super) problem: BTreeMap<String, serde_json::Value>,
    pub(super) args: Vec<Argument>,
}

/// An argument of the kernel, in the order of the kernel's parameters.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Argument {
    Scalar {
        name: String,
        value: serde_json::Value,
    },
    Slice {
        name: String,
        #[serde(rename = "type")]
        ty: String,
        /// `in`, `out` or `inout`.
        access: &'static str,
        len: u64,
        /// The file that holds its values, in their memory layout.
        file: PathBuf,
    },
}

/// An answer of a peer.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Answer {
    Started {
        peer: String,
    },
    Opened {
        opened: String,
        threads: u32,
    },
    Unsupported {
        unsupported: String,
    },
    Timed {
        ns: u64,
        /// CPU time of all threads of the process together.
        cpu_ns: u64,
        /// Time between two events on a GPU; `None` if the peer does not report it.
        device_ns: Option<u64>,
    },
    Written {
        written: bool,
    },
}
