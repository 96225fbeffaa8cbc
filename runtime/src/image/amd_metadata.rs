//! Reads the metadata of an AMD code object, which describes each of its kernels.
//!
//! The format is specified in LLVM's "User Guide for AMDGPU Backend", section "Code Object V5 Metadata". The metadata
//! is a note with owner `AMDGPU` and type 32 that contains a map in MessagePack.

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, SectionHeader as _};
use thiserror::Error;

/// The type of the metadata note (`NT_AMDGPU_METADATA`).
const NOTE_TYPE: u32 = 32;
/// Maximum nesting depth of values. A valid note has five levels.
const MAX_LEVELS: u32 = 16;

/// The reason why the metadata of a code object cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AmdMetadataError {
    /// The image is not a complete ELF file.
    #[error("{error}")]
    Elf {
        /// The error of the ELF reader.
        error: object::Error,
    },
    /// The image has no metadata note.
    #[error("it has no metadata note")]
    NoNote,
    /// The note is not a map in MessagePack, or the map does not have the specified structure.
    #[error("its metadata is damaged")]
    Damaged,
    /// The map does not contain the list of kernels.
    #[error("its metadata lists no kernels")]
    NoKernels,
}

/// The metadata of one kernel. A field is `None` if the metadata does not contain it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AmdKernel {
    /// The symbol of the kernel.
    pub name: String,
    /// Number of declared arguments. Hidden arguments that the runtime adds are not included.
    pub parameters: usize,
    /// Maximum number of threads per block.
    pub max_threads: Option<u32>,
    /// Vector registers per thread.
    pub vector_registers: Option<u32>,
    /// Scalar registers per warp.
    pub scalar_registers: Option<u32>,
    /// Number of vector registers that were spilled.
    pub vector_spills: Option<u32>,
    /// Number of scalar registers that were spilled.
    pub scalar_spills: Option<u32>,
    /// Private memory per thread, in bytes.
    pub stack_bytes: Option<u32>,
    /// Static shared memory per block, in bytes.
    pub static_shared_bytes: Option<u32>,
}

/// The kernels of a code object, in the order of its metadata.
///
/// # Errors
/// If the image has no metadata, or if the metadata is damaged.
pub fn kernels(image: &[u8]) -> Result<Vec<AmdKernel>, AmdMetadataError> {
    let note = note(image)?.ok_or(AmdMetadataError::NoNote)?;
    let root = Reader(note).value(MAX_LEVELS);
    let root = root.ok_or(AmdMetadataError::Damaged)?;
    let Some(MessagePackValue::Array(kernels)) = root.get("amdhsa.kernels") else {
        return Err(AmdMetadataError::NoKernels);
    };
    let kernels = kernels.iter().map(AmdKernel::of).collect::<Option<_>>();
    kernels.ok_or(AmdMetadataError::Damaged)
}

/// The content of the metadata note; `None` if the image has no such note.
fn note(image: &[u8]) -> Result<Option<&[u8]>, AmdMetadataError> {
    let failed = |error| AmdMetadataError::Elf { error };
    let header = FileHeader64::<LittleEndian>::parse(image).map_err(failed)?;
    let endian = LittleEndian;
    let sections = header.sections(endian, image).map_err(failed)?;
    for section in sections.iter() {
        let Some(mut notes) = section.notes(endian, image).map_err(failed)? else {
            continue;
        };
        while let Some(note) = notes.next().map_err(failed)? {
            if note.name() == b"AMDGPU" && note.n_type(endian) == NOTE_TYPE {
                return Ok(Some(note.desc()));
            }
        }
    }
    Ok(None)
}

impl AmdKernel {
    fn of(kernel: &MessagePackValue<'_>) -> Option<AmdKernel> {
        let Some(MessagePackValue::Text(name)) = kernel.get(".name") else {
            return None;
        };
        let no_arguments = MessagePackValue::Array(Vec::new());
        let MessagePackValue::Array(arguments) = kernel.get(".args").unwrap_or(&no_arguments)
        else {
            return None;
        };
        let declared = |argument: &&MessagePackValue<'_>| match argument.get(".value_kind") {
            Some(MessagePackValue::Text(kind)) => !kind.starts_with("hidden_"),
            _ => false,
        };
        let number = |key: &str| match kernel.get(key) {
            Some(MessagePackValue::Number(number)) => u32::try_from(*number).ok(),
            _ => None,
        };
        Some(AmdKernel {
            name: (*name).to_owned(),
            parameters: arguments.iter().filter(declared).count(),
            max_threads: number(".max_flat_workgroup_size"),
            vector_registers: number(".vgpr_count"),
            scalar_registers: number(".sgpr_count"),
            vector_spills: number(".vgpr_spill_count"),
            scalar_spills: number(".sgpr_spill_count"),
            stack_bytes: number(".private_segment_fixed_size"),
            static_shared_bytes: number(".group_segment_fixed_size"),
        })
    }
}

/// A MessagePack value of one of the kinds that the metadata uses.
#[derive(Clone, Debug, PartialEq)]
enum MessagePackValue<'a> {
    Number(u64),
    Text(&'a str),
    Array(Vec<MessagePackValue<'a>>),
    Map(Vec<(MessagePackValue<'a>, MessagePackValue<'a>)>),
    /// Nil, a boolean, or a negative number.
    Other,
}

impl<'a> MessagePackValue<'a> {
    /// The value of a key, if this is a map that contains the key.
    fn get(&self, key: &str) -> Option<&MessagePackValue<'a>> {
        let MessagePackValue::Map(entries) = self else {
            return None;
        };
        let found = entries
            .iter()
            .find(|(name, _)| *name == MessagePackValue::Text(key));
        found.map(|(_, value)| value)
    }
}

