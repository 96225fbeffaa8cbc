//! Code objects: the ELF files that AMD GPUs run, as far as their header tells what they are for.
//!
//! Source: "User Guide for AMDGPU Backend" (LLVM), chapter "ELF Code Object", tables of `e_ident`,
//! `e_machine` and `e_flags`.

use object::LittleEndian;
use object::elf::{EM_AMDGPU, FileHeader64};
use object::read::elf::{ElfFile64, FileHeader as _};

/// `EI_OSABI` of code objects for the HSA runtime.
const OSABI_AMDGPU_HSA: u8 = 64;
/// `EI_ABIVERSION` of code object version 5; version 4 has one less, version 6 one more.
const ABI_VERSION_5: u8 = 3;
/// The bits of `e_flags` that name the processor.
const MACH_MASK: u32 = 0xff;

/// What the header of a code object says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeObject {
    /// The processor's number in `e_flags`.
    pub mach: u32,
    /// The code object version: 5.
    pub version: u8,
}

impl CodeObject {
    /// Reads the header of an image, and that the file is whole as far as its section table tells.
    ///
    /// # Errors
    /// Why it is no code object.
    pub fn read(image: &[u8]) -> Result<CodeObject, String> {
        let no_elf = |error: object::Error| format!("it is no ELF file: {error}");
        let header = FileHeader64::<LittleEndian>::parse(image).map_err(no_elf)?;
        let endian = LittleEndian;
        let machine = header.e_machine(endian);
        if machine != EM_AMDGPU {
            return Err(format!(
                "it is an ELF file for machine {machine}, not for AMD GPUs ({EM_AMDGPU})"
            ));
        }
        let osabi = header.e_ident().os_abi;
        if osabi != OSABI_AMDGPU_HSA {
            return Err(format!(
                "its OS ABI is {osabi}, not HSA ({OSABI_AMDGPU_HSA})"
            ));
        }
        let _: ElfFile64 =
            ElfFile64::parse(image).map_err(|error| format!("it is cut or damaged: {error}"))?;
        let version = header
            .e_ident()
            .abi_version
            .saturating_add(5 - ABI_VERSION_5);
        Ok(CodeObject {
            mach: header.e_flags(endian) & MACH_MASK,
            version,
        })
    }

    /// Whether it runs on an architecture: `gfx1151`, or one with features behind (`gfx90a:xnack-`).
    ///
    /// # Errors
    /// What it is for instead. An architecture that Kiln has no number of is left to the driver.
    pub fn check_arch(self, arch: &str) -> Result<(), String> {
        match mach_of(arch) {
            Some(mach) if mach != self.mach => {
                let own = name_of(self.mach);
                let own = own.map_or(format!("processor {:#x}", self.mach), str::to_owned);
                Err(format!("it was compiled for {own}, not for {arch}"))
            }
            _ => Ok(()),
        }
    }
}

/// The number of an architecture in `e_flags`.
pub fn mach_of(arch: &str) -> Option<u32> {
    let processor = arch.split(':').next().unwrap_or(arch);
    let row = MACHS.iter().find(|(name, _)| *name == processor);
    row.map(|(_, mach)| *mach)
}

/// The architecture of a number in `e_flags`.
pub fn name_of(mach: u32) -> Option<&'static str> {
    let row = MACHS.iter().find(|(_, number)| *number == mach);
    row.map(|(name, _)| *name)
}

/// Every architecture since Vega with its number (`EF_AMDGPU_MACH_AMDGCN_*`).
pub const MACHS: &[(&str, u32)] = &[
    ("gfx900", 0x2c),
    ("gfx902", 0x2d),
    ("gfx904", 0x2e),
    ("gfx906", 0x2f),
    ("gfx908", 0x30),
    ("gfx909", 0x31),
    ("gfx90c", 0x32),
    ("gfx1010", 0x33),
    ("gfx1011", 0x34),
    ("gfx1012", 0x35),
    ("gfx1030", 0x36),
    ("gfx1031", 0x37),
    ("gfx1032", 0x38),
    ("gfx1033", 0x39),
    ("gfx1035", 0x3d),
    ("gfx1034", 0x3e),
    ("gfx90a", 0x3f),
    ("gfx1100", 0x41),
    ("gfx1013", 0x42),
    ("gfx1150", 0x43),
    ("gfx1103", 0x44),
    ("gfx1036", 0x45),
    ("gfx1101", 0x46),
    ("gfx1102", 0x47),
    ("gfx1200", 0x48),
    ("gfx1151", 0x4a),
    ("gfx942", 0x4c),
    ("gfx1201", 0x4e),
    ("gfx950", 0x4f),
    ("gfx1152", 0x55),
    ("gfx1153", 0x58),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a code object and nothing behind it but a section table of no entries.
    fn header(machine: u16, osabi: u8, flags: u32) -> Vec<u8> {
        let mut image = vec![0; 64];
        image[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, osabi, ABI_VERSION_5]);
        image[16..18].copy_from_slice(&3_u16.to_le_bytes());
        image[18..20].copy_from_slice(&machine.to_le_bytes());
        image[20] = 1;
        image[48..52].copy_from_slice(&flags.to_le_bytes());
        image[52] = 64;
        image
    }

    #[test]
    fn a_header_tells_processor_and_version() {
        let image = header(EM_AMDGPU, OSABI_AMDGPU_HSA, 0x14a);
        let object = CodeObject::read(&image).unwrap();
        assert_eq!((object.mach, object.version), (0x4a, 5));
        assert_eq!(object.check_arch("gfx1151"), Ok(()));
        assert_eq!(object.check_arch("gfx1151:cumode+"), Ok(()));
        assert_eq!(object.check_arch("gfx4711"), Ok(()), "left to the driver");
        let said = object.check_arch("gfx1100").unwrap_err();
        assert_eq!(said, "it was compiled for gfx1151, not for gfx1100");
    }

    #[test]
    fn what_is_no_code_object_is_told_by_what_it_is() {
        let refused = |image: &[u8]| CodeObject::read(image).unwrap_err();
        assert!(refused(b"").contains("no ELF file"));
        assert!(refused(b"#!/bin/sh").contains("no ELF file"));
        assert!(refused(&header(62, 0, 0)).contains("for machine 62"));
        assert!(refused(&header(EM_AMDGPU, 0, 0x4a)).contains("OS ABI is 0"));
    }

    #[test]
    fn no_architecture_and_no_number_stands_twice() {
        for (i, (name, mach)) in MACHS.iter().enumerate() {
            let rest = &MACHS[i + 1..];
            assert!(
                rest.iter()
                    .all(|(other, number)| other != name && number != mach),
                "{name}"
            );
        }
        assert_eq!(name_of(0x4a), Some("gfx1151"));
        assert_eq!(mach_of("gfx90a:sramecc+:xnack-"), Some(0x3f));
    }
}
