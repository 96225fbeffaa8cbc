//! Arguments that fill `__constant__` variables.
//!
//! An entry takes an additional pointer for each, after the kernel's own parameters, and does not use it: the launch
//! first copies the data to the variable. On the cpu device the unit exports a function that does so. For GPUs there
//! is a text next to each entry, `kiln_constants_<entry>`, which the host reads: one line per variable, with the
//! index of the argument, the number of bytes to copy and the variable's symbol.

use std::fmt::Write as _;

use super::{CodegenError, Symbol};
use crate::config::Config;
use crate::model::{ArgSpec, ElemType, KernelSpec, SliceArg};
use crate::problem::Problem;

/// One such argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Constant {
    /// Its index among the arguments of a launch.
    place: usize,
    /// The path of the variable in the source, with its namespaces.
    pub path: String,
    /// The size of the argument in bytes.
    bytes: u64,
}

impl Constant {
    /// All of them for a config.
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

    /// The parameter of an entry for it.
    pub fn parameter(&self) -> String {
        format!("const void* kiln_argument_{}", self.place)
    }

    /// An assertion on the variable that the compiler checks.
    fn check(&self, copy: &str) -> String {
        let (path, bytes) = (&self.path, self.bytes);
        format!(
            "static_assert(sizeof({copy}::{path}) >= {bytes}, \
             \"the spec fills `{path}` with {bytes} bytes, but it is smaller\");\n"
        )
    }
}

/// The definition of `kiln_fill_<entry>`, which the cpu device calls before it runs blocks; `copy` is the namespace
/// of the source's copy, or empty.
pub(super) fn host_fill(constants: &[Constant], entry: &Symbol, copy: &str) -> String {
    let mut text: String = constants.iter().map(|c| c.check(copy)).collect();
    let _ = write!(
        text,
        "KILN_CPU_UNSEEN static void kiln_fill_{entry}(const void* const* kiln_arguments) {{"
    );
    for Constant { place, path, bytes } in constants {
        let _ = write!(
            text,
            " __builtin_memcpy((void*)&{copy}::{path}, *(const void* const*)kiln_arguments[{place}], {bytes});"
        );
    }
    text + " }\n"
}

/// The text next to an entry that tells the host of a GPU which variables to fill.
pub(super) fn device_table(constants: &[Constant], entry: &Symbol, copy: &str) -> String {
    let mut text: String = constants.iter().map(|c| c.check(copy)).collect();
    let lines: String = constants
        .iter()
        .map(|constant| {
            let symbol = mangled(copy, &constant.path);
            format!("{} {} {symbol}\\n", constant.place, constant.bytes)
        })
        .collect();
    let _ = writeln!(
        text,
        "extern \"C\" __device__ char kiln_constants_{entry}[] = \"{lines}\";"
    );
    text
}

/// The symbol of a variable (Itanium C++ ABI, 5.1.2 and 5.1.3): its own name at file scope, otherwise a nested name.
fn mangled(copy: &str, path: &str) -> String {
    let names = || path.split("::");
    let names: Vec<&str> = [copy]
        .into_iter()
        .filter(|copy| !copy.is_empty())
        .chain(names())
        .collect();
    if let [name] = names[..] {
        return name.to_owned();
    }
    let parts: String = names
        .iter()
        .map(|name| format!("{}{name}", name.len()))
        .collect();
    format!("_ZN{parts}E")
}

#[cfg(test)]
mod tests {
    use super::mangled;

    #[test]
    fn a_variable_has_the_symbol_that_compilers_give_it() {
        assert_eq!(mangled("", "taps"), "taps");
        assert_eq!(mangled("", "n::taps"), "_ZN1n4tapsE");
        assert_eq!(
            mangled("kiln_release_copy", "n::taps"),
            "_ZN17kiln_release_copy1n4tapsE"
        );
    }
}
