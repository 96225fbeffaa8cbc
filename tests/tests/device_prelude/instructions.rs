//! Counts machine instructions of a kernel in its image.
//!
//! NVIDIA does not document the encoding. Since sm_70, an instruction has 16 bytes, and its lowest 12 bits are the
//! opcode. The opcodes here were compared with the output of `nvdisasm` 13. AMD's opcodes are from "RDNA3.5 Instruction
//! Set Architecture", chapter 15 (microcode formats).

use kiln::spec::Backend;
use kiln::spec::targets::KnownTarget;
use object::LittleEndian;
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

/// The kinds of instructions that can be counted.
#[derive(Clone, Copy, Debug)]
pub enum Instruction {
    /// A matrix product of tiles: HMMA on NVIDIA GPUs, v_wmma_f32_16x16x16 on AMD GPUs.
    MatrixProduct,
    /// A 16-byte load from global memory: LDG.128, global_load_b128.
    LoadOf16Bytes,
    /// A 16-byte store to global memory: STG.128, global_store_b128.
    StoreOf16Bytes,
    /// A 4-byte store to global memory: STG, global_store_b32.
    StoreOf4Bytes,
    /// A 2-byte store to shared memory: STS.U16, ds_store_b16.
    SharedStoreOf2Bytes,
    /// A 2-byte load from shared memory: LDS.U16, ds_load_u16, ds_load_u16_d16, ds_load_u16_d16_hi.
    SharedLoadOf2Bytes,
    /// A copy from global to shared memory that bypasses registers: LDGSTS. AMD's gfx11 has no such instruction.
    AsyncCopy,
    /// A load of four 8 x 8 matrices from shared memory: LDSM. AMD's gfx11 has no such instruction.
    MatrixLoad,
    /// Any instruction.
    Any,
}

/// The number of instructions of a kind in a kernel.
pub fn count(target: &KnownTarget, image: &[u8], kernel: &str, instruction: Instruction) -> usize {
    let code = code(target.backend, image, kernel);
    assert!(!code.is_empty(), "{kernel} has code");
    if target.backend == Backend::Cuda {
        let (instructions, rest) = code.as_chunks::<16>();
        assert_eq!(rest.len(), 0, "{kernel}: whole instructions");
        let matching = instructions
            .iter()
            .filter(|bytes| on_nvidia(instruction, u128::from_le_bytes(**bytes)));
        matching.count()
    } else {
        // A constant in the code could look like such an instruction (as a float, -5e7 or -2.5e17). These kernels have
        // none.
        let (words, _) = code.as_chunks::<4>();
        let matching = words
            .iter()
            .filter(|bytes| on_amd(instruction, u32::from_le_bytes(**bytes)));
        matching.count()
    }
}

/// The machine code of a kernel.
fn code<'a>(backend: Backend, image: &'a [u8], kernel: &str) -> &'a [u8] {
    let file = ElfFile64::<LittleEndian>::parse(image).unwrap();
    if backend == Backend::Cuda {
        let section = file.section_by_name(&format!(".text.{kernel}"));
        return section.unwrap().data().unwrap();
    }
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(kernel));
    let symbol = symbol.unwrap();
    let section = file
        .section_by_index(symbol.section_index().unwrap())
        .unwrap();
    let begin = usize::try_from(symbol.address() - section.address()).unwrap();
    let size = usize::try_from(symbol.size()).unwrap();
    &section.data().unwrap()[begin..begin + size]
}

fn on_nvidia(instruction: Instruction, word: u128) -> bool {
    let operation = word & 0xfff;
    // Bits 73 to 75 of loads and stores are the size: 2, 4 and 6 are unsigned 16, 32 and 128 bits.
    let size = word >> 73 & 7;
    match instruction {
        Instruction::MatrixProduct => operation == 0x23c,
        Instruction::LoadOf16Bytes => matches!(operation, 0x381 | 0x981) && size == 6,
        Instruction::StoreOf16Bytes => matches!(operation, 0x386 | 0x986) && size == 6,
        Instruction::StoreOf4Bytes => matches!(operation, 0x386 | 0x986) && size == 4,
        Instruction::SharedStoreOf2Bytes => operation == 0x388 && size == 2,
        Instruction::SharedLoadOf2Bytes => operation == 0x984 && size == 2,
        Instruction::AsyncCopy => operation == 0xfae,
        Instruction::MatrixLoad => operation == 0x83b,
        // 0x918 is NOP, which pads the section.
        Instruction::Any => operation != 0x918,
    }
}

fn on_amd(instruction: Instruction, word: u32) -> bool {
    // The high half contains the format and the opcode.
    let high = word >> 16;
    match instruction {
        // VOP3P, opcodes 64 (f16) and 65 (bf16).
        Instruction::MatrixProduct => matches!(high, 0xcc40 | 0xcc41),
        // FLAT, segment global, opcodes 23 and 29.
        Instruction::LoadOf16Bytes => high == 0xdc5e,
        Instruction::StoreOf16Bytes => high == 0xdc76,
        Instruction::StoreOf4Bytes => high == 0xdc6a,
        // DS, opcode 31.
        Instruction::SharedStoreOf2Bytes => high == 0xd87c,
        // DS, opcodes 60, 166 and 167.
        Instruction::SharedLoadOf2Bytes => matches!(high, 0xd8f0 | 0xda98 | 0xda9c),
        Instruction::AsyncCopy | Instruction::MatrixLoad => false,
        // Instructions have one to five words, so this count is an upper bound.
        Instruction::Any => true,
    }
}
