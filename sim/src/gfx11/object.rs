//! Reads code objects, which are the ELF files that a GPU loads.

use std::collections::BTreeMap;
use std::sync::Arc;

use object::elf::{EM_AMDGPU, FileHeader64};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::{
    LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags,
    RelocationTarget,
};
use thiserror::Error;

use super::descriptor;
use super::isa::decode;
use super::isa::instruction::Placed;
use super::lines::Lines;
use super::metadata::{self, KernelMetadata};
use crate::{FaultKind, Memory, SourceLine};

/// `NT_AMDGPU_METADATA`.
const METADATA: u32 = 32;
/// The `EF_AMDGPU_MACH` values of gfx1100 to gfx1103 and gfx1150 to gfx1153.
const GFX11: [u32; 8] = [0x41, 0x46, 0x47, 0x44, 0x43, 0x4a, 0x55, 0x58];
/// Maximum number of bytes that a code object may occupy in memory.
const MAX_IMAGE_BYTES: u64 = 1 << 30;
/// `R_AMDGPU_ABS64`.
const ABS64: u32 = 3;
/// `R_AMDGPU_RELATIVE64`.
const RELATIVE64: u32 = 13;

/// Why a code object cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CodeObjectError {
    /// The bytes are not a complete ELF file.
    #[error("the code object is not a whole ELF file: {0}")]
    Elf(object::Error),
    /// The code object is for another machine.
    #[error("the code object is for machine {machine:#x}, flags {flags:#x}, not for gfx11")]
    Machine {
        /// `e_machine`.
        machine: u16,
        /// `e_flags`.
        flags: u32,
    },
    /// The metadata note is missing or damaged.
    #[error("the metadata of the code object is missing or damaged")]
    Metadata,
    /// A kernel in the metadata has no descriptor.
    #[error("the kernel `{0}` has no descriptor")]
    NoDescriptor(String),
    /// A segment or a table reaches past the end of the file, or the image is too large.
    #[error("the segments of the code object are damaged")]
    Segments,
    /// The simulator does not implement this type of relocation.
    #[error("the simulator does not implement relocations of type {0}")]
    Relocation(u32),
}

/// The decoded code section.
#[derive(Debug)]
pub(super) struct Text {
    /// The address of the section in the image.
    pub address: u64,
    pub placed: Vec<Placed>,
    /// For each word, the index of the instruction that begins there, or `u32::MAX`.
    pub index: Vec<u32>,
    pub lines: Option<Lines>,
}

impl Text {
    /// The source line of the instruction at an offset.
    pub fn line(&self, offset: u32) -> Option<SourceLine> {
        let reader = self.lines.as_ref()?.reader()?;
        reader.of(self.address + u64::from(offset))
    }
}

/// A 64-bit value in the image that depends on the address of the image.
#[derive(Clone, Copy, Debug)]
struct Relative {
    at: u64,
    value: u64,
}

/// A code object for gfx11.
#[derive(Clone, Debug)]
pub struct CodeObject {
    /// The image, as the device loads it.
    image: Vec<u8>,
    /// The read-only parts of the image: address and size.
    constant: Vec<(u64, u64)>,
    relatives: Vec<Relative>,
    symbols: BTreeMap<String, (u64, u64)>,
    kernels: Vec<KernelMetadata>,
    text: Arc<Text>,
}

type Elf<'a> = ElfFile64<'a, LittleEndian, &'a [u8]>;

impl CodeObject {
    /// Reads a code object, and decodes its instructions.
    ///
    /// # Errors
    /// If the code object is damaged, is not for gfx11, or needs a relocation that the simulator does not implement.
    pub fn parse(bytes: &[u8]) -> Result<CodeObject, CodeObjectError> {
        let elf: Elf<'_> = ElfFile64::parse(bytes).map_err(CodeObjectError::Elf)?;
        check_machine(&elf)?;
        let note = note(&elf, bytes)
            .map_err(CodeObjectError::Elf)?
            .ok_or(CodeObjectError::Metadata)?;
        let kernels = metadata::kernels(note).ok_or(CodeObjectError::Metadata)?;
        let (image, constant) = segments(&elf, bytes)?;
        let symbols = symbols(&elf);
        let relatives = relocations(&elf, &symbols)?;
        let text = text(&elf).map_err(CodeObjectError::Elf)?;
        let object = CodeObject {
            image,
            constant,
            relatives,
            symbols,
            kernels,
            text: Arc::new(text),
        };
        for kernel in &object.kernels {
            object
                .descriptor(kernel)
                .ok_or_else(|| CodeObjectError::NoDescriptor(kernel.name.clone()))?;
        }
        Ok(object)
    }

    /// The metadata of the kernels.
    pub fn kernels(&self) -> &[KernelMetadata] {
        &self.kernels
    }

    /// The instructions in assembler syntax, with their byte offsets in the code section.
    pub fn disassembly(&self) -> impl Iterator<Item = (u32, String)> {
        self.text
            .placed
            .iter()
            .map(|one| (one.offset, one.instruction.to_string()))
    }

