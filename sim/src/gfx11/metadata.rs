//! The metadata of a code object about its kernels.
//!
//! LLVM, "User Guide for AMDGPU Backend", "Code Object V5 Metadata".

use super::msgpack::{self, Value};

/// An explicit argument of a kernel, or a hidden argument that the runtime adds.
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
    /// Whether the runtime adds this argument.
    pub fn is_hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }
}

/// The metadata of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelMetadata {
    /// The name of the kernel.
    pub name: String,
    /// The symbol of the kernel's descriptor.
    pub symbol: String,
    /// The arguments, including hidden ones.
    pub arguments: Vec<Argument>,
    /// The size of the argument segment in bytes, including hidden arguments.
    pub argument_bytes: u32,
    /// The static shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The private memory of a thread, in bytes.
    pub scratch_bytes: u32,
    /// Maximum number of threads of a block.
    pub max_threads: u32,
    /// Number of lanes of a wave.
    pub lanes: u32,
}

/// Parses the kernels of a metadata note. `None` if the note is damaged.
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
