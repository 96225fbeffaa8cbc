//! Reads the resources of a kernel from the metadata of an AMD code object.

use kiln::image::amd_metadata::{self, AmdKernel};
use kiln_spec::KernelLimits;
use object::LittleEndian;
use object::elf::{EM_AMDGPU, FileHeader64};
use object::read::elf::FileHeader as _;

use super::{InspectError, Resources, Spills};

/// The resources of an entry.
pub(super) fn resources(image: &[u8], symbol: &str) -> Result<Resources, InspectError> {
    let header = FileHeader64::<LittleEndian>::parse(image).map_err(InspectError::image)?;
    if header.e_machine.get(LittleEndian) != EM_AMDGPU {
        return Err(InspectError::image("it is not an AMD code object"));
    }
    let kernels = amd_metadata::kernels(image).map_err(InspectError::image)?;
    let Some(kernel) = kernels.iter().find(|kernel| kernel.name == symbol) else {
        return Err(InspectError::NotInImage {
            symbol: symbol.into(),
            found: names(&kernels),
        });
    };
    let required = |number: Option<u32>, name: &str| {
        number.ok_or_else(|| {
            InspectError::image(format!("its metadata lacks `{name}` of `{symbol}`"))
        })
    };
    let spills = kernel.vector_spills.map(|vector| Spills::Registers {
        vector,
        scalar: kernel.scalar_spills.unwrap_or(0),
    });
    Ok(Resources {
        registers: required(kernel.vector_registers, ".vgpr_count")?,
        scalar_registers: kernel.scalar_registers,
        stack_bytes: required(kernel.stack_bytes, ".private_segment_fixed_size")?,
        limits: KernelLimits {
            static_shared_bytes: required(kernel.static_shared_bytes, ".group_segment_fixed_size")?,
            max_threads: kernel.max_threads,
            ..KernelLimits::default()
        },
        spills,
        barriers: None,
    })
}

fn names(kernels: &[AmdKernel]) -> String {
    let names = kernels.iter().take(8).map(|kernel| kernel.name.as_str());
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}