/// The bytes that have not been read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads the next value. Returns `None` if the bytes end early or if the value has a kind that the metadata does
    /// not use.
    fn value(&mut self, levels: u32) -> Option<MessagePackValue<'a>> {
        let levels = levels.checked_sub(1)?;
        let kind = *self.take(1)?.first()?;
        let low = u64::from(kind);
        match kind {
            0x00..=0x7f => Some(MessagePackValue::Number(low)),
            0x80..=0x8f => self.map(low & 0xf, levels),
            0x90..=0x9f => self.array(low & 0xf, levels),
            0xa0..=0xbf => self.text(low & 0x1f),
            0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => Some(MessagePackValue::Other),
            0xcc..=0xcf => self
                .number(1 << (kind - 0xcc))
                .map(MessagePackValue::Number),
            0xd0..=0xd3 => self
                .number(1 << (kind - 0xd0))
                .map(|_| MessagePackValue::Other),
            0xd9..=0xdb => {
                let length = self.number(1 << (kind - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => {
                let length = self.number(2 << (kind - 0xdc))?;
                self.array(length, levels)
            }
            0xde | 0xdf => {
                let length = self.number(2 << (kind - 0xde))?;
                self.map(length, levels)
            }
            _ => None,
        }
    }

    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads a big-endian number of this many bytes.
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let digits = self.take(bytes)?.iter();
        Some(digits.fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn text(&mut self, length: u64) -> Option<MessagePackValue<'a>> {
        let bytes = self.take(usize::try_from(length).ok()?)?;
        std::str::from_utf8(bytes).ok().map(MessagePackValue::Text)
    }

    fn array(&mut self, length: u64, levels: u32) -> Option<MessagePackValue<'a>> {
        let values = (0..length).map(|_| self.value(levels));
        values.collect::<Option<_>>().map(MessagePackValue::Array)
    }

    fn map(&mut self, length: u64, levels: u32) -> Option<MessagePackValue<'a>> {
        let entries = (0..length).map(|_| Some((self.value(levels)?, self.value(levels)?)));
        entries.collect::<Option<_>>().map(MessagePackValue::Map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_is_read() {
        let bytes = [
            0x86, 0xa1, b'a', 0x07, 0xa1, b'b', 0xcd, 0x04, 0x00, 0xa1, b'c', 0x92, 0xc3, 0xff,
            0xa1, b'd', 0xd9, 0x02, b'x', b'y', 0xa1, b'e', 0xdc, 0x00, 0x01, 0xc0, 0xa1, b'f',
            0xde, 0x00, 0x00,
        ];
        let root = Reader(&bytes).value(MAX_LEVELS).unwrap();
        assert_eq!(root.get("a"), Some(&MessagePackValue::Number(7)));
        assert_eq!(root.get("b"), Some(&MessagePackValue::Number(1024)));
        assert_eq!(
            root.get("c"),
            Some(&MessagePackValue::Array(vec![MessagePackValue::Other; 2]))
        );
        assert_eq!(root.get("d"), Some(&MessagePackValue::Text("xy")));
        assert_eq!(
            root.get("e"),
            Some(&MessagePackValue::Array(vec![MessagePackValue::Other]))
        );
        assert_eq!(root.get("f"), Some(&MessagePackValue::Map(vec![])));
        assert_eq!(root.get("g"), None);
        for end in 0..bytes.len() {
            assert_eq!(Reader(&bytes[..end]).value(MAX_LEVELS), None, "{end}");
        }
    }

    #[test]
    fn nesting_without_end_and_lengths_without_bytes_are_refused() {
        assert_eq!(Reader(&[0x91; 1000]).value(MAX_LEVELS), None);
        let long = [0xdd, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Reader(&long).value(MAX_LEVELS), None);
        assert_eq!(Reader(&[0xca, 0, 0, 0, 0]).value(MAX_LEVELS), None);
    }

    #[test]
    fn arguments_that_the_runtime_adds_are_not_counted() {
        let argument = |kind| {
            MessagePackValue::Map(vec![(
                MessagePackValue::Text(".value_kind"),
                MessagePackValue::Text(kind),
            )])
        };
        let kernel = MessagePackValue::Map(vec![
            (
                MessagePackValue::Text(".name"),
                MessagePackValue::Text("gemm"),
            ),
            (
                MessagePackValue::Text(".args"),
                MessagePackValue::Array(vec![
                    argument("by_value"),
                    argument("global_buffer"),
                    argument("hidden_block_count_x"),
                    argument("hidden_dynamic_lds_size"),
                ]),
            ),
            (
                MessagePackValue::Text(".max_flat_workgroup_size"),
                MessagePackValue::Number(256),
            ),
        ]);
        let expected = AmdKernel {
            name: "gemm".into(),
            parameters: 2,
            max_threads: Some(256),
            ..AmdKernel::default()
        };
        assert_eq!(AmdKernel::of(&kernel), Some(expected));
        assert_eq!(AmdKernel::of(&MessagePackValue::Map(vec![])), None);
    }
}
