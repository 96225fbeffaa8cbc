//! AMD code objects: ELF files for one GPU architecture.
//!
//! Numbers: the LLVM project's "User Guide for AMDGPU Backend", section "ELF Code Object" (`ELFOSABI_AMDGPU_HSA`,
//! `ELFABIVERSION_AMDGPU_HSA_*`); those of the architectures stand with the backend.

use super::ImageError;
use super::elf::Elf;
use crate::backend::hip::code_object::{mach_of, name_of};

/// `EM_AMDGPU`.
pub(super) const MACHINE: u16 = 224;

/// `ELFOSABI_AMDGPU_HSA`.
const HSA: u8 = 0x40;

/// The code object version that `EI_ABIVERSION` 0 is.
const FIRST_VERSION: u8 = 2;

/// Code object versions that every HIP runtime of a supported architecture loads.
const LOADED_BY_ALL: std::ops::RangeInclusive<u8> = 4..=5;
/// A later version, and the first HIP runtime that loads it: version 6 came with ROCm 6.3.
const LATER: (u8, (u32, u32)) = (6, (6, 3));

/// What a code object says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeObject {
    /// `EF_AMDGPU_MACH`.
    pub mach: u32,
    /// The code object version.
    pub version: u8,
}

impl CodeObject {
    /// Reads what a code object says.
    ///
    /// # Errors
    /// When it is none for the HSA runtime.
    pub fn of(elf: &Elf<'_>) -> Result<CodeObject, ImageError> {
        if elf.os_abi != HSA {
            return Err(ImageError::Format {
                found: format!("OSABI {:#x}", elf.os_abi),
                wanted: format!("OSABI {HSA:#x} (HSA)"),
                help: "run `tune bake --images`".into(),
            });
        }
        Ok(CodeObject {
            mach: elf.flags & 0xff,
            version: elf.abi_version.saturating_add(FIRST_VERSION),
        })
    }

    /// The architecture it was compiled for.
    pub fn arch(self) -> String {
        name_of(self.mach).map_or_else(
            || {
                format!(
                    "an architecture unknown to this version (number {:#x})",
                    self.mach
                )
            },
            str::to_owned,
        )
    }

    /// Checks that a device of an architecture and HIP runtime loads it.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(self, arch: &str, runtime: Option<(u32, u32)>) -> Result<(), ImageError> {
        // Where neither is known the driver decides.
        if mach_of(arch) != Some(self.mach).filter(|mach| name_of(*mach).is_some()) {
            return Err(ImageError::Architecture {
                found: self.arch(),
                wanted: arch.to_owned(),
            });
        }
        let (later, since) = LATER;
        let takes_later = runtime.is_none_or(|runtime| runtime >= since);
        if LOADED_BY_ALL.contains(&self.version) || self.version == later && takes_later {
            return Ok(());
        }
        let newest = if takes_later {
            later
        } else {
            *LOADED_BY_ALL.end()
        };
        Err(ImageError::Format {
            found: format!("code object version {}", self.version),
            wanted: format!("version {} to {newest}", LOADED_BY_ALL.start()),
            help: "run `tune bake --images` with this version of Kiln, or update ROCm".into(),
        })
    }
}
