//! Profiles of launches on simulated GPUs, as `tune inspect --profile --json` prints them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The profile of one config on one simulated target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileRow {
    /// Name of the architecture.
    pub target: String,
    /// Name of the package; empty in profiles of earlier versions of Kiln.
    #[serde(default)]
    pub package: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Canonical text of the problem.
    pub problem: String,
    /// The role of the config: the baseline, a baked row (with its device), a corner of the search space, or a config
    /// from the command line.
    pub what: String,
    /// Canonical text of the config.
    pub config: String,
    /// The profile; `None` if the config does not compile or run.
    pub profile: Option<Profile>,
    /// Why there is no profile; `None` if there is one.
    pub error: Option<String>,
}

/// The profile of one launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Symbol of the kernel's entry function in a release build.
    pub symbol: String,
    /// Number of blocks of the launch.
    pub blocks: u64,
    /// Number of these blocks that were executed. All figures except `moved_bytes` are for the executed blocks.
    pub executed_blocks: u64,
    /// Counts of the instructions and memory accesses of the executed blocks.
    #[serde(flatten)]
    pub executed: Executed,
    /// Estimate of the bytes that the whole launch moves between multiprocessors and global memory, in sectors of 32
    /// bytes. It assumes that all blocks are like the executed ones, and ignores caches.
    pub moved_bytes: f64,
    /// `moved_bytes` divided by the smallest number of bytes that a launch must move according to the spec; `None` if
    /// the spec does not declare this number.
    pub moved_over_least: Option<f64>,
    /// The innermost loop that contains most of the executed instructions; `None` if there is no loop.
    pub hot_loop: Option<HotLoop>,
    /// For each kind of cost, the source line where it is highest.
    pub worst: Vec<Worst>,
    /// Instruction counts of the machine code that a real GPU executes (the simulator executes PTX for NVIDIA targets);
    /// `None` if the machine code was not read.
    #[serde(default)]
    pub machine_code: Option<MachineCode>,
    /// Why the machine code was not read; `None` if it was read, or if no program can read it.
    #[serde(default)]
    pub no_machine_code: Option<String>,
}

/// Instruction counts of a kernel's machine code. Each instruction is counted once, however often it is executed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineCode {
    /// The program that read the code: `nvdisasm` with its version, for example `nvdisasm 13.5.37`, or the simulator of
    /// AMD GPUs.
    pub read_by: String,
    /// Number of instructions of the kernel's entry function.
    pub instructions: usize,
    /// The loop that does the main work. For NVIDIA targets, it is the innermost loop that contains most of the matrix
    /// instructions. If no loop contains any, multiply-adds are counted instead, then memory accesses, then all
    /// instructions. For AMD targets, it is [`Profile::hot_loop`]. `None` if the code has no loop.
    pub main_loop: Option<MachineLoop>,
}

/// A loop of machine code. Each of its instructions is counted once, including those of inner loops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineLoop {
    /// Number of instructions.
    pub instructions: usize,
    /// Number of instructions by class.
    pub by_class: BTreeMap<String, u64>,
    /// Number of matrix instructions per 100 instructions.
    pub matrix_per_100: f64,
    /// Number of fused multiply-adds of f32 per 100 instructions.
    pub multiply_adds_per_100: f64,
    /// Number of loops inside this loop.
    pub inner_loops: usize,
}

/// Counts of executed instructions and memory accesses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Executed {
    /// Number of executed warp instructions.
    pub warp_instructions: u64,
    /// Number of executed warp instructions by class.
    pub by_class: BTreeMap<String, u64>,
    /// Number of matrix instructions per 100 warp instructions.
    pub matrix_per_100: f64,
    /// Number of fused multiply-adds of f32 per 100 warp instructions.
    pub multiply_adds_per_100: f64,
    /// Mean number of active lanes, of 32, in instructions that work in each lane.
    pub active_lanes: f64,
    /// Number of barriers that warps reached.
    pub barriers: u64,
    /// Number of accesses of warps to global memory.
    pub global_requests: u64,
    /// Mean number of sectors of 32 bytes per access to global memory; `None` if there are no accesses.
    pub sectors_per_request: Option<f64>,
    /// Bytes that lanes requested, in percent of the bytes of the accessed sectors; `None` if there are no accesses.
    pub sector_use_percent: Option<f64>,
    /// Number of accesses of warps to shared memory.
    pub shared_requests: u64,
    /// Mean number of additional cycles per access to shared memory because of bank conflicts; 0 is best. `None` if
    /// there are no accesses.
    pub conflicts_per_request: Option<f64>,
    /// Number of accesses of warps to private memory. Most of them are register spills.
    pub private_requests: u64,
}

/// A loop: the instructions from the target of a backward branch to that branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HotLoop {
    /// Index of the loop's first instruction.
    pub first: usize,
    /// Index of the loop's last instruction.
    pub last: usize,
    /// The source line of the loop's branch; `None` if the image does not have it.
    pub line: Option<Line>,
    /// Number of loops inside this loop.
    pub inner_loops: usize,
    /// The loop's share of all executed warp instructions, in percent.
    pub share_percent: f64,
    /// Counts of the instructions and memory accesses of the loop.
    #[serde(flatten)]
    pub executed: Executed,
}

