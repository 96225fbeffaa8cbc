//! What the metadata of a code object says of its kernels.
//!
//! LLVM, "User Guide for AMDGPU Backend", "Code Object V5 Metadata".

use super::msgpack::{self, Value};

/// An argument of a kernel, or a value that the runtime adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The byte offset in the kernel's argument segment.
    pub offset: u32,
    /// The size in bytes.
    pub bytes: u32,
    /// `.value_kind`: `by_value`, `global_buffer`, `hidden_block_count_x` and so on.
    pub kind: String,
}

impl Argument {
    /// Whether the runtime adds it.
    pub fn is_hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }
}

/// What the metadata says of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelMetadata {
    /// The kernel's name.
    pub name: String,
    /// The symbol of its descriptor.
    pub symbol: String,
    /// Arguments, hidden ones included.
    pub arguments: Vec<Argument>,
    /// The size of the argument segment, hidden arguments included.
    pub argument_bytes: u32,
    /// Static shared memory of a block.
    pub shared_bytes: u32,
    /// Private memory of a thread.
    pub scratch_bytes: u32,
    /// Threads of a block at most.
    pub max_threads: u32,
    /// Lanes of a wave.
    pub lanes: u32,
}

/// The kernels of a metadata note; `None` if the note is damaged.
pub(super) fn kernels(note: &[u8]) -> Option<Vec<KernelMetadata>> {
    match msgpack::read(note)?.get("amdhsa.kernels")? {
        Value::Array(kernels) => kernels.iter().map(kernel).collect(),
        _ => None,
    }
}

fn kernel(value: &Value<'_>) -> Option<KernelMetadata> {
    let none = Value::Array(Vec::new());
    let Value::Array(arguments) = value.get(".args").unwrap_or(&none) else {
        return None;
    };
    Some(KernelMetadata {
        name: text(value, ".name")?,
        symbol: text(value, ".symbol")?,
        arguments: arguments.iter().map(argument).collect::<Option<_>>()?,
        argument_bytes: number(value, ".kernarg_segment_size")?,
        shared_bytes: number(value, ".group_segment_fixed_size")?,
        scratch_bytes: number(value, ".private_segment_fixed_size")?,
        max_threads: number(value, ".max_flat_workgroup_size")?,
        lanes: number(value, ".wavefront_size")?,
    })
}

fn argument(value: &Value<'_>) -> Option<Argument> {
    let kind = text(value, ".value_kind")?;
    Some(Argument {
        offset: number(value, ".offset")?,
        bytes: number(value, ".size")?,
        kind,
    })
}

fn text(value: &Value<'_>, key: &str) -> Option<String> {
    match value.get(key)? {
        Value::Text(text) => Some((*text).to_owned()),
        _ => None,
    }
}

fn number(value: &Value<'_>, key: &str) -> Option<u32> {
    match value.get(key)? {
        Value::Number(number) => u32::try_from(*number).ok(),
        _ => None,
    }
}