    /// Copies the image into memory and relocates it. Returns its address.
    pub(super) fn copy_into(&self, memory: &Memory) -> Result<u64, FaultKind> {
        let base = memory.alloc(self.image.len());
        memory.write(base, &self.image)?;
        for one in &self.relatives {
            memory.write(base + one.at, &(base + one.value).to_le_bytes())?;
        }
        Ok(base)
    }

    pub(super) fn text(&self) -> &Arc<Text> {
        &self.text
    }

    pub(super) fn constant(&self) -> &[(u64, u64)] {
        &self.constant
    }

    /// The address of a symbol in the image, and its size.
    pub(super) fn symbol(&self, name: &str) -> Option<(u64, u64)> {
        self.symbols.get(name).copied()
    }

    /// The address and the bytes of a kernel's descriptor.
    pub(super) fn descriptor(
        &self,
        kernel: &KernelMetadata,
    ) -> Option<(u64, &[u8; descriptor::BYTES])> {
        let (address, _) = self.symbol(&kernel.symbol)?;
        let bytes = self.image.get(usize::try_from(address).ok()?..)?;
        Some((address, bytes.first_chunk()?))
    }
}

fn check_machine(elf: &Elf<'_>) -> Result<(), CodeObjectError> {
    let header: &FileHeader64<LittleEndian> = elf.elf_header();
    let (machine, flags) = (header.e_machine(LittleEndian), header.e_flags(LittleEndian));
    match machine == EM_AMDGPU && GFX11.contains(&(flags & 0xff)) {
        true => Ok(()),
        false => Err(CodeObjectError::Machine { machine, flags }),
    }
}

fn note<'a>(elf: &Elf<'a>, bytes: &'a [u8]) -> object::Result<Option<&'a [u8]>> {
    for section in elf.elf_section_table().iter() {
        let Some(mut notes) = section.notes(LittleEndian, bytes)? else {
            continue;
        };
        while let Some(note) = notes.next()? {
            if note.name() == b"AMDGPU" && note.n_type(LittleEndian) == METADATA {
                return Ok(Some(note.desc()));
            }
        }
    }
    Ok(None)
}

/// An image, and its read-only parts.
type Image = (Vec<u8>, Vec<(u64, u64)>);

/// Builds the image from the loadable segments.
fn segments(elf: &Elf<'_>, bytes: &[u8]) -> Result<Image, CodeObjectError> {
    let (mut image, mut constant) = (Vec::new(), Vec::new());
    for segment in elf.elf_program_headers() {
        if segment.p_type(LittleEndian) != object::elf::PT_LOAD {
            continue;
        }
        let (at, size) = (segment.p_vaddr(LittleEndian), segment.p_memsz(LittleEndian));
        let data = segment
            .data(LittleEndian, bytes)
            .map_err(|()| CodeObjectError::Segments)?;
        let end = at
            .checked_add(size)
            .filter(|&end| end <= MAX_IMAGE_BYTES)
            .ok_or(CodeObjectError::Segments)?;
        if image.len() < end as usize {
            image.resize(end as usize, 0);
        }
        let place = image.get_mut(at as usize..at as usize + data.len());
        place
            .ok_or(CodeObjectError::Segments)?
            .copy_from_slice(data);
        if segment.p_flags(LittleEndian) & object::elf::PF_W == 0 {
            constant.push((at, size));
        }
    }
    Ok((image, constant))
}

fn symbols(elf: &Elf<'_>) -> BTreeMap<String, (u64, u64)> {
    let all = elf.symbols().chain(elf.dynamic_symbols());
    all.filter(|symbol| symbol.is_definition())
        .filter_map(|symbol| {
            Some((
                symbol.name().ok()?.to_owned(),
                (symbol.address(), symbol.size()),
            ))
        })
        .collect()
}

fn relocations(
    elf: &Elf<'_>,
    symbols: &BTreeMap<String, (u64, u64)>,
) -> Result<Vec<Relative>, CodeObjectError> {
    let mut relatives = Vec::new();
    for (at, relocation) in elf.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else {
            continue;
        };
        let target = match (r_type, relocation.target()) {
            (RELATIVE64, _) => Some(0),
            (ABS64, RelocationTarget::Symbol(index)) => elf
                .dynamic_symbol_table()
                .and_then(|table| object::ObjectSymbolTable::symbol_by_index(&table, index).ok())
                .and_then(|symbol| {
                    symbols
                        .get(symbol.name().ok()?)
                        .map(|&(address, _)| address)
                }),
            _ => None,
        };
        let target = target.ok_or(CodeObjectError::Relocation(r_type))?;
        relatives.push(Relative {
            at,
            value: target.wrapping_add(relocation.addend() as u64),
        });
    }
    Ok(relatives)
}

fn text(elf: &Elf<'_>) -> object::Result<Text> {
    let Some(section) = elf.section_by_name(".text") else {
        return Ok(Text {
            address: 0,
            placed: Vec::new(),
            index: Vec::new(),
            lines: None,
        });
    };
    let (placed, index) = decode::section(section.data()?);
    Ok(Text {
        address: section.address(),
        placed,
        index,
        lines: Lines::read(elf),
    })
}
