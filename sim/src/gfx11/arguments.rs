//! The kernel argument segment and the dispatch packet of a launch.
//!
//! LLVM, "User Guide for AMDGPU Backend", "Code Object V5 Metadata" (hidden arguments) and "Kernel Dispatch"; HSA
//! Foundation, "HSA Platform System Architecture Specification" 1.2, 2.9.6 (the dispatch packet).

use super::isa::operand::{PRIVATE_APERTURE, SHARED_APERTURE};
use super::metadata::KernelMetadata;
use super::space::{ARGUMENTS, PACKET};
use crate::{Launch, Region};

/// The value of bytes that neither an argument nor a field of the packet fills.
const POISON: u8 = 0xcd;
/// The size of the segment is a multiple of this number of bytes.
const ALIGN: usize = 64;

/// The end of the last explicit (not hidden) argument, in bytes, rounded up to a multiple of 8.
pub(super) fn explicit_bytes(kernel: &KernelMetadata) -> u32 {
    let explicit = kernel
        .arguments
        .iter()
        .filter(|argument| !argument.is_hidden());
    explicit
        .map(|argument| (argument.offset + argument.bytes).next_multiple_of(8))
        .max()
        .unwrap_or(0)
}

/// The kernel argument segment of a launch, with the hidden arguments that the metadata lists. Padding contains
/// [`POISON`].
pub(super) fn segment(kernel: &KernelMetadata, launch: &Launch, dynamic_shared: u32) -> Region {
    let bytes = (kernel.argument_bytes as usize).next_multiple_of(ALIGN);
    let mut data = vec![POISON; bytes];
    let given = launch.arguments.len().min(bytes);
    data[..given].copy_from_slice(&launch.arguments[..given]);
    for argument in kernel
        .arguments
        .iter()
        .filter(|argument| argument.is_hidden())
    {
        let Some(value) = hidden(&argument.kind, launch, dynamic_shared) else {
            continue;
        };
        let (first, bytes) = (argument.offset as usize, argument.bytes as usize);
        let value = value.to_le_bytes();
        if let Some(place) = data.get_mut(first..first + bytes.min(8)) {
            place.copy_from_slice(&value[..bytes.min(8)]);
        }
    }
    region(ARGUMENTS, &data)
}

/// The value of a hidden argument, or `None` if the argument remains poison.
fn hidden(kind: &str, launch: &Launch, dynamic_shared: u32) -> Option<u64> {
    let dimension = |suffix: &str| ["x", "y", "z"].iter().position(|name| *name == suffix);
    if let Some(i) = kind.strip_prefix("hidden_block_count_").and_then(dimension) {
        return Some(launch.grid[i].into());
    }
    if let Some(i) = kind.strip_prefix("hidden_group_size_").and_then(dimension) {
        return Some(launch.block[i].into());
    }
    if kind.starts_with("hidden_remainder_") || kind.starts_with("hidden_global_offset_") {
        // A grid consists of whole blocks and begins at 0, so remainders and offsets are 0.
        return Some(0);
    }
    match kind {
        "hidden_grid_dims" => Some(match (launch.grid, launch.block) {
            ([_, _, z], [_, _, w]) if z > 1 || w > 1 => 3,
            ([_, y, _], [_, w, _]) if y > 1 || w > 1 => 2,
            _ => 1,
        }),
        "hidden_dynamic_lds_size" => Some(dynamic_shared.into()),
        "hidden_shared_base" => Some(SHARED_APERTURE.into()),
        "hidden_private_base" => Some(PRIVATE_APERTURE.into()),
        _ => None,
    }
}

/// The dispatch packet (`hsa_kernel_dispatch_packet_t`) of a launch.
pub(super) fn packet(kernel: &KernelMetadata, launch: &Launch, shared: u32) -> Region {
    let mut data = vec![POISON; 64];
    let mut put = |at: usize, value: &[u8]| data[at..at + value.len()].copy_from_slice(value);
    for i in 0..3 {
        put(4 + 2 * i, &(launch.block[i] as u16).to_le_bytes());
        put(
            12 + 4 * i,
            &(launch.grid[i] * launch.block[i]).to_le_bytes(),
        );
    }
    // Reserved fields are 0. LLVM reads the block's size along z together with the field after it.
    put(10, &[0; 2]);
    put(48, &[0; 8]);
    put(24, &kernel.scratch_bytes.to_le_bytes());
    put(28, &shared.to_le_bytes());
    put(40, &ARGUMENTS.to_le_bytes());
    region(PACKET, &data)
}

fn region(base: u64, data: &[u8]) -> Region {
    let region = Region::new(base, data.len());
    for (i, &byte) in data.iter().enumerate() {
        region.store_u8(i, byte);
    }
    region
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;
    use crate::gfx11::metadata::Argument;

    #[test]
    fn reserved_fields_of_the_packet_are_zero() {
        let launch = Launch {
            grid: [7, 5, 3],
            block: [32, 4, 2],
            shared_bytes: 0,
            arguments: Vec::new(),
            order: Order::Forward,
        };
        let packet = packet(&KernelMetadata::default(), &launch, 0);
        assert_eq!(
            packet.load_u32(8),
            2,
            "the size of a block along z, and reserved0"
        );
        assert_eq!((packet.load_u32(48), packet.load_u32(52)), (0, 0));
    }

    #[test]
    fn only_listed_hidden_arguments_are_written() {
        let argument = |offset, bytes, kind: &str| Argument {
            offset,
            bytes,
            kind: kind.into(),
        };
        let kernel = KernelMetadata {
            arguments: vec![
                argument(0, 8, "global_buffer"),
                argument(8, 4, "hidden_block_count_x"),
                argument(20, 2, "hidden_group_size_x"),
                argument(32, 4, "hidden_dynamic_lds_size"),
            ],
            argument_bytes: 264,
            ..KernelMetadata::default()
        };
        let launch = Launch {
            grid: [7, 1, 1],
            block: [96, 1, 1],
            shared_bytes: 512,
            arguments: vec![1; 8],
            order: Order::Forward,
        };
        let segment = segment(&kernel, &launch, 512);
        assert_eq!((segment.bytes(), segment.base()), (320, ARGUMENTS));
        assert_eq!(segment.load_u32(4), 0x0101_0101);
        assert_eq!(
            (
                segment.load_u32(8),
                segment.load_u16(20),
                segment.load_u32(32)
            ),
            (7, 96, 512)
        );
        assert_eq!(
            (segment.load_u32(12), segment.load_u32(316)),
            (0xcdcd_cdcd, 0xcdcd_cdcd)
        );
        assert_eq!(explicit_bytes(&kernel), 8);
    }
}
