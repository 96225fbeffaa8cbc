//! Images, and the checks that they must pass before a device loads them.
//!
//! An image is the output of a compiler for one target: a cubin, an AMD code object, or a shared object for the cpu
//! device. Drivers do not check the images that they load, and some drivers crash if an image is truncated or meant for
//! another machine. Kiln therefore passes an image to a driver only if the image's own header shows that it is complete
//! and meant for that device, and if the image has the hash that was baked with it. See docs/images.md.

#[doc(hidden)]
pub mod amd_metadata;
mod code_object;
mod cubin;
#[doc(hidden)]
pub mod cubin_info;
mod elf;
mod error;
#[cfg(test)]
mod tests;

use kiln_spec::{Backend, Hash};

pub use error::ImageError;

use crate::compiler::Artifact;
use crate::device::DeviceInfo;
use code_object::CodeObject;
use cubin::Cubin;
use elf::Elf;

/// The field of a CUDA device's fingerprint that contains the CUDA version of the driver, as `cuDriverGetVersion`
/// returns it: 13050 stands for CUDA 13.5.
pub const CUDA_DRIVER: &str = "cuda_driver";

/// The field of a HIP device's fingerprint that contains the version of the HIP runtime, as `hipRuntimeGetVersion`
/// returns it: 60342134 stands for 6.3.
pub const HIP_RUNTIME: &str = "hip_runtime";

/// What a device requires of the images that it loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    backend: Backend,
    arch: String,
    /// Major version of CUDA that the driver supports; `None` if it is not known.
    driver: Option<u32>,
    /// Major and minor version of the HIP runtime; `None` if it is not known.
    runtime: Option<(u32, u32)>,
}

impl Wanted {
    /// The requirements of a device with this architecture and any driver.
    pub fn of_target(backend: Backend, arch: &str) -> Wanted {
        Wanted {
            backend,
            arch: arch.into(),
            driver: None,
            runtime: None,
        }
    }

    /// The requirements of a specific device.
    pub fn of_device(info: &DeviceInfo) -> Wanted {
        let number = |field| info.fingerprint.get(field)?.parse::<u32>().ok();
        Wanted {
            driver: number(CUDA_DRIVER).map(|version| version / 1000),
            runtime: number(HIP_RUNTIME)
                .map(|version| (version / 10_000_000, version / 100_000 % 100)),
            ..Wanted::of_target(info.key.backend, &info.key.arch)
        }
    }
}

/// Checks that a device can load an artifact's image. The fake device can load any image.
/// The cpu device also checks the artifact's target when it loads the artifact, because a shared object does not state
/// which instruction sets it needs.
///
/// # Errors
/// The first property that differs, with the found and the required value.
pub fn check(artifact: &Artifact, wanted: &Wanted) -> Result<(), ImageError> {
    if artifact.backend != wanted.backend {
        return Err(ImageError::Backend {
            found: artifact.backend,
            wanted: wanted.backend,
        });
    }
    check_bytes(&artifact.image, wanted)
}

/// Like [`check`], for an image that is known to be for the right backend.
///
/// # Errors
/// The errors of [`check`].
pub fn check_bytes(image: &[u8], wanted: &Wanted) -> Result<(), ImageError> {
    let Some(machine) = machine_of(wanted.backend) else {
        return Ok(());
    };
    let elf = Elf::read(image)?;
    if elf.machine != machine {
        return Err(ImageError::Machine {
            found: machine_name(elf.machine),
            wanted: machine_name(machine),
        });
    }
    match wanted.backend {
        Backend::Cuda => Cubin::of(&elf)?.check(&wanted.arch, wanted.driver),
        Backend::Hip => CodeObject::of(&elf)?.check(&wanted.arch, wanted.runtime),
        Backend::Cpu | Backend::Fake => Ok(()),
    }
}

/// Checks that an artifact's image has the hash that was baked with it.
///
/// # Errors
/// [`ImageError::Hash`].
pub fn check_hash(artifact: &Artifact, wanted: Hash) -> Result<(), ImageError> {
    if artifact.hash == wanted {
        return Ok(());
    }
    Err(ImageError::Hash {
        found: artifact.hash,
        wanted,
    })
}

/// Whether an image contains the kernel with this symbol.
///
/// # Errors
/// If the image is not a complete ELF file.
pub fn has_kernel(image: &[u8], backend: Backend, symbol: &str) -> Result<bool, ImageError> {
    let elf = Elf::read(image)?;
    Ok(match backend {
        Backend::Cuda => elf.defines(symbol),
        // The symbol of the kernel descriptor.
        Backend::Hip => elf.defines(&format!("{symbol}.kd")),
        Backend::Cpu | Backend::Fake => elf.defines(&format!("kiln_cpu_run_{symbol}")),
    })
}

/// The architecture number in a cubin's own header, such as 89 for `sm_89`.
///
/// # Errors
/// If the image is not a complete ELF file, is not a cubin, or has an unknown format.
pub fn cuda_architecture(image: &[u8]) -> Result<u32, ImageError> {
    let elf = Elf::read(image)?;
    if elf.machine != cubin::MACHINE {
        return Err(ImageError::Machine {
            found: machine_name(elf.machine),
            wanted: machine_name(cubin::MACHINE),
        });
    }
    Ok(Cubin::of(&elf)?.sm)
}

/// The target that an image's own header states, as text: `sm_89 (CUDA 13)`, `gfx1151 (code object version 5)`.
///
/// # Errors
/// If the image is not a complete ELF file, or if its format is unknown.
pub fn describe(image: &[u8]) -> Result<String, ImageError> {
    let elf = Elf::read(image)?;
    Ok(match elf.machine {
        cubin::MACHINE => {
            let Cubin { sm, toolkit } = Cubin::of(&elf)?;
            format!("sm_{sm} (CUDA {toolkit})")
        }
        code_object::MACHINE => {
            let object = CodeObject::of(&elf)?;
            format!("{} (code object version {})", object.arch(), object.version)
        }
        other => machine_name(other),
    })
}

const X86_64: u16 = 62;
const AARCH64: u16 = 183;

/// The ELF `e_machine` value of a backend's images. `None` for the fake device, whose images are not ELF files.
fn machine_of(backend: Backend) -> Option<u16> {
    match backend {
        Backend::Cuda => Some(cubin::MACHINE),
        Backend::Hip => Some(code_object::MACHINE),
        Backend::Cpu if cfg!(target_arch = "aarch64") => Some(AARCH64),
        Backend::Cpu => Some(X86_64),
        Backend::Fake => None,
    }
}

fn machine_name(machine: u16) -> String {
    match machine {
        cubin::MACHINE => "NVIDIA GPUs".into(),
        code_object::MACHINE => "AMD GPUs".into(),
        X86_64 => "x86-64 processors".into(),
        AARCH64 => "aarch64 processors".into(),
        other => format!("machines of the ELF number {other}"),
    }
}
