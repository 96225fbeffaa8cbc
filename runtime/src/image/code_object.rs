//! AMD code objects: ELF files for one GPU architecture.
//!
//! The numbers are from the LLVM project's "User Guide for AMDGPU Backend", section "ELF Code Object"
//! (`ELFOSABI_AMDGPU_HSA`, `ELFABIVERSION_AMDGPU_HSA_*`, `EF_AMDGPU_MACH`). For the architectures that clang 19
//! supports, they were compared with the output of clang 19.

use super::ImageError;
use super::elf::Elf;

/// The ELF `e_machine` value of AMD GPUs (`EM_AMDGPU`).
pub(super) const MACHINE: u16 = 224;

/// The ELF `EI_OSABI` value of the HSA runtime (`ELFOSABI_AMDGPU_HSA`).
const HSA: u8 = 0x40;

/// The version of the code object format that `EI_ABIVERSION` 0 stands for.
const FIRST_VERSION: u8 = 2;

/// Code object versions that every HIP runtime of a supported architecture can load.
const LOADED_BY_ALL: std::ops::RangeInclusive<u8> = 4..=5;
/// The version of the format after [`LOADED_BY_ALL`], and the first HIP runtime that can load it. Version 6 was
/// introduced by ROCm 6.3.
const LATER: (u8, (u32, u32)) = (6, (6, 3));

/// Values of `EF_AMDGPU_MACH` and their architectures, beginning with the ninth generation.
const ARCHITECTURES: [(u32, &str); 39] = [
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x3f, "gfx90a"),
    (0x32, "gfx90c"),
    (0x40, "gfx940"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4f, "gfx950"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x42, "gfx1013"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3e, "gfx1034"),
    (0x3d, "gfx1035"),
    (0x45, "gfx1036"),
    (0x41, "gfx1100"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x44, "gfx1103"),
    (0x43, "gfx1150"),
    (0x4a, "gfx1151"),
    (0x55, "gfx1152"),
    (0x58, "gfx1153"),
    (0x48, "gfx1200"),
    (0x4e, "gfx1201"),
    (0x49, "gfx1250"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x59, "gfx12-generic"),
];

/// The `EF_AMDGPU_MACH` value of an architecture. Features that follow after a colon, as in `gfx90a:xnack-`, are
/// ignored. `None` if the architecture is unknown.
fn mach_of(arch: &str) -> Option<u32> {
    let base = arch.split(':').next().unwrap_or(arch);
    let row = ARCHITECTURES.iter().find(|(_, name)| *name == base);
    row.map(|(mach, _)| *mach)
}

/// The architecture with this `EF_AMDGPU_MACH` value; `None` if the value is unknown.
fn name_of(mach: u32) -> Option<&'static str> {
    let row = ARCHITECTURES.iter().find(|(number, _)| *number == mach);
    row.map(|(_, name)| *name)
}

/// The information in the header of a code object that determines whether a device can load it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeObject {
    /// The field `EF_AMDGPU_MACH` of the flags, which states the architecture.
    pub mach: u32,
    /// The version of the code object format.
    pub version: u8,
}

impl CodeObject {
    /// Reads the header of a code object.
    ///
    /// # Errors
    /// If the code object is not for the HSA runtime.
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

    /// The architecture for which the code object was compiled.
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

    /// Checks that a device with this architecture and HIP runtime can load the code object.
    ///
    /// # Errors
    /// The first property that differs.
    pub fn check(self, arch: &str, runtime: Option<(u32, u32)>) -> Result<(), ImageError> {
        // If neither architecture is known, the driver decides.
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
