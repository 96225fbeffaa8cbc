//! Cubins: ELF files for one NVIDIA architecture.
//!
//! NVIDIA documents neither the header nor the notes of a cubin. The two layouts of `e_flags` are from LLVM's
//! `BinaryFormat/ELF.h` (`EF_CUDA_SM`, `EF_CUDA_SM_MASK`, `ELFOSABI_CUDA`, `ELFOSABI_CUDA_V2`). The position of the
//! toolkit's version was determined by comparing the output of NVRTC 12.9 and 13.5 for every architecture that they
//! support.

use super::ImageError;
use super::elf::Elf;

/// The ELF `e_machine` value of NVIDIA GPUs (`EM_CUDA`).
pub(super) const MACHINE: u16 = 190;

/// `EI_OSABI` and `EI_ABIVERSION` of the first layout: `ELFOSABI_CUDA` with its only ABI version. CUDA up to version 12
/// uses this layout for architectures up to sm_90.
const FIRST: (u8, u8) = (0x33, 7);
/// `EI_OSABI` and `EI_ABIVERSION` of the second layout: `ELFOSABI_CUDA_V2` with its first ABI version. CUDA 13 uses
/// this layout for all architectures, CUDA 12 for sm_100 and later.
const SECOND: (u8, u8) = (0x41, 8);

/// The first architecture for which CUDA 12 uses the second layout.
const BLACKWELL: u32 = 100;

/// The note that contains the version of ptxas, in the second layout.
const TOOLKIT_NOTE: &str = ".note.nv.tkinfo";

/// The information in the header of a cubin that determines whether a device can load it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cubin {
    /// The number of the architecture: 89 for `sm_89`.
    pub sm: u32,
    /// The major version of the CUDA toolkit that built the cubin.
    pub toolkit: u32,
}

impl Cubin {
    /// Reads the header of a cubin.
    ///
    /// # Errors
    /// If this version of Kiln does not know the layout.
    pub fn of(elf: &Elf<'_>) -> Result<Cubin, ImageError> {
        let abi = (elf.os_abi, elf.abi_version);
        if abi == FIRST {
            // 0x81 is 129, which stands for CUDA 12.9.
            let toolkit = elf.version / 10;
            let sm = elf.flags & 0xff;
            return Ok(Cubin { sm, toolkit });
        }
        if abi.0 == SECOND.0 && abi.1 >= SECOND.1 {
            let sm = elf.flags >> 8 & 0xff;
            let oldest = if sm < BLACKWELL { 13 } else { 12 };
            let toolkit = elf.section(TOOLKIT_NOTE).and_then(toolkit_of);
            let toolkit = toolkit.unwrap_or(oldest);
            return Ok(Cubin { sm, toolkit });
        }
        Err(ImageError::Format {
            found: format!("OSABI {:#x} version {}", abi.0, abi.1),
            wanted: format!(
                "OSABI {:#x} version {}, or {:#x} version {} or later,",
                FIRST.0, FIRST.1, SECOND.0, SECOND.1
            ),
            help: "run `tune bake --images` with NVRTC 12 or 13".into(),
        })
    }

    /// Checks that a device with this architecture and driver can load the cubin.
    ///
    /// # Errors
    /// The first property that differs.
    pub fn check(self, arch: &str, driver: Option<u32>) -> Result<(), ImageError> {
        if number_of(arch) != Some(self.sm) {
            return Err(ImageError::Architecture {
                found: format!("sm_{}", self.sm),
                wanted: arch.to_owned(),
            });
        }
        match driver {
            Some(driver) if self.toolkit > driver => Err(ImageError::Driver {
                toolkit: self.toolkit,
                driver,
            }),
            _ => Ok(()),
        }
    }
}

/// The number of an architecture. It is 90 for both `sm_90` and `sm_90a`, because the header does not always
/// distinguish them.
fn number_of(arch: &str) -> Option<u32> {
    let number = arch.strip_prefix("sm_")?;
    number
        .strip_suffix(|c: char| matches!(c, 'a' | 'f'))
        .unwrap_or(number)
        .parse()
        .ok()
}

/// The major version in the text of the toolkit's note, such as 13 in `Cuda compilation tools, release 13.5,
/// V13.5.37`.
fn toolkit_of(note: &[u8]) -> Option<u32> {
    const BEFORE: &[u8] = b"Cuda compilation tools, release ";
    let at = note.windows(BEFORE.len()).position(|part| part == BEFORE)?;
    let digits = note[at + BEFORE.len()..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    let digits: String = digits.map(|byte| char::from(*byte)).collect();
    digits.parse().ok()
}
