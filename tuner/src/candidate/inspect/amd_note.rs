//! The metadata note of an AMD code object (an ELF file): `NT_AMDGPU_METADATA`, a map in MessagePack.
//!
//! Source: LLVM's user guide of the AMDGPU backend, "Code Object V3 and above Metadata".

use object::LittleEndian;
use object::elf::{EM_AMDGPU, FileHeader64};
use object::read::elf::{FileHeader as _, SectionHeader as _};
use rmpv::Value;

use super::{InspectError, Resources, Spills};

/// `NT_AMDGPU_METADATA`.
const METADATA: u32 = 32;

/// Maps within maps that a reader follows: the note has five levels.
const MAX_DEPTH: usize = 32;

/// The figures of an entry.
pub(super) fn resources(image: &[u8], symbol: &str) -> Result<Resources, InspectError> {
    let metadata = metadata(image)?;
    let kernels = get(&metadata, "amdhsa.kernels").and_then(Value::as_array);
    let kernels = kernels.ok_or_else(|| InspectError::image("its metadata lists no kernels"))?;
    let named = |kernel: &&Value| get(kernel, ".name").and_then(Value::as_str) == Some(symbol);
    let Some(kernel) = kernels.iter().find(named) else {
        return Err(InspectError::NotInImage {
            symbol: symbol.into(),
            found: names(kernels),
        });
    };
    let required = |name: &str| {
        number(kernel, name).ok_or_else(|| {
            InspectError::image(format!("its metadata lacks `{name}` of `{symbol}`"))
        })
    };
    let spills = number(kernel, ".vgpr_spill_count").map(|vector| Spills::Registers {
        vector,
        scalar: number(kernel, ".sgpr_spill_count").unwrap_or(0),
    });
    Ok(Resources {
        registers: required(".vgpr_count")?,
        scalar_registers: number(kernel, ".sgpr_count"),
        stack_bytes: required(".private_segment_fixed_size")?,
        static_shared_bytes: required(".group_segment_fixed_size")?,
        spills,
        max_threads: number(kernel, ".max_flat_workgroup_size"),
        barriers: None,
    })
}

/// The metadata of a code object.
fn metadata(image: &[u8]) -> Result<Value, InspectError> {
    let header = FileHeader64::<LittleEndian>::parse(image).map_err(InspectError::image)?;
    let endian = LittleEndian;
    if header.e_machine.get(endian) != EM_AMDGPU {
        return Err(InspectError::image("it is not an AMD code object"));
    }
    let sections = header
        .section_headers(endian, image)
        .map_err(InspectError::image)?;
    for section in sections {
        let Some(mut notes) = section.notes(endian, image).map_err(InspectError::image)? else {
            continue;
        };
        while let Some(note) = notes.next().map_err(InspectError::image)? {
            if note.name() == b"AMDGPU" && note.n_type(endian) == METADATA {
                return rmpv::decode::read_value_with_max_depth(&mut note.desc(), MAX_DEPTH)
                    .map_err(|error| InspectError::image(format!("its metadata: {error}")));
            }
        }
    }
    Err(InspectError::image("it has no metadata note"))
}

fn get<'a>(map: &'a Value, key: &str) -> Option<&'a Value> {
    let entries = map.as_map()?;
    entries
        .iter()
        .find(|(name, _)| name.as_str() == Some(key))
        .map(|(_, value)| value)
}

fn number(map: &Value, key: &str) -> Option<u32> {
    u32::try_from(get(map, key)?.as_u64()?).ok()
}

fn names(kernels: &[Value]) -> String {
    let names: Vec<_> = kernels
        .iter()
        .filter_map(|kernel| get(kernel, ".name").and_then(Value::as_str))
        .take(8)
        .collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}
