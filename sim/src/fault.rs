//! What went wrong, and where.

use std::fmt;

use thiserror::Error;

/// Where a kernel was when it failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The kernel's entry.
    pub kernel: String,
    /// The instruction, as an assembler would write it.
    pub instruction: String,
    /// The byte offset of the instruction in the code, or its index among the statements of a text.
    pub offset: u64,
    /// The source line, if the image has line tables: file and line.
    pub line: Option<(String, u32)>,
    /// The block.
    pub block: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
    /// The lane in its warp, if one lane is at fault.
    pub lane: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.block;
        write!(f, "`{}` at `{}`", self.kernel, self.instruction)?;
        match &self.line {
            Some((file, line)) => write!(f, " ({file}:{line})")?,
            None => write!(f, " (offset {:#x})", self.offset)?,
        }
        write!(f, ", block ({x}, {y}, {z}), warp {}", self.warp)?;
        match self.lane {
            Some(lane) => write!(f, ", lane {lane}"),
            None => Ok(()),
        }
    }
}

/// A launch that failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind}: {place}")]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// Where.
    pub place: Box<Place>,
}

/// What went wrong in a launch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// An address is in no allocation, or the access reaches past its end.
    #[error("{bytes} bytes at {address:#x} are outside every allocation{}", near(.nearest))]
    OutOfBounds {
        /// The first byte of the access.
        address: u64,
        /// The size of the access.
        bytes: u32,
        /// The nearest allocation that begins before the address: its first byte and its size.
        nearest: Option<(u64, usize)>,
    },
    /// An access is not aligned to its size.
    #[error("an access of {bytes} bytes at {address:#x} is not aligned")]
    Misaligned {
        /// The first byte of the access.
        address: u64,
        /// The size of the access.
        bytes: u32,
    },
    /// A store into memory that must not change.
    #[error("a store of {bytes} bytes at {address:#x} into memory that is only read")]
    ReadOnly {
        /// The first byte of the access.
        address: u64,
        /// The size of the access.
        bytes: u32,
    },
    /// An access past the end of the block's shared memory.
    #[error("{bytes} bytes at {offset:#x} are outside the {size} bytes of shared memory")]
    SharedOutOfBounds {
        /// The offset of the access.
        offset: u64,
        /// The size of the access.
        bytes: u32,
        /// The size of the shared memory, dynamic included.
        size: usize,
    },
    /// An access between two variables of shared memory.
    #[error("shared memory at {offset:#x} is between two variables")]
    BetweenVariables {
        /// The offset of the byte.
        offset: u64,
    },
    /// Shared memory is read before anything wrote it.
    #[error("shared memory at {offset:#x} is read and was never written")]
    Unwritten {
        /// The offset of the byte.
        offset: u64,
    },
    /// Data of an asynchronous copy is read before a wait.
    #[error("shared memory at {offset:#x} is read before the wait for its asynchronous copy")]
    BeforeWait {
        /// The offset of the byte.
        offset: u64,
    },
    /// Two threads access one place without synchronisation, and one of them writes.
    #[error("a race on shared memory at {offset:#x} with {}, last at `{instruction}`{}", warps(.other), at(.line))]
    Race {
        /// The offset of the byte.
        offset: u64,
        /// The other warp; `None` if there are several.
        other: Option<u32>,
        /// What the other warp, or the last of them, executed.
        instruction: String,
        /// The source line of that instruction.
        line: Option<(String, u32)>,
    },
    /// No warp of the block can run.
    #[error("every warp of the block waits: {what}")]
    Deadlock {
        /// What they wait for.
        what: String,
    },
    /// The kernel executed a trap.
    #[error("the kernel trapped")]
    Trap,
    /// The interpreter does not know the instruction.
    #[error("the simulator does not implement `{what}`")]
    NotImplemented {
        /// The instruction or the feature.
        what: String,
    },
    /// The instruction's own rules are broken.
    #[error("{what}")]
    Invalid {
        /// Which rule: a sentence without a full stop.
        what: String,
    },
    /// The launch executed more instructions than it may.
    #[error("the launch did not end within {instructions} warp instructions")]
    TooLong {
        /// The limit.
        instructions: u64,
    },
}

fn near(nearest: &Option<(u64, usize)>) -> String {
    match nearest {
        Some((base, bytes)) => format!("; the nearest one has {bytes} bytes at {base:#x}"),
        None => String::new(),
    }
}

fn warps(other: &Option<u32>) -> String {
    other.map_or_else(|| "several warps".into(), |warp| format!("warp {warp}"))
}

fn at(line: &Option<(String, u32)>) -> String {
    match line {
        Some((file, line)) => format!(" ({file}:{line})"),
        None => String::new(),
    }
}
