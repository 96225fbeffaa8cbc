//! Counters of a launch: executed instructions and memory traffic.

use std::ops::AddAssign;

/// Counters of one launch. A warp instruction is one execution of an instruction by one warp, however many lanes are
/// active.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of executed warp instructions.
    pub instructions: u64,
    /// Number of times that a warp arrived at a barrier.
    pub barriers: u64,
    /// Number of executions of each instruction, in the order of the code. The length is
    /// [`crate::Program::instructions`].
    pub executed: Vec<u64>,
    /// For each instruction, the number of active lanes, summed over all executions.
    pub lanes: Vec<u64>,
    /// The memory traffic of each instruction.
    pub traffic: Vec<Traffic>,
}

/// Counters of memory accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of warp accesses to global memory: loads, stores and atomic operations.
    pub global_requests: u64,
    /// Number of 32-byte sectors that these accesses touched. An access counts each sector once.
    pub global_sectors: u64,
    /// Number of sectors that the same bytes would fill if they were contiguous. An access counts a byte once, even if
    /// several lanes access the byte.
    pub global_ideal_sectors: u64,
    /// Number of warp accesses to shared memory.
    pub shared_requests: u64,
    /// Number of additional cycles of these accesses, caused by lanes that accessed different words of the same bank.
    pub shared_conflicts: u64,
    /// Number of warp accesses to private memory. Most of them are register spills.
    pub private_requests: u64,
}

impl Counters {
    /// Counters that are zero, for a program with `instructions` instructions.
    pub(crate) fn of_program(instructions: usize) -> Counters {
        Counters {
            executed: vec![0; instructions],
            lanes: vec![0; instructions],
            traffic: vec![Traffic::default(); instructions],
            ..Counters::default()
        }
    }

    /// The sum of the traffic of all instructions.
    pub fn total(&self) -> Traffic {
        let mut total = Traffic::default();
        self.traffic.iter().for_each(|one| total += one);
        total
    }
}

impl AddAssign<&Traffic> for Traffic {
    fn add_assign(&mut self, other: &Traffic) {
        self.global_requests += other.global_requests;
        self.global_sectors += other.global_sectors;
        self.global_ideal_sectors += other.global_ideal_sectors;
        self.shared_requests += other.shared_requests;
        self.shared_conflicts += other.shared_conflicts;
        self.private_requests += other.private_requests;
    }
}

impl AddAssign<&Counters> for Counters {
    fn add_assign(&mut self, other: &Counters) {
        self.instructions += other.instructions;
        self.barriers += other.barriers;
        let longest = self.executed.len().max(other.executed.len());
        self.executed.resize(longest, 0);
        self.lanes.resize(longest, 0);
        self.traffic.resize(longest, Traffic::default());
        add(&mut self.executed, &other.executed);
        add(&mut self.lanes, &other.lanes);
        for (mine, theirs) in self.traffic.iter_mut().zip(&other.traffic) {
            *mine += theirs;
        }
    }
}

fn add(mine: &mut [u64], theirs: &[u64]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine += theirs;
    }
}
