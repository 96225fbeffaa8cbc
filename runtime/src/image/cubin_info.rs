//! Reads what a cubin states about its kernels.
//!
//! `.nv.info` and `.nv.info.<kernel>` are sequences of records. A record has a format byte and an attribute byte. In
//! format 4, a 16-bit length and that many bytes of value follow; in the other formats, a 16-bit value follows
//! directly. The sections contain these facts:
//!
//! - `.nv.info`: the registers and the stack of each kernel, by symbol.
//! - `.nv.info.<kernel>`: parameters, launch bounds, the required block, clusters and barriers.
//! - `.nv.shared.<kernel>`: the static shared memory, which is the size of the section.
//!
//! NVIDIA does not document the format. This reader was compared with `ptxas -v`, `cuobjdump --dump-resource-usage` and
//! `cuobjdump -elf` for toolkits 12.1 to 13.5.

use std::fmt::Display;

use kiln_spec::targets::MAX_THREADS_PER_BLOCK;
use kiln_spec::{Cluster, KernelLimits};
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{ElfFile64, FileHeader as _};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolIndex};
use thiserror::Error;

use super::cubin::MACHINE;

/// The format of records that have a 16-bit length and a value of that length.
const SIZED: u8 = 4;
/// Attribute: maximum number of threads per block, as x, y, z.
const MAX_THREADS: u8 = 0x05;
/// Attribute: the required block, as x, y, z.
const REQUIRED_BLOCK: u8 = 0x10;
/// Attribute: stack frame, as symbol and bytes.
const FRAME_SIZE: u8 = 0x11;
/// Attribute: one parameter. `WIDE_PARAMETER` replaces it in kernels with more than 4352 bytes of parameters
/// (findings/cubin_wide_parameters.sh).
const PARAMETER: u8 = 0x17;
/// Attribute: size of all parameters in bytes, as a 16-bit value.
const PARAMETER_BYTES: u8 = 0x19;
/// Attribute: registers, as symbol and count.
const REGISTER_COUNT: u8 = 0x2f;
/// Attribute: blocks per cluster, as x, y, z.
const CLUSTER: u8 = 0x3d;
/// Attribute: one parameter of a kernel with more than 4352 bytes of parameters.
const WIDE_PARAMETER: u8 = 0x45;
/// Attribute: number of block barriers, as a 16-bit value. The record is missing if the kernel has no barrier.
const BARRIERS: u8 = 0x4c;
/// Attribute: the grid counts clusters, not blocks.
const GRID_OF_CLUSTERS: u8 = 0x5b;

/// Number of reserved bytes at the beginning of shared memory on Hopper and later. `.nv.shared` includes them, but
/// `ptxas` does not report them.
const RESERVED_ON_HOPPER: u32 = 1024;
/// The first architecture with these reserved bytes.
const HOPPER: u32 = 90;

/// What a cubin states about one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubinKernel {
    /// What launches must respect.
    pub limits: KernelLimits,
    /// Number of parameters.
    pub parameters: usize,
    /// 32-bit registers per thread.
    pub registers: u32,
    /// Stack per thread, in bytes.
    pub stack_bytes: u32,
    /// Number of block barriers; `None` if the image does not state it.
    pub barriers: Option<u32>,
}

/// Why the facts of a kernel cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CubinInfoError {
    /// The image is damaged, or it is not a cubin.
    #[error("{what}")]
    Image {
        /// A description of the fault.
        what: String,
    },
    /// The image does not contain the kernel.
    #[error("it has: {found}")]
    NotInImage {
        /// The kernels that the image contains.
        found: String,
    },
}

/// Reads what a cubin states about a kernel.
///
/// # Errors
/// If the image is damaged, is not a cubin, or lacks the kernel.
pub fn kernel(image: &[u8], symbol: &str) -> Result<CubinKernel, CubinInfoError> {
    let header = FileHeader64::<LittleEndian>::parse(image).map_err(unreadable)?;
    if header.e_machine.get(LittleEndian) != MACHINE {
        return Err(unreadable("it is not a CUDA image"));
    }
    let file = ElfFile64::<LittleEndian>::parse(image).map_err(unreadable)?;
    let of_all = records(section(&file, ".nv.info")?);
    let of_symbol = |attribute: u8| {
        of_all.iter().find_map(|record| {
            let [at, value] = words::<2>(record.value)?;
            let named = file.symbol_by_index(SymbolIndex(at as usize)).ok()?;
            (record.attribute == attribute && named.name() == Ok(symbol)).then_some(value)
        })
    };
    let Some(registers) = of_symbol(REGISTER_COUNT) else {
        let found = entries(&file);
        return Err(CubinInfoError::NotInImage { found });
    };
    let records = records(section(&file, &format!(".nv.info.{symbol}"))?);
    let in_place = |attribute| {
        let mut of_attribute = records
            .iter()
            .filter(|record| record.attribute == attribute);
        of_attribute.next().map(|record| u32::from(record.in_place))
    };
    let parameters = records
        .iter()
        .filter(|record| matches!(record.attribute, PARAMETER | WIDE_PARAMETER));
    Ok(CubinKernel {
        limits: KernelLimits {
            static_shared_bytes: shared_bytes(&file, symbol, reserved_bytes(image)?)?,
            max_threads: extents(&records, MAX_THREADS).and_then(max_threads),
            required_block: extents(&records, REQUIRED_BLOCK),
            cluster: extents(&records, CLUSTER).map(|blocks| Cluster {
                blocks,
                grid_of_clusters: in_place(GRID_OF_CLUSTERS).is_some(),
            }),
            parameter_bytes: in_place(PARAMETER_BYTES).unwrap_or(0),
        },
        parameters: parameters.count(),
        registers,
        stack_bytes: of_symbol(FRAME_SIZE).unwrap_or(0),
        barriers: in_place(BARRIERS).map(|count| count & 0xff),
    })
}

