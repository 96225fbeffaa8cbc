//! Counts the instructions in the main loop of a kernel's machine code, without executing it. No figure here is a time.
//!
//! A simulated NVIDIA GPU executes PTX, not machine code. `ptxas` translates PTX into machine code: it merges address
//! arithmetic, unrolls loops and schedules instructions. The instructions of the real image are therefore read from the
//! listing of NVIDIA's `nvdisasm` ("CUDA Binary Utilities"). For AMD GPUs, the simulator executes the machine code
//! itself, so the instructions in the simulator's list are counted.

mod class;
mod disassembler;
mod listing;
#[cfg(test)]
mod tests;

use kiln::backend::sim::{Class, LaunchProfile};
use kiln_exchange::profiles::{HotLoop, MachineCode, MachineLoop};

pub use disassembler::{Disassembler, DisassemblyError, NoDisassembler};

use super::loops::{self, Loop};
use super::profile::class_name;

/// Groups of instruction classes that can do a kernel's main work, in order of preference. The main loop is chosen by
/// the first group that has an instruction in any loop.
const PURPOSES: [&[Class]; 3] = [
    &[Class::Matrix],
    &[Class::MultiplyAdd],
    &[Class::Global, Class::Copy, Class::Shared],
];

/// An instruction: its class, and the index of the instruction that it jumps to, if it jumps.
struct Instruction {
    class: Class,
    target: Option<usize>,
}

impl Disassembler {
    /// Counts the instructions in the main loop of an entry of a cubin.
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

/// Counts the instructions in the main loop of a code object that the simulator executed. `main` is the loop in which
/// the launch executed most of its instructions.
pub fn of_executed(launch: &LaunchProfile, main: Option<&HotLoop>) -> MachineCode {
    let instructions = launch.instructions.iter().map(|known| Instruction {
        class: known.class,
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
    let main = main_loop(instructions, &loops);
    MachineCode {
        read_by,
        instructions: instructions.len(),
        main_loop: main.map(|main| MachineLoop {
            inner_loops: loops::inner(&loops, main),
            ..of_loop(&instructions[main.clone()])
        }),
    }
}

/// Returns the loop that does the kernel's main work. It is a guess from instruction classes, because the code was not
/// executed.
fn main_loop<'l>(instructions: &[Instruction], loops: &'l [Loop]) -> Option<&'l Loop> {
    let count = |range: &Loop, classes: &[Class]| {
        let code = instructions[range.clone()].iter();
        code.filter(|one| classes.contains(&one.class)).count() as u64
    };
    let mut purposes = PURPOSES.iter();
    match purposes.find(|classes| loops.iter().any(|range| count(range, classes) > 0)) {
        Some(classes) => loops::hottest(loops, |range| count(range, classes)),
        None => loops::hottest(loops, |range| range.clone().count() as u64),
    }
}

fn of_loop(instructions: &[Instruction]) -> MachineLoop {
    let mut counted = MachineLoop {
        instructions: instructions.len(),
        ..MachineLoop::default()
    };
    for instruction in instructions {
        let class = class_name(instruction.class).to_owned();
        let count = counted.by_class.entry(class);
        *count.or_default() += 1;
    }
    let per_100 = |class| {
        let count = counted.by_class.get(class_name(class)).copied();
        let count = count.unwrap_or(0);
        100.0 * count as f64 / instructions.len().max(1) as f64
    };
    counted.matrix_per_100 = per_100(Class::Matrix);
    counted.multiply_adds_per_100 = per_100(Class::MultiplyAdd);
    counted
}
