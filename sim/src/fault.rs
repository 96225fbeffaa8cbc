//! Faults: what a kernel did wrong, and where.

use std::fmt;

use thiserror::Error;

use crate::source_line::SourceLine;

/// The position at which a kernel failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The name of the kernel's entry point.
    pub kernel: String,
    /// The instruction, in assembler syntax.
    pub instruction: String,
    /// For machine code, the byte offset of the instruction. For PTX, the index of the decoded instruction.
    pub offset: u64,
    /// The source line, if the image has line tables.
    pub line: Option<SourceLine>,
    /// The index of the block in the grid.
    pub block: [u32; 3],
    /// The index of the warp in its block.
    pub warp: u32,
    /// The index of the lane in its warp, if a single lane caused the fault.
    pub lane: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at ", self.kernel)?;
        self.write_in_kernel(f)
    }
}

impl Place {
    /// Writes the position without the name of the kernel.
    fn write_in_kernel(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.block;
        write!(f, "`{}`", self.instruction)?;
        match &self.line {
            Some(line) => write!(f, " ({line})")?,
            None => write!(f, " (offset {:#x})", self.offset)?,
        }
        write!(f, ", block ({x}, {y}, {z}), warp {}", self.warp)?;
        match self.lane {
            Some(lane) => write!(f, ", lane {lane}"),
            None => Ok(()),
        }
    }
}

/// The reason why a launch failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The position of the failing instruction. For [`FaultKind::Unwritten`] and [`FaultKind::BeforeWait`], this is the
    /// load.
    pub place: Box<Place>,
    /// The position of the instruction that uses the loaded value, if this use makes the load a fault.
    pub used_at: Option<Box<Place>>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.place)?;
        if let Some(used_at) = &self.used_at {
            write!(f, "; the loaded value is used at ")?;
            used_at.write_in_kernel(f)?;
        }
        Ok(())
    }
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The accessed bytes are not all inside one allocation.
    #[error("{bytes} bytes at {address:#x} are outside every allocation{}", near(.nearest))]
    OutOfBounds {
        /// The address of the first byte of the access.
        address: u64,
        /// The size of the access in bytes.
        bytes: u32,
        /// The allocation with the highest base below the address, if one exists: its base address and its size in
        /// bytes.
        nearest: Option<(u64, usize)>,
    },
    /// The address is not a multiple of the alignment that the access requires.
    #[error("an access of {bytes} bytes at {address:#x} is not aligned")]
    Misaligned {
        /// The address of the first byte of the access.
        address: u64,
        /// The size of the access in bytes.
        bytes: u32,
    },
    /// A store into read-only memory.
    #[error("a store of {bytes} bytes at {address:#x} into read-only memory")]
    ReadOnly {
        /// The address of the first byte of the access.
        address: u64,
        /// The size of the access in bytes.
        bytes: u32,
    },
    /// An access beyond the end of the block's shared memory.
    #[error("{bytes} bytes at {offset:#x} are outside the {size} bytes of shared memory")]
    SharedOutOfBounds {
        /// The byte offset of the access in shared memory.
        offset: u64,
        /// The size of the access in bytes.
        bytes: u32,
        /// The size of the shared memory in bytes, static and dynamic.
        size: usize,
    },
    /// An access to the padding between two variables of shared memory.
    #[error("shared memory at {offset:#x} is between two variables")]
    BetweenVariables {
        /// The byte offset in shared memory.
        offset: u64,
    },
    /// A read of shared memory that was never written, or that an undefined value was stored to. A load is only a fault
    /// if an instruction uses the loaded value.
    #[error("shared memory at {offset:#x} is read, but was never written")]
    Unwritten {
        /// The byte offset in shared memory.
        offset: u64,
    },
    /// A read of the target of an asynchronous copy before the kernel has waited for this copy. A load is only a fault
    /// if an instruction uses the loaded value.
    #[error("shared memory at {offset:#x} is read before the wait for its asynchronous copy")]
    BeforeWait {
        /// The byte offset in shared memory.
        offset: u64,
    },
    /// A `wgmma` reads shared memory that a thread wrote, and that thread executed no `fence.proxy.async` that is
    /// ordered between the write and the read.
    #[error(
        "shared memory at {offset:#x} is read by `wgmma` without a `fence.proxy.async` after the write to it"
    )]
    BeforeFence {
        /// The byte offset in shared memory.
        offset: u64,
    },
    /// Two unsynchronised threads access the same byte, and at least one of the accesses is a write.
    #[error("a race on shared memory at {offset:#x} with {}, last at `{instruction}`{}", warps(.other), at(.line))]
    Race {
        /// The byte offset in shared memory.
        offset: u64,
        /// The index of the warp that made the earlier access, or `None` if several warps did.
        other: Option<u32>,
        /// The instruction of the earlier access, or of the last one if there are several.
        instruction: String,
        /// The source line of that instruction, or `None` if it is not known.
        line: Option<SourceLine>,
    },
    /// All warps of the block that have not ended are waiting, so the block cannot continue.
    #[error("every warp of the block waits: {what}")]
    Deadlock {
        /// The events that the warps wait for.
        what: String,
    },
    /// The kernel executed a trap instruction.
    #[error("the kernel trapped")]
    Trap,
    /// The simulator does not implement the instruction or the feature.
    #[error("the simulator does not implement `{what}`")]
    NotImplemented {
        /// The name of the instruction or of the feature.
        what: String,
    },
    /// An instruction or the launch is invalid, for example because the block has too many threads.
    #[error("{what}")]
    Invalid {
        /// The mistake, as a sentence without a full stop.
        what: String,
    },
    /// A block executed more warp instructions than the limit allows.
    #[error("the launch did not end within {instructions} warp instructions")]
    TooLong {
        /// The limit, in warp instructions.
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

fn at(line: &Option<SourceLine>) -> String {
    line.as_ref()
        .map_or_else(String::new, |line| format!(" ({line})"))
}
