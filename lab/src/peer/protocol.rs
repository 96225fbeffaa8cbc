//! The requests to a peer and its answers: one JSON object per line (docs/peers.md).

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A request to a peer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Asked<'a> {
    /// Prepare for a kernel and a problem, and call it once.
    Open(&'a PeerWork),
    /// Call it this many times.
    Time(u32),
    /// Write the outputs into these files, by argument.
    Write(&'a BTreeMap<String, PathBuf>),
}

/// A kernel and a problem with its data.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PeerWork {
    pub(super) kernel: String,
    /// Sizes and element types.
    pub(super) problem: BTreeMap<String, serde_json::Value>,
    pub(super) args: Vec<Argument>,
}

/// An argument, in the kernel's order.
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
        /// Its values, in their memory layout.
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
        /// CPU time of the process, all threads together.
        cpu_ns: u64,
        /// Time on a GPU between two events.
        device_ns: Option<u64>,
    },
    Written {
        written: bool,
    },
}
