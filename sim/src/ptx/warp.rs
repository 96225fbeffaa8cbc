//! A warp: its registers, and its groups of lanes that are at different instructions.
//!
//! Lanes that a branch separates join again at the immediate post-dominator of the branch. The ISA guarantees that
//! lanes of one warp make progress even if they wait for each other, for example at a lock. Therefore a group runs at
//! most [`SLICE`] instructions before another group has its turn, and lanes that wait at a join continue without the
//! missing lanes when a turn ends, or when no other group can run.

use super::flight::Flight;
use super::flow::NOWHERE;
use super::regs::Regs;
use crate::undefined::Undefined;

/// Maximum number of instructions of a group's turn while other groups can run.
pub(super) const SLICE: u32 = 1 << 12;

/// The state of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// The group waits at a join. The mask contains the lanes that have yet to arrive.
    Joining(u32),
    /// The group is at a warp-wide instruction. The mask contains its active lanes.
    Together(u32),
    /// The group is at a barrier of the block. The mask contains its active lanes.
    Barrier(u32),
}

/// Lanes that are at the same instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub id: u32,
    pub pc: u32,
    pub mask: u32,
    /// The instruction at which the group joins `parent`.
    pub join: u32,
    pub parent: u32,
    pub state: State,
}

/// A warp.
#[derive(Debug)]
pub(super) struct Warp {
    pub regs: Regs,
    /// The mask of the lanes that have not ended.
    pub alive: u32,
    pub groups: Vec<Group>,
    /// The index of the group that runs.
    pub current: usize,
    next_id: u32,
    /// Number of instructions until another group has its turn.
    pub slice: u32,
    /// The private memory of the lanes, one lane after the other.
    pub local: Vec<u8>,
    /// For each lane, the number of asynchronous copy groups that it has committed.
    pub committed: [u32; 32],
    /// The warpgroup products of the warp. `None` if the kernel has none.
    pub flight: Option<Box<Flight>>,
    /// The undefined bits of the registers and of private memory. `None` if there are none.
    pub undefined: Option<Box<Undefined>>,
}

impl Warp {
    pub fn new(regs: Regs, lanes: u32, local: Vec<u8>) -> Warp {
        let group = Group {
            id: 0,
            pc: 0,
            mask: lanes,
            join: NOWHERE,
            parent: u32::MAX,
            state: State::Ready,
        };
        Warp {
            regs,
            alive: lanes,
            groups: vec![group],
            current: 0,
            next_id: 1,
            slice: SLICE,
            local,
            committed: [0; 32],
            flight: None,
            undefined: None,
        }
    }

    fn id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Separates the lanes that jump from the current group. Both parts must be non-empty.
    pub fn diverge(&mut self, taken: u32, target: u32, join: u32) {
        let here = self.groups[self.current];
        let rest = here.mask & !taken;
        let after = here.pc.wrapping_add(1);
        if join == NOWHERE || join == here.join {
            self.groups[self.current].mask = rest;
            self.groups[self.current].pc = after;
            let id = self.id();
            self.groups.push(Group {
                id,
                pc: target,
                mask: taken,
                ..here
            });
        } else {
            let parent = &mut self.groups[self.current];
            parent.pc = join;
            parent.mask = 0;
            parent.state = State::Joining(here.mask);
            for (pc, mask) in [(target, taken), (after, rest)] {
                let id = self.id();
                self.groups.push(Group {
                    id,
                    pc,
                    mask,
                    join,
                    parent: here.id,
                    state: State::Ready,
                });
            }
        }
        self.current = self.groups.len() - 1;
    }

    /// Joins the current group with its parent.
    pub fn join(&mut self) {
        let group = self.groups.swap_remove(self.current);
        if let Some(parent) = self
            .groups
            .iter_mut()
            .find(|parent| parent.id == group.parent)
        {
            parent.mask |= group.mask;
            if let State::Joining(missing) = parent.state {
                let missing = missing & !group.mask;
                parent.state = if missing == 0 {
                    State::Ready
                } else {
                    State::Joining(missing)
                };
            }
        }
        self.pick();
    }

    /// Ends lanes of the current group.
    pub fn end(&mut self, lanes: u32) {
        self.alive &= !lanes;
        self.groups[self.current].mask &= !lanes;
        for group in &mut self.groups {
            if let State::Joining(missing) = group.state {
                let missing = missing & !lanes;
                group.state = if missing == 0 {
                    State::Ready
                } else {
                    State::Joining(missing)
                };
            }
        }
        self.groups
            .retain(|group| group.mask != 0 || group.state != State::Ready);
        self.pick();
    }

    /// Selects the last group in the list that can run. Returns `false` if there is none.
    pub fn pick(&mut self) -> bool {
        match self
            .groups
            .iter()
            .rposition(|group| group.state == State::Ready)
        {
            Some(at) => {
                self.current = at;
                true
            }
            None => false,
        }
    }

    /// Switches to the next group that can run.
    pub fn rotate(&mut self) {
        self.slice = SLICE;
        self.release();
        let count = self.groups.len();
        let next = (1..=count).map(|step| (self.current + step) % count);
        if let Some(at) = next
            .into_iter()
            .find(|&at| self.groups[at].state == State::Ready)
        {
            self.current = at;
        }
    }

    /// Lets the lanes that wait at joins continue without the others. Returns `false` if no lane waits at a join.
    pub fn release(&mut self) -> bool {
        let mut freed = Vec::new();
        for group in &mut self.groups {
            if matches!(group.state, State::Joining(_)) && group.mask != 0 {
                freed.push(Group {
                    state: State::Ready,
                    ..*group
                });
                group.mask = 0;
            }
        }
        for group in &mut freed {
            group.id = self.id();
        }
        self.groups.extend(&freed);
        !freed.is_empty()
    }
}
