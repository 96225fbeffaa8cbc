//! What a launch executed.

use std::ops::AddAssign;

/// Counts of one launch. A warp instruction is one instruction executed once by one warp, whatever number of its lanes took
/// part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Warp instructions.
    pub instructions: u64,
    /// Executions of each instruction, by its index in the program (see [`crate::Program::instructions`]).
    pub executed: Vec<u64>,
    /// Accesses to global memory by a warp: loads, stores and atomic operations.
    pub global_requests: u64,
    /// Sectors of 32 bytes that those touched; each counts once per access.
    pub global_sectors: u64,
    /// Accesses to shared memory by a warp.
    pub shared_requests: u64,
    /// Additional cycles of those because lanes needed different words of one bank.
    pub shared_conflicts: u64,
    /// Accesses to private memory by a warp.
    pub private_requests: u64,
    /// Barriers that a warp reached.
    pub barriers: u64,
}

impl AddAssign<&Counters> for Counters {
    fn add_assign(&mut self, other: &Counters) {
        self.instructions += other.instructions;
        self.global_requests += other.global_requests;
        self.global_sectors += other.global_sectors;
        self.shared_requests += other.shared_requests;
        self.shared_conflicts += other.shared_conflicts;
        self.private_requests += other.private_requests;
        self.barriers += other.barriers;
        if self.executed.len() < other.executed.len() {
            self.executed.resize(other.executed.len(), 0);
        }
        for (mine, theirs) in self.executed.iter_mut().zip(&other.executed) {
            *mine += theirs;
        }
    }
}
