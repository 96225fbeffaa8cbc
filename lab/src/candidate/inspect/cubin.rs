//! Reads the resources of kernels from the sections of a cubin (an ELF file).
//!
//! `.nv.info` is a sequence of records. A record has a format byte and an attribute byte. In format 4, a 16-bit length
//! and that many bytes of value follow; in the other formats, a 16-bit value follows directly. The sections contain
//! these resources:
//!
//! - `.nv.info`: the registers and the stack of each kernel, by symbol.
//! - `.nv.info.<kernel>`: the launch bound and the number of barriers, in records of the same form.
//! - `.nv.shared.<kernel>`: the static shared memory, which is the size of the section.
//!
//! NVIDIA does not document the format. This reader was compared with `ptxas -v` and `cuobjdump --dump-resource-usage`
//! for toolkits 12.1 to 13.5.

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{ElfFile64, FileHeader as _};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolIndex};

use super::{InspectError, Resources};

/// `e_machine` of CUDA images.
const EM_CUDA: u16 = 190;

/// The format of records that have a 16-bit length and a value of that length.
const SIZED: u8 = 4;
/// Attribute: maximum number of threads per block, as x, y, z.
const MAX_THREADS: u8 = 0x05;
/// Attribute: stack frame, as symbol and bytes.
const FRAME_SIZE: u8 = 0x11;
/// Attribute: registers, as symbol and count.
const REGISTER_COUNT: u8 = 0x2f;
/// Attribute: number of block barriers, as a 16-bit value. The record is missing if the kernel has no barrier.
const BARRIERS: u8 = 0x4c;

/// Number of reserved bytes at the beginning of shared memory on Hopper and later. `.nv.shared` includes them, but
/// `ptxas` does not report them.
const RESERVED_ON_HOPPER: u32 = 1024;
/// The first architecture with these reserved bytes.
const HOPPER: u32 = 90;

/// The resources of an entry.
pub(super) fn resources(image: &[u8], symbol: &str) -> Result<Resources, InspectError> {
    let header = FileHeader64::<LittleEndian>::parse(image).map_err(InspectError::image)?;
    if header.e_machine.get(LittleEndian) != EM_CUDA {
        return Err(InspectError::image("it is not a CUDA image"));
    }
    let file = ElfFile64::<LittleEndian>::parse(image).map_err(InspectError::image)?;
    let info = records(section(&file, ".nv.info")?.unwrap_or_default());
    let of_symbol = |attribute: u8| {
        info.iter().find_map(|record| {
            let [at, value] = words::<2>(record.value)?;
            let named = file.symbol_by_index(SymbolIndex(at as usize)).ok()?;
            (record.attribute == attribute && named.name() == Ok(symbol)).then_some(value)
        })
    };
    let Some(registers) = of_symbol(REGISTER_COUNT) else {
        return Err(InspectError::NotInImage {
            symbol: symbol.into(),
            found: entries(&file),
        });
    };
    let bounds = records(section(&file, &format!(".nv.info.{symbol}"))?.unwrap_or_default());
    Ok(Resources {
        registers,
        scalar_registers: None,
        stack_bytes: of_symbol(FRAME_SIZE).unwrap_or(0),
        static_shared_bytes: shared_bytes(&file, symbol, reserved_bytes(image)?)?,
        spills: None,
        max_threads: bounds.iter().find_map(max_threads),
        barriers: bounds
            .iter()
            .find(|record| record.attribute == BARRIERS)
            .map(|record| u32::from(record.in_place & 0xff)),
    })
}

/// The size of the kernel's shared section in bytes, without the bytes that the driver reserves.
fn shared_bytes(
    file: &ElfFile64<'_, LittleEndian>,
    symbol: &str,
    reserved: u32,
) -> Result<u32, InspectError> {
    let name = format!(".nv.shared.{symbol}");
    let Some(section) = file.section_by_name(&name) else {
        return Ok(0);
    };
    let bytes = u32::try_from(section.size())
        .map_err(|_| InspectError::image(format!("`{name}` has {} bytes", section.size())))?;
    Ok(bytes.saturating_sub(reserved))
}

/// The number of bytes of a shared section that the driver reserves: 0 before Hopper. The architecture decides, because
/// only images of newer toolkits have a section for these bytes (`.nv.shared.reserved.0`); images of CUDA 12.1 do not.
fn reserved_bytes(image: &[u8]) -> Result<u32, InspectError> {
    let architecture = kiln::image::cuda_architecture(image).map_err(InspectError::image)?;
    Ok(if architecture >= HOPPER {
        RESERVED_ON_HOPPER
    } else {
        0
    })
}

fn section<'a>(
    file: &ElfFile64<'a, LittleEndian>,
    name: &str,
) -> Result<Option<&'a [u8]>, InspectError> {
    let found = file.section_by_name(name);
    found
        .map(|section| section.data().map_err(InspectError::image))
        .transpose()
}

fn entries(file: &ElfFile64<'_, LittleEndian>) -> String {
    let names = file.sections().filter_map(|section| {
        let name = section.name().ok()?.strip_prefix(".text.")?;
        Some(name.to_owned())
    });
    let names: Vec<_> = names.take(8).collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

/// One record of an info section.
struct InfoRecord<'a> {
    attribute: u8,
    /// The value, if the record has a length; otherwise empty.
    value: &'a [u8],
    /// The 16-bit value, if the record has no length.
    in_place: u16,
}

/// The records of an info section, up to the first truncated record.
fn records(mut bytes: &[u8]) -> Vec<InfoRecord<'_>> {
    let mut records = Vec::new();
    while let [format, attribute, low, high, rest @ ..] = bytes {
        let in_place = u16::from_le_bytes([*low, *high]);
        let size = if *format == SIZED {
            usize::from(in_place)
        } else {
            0
        };
        let Some((value, after)) = rest.split_at_checked(size) else {
            break;
        };
        bytes = after;
        records.push(InfoRecord {
            attribute: *attribute,
            value,
            in_place,
        });
    }
    records
}

fn max_threads(record: &InfoRecord<'_>) -> Option<u32> {
    let [x, y, z] = words::<3>(record.value)?;
    let threads = x.checked_mul(y)?.checked_mul(z)?;
    (record.attribute == MAX_THREADS && threads > 0).then_some(threads)
}

/// The first `N` 32-bit words of a value; `None` if the value is shorter.
fn words<const N: usize>(value: &[u8]) -> Option<[u32; N]> {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(value.get(..4 * N)?.chunks_exact(4)) {
        *word = u32::from_le_bytes(bytes.try_into().ok()?);
    }
    Some(words)
}
