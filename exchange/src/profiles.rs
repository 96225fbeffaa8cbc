//! Profiles of launches on simulated GPUs, as `tune inspect --profile --json` prints them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The profile of one config on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileRow {
    /// The architecture.
    pub target: String,
    /// The kernel.
    pub kernel: String,
    /// The problem.
    pub problem: String,
    /// Which config this is: the baseline, a baked row (its device), a corner, or one named on the command line.
    pub what: String,
    /// The config.
    pub config: String,
    /// The profile; `None` if it does not compile or run.
    pub profile: Option<Profile>,
    /// Why not.
    pub error: Option<String>,
}

/// The profile of one launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The release entry.
    pub symbol: String,
    /// Blocks of the launch.
    pub blocks: u64,
    /// How many of them were executed; all figures but `moved_bytes` are theirs.
    pub executed_blocks: u64,
    /// What they executed.
    #[serde(flatten)]
    pub executed: Executed,
    /// Bytes that the whole launch moves between multiprocessors and global memory, in sectors of 32 bytes, if all its
    /// blocks are like the executed ones. Caches are not counted.
    pub moved_bytes: f64,
    /// The same over the bytes that the spec declares as the least, if it declares them.
    pub moved_over_least: Option<f64>,
    /// The innermost loop that holds most of what was executed.
    pub hot_loop: Option<HotLoop>,
    /// Where each kind of cost is the highest.
    pub worst: Vec<Worst>,
    /// The machine code of the real image; `None` if it was not read.
    #[serde(default)]
    pub machine_code: Option<MachineCode>,
    /// Why it was not read.
    #[serde(default)]
    pub no_machine_code: Option<String>,
}

/// The machine code of a kernel, counted without executing it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineCode {
    /// What read it: `nvdisasm 13.5.37`, or the simulator of AMD GPUs.
    pub read_by: String,
    /// Number of instructions of the entry.
    pub instructions: usize,
    /// The innermost loop that holds most of the matrix instructions; without any, of the multiply-adds, or else of the
    /// accesses to memory. `None` without a loop.
    pub main_loop: Option<MachineLoop>,
}

/// A loop of machine code: what one pass of a warp through all of its instructions would issue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineLoop {
    /// Number of instructions.
    pub instructions: usize,
    /// The same by class.
    pub by_class: BTreeMap<String, u64>,
    /// Matrix instructions per 100 instructions.
    pub matrix_per_100: f64,
    /// Fused multiply-adds of f32 per 100 instructions.
    pub multiply_adds_per_100: f64,
    /// The loops inside it.
    pub inner_loops: usize,
}

/// What some instructions executed and moved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Executed {
    /// Warp instructions.
    pub warp_instructions: u64,
    /// The same by class.
    pub by_class: BTreeMap<String, u64>,
    /// Matrix instructions per 100 warp instructions.
    pub matrix_per_100: f64,
    /// Fused multiply-adds of f32 per 100 warp instructions.
    pub multiply_adds_per_100: f64,
    /// The mean number of lanes that take part in an instruction that does something in each lane, of 32.
    pub active_lanes: f64,
    /// Barriers that a warp reached.
    pub barriers: u64,
    /// Accesses of a warp to global memory.
    pub global_requests: u64,
    /// Sectors of 32 bytes per access to global memory.
    pub sectors_per_request: Option<f64>,
    /// The bytes that lanes asked for, of those in the sectors, in percent.
    pub sector_use_percent: Option<f64>,
    /// Accesses of a warp to shared memory.
    pub shared_requests: u64,
    /// Additional cycles per access to shared memory because of bank conflicts; 0 is the best.
    pub conflicts_per_request: Option<f64>,
    /// Accesses of a warp to private memory: most are spills.
    pub private_requests: u64,
}

/// A loop: the instructions from the target of a backward branch to that branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HotLoop {
    /// The index of its first instruction.
    pub first: usize,
    /// The index of its last instruction.
    pub last: usize,
    /// The source line of its branch.
    pub line: Option<Line>,
    /// The loops inside it.
    pub inner_loops: usize,
    /// Its share of all executed warp instructions, in percent.
    pub share_percent: f64,
    /// What it executed.
    #[serde(flatten)]
    pub executed: Executed,
}

/// A kind of cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorstKind {
    /// Sectors of global memory beyond the fewest.
    Global,
    /// Bank conflicts of shared memory.
    Shared,
    /// Lanes that did not take part.
    Divergence,
    /// Accesses to private memory.
    Private,
}

/// The line, or the instruction without a line, at which a cost is the highest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// The cost.
    pub kind: WorstKind,
    /// Its most expensive instruction.
    pub instruction: String,
    /// The line, if the image tells it.
    pub line: Option<Line>,
    /// The figures, in words.
    pub detail: String,
    /// Its share of the kernel's whole cost of this kind, in percent.
    pub share_percent: f64,
}

/// A line of a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Line {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub number: u32,
}

/// The classes of instructions in [`Executed::by_class`], without `unknown`.
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

/// The headings of [`Executed::figures`], and what each means.
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
    /// The figures of a table, each as a number and as a text; without a number if there was no such access.
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
    /// The moved bytes as a text.
    pub fn moved(&self) -> String {
        let mib = self.moved_bytes / f64::from(1 << 20);
        match self.moved_over_least {
            Some(ratio) => format!("{mib:.1} MiB, {ratio:.1} times the least"),
            None => format!("{mib:.1} MiB"),
        }
    }
}

impl fmt::Display for MachineCode {
    /// One line, such as `235 instructions, 64 matrix, 24 shared memory (of 1527, nvdisasm 13.5.37)`.
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
    /// Reads what `tune inspect --profile --json` printed.
    ///
    /// # Errors
    /// If it is not JSON of that form.
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
        write!(f, "{name}:{}", self.number)
    }
}
