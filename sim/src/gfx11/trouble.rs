//! What the waves of a block share, and why an access of theirs fails.

use super::lds::{Lds, ShareFault};
use super::space::Space;
use crate::traffic::Requests;
use crate::{Counters, FaultKind, Traffic};

/// What went wrong, and in which lane.
#[derive(Debug)]
pub(super) struct Trouble {
    pub fault: ShareFault,
    pub lane: Option<u32>,
}

impl Trouble {
    /// Trouble of one lane.
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

/// What the waves of a block share.
pub(super) struct Shared<'a> {
    pub lds: Lds,
    pub space: Space<'a>,
    pub counters: Counters,
    pub requests: Requests,
    /// The index of the current instruction.
    pub at: u32,
}

impl Shared<'_> {
    /// What the current instruction moved so far.
    pub fn traffic(&mut self) -> &mut Traffic {
        &mut self.counters.traffic[self.at as usize]
    }
}
