//! A warp: its registers, and its groups of lanes that are at different instructions.
//!
//! Lanes that a branch separates join at the branch's immediate post-dominator. So that locks and loops on flags make
//! progress among the lanes of a warp, as the ISA promises, a group runs at most [`SLICE`] instructions before another one
//! has its turn, and lanes that wait to join may then go on without the others.

use super::flow::NOWHERE;
use super::regs::Regs;

/// The longest run of one group while others can run, in instructions.
pub(super) const SLICE: u32 = 1 << 12;

/// What a group does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// It waits for these lanes to arrive where it is.
    Joining(u32),
    /// At an instruction that lanes execute together; the lanes that the guard lets through.
    Together(u32),
    /// At a barrier of the block.
    Barrier(u32),
}

/// Lanes that are at one instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub id: u32,
    pub pc: u32,
    pub mask: u32,
    /// Where it joins `parent`.
    pub join: u32,
    pub parent: u32,
    pub state: State,
}

/// A warp.
#[derive(Debug)]
pub(super) struct Warp {
    pub regs: Regs,
    /// Lanes that have not ended.
    pub alive: u32,
    pub groups: Vec<Group>,
    /// The group that runs, by its place.
    pub current: usize,
    next_id: u32,
    /// Instructions until another group has its turn.
    pub slice: u32,
    /// Private memory of each lane, one after the other.
    pub local: Vec<u8>,
    /// Groups of asynchronous copies that each lane has closed.
    pub committed: [u32; 32],
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
        }
    }

    fn id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Separates the lanes that go elsewhere from the current group; both sides are not empty.
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

    /// The current group joins its parent.
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

    /// Lanes of the current group end.
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

    /// Chooses the group that was made last among those that can run; `false` if there is none.
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

    /// Gives the next group its turn.
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

    /// Lets the lanes that wait to join go on; `false` if there are none.
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
