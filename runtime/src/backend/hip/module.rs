//! Loaded code objects, and the kernels in them.

use std::ffi::CString;
use std::sync::Arc;

use kiln_spec::{Backend, KernelLimits};

use crate::backend::gpu::Gpu;
use crate::backend::gpu::constants::{Constants, table_symbol};
use crate::backend::unfit_artifact::UnfitArtifact;
use crate::compiler::Artifact;
use crate::device::{DeviceError, DeviceInfo, Function, Module};
use crate::image::{self, Wanted};
use crate::launch::checks::KernelBounds;

use super::context::HipContext;
use super::ffi::{LoadedCodeObject, LoadedKernel};
#[cfg(feature = "testing")]
use super::host_arch;
use super::metadata::{self, KernelFacts, Kernels};
use super::status::HipFailure;
use super::types::FunctionAttribute;
#[cfg(feature = "testing")]
use crate::compiler::dialect;

/// A loaded code object.
#[derive(Debug)]
pub(super) struct HipModule {
    context: Arc<HipContext>,
    module: Arc<LoadedCodeObject>,
    kernels: Kernels,
}

/// A kernel that is ready to launch.
pub(super) struct HipEntry {
    /// The runtime's kernel.
    pub kernel: LoadedKernel,
    /// The limits of launches of the kernel.
    pub bounds: KernelBounds,
    /// The `__constant__` variables that launches fill from the kernel's arguments.
    pub constants: Option<Constants<HipContext>>,
    /// Keeps the module of the kernel loaded.
    _module: Arc<HipModule>,
}

impl HipModule {
    /// Loads an artifact for a device with this architecture.
    ///
    /// The runtime receives only an address without a size, so the image must be complete and for this device.
    pub fn load(
        context: &Arc<HipContext>,
        info: &DeviceInfo,
        artifact: &Artifact,
    ) -> Result<HipModule, DeviceError> {
        let kernels = checked(info, artifact).map_err(|unfit| DeviceError::Load {
            text: unfit.to_string(),
        })?;
        let module = LoadedCodeObject::new(&context.place, &artifact.image).map_err(|failure| {
            // The module was not loaded, whatever error the runtime reports.
            match failure.clone().error() {
                DeviceError::Internal { .. } => DeviceError::Load {
                    text: failure.to_string(),
                },
                error => error,
            }
        })?;
        Ok(HipModule {
            context: context.clone(),
            module: Arc::new(module),
            kernels,
        })
    }
}

/// The kernels of an artifact, or an error if the artifact is not complete or not for this device.
fn checked(info: &DeviceInfo, artifact: &Artifact) -> Result<Kernels, UnfitArtifact> {
    let arch = &info.key.arch;
    if artifact.backend == Backend::Hip && artifact.target != *arch {
        let (target, arch) = (artifact.target.clone(), arch.clone());
        return Err(UnfitArtifact::OtherTarget { target, arch });
    }
    #[cfg(feature = "testing")]
    if dialect::is_test_library(arch) {
        return host_arch::kernels(artifact);
    }
    image::check(artifact, &Wanted::of_device(info))?;
    Ok(metadata::kernels(&artifact.image)?)
}

impl Drop for HipModule {
    fn drop(&mut self) {
        self.context.free(self.module.clone());
    }
}

impl Module for HipModule {
    fn function(self: Arc<Self>, symbol: &str) -> Result<Function, DeviceError> {
        let not_found = |text: String| DeviceError::NotFound {
            what: format!("kernel `{symbol}`"),
            text,
        };
        let name =
            CString::new(symbol).map_err(|_| not_found("no symbol has a zero byte".into()))?;
        let kernel = LoadedKernel::find(&self.module, &name).map_err(|failure| {
            let text = failure.to_string();
            match failure.error() {
                error @ DeviceError::Sticky { .. } => error,
                _ => not_found(text),
            }
        })?;
        let facts = self.kernels.get(symbol);
        let facts =
            facts.ok_or_else(|| not_found("the image's metadata does not list it".into()))?;
        let constants = constants(&self.module, symbol)?;
        let entry = HipEntry::new(kernel, *facts, constants, self.clone())?;
        let static_shared_bytes = entry.bounds.kernel.static_shared_bytes;
        let index = self.context.index;
        Ok(Function::new(
            symbol,
            index,
            static_shared_bytes,
            Arc::new(entry),
        ))
    }
}

/// The `__constant__` variables that launches of a kernel fill from its arguments; `None` if the kernel has none.
fn constants(
    module: &LoadedCodeObject,
    symbol: &str,
) -> Result<Option<Constants<HipContext>>, DeviceError> {
    let table = match module
        .read_global(&table_symbol(symbol))
        .map_err(HipFailure::error)
    {
        Err(DeviceError::NotFound { .. }) => return Ok(None),
        table => table?,
    };
    let find = |symbol: &str| module.global(symbol).map_err(HipFailure::error);
    Constants::new(&String::from_utf8_lossy(&table), find).map(Some)
}

impl HipEntry {
    fn new(
        kernel: LoadedKernel,
        facts: KernelFacts,
        constants: Option<Constants<HipContext>>,
        module: Arc<HipModule>,
    ) -> Result<HipEntry, DeviceError> {
        let number = |attribute| {
            let value = kernel.attribute(attribute).map_err(HipFailure::error)?;
            u32::try_from(value)
                .map_err(|error| DeviceError::internal("hipFuncGetAttribute", error))
        };
        let static_shared_bytes = number(FunctionAttribute::SHARED_BYTES)?;
        let most = number(FunctionAttribute::MAX_THREADS_PER_BLOCK)?;
        let max_threads = facts.max_threads.map_or(most, |stated| stated.min(most));
        Ok(HipEntry {
            kernel,
            bounds: KernelBounds {
                kernel: KernelLimits {
                    static_shared_bytes,
                    max_threads: Some(max_threads),
                    ..KernelLimits::default()
                },
                parameters: Some(facts.parameters),
            },
            constants,
            _module: module,
        })
    }
}
