//! Selects the compiler for AMD GPUs: clang, or AMD's compiler library if there is no clang.

use crate::compiler::{CompileError, Compiler};

use super::compiler::HipCompiler;
use super::hiprtc_compiler::HiprtcCompiler;

/// The compiler for an architecture. It is the first of these that is specified or installed:
///
/// 1. the clang that `KILN_HIP_CLANG` specifies
/// 2. the `libhiprtc` that `KILN_HIPRTC` specifies
/// 3. an installed clang that is suitable
/// 4. an installed `libhiprtc`
///
/// # Errors
/// [`CompileError::NotFound`], with the places that were searched, and the reason why each compiler that was found is
/// not suitable.
pub fn compiler(arch: &str) -> Result<Box<dyn Compiler>, CompileError> {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("KILN_HIP_CLANG") {
        return Ok(Box::new(HipCompiler::new(arch)?));
    }
    if set("KILN_HIPRTC") {
        return Ok(Box::new(HiprtcCompiler::new(arch)?));
    }
    let clang = match HipCompiler::new(arch) {
        Ok(compiler) => return Ok(Box::new(compiler)),
        Err(error) => error,
    };
    match HiprtcCompiler::new(arch) {
        Ok(compiler) => Ok(Box::new(compiler)),
        Err(hiprtc) => Err(neither(clang, &hiprtc)),
    }
}

/// Combines the errors of both compilers. An error of clang other than a missing compiler is returned unchanged.
fn neither(clang: CompileError, hiprtc: &CompileError) -> CompileError {
    let CompileError::NotFound { what, looked, help } = clang else {
        return clang;
    };
    let said = hiprtc.to_string();
    let said = said.split("\nhelp: ").next().unwrap_or_default();
    CompileError::NotFound {
        what,
        looked: format!("{looked}; and {said}"),
        help: format!(
            "{help}; or install ROCm 6.4 or newer, or set KILN_HIPRTC to its libhiprtc.so"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(what: &str, looked: &str, help: &str) -> CompileError {
        let [what, looked, help] = [what, looked, help].map(str::to_owned);
        CompileError::NotFound { what, looked, help }
    }

    #[test]
    fn where_there_is_neither_both_are_named() {
        let clang = missing("a compiler for AMD GPUs", "no clang++", "install clang-22");
        let hiprtc = missing("hiprtc", "no libhiprtc.so.7", "set it");
        let text = neither(clang, &hiprtc).to_string();
        assert_eq!(
            text,
            "a compiler for AMD GPUs was not found (no clang++; and hiprtc was not found (no libhiprtc.so.7))\n\
             help: install clang-22; or install ROCm 6.4 or newer, or set KILN_HIPRTC to its libhiprtc.so"
        );
        let full = CompileError::io("writing the prelude", "disk full");
        assert_eq!(neither(full.clone(), &hiprtc), full);
    }
}