/// The size of the kernel's shared section in bytes, without the bytes that the driver reserves.
fn shared_bytes(
    file: &ElfFile64<'_, LittleEndian>,
    symbol: &str,
    reserved: u32,
) -> Result<u32, CubinInfoError> {
    let name = format!(".nv.shared.{symbol}");
    let Some(section) = file.section_by_name(&name) else {
        return Ok(0);
    };
    let bytes = u32::try_from(section.size())
        .map_err(|_| unreadable(format!("`{name}` has {} bytes", section.size())))?;
    Ok(bytes.saturating_sub(reserved))
}

/// The number of bytes of a shared section that the driver reserves: 0 before Hopper. The architecture decides, because
/// only images of newer toolkits have a section for these bytes (`.nv.shared.reserved.0`); images of CUDA 12.1 do not.
fn reserved_bytes(image: &[u8]) -> Result<u32, CubinInfoError> {
    let architecture = super::cuda_architecture(image).map_err(unreadable)?;
    Ok(if architecture >= HOPPER {
        RESERVED_ON_HOPPER
    } else {
        0
    })
}

/// The content of a section; empty if the file lacks the section.
fn section<'a>(file: &ElfFile64<'a, LittleEndian>, name: &str) -> Result<&'a [u8], CubinInfoError> {
    let section = file.section_by_name(name);
    section.map_or(Ok(&[]), |section| section.data().map_err(unreadable))
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

fn unreadable(what: impl Display) -> CubinInfoError {
    CubinInfoError::Image {
        what: what.to_string(),
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

/// The value of an attribute along x, y and z.
fn extents(records: &[InfoRecord<'_>], attribute: u8) -> Option<[u32; 3]> {
    let record = records
        .iter()
        .find(|record| record.attribute == attribute)?;
    words::<3>(record.value)
}

/// The number of threads of a launch bound. A bound above the limit of all GPUs has no effect (see docs/targets.md).
fn max_threads([x, y, z]: [u32; 3]) -> Option<u32> {
    let threads = x.checked_mul(y)?.checked_mul(z)?;
    (threads > 0).then_some(threads.min(MAX_THREADS_PER_BLOCK))
}

/// The first `N` 32-bit words of a value; `None` if the value is shorter.
fn words<const N: usize>(value: &[u8]) -> Option<[u32; N]> {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(value.get(..4 * N)?.chunks_exact(4)) {
        *word = u32::from_le_bytes(bytes.try_into().ok()?);
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUDA_12: &[u8] = include_bytes!("../../tests/images/sm_89.cuda12.cubin");
    const CUDA_13: &[u8] = include_bytes!("../../tests/images/sm_89.cuda13.cubin");

    #[test]
    fn both_layouts_say_which_parameters_a_kernel_takes() {
        for image in [CUDA_12, CUDA_13] {
            let found = kernel(image, "k").unwrap();
            assert_eq!((found.parameters, found.limits.parameter_bytes), (1, 8));
            let absent = kernel(image, "no_such_kernel");
            assert!(matches!(absent, Err(CubinInfoError::NotInImage { .. })));
        }
    }

    #[test]
    fn a_cut_off_image_says_nothing_wrong() {
        let whole = kernel(CUDA_13, "k").unwrap();
        for len in 0..CUDA_13.len() {
            let said = kernel(&CUDA_13[..len], "k");
            assert!(said.is_err() || said == Ok(whole), "{len}");
        }
    }

    #[test]
    fn clusters_and_wide_parameters_are_records() {
        let sized = |attribute: u8, words: &[u32]| {
            let mut record = vec![SIZED, attribute, 4 * words.len() as u8, 0];
            record.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            record
        };
        let bytes = [
            sized(CLUSTER, &[2, 1, 1]),
            vec![1, GRID_OF_CLUSTERS, 0, 0],
            sized(MAX_THREADS, &[2048, 1, 1]),
            sized(WIDE_PARAMETER, &[0, 0, 5000]),
        ]
        .concat();
        let records = records(&bytes);
        assert_eq!(records.len(), 4);
        assert_eq!(extents(&records, CLUSTER), Some([2, 1, 1]));
        assert_eq!(
            extents(&records, MAX_THREADS).and_then(max_threads),
            Some(1024)
        );
        assert_eq!(extents(&records, REQUIRED_BLOCK), None);
    }
}