/// A kind of cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorstKind {
    /// Sectors of global memory beyond the smallest number that the accesses need.
    Global,
    /// Bank conflicts of shared memory.
    Shared,
    /// Lanes that are inactive while the warp executes an instruction.
    Divergence,
    /// Accesses to private memory.
    Private,
}

/// The source line at which a kind of cost is the highest. If the image has no source lines, the costs of single
/// instructions are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// The kind of cost.
    pub kind: WorstKind,
    /// The most expensive instruction of the line.
    pub instruction: String,
    /// The source line; `None` if the image does not have it.
    pub line: Option<Line>,
    /// A description with the figures.
    pub detail: String,
    /// The line's share of the kernel's total cost of this kind, in percent.
    pub share_percent: f64,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Line {
    /// Path of the file.
    pub file: String,
    /// Number of the line, from 1.
    pub number: u32,
    /// If the line belongs to an inlined function, the call in the kernel through which it was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_at: Option<Box<Line>>,
}

/// All classes of instructions that [`Executed::by_class`] can have, except `unknown`.
pub const CLASSES: [&str; 12] = [
    "matrix",
    "multiply-add",
    "vector",
    "exchange",
    "shared memory",
    "global memory",
    "asynchronous copy",
    "private memory",
    "scalar",
    "scalar memory",
    "flow",
    "barrier",
];

/// The column headings of [`Executed::figures`], and their meanings.
pub const FIGURES: [(&str, &str); 8] = [
    ("executed", "warp instructions"),
    (
        "matrix/100",
        "matrix instructions per 100 warp instructions",
    ),
    (
        "fma/100",
        "fused multiply-adds of f32 per 100 warp instructions",
    ),
    (
        "sectors/request",
        "sectors of 32 bytes per access of a warp to global memory",
    ),
    (
        "sector use",
        "bytes that lanes asked for, of those in the sectors",
    ),
    (
        "conflicts/request",
        "additional cycles per access to shared memory",
    ),
    ("lanes/32", "lanes that take part in an instruction"),
    ("private", "accesses to private memory: most are spills"),
];

impl Executed {
    /// The figures of a table row, each as a number and as text. A figure per access has no number and the text `-` if
    /// there were no accesses.
    pub fn figures(&self) -> [(Option<f64>, String); 8] {
        let figure = |value: Option<f64>, digits: usize, unit: &str| {
            let text = value.map(|value| format!("{value:.digits$}{unit}"));
            (value, text.unwrap_or_else(|| "-".to_owned()))
        };
        let count = |count: u64| figure(Some(count as f64), 0, "");
        [
            count(self.warp_instructions),
            figure(Some(self.matrix_per_100), 1, ""),
            figure(Some(self.multiply_adds_per_100), 1, ""),
            figure(self.sectors_per_request, 1, ""),
            figure(self.sector_use_percent, 0, " %"),
            figure(self.conflicts_per_request, 2, ""),
            figure(Some(self.active_lanes), 1, ""),
            count(self.private_requests),
        ]
    }
}

impl Profile {
    /// The moved bytes as text, in MiB.
    pub fn moved(&self) -> String {
        let mib = self.moved_bytes / f64::from(1 << 20);
        match self.moved_over_least {
            Some(ratio) => format!("{mib:.1} MiB, {ratio:.1} times the least"),
            None => format!("{mib:.1} MiB"),
        }
    }
}

impl fmt::Display for MachineCode {
    /// Writes one line, for example `235 instructions, 64 matrix, 24 shared memory (of 1527, nvdisasm 13.5.37)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(main) = &self.main_loop else {
            return write!(
                f,
                "no loop ({} instructions, {})",
                self.instructions, self.read_by
            );
        };
        write!(f, "{} instructions", main.instructions)?;
        let counts = CLASSES
            .iter()
            .filter_map(|class| Some((class, main.by_class.get(*class)?)));
        for (class, count) in counts {
            write!(f, ", {count} {class}")?;
        }
        match main.inner_loops {
            0 => {}
            loops => write!(f, ", {loops} inside")?,
        }
        write!(f, " (of {}, {})", self.instructions, self.read_by)
    }
}

impl ProfileRow {
    /// Reads the output of `tune inspect --profile --json`.
    ///
    /// # Errors
    /// The text is not JSON of this form.
    pub fn parse_all(text: &str) -> Result<Vec<ProfileRow>, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl fmt::Display for WorstKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WorstKind::Global => "global memory",
            WorstKind::Shared => "shared memory",
            WorstKind::Divergence => "divergence",
            WorstKind::Private => "private memory",
        })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        write!(f, "{name}:{}", self.number)?;
        match &self.called_at {
            Some(call) => write!(f, ", called at {call}"),
            None => Ok(()),
        }
    }
}
