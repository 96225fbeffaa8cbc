//! What a launch executed.

use std::ops::AddAssign;

/// Counts of one launch. A warp instruction is one instruction executed once by one warp, whatever number of its lanes took
/// part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Warp instructions.
    pub instructions: u64,
    /// Barriers that a warp reached.
    pub barriers: u64,
    /// Executions of each instruction, by its index in the program (see [`crate::Program::instructions`]).
    pub executed: Vec<u64>,
    /// The lanes that took part in these executions.
    pub lanes: Vec<u64>,
    /// What each instruction moved.
    pub traffic: Vec<Traffic>,
}

/// Accesses to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Accesses to global memory by a warp: loads, stores and atomic operations.
    pub global_requests: u64,
    /// Sectors of 32 bytes that those touched; each counts once per access.
    pub global_sectors: u64,
    /// The sectors that the same bytes would fill if they lay next to each other. Bytes that several lanes read count once
    /// per access.
    pub global_ideal_sectors: u64,
    /// Accesses to shared memory by a warp.
    pub shared_requests: u64,
    /// Additional cycles of those because lanes needed different words of one bank.
    pub shared_conflicts: u64,
    /// Accesses to private memory by a warp: most are spills.
    pub private_requests: u64,
}

impl Counters {
    /// Zero for each instruction of a program.
    pub(crate) fn of_program(instructions: usize) -> Counters {
        Counters {
            executed: vec![0; instructions],
            lanes: vec![0; instructions],
            traffic: vec![Traffic::default(); instructions],
            ..Counters::default()
        }
    }

    /// What all instructions moved together.
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
