//! The state that the waves of a block share, and the errors of their accesses.

use super::lds::{Lds, ShareFault};
use super::space::Space;
use crate::traffic::Requests;
use crate::{Counters, FaultKind, Traffic};

/// A fault, and the lane that caused it.
#[derive(Debug)]
pub(super) struct Trouble {
    pub fault: ShareFault,
    pub lane: Option<u32>,
}

impl Trouble {
    /// A fault of one lane.
    pub fn of(kind: FaultKind, lane: usize) -> Trouble {
        Trouble {
            fault: ShareFault::Plain(kind),
            lane: Some(lane as u32),
        }
    }
}

impl From<FaultKind> for Trouble {
    fn from(kind: FaultKind) -> Trouble {
        Trouble {
            fault: ShareFault::Plain(kind),
            lane: None,
        }
    }
}

/// The state that the waves of a block share.
pub(super) struct Shared<'a> {
    pub lds: Lds,
    pub space: Space<'a>,
    pub counters: Counters,
    pub requests: Requests,
    /// The index of the current instruction.
    pub at: u32,
}

impl Shared<'_> {
    /// The traffic counters of the current instruction.
    pub fn traffic(&mut self) -> &mut Traffic {
        &mut self.counters.traffic[self.at as usize]
    }
}
