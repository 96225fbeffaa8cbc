//! The architecture of the test library `tests/hip-host`, which is a HIP runtime whose device is the host processor.
//!
//! No AMD GPU has this architecture. With the test library, the whole backend can run without an AMD GPU. Translation
//! units for the test library are generated and compiled as for the cpu device, and their images are shared objects.

use std::collections::BTreeMap;

use kiln_spec::Backend;
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

use crate::backend::cpu::{CpuCompiler, CpuOptions};
use crate::backend::unfit_artifact::UnfitArtifact;
use crate::compiler::dialect::HOST_ARCH;
use crate::compiler::{
    Artifact, BuildKind, CompileError, CompileRequest, Compiler, CompilerIdentity,
};
use crate::image::{self, Wanted};

use super::metadata::{KernelFacts, Kernels};

/// The host's C++ compiler. Its artifacts are for the test library.
#[derive(Debug)]
pub(super) struct HostCompiler(CpuCompiler);

impl HostCompiler {
    /// Finds the compiler that the cpu device would use.
    pub fn find() -> Result<HostCompiler, CompileError> {
        Ok(HostCompiler(CpuCompiler::find(&CpuOptions::default())?))
    }
}

impl Compiler for HostCompiler {
    fn identity(&self) -> &CompilerIdentity {
        self.0.identity()
    }

    fn flags(&self, build: BuildKind) -> Vec<String> {
        self.0.flags(build)
    }

    fn target_arch(&self) -> &str {
        HOST_ARCH
    }

    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        let built = self.0.compile(request)?;
        Ok(Artifact::new(
            Backend::Hip,
            HOST_ARCH,
            built.build,
            built.image,
            built.log,
        ))
    }
}

/// The kernels in a shared object that was compiled with the cpu prelude, by symbol.
pub(super) fn kernels(artifact: &Artifact) -> Result<Kernels, UnfitArtifact> {
    let image = &*artifact.image;
    if artifact.backend != Backend::Hip {
        let found = artifact.backend;
        return Err(UnfitArtifact::OtherBackend { found });
    }
    let host = Wanted::of_target(Backend::Cpu, HOST_ARCH);
    image::check_bytes(image, &host)?;
    let file: Result<ElfFile64, _> = ElfFile64::parse(image);
    let file = file.map_err(|error| UnfitArtifact::Symbols { error })?;
    let mut kernels = BTreeMap::new();
    for symbol in file.dynamic_symbols() {
        let name = symbol.name().unwrap_or_default();
        let Some(kernel) = name.strip_prefix("kiln_cpu_parameters_") else {
            continue;
        };
        let section = symbol
            .section_index()
            .and_then(|index| file.section_by_index(index).ok());
        let number = section.and_then(|section| {
            let bytes = section.data_range(symbol.address(), 4).ok()??;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        });
        let parameters = number.ok_or_else(|| UnfitArtifact::NoValue { name: name.into() })?;
        let facts = KernelFacts {
            parameters: parameters as usize,
            max_threads: None,
        };
        kernels.insert(kernel.to_owned(), facts);
    }
    Ok(kernels)
}
