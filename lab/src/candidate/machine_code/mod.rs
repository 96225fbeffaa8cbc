//! The main loop of a kernel's machine code, counted without executing it. Nothing here is a time.
//!
//! A simulated NVIDIA GPU executes PTX, which `ptxas` translates once more: it merges address arithmetic, unrolls, and
//! schedules. The instructions of the real image are read from the listing of NVIDIA's `nvdisasm` ("CUDA Binary
//! Utilities"). For AMD GPUs the simulator executes the image itself, so its own list of instructions is counted.

mod class;
mod disassembler;
mod listing;
#[cfg(test)]
mod tests;

use kiln::backend::sim::LaunchProfile;
use kiln_exchange::profiles::{HotLoop, MachineCode, MachineLoop};

pub use disassembler::{Disassembler, DisassemblyError, NoDisassembler};

use super::loops::{self, Loop};
use super::profile::class_name;

/// An instruction: its class, and the index of the instruction that it jumps to.
struct Instruction {
    class: &'static str,
    target: Option<usize>,
}

impl Disassembler {
    /// Counts the main loop of an entry of a cubin.
    ///
    /// # Errors
    /// If `nvdisasm` fails, or the cubin has no such entry.
    pub fn count(&self, cubin: &[u8], entry: &str) -> Result<MachineCode, DisassemblyError> {
        let listing = self.list(cubin)?;
        let found = listing::entry(&listing, entry);
        let found = found.ok_or_else(|| DisassemblyError::NoEntry {
            entry: entry.to_owned(),
        })?;
        Ok(count(&found, self.to_string()))
    }
}

/// Counts the main loop of a code object that was executed: the loop that its launch spent its instructions in.
pub fn of_executed(launch: &LaunchProfile, main: Option<&HotLoop>) -> MachineCode {
    let instructions = launch.instructions.iter().map(|known| Instruction {
        class: class_name(known.class),
        target: known.target,
    });
    let instructions: Vec<Instruction> = instructions.collect();
    MachineCode {
        read_by: "the simulator".to_owned(),
        instructions: instructions.len(),
        main_loop: main.map(|main| MachineLoop {
            inner_loops: main.inner_loops,
            ..of_loop(&instructions[main.first..=main.last])
        }),
    }
}

fn count(instructions: &[Instruction], read_by: String) -> MachineCode {
    let branches = instructions.iter().enumerate();
    let branches = branches.filter_map(|(i, branch)| Some((i, branch.target?)));
    let loops = loops::of_branches(branches);
    let main = loops::hottest(&loops, |range| work(instructions, range));
    MachineCode {
        read_by,
        instructions: instructions.len(),
        main_loop: main.map(|main| MachineLoop {
            inner_loops: loops::inner(&loops, main),
            ..of_loop(&instructions[main.clone()])
        }),
    }
}

fn of_loop(instructions: &[Instruction]) -> MachineLoop {
    let mut counted = MachineLoop {
        instructions: instructions.len(),
        ..MachineLoop::default()
    };
    for instruction in instructions {
        let count = counted.by_class.entry(instruction.class.to_owned());
        *count.or_default() += 1;
    }
    let per_100 = |class: &str| {
        let count = counted.by_class.get(class).copied().unwrap_or(0);
        100.0 * count as f64 / instructions.len().max(1) as f64
    };
    counted.matrix_per_100 = per_100("matrix");
    counted.multiply_adds_per_100 = per_100("multiply-add");
    counted
}

/// What makes a loop the main one if no execution was counted: what the kernel is for. A matrix instruction outweighs
/// any number of multiply-adds, one of them any number of accesses, and one of them all other instructions.
fn work(instructions: &[Instruction], range: &Loop) -> u64 {
    let weight = |instruction: &Instruction| match instruction.class {
        "matrix" => 1 << 48,
        "multiply-add" => 1 << 32,
        "global memory" | "asynchronous copy" | "shared memory" => 1 << 16,
        _ => 1,
    };
    instructions[range.clone()].iter().map(weight).sum()
}
