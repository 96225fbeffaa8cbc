//! Arguments that fill `__constant__` variables.
//!
//! An entry has an additional pointer parameter for each such argument, after the kernel's own parameters. The entry
//! does not use this pointer. Instead, the launch copies the data to the variable before it starts the entry:
//!
//! - For the `cpu` device, the translation unit exports a function that copies the data.
//! - For GPUs, the translation unit contains a text `kiln_constants_<entry>` for each entry, which the host reads. The
//!   text has one line per variable: the index of the argument, the number of bytes to copy, and the variable's symbol.

use std::fmt::Write as _;

use super::{CodegenError, Symbol};
use crate::config::Config;
use crate::model::{ArgSpec, ElemType, KernelSpec, SliceArg};
use crate::problem::Problem;

/// An argument that fills a `__constant__` variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Constant {
    /// The argument's index among the arguments that the kernel receives.
    place: usize,
    /// The path of the variable in the source, with its namespaces.
    pub path: String,
    /// The number of bytes to copy, which is the size of the argument's data.
    bytes: u64,
}

impl Constant {
    /// Every argument of the kernel that fills a `__constant__` variable, with its size for a config and a problem.
    pub fn all(
        spec: &KernelSpec,
        config: &Config,
        problem: &Problem,
    ) -> Result<Vec<Constant>, CodegenError> {
        let slices = spec.passed().enumerate().filter_map(|(place, (_, arg))| {
            let ArgSpec::Slice(slice) = arg else {
                return None;
            };
            Some((place, slice, slice.constant.as_ref()?))
        });
        let constant = |(place, slice, path): (usize, &SliceArg, &String)| {
            let len = spec.slice_len(&slice.len, config, problem);
            let len = len.map_err(|cause| CodegenError::ConstantLength {
                path: path.clone(),
                cause: Box::new(cause),
            })?;
            let bytes = spec.elem_type(slice, problem).map_or(1, ElemType::bytes);
            Ok(Constant {
                place,
                path: path.clone(),
                bytes: len.saturating_mul(bytes as u64),
            })
        };
        slices.map(constant).collect()
    }

    /// The declaration of the entry's parameter for this argument.
    pub fn parameter(&self) -> String {
        format!("const void* kiln_argument_{}", self.place)
    }

    /// An assertion that the variable is large enough, which the compiler checks. NVRTC's log shows a backtick in the
    /// message as a question mark.
    fn check(&self) -> String {
        let (path, bytes) = (&self.path, self.bytes);
        format!(
            "static_assert(sizeof(::{path}) >= {bytes}, \
             \"the spec fills '{path}' with {bytes} bytes, but it is smaller\");\n"
        )
    }
}

/// The definition of `kiln_fill_<entry>`, which the `cpu` device calls before it runs blocks.
pub(super) fn host_fill(constants: &[Constant], entry: &Symbol) -> String {
    let mut text: String = constants.iter().map(Constant::check).collect();
    let _ = write!(
        text,
        "KILN_CPU_UNSEEN static void kiln_fill_{entry}(const void* const* kiln_arguments) {{"
    );
    for Constant { place, path, bytes } in constants {
        let _ = write!(
            text,
            " kiln_cpu_fill((void*)&::{path}, *(const void* const*)kiln_arguments[{place}], {bytes});"
        );
    }
    text + " }\n"
}

/// The definition of the text `kiln_constants_<entry>`, in which the host finds the variables that it must fill.
pub(super) fn device_table(constants: &[Constant], entry: &Symbol) -> String {
    let mut text: String = constants.iter().map(Constant::check).collect();
    let lines: String = constants
        .iter()
        .map(|constant| {
            let symbol = mangled(&constant.path);
            format!("{} {} {symbol}\\n", constant.place, constant.bytes)
        })
        .collect();
    let _ = writeln!(
        text,
        "extern \"C\" __device__ char kiln_constants_{entry}[] = \"{lines}\";"
    );
    text
}

/// The symbol of a variable (Itanium C++ ABI, 5.1.2 and 5.1.3): its name at file scope, or a nested name in a
/// namespace.
fn mangled(path: &str) -> String {
    if !path.contains("::") {
        return path.to_owned();
    }
    let names = path.split("::");
    let parts: String = names.map(|name| format!("{}{name}", name.len())).collect();
    format!("_ZN{parts}E")
}

#[cfg(test)]
mod tests {
    use super::mangled;

    #[test]
    fn a_variable_has_the_symbol_that_compilers_give_it() {
        assert_eq!(mangled("taps"), "taps");
        assert_eq!(mangled("n::taps"), "_ZN1n4tapsE");
    }
}
