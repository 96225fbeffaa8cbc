//! Kernels of a loaded code object.

use thiserror::Error;

use super::descriptor::{Descriptor, FloatMode};
use super::exec::{self, Handler};
use super::isa::instruction::{Instruction, Segment};
use super::isa::memory::ShareKind;
use super::isa::packed::PackedOp;
use super::isa::program_flow::FlowOp;
use super::lines::Lines;
use super::metadata::KernelMetadata;
use super::object::CodeObject;
use crate::launch::MAX_INSTRUCTIONS;
use crate::{Class, FaultKind, InstructionInfo, Memory, Place};

/// A code object that is loaded into the memory of a device.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub(super) object: CodeObject,
    pub(super) base: u64,
}

/// Why a kernel cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The code object has no kernel of this name.
    #[error("the code object has no kernel `{0}`")]
    Unknown(String),
    /// The kernel needs a feature that the simulator does not have.
    #[error("the simulator does not implement {what}, which `{kernel}` needs")]
    NotImplemented {
        /// The name of the kernel.
        kernel: String,
        /// The missing feature.
        what: String,
    },
    /// The descriptor of the kernel does not match the code.
    #[error("the descriptor of `{0}` is damaged")]
    Descriptor(String),
}

impl CodeObject {
    /// Copies the image into the memory of a device.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if a relocation is outside the image.
    pub fn load(&self, memory: &Memory) -> Result<Loaded, FaultKind> {
        let base = self.copy_into(memory)?;
        Ok(Loaded {
            object: self.clone(),
            base,
        })
    }
}

impl Loaded {
    /// The address and the size in bytes of a global variable.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let (address, bytes) = self.object.symbol(name)?;
        Some((self.base + address, bytes))
    }

    /// The base address of the image.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// If the code object has no such kernel, if the kernel's descriptor is damaged, or if the kernel needs a feature
    /// that the simulator does not have.
    pub fn kernel(&self, name: &str) -> Result<Kernel, KernelError> {
        let metadata = self
            .object
            .kernels()
            .iter()
            .find(|kernel| kernel.name == name);
        let metadata = metadata.ok_or_else(|| KernelError::Unknown(name.into()))?;
        let damaged = || KernelError::Descriptor(name.into());
        let (address, bytes) = self.object.descriptor(metadata).ok_or_else(damaged)?;
        let descriptor = Descriptor::read(bytes);
        let lacks = lacks(metadata, &descriptor);
        if let Some(what) = lacks {
            return Err(KernelError::NotImplemented {
                kernel: name.into(),
                what: what.into(),
            });
        }
        let text = self.object.text();
        let entry = address
            .wrapping_add_signed(descriptor.entry)
            .wrapping_sub(text.address);
        let first = usize::try_from(entry / 4)
            .ok()
            .and_then(|word| text.index.get(word))
            .copied();
        let first = first
            .filter(|&index| index != u32::MAX)
            .ok_or_else(damaged)?;
        let handlers = text
            .placed
            .iter()
            .map(|one| exec::handler(&one.instruction))
            .collect();
        Ok(Kernel {
            loaded: self.clone(),
            metadata: metadata.clone(),
            descriptor,
            first,
            handlers,
            max_instructions: MAX_INSTRUCTIONS,
        })
    }
}

/// The feature that the kernel needs and the simulator does not have, if any.
fn lacks(metadata: &KernelMetadata, descriptor: &Descriptor) -> Option<&'static str> {
    match () {
        () if metadata.lanes != 32 || !descriptor.is_wave32() => Some("waves of 64 lanes"),
        () if descriptor.preload != 0 => Some("arguments that are loaded before the kernel begins"),
        () if descriptor.mode.round != 0 => Some("rounding other than to nearest even"),
        () if descriptor.block_info => Some("block information in registers"),
        () if descriptor.properties & 1 << 11 != 0 => Some("a stack of unknown size"),
        () => None,
    }
}

/// A kernel that can be launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(super) loaded: Loaded,
    pub(super) metadata: KernelMetadata,
    pub(super) descriptor: Descriptor,
    /// The index of the kernel's first instruction.
    pub(super) first: u32,
    pub(super) handlers: Vec<Option<Handler>>,
    /// Maximum number of wave instructions of a block. A block that exceeds it ends with [`FaultKind::TooLong`].
    pub max_instructions: u64,
}

impl Kernel {
    /// The metadata of the kernel.
    pub fn metadata(&self) -> &KernelMetadata {
        &self.metadata
    }

    /// The description of each instruction. The indices are those of [`crate::Counters::executed`].
    pub fn instructions(&self) -> impl Iterator<Item = InstructionInfo> {
        let text = self.loaded.object.text();
        let reader = text.lines.as_ref().and_then(Lines::reader);
        text.placed.iter().map(move |one| InstructionInfo {
            class: class(&one.instruction),
            text: one.instruction.to_string(),
            target: match &one.instruction {
                Instruction::Flow(flow) if flow.op.is_branch() => Some(flow.target as usize),
                _ => None,
            },
            line: reader
                .as_ref()
                .and_then(|reader| reader.of(text.address + u64::from(one.offset))),
        })
    }

    pub(super) fn mode(&self) -> FloatMode {
        self.descriptor.mode
    }

    /// The position of an instruction, without the block and the warp.
    pub(super) fn place(&self, index: u32) -> Place {
        let text = self.loaded.object.text();
        let Some(one) = text.placed.get(index as usize) else {
            return Place {
                kernel: self.metadata.name.clone(),
                instruction: "no instruction".into(),
                ..Place::default()
            };
        };
        Place {
            kernel: self.metadata.name.clone(),
            instruction: one.instruction.to_string(),
            offset: u64::from(one.offset),
            line: text.line(one.offset),
            ..Place::default()
        }
    }
}

fn class(instruction: &Instruction) -> Class {
    match instruction {
        Instruction::Scalar(_) => Class::Scalar,
        Instruction::Flow(one) if one.op == FlowOp::Barrier => Class::Barrier,
        Instruction::Flow(_) | Instruction::Hint(_) => Class::Flow,
        Instruction::ScalarLoad(_) => Class::ScalarMemory,
        Instruction::Vector(_) | Instruction::Dual(_) => vector_class(&instruction.to_string()),
        Instruction::Compare(_) => Class::Vector,
        Instruction::Packed(one) if PackedOp::is_matrix(one.op) => Class::Matrix,
        Instruction::Packed(_) => Class::Vector,
        Instruction::Share(one) => match one.op.kind {
            ShareKind::Permute | ShareKind::BackwardPermute => Class::Exchange,
            _ => Class::Shared,
        },
        Instruction::Flat(one) if one.segment == Segment::Scratch => Class::Private,
        Instruction::Flat(_) => Class::Global,
        Instruction::Unknown(_) => Class::Unknown,
    }
}

/// The class of a vector instruction, determined from its text.
fn vector_class(text: &str) -> Class {
    let multiply_adds = ["fma_f32", "fmac_f32", "fmamk_f32", "fmaak_f32"];
    if multiply_adds.iter().any(|name| text.contains(name)) {
        return Class::MultiplyAdd;
    }
    let exchanges = [
        "permlane",
        "readlane",
        "readfirstlane",
        "writelane",
        "dpp",
        "row_",
        "quad_perm",
    ];
    match exchanges.iter().any(|name| text.contains(name)) {
        true => Class::Exchange,
        false => Class::Vector,
    }
}
