//! Loaded cubins, and the kernels in them.

use std::fmt;
use std::sync::Arc;

use kiln_spec::{Backend, KernelLimits};

use crate::backend::gpu::Gpu;
use crate::backend::gpu::constants::{Constants, table_symbol};
use crate::backend::unfit_artifact::UnfitArtifact;
use crate::compiler::{Artifact, BuildKind};
use crate::device::{DeviceError, DeviceInfo, Function, Module};
use crate::image::{self, Wanted, cubin_info};
use crate::launch::checks::KernelBounds;

use super::context::CudaContext;
use super::error::{device_error, of_call};
use super::ffi::{LoadedImage, RawFunction};
use super::numbers::FunctionAttribute;

/// Maximum dynamic shared memory per block that every device allows without an opt-in, in bytes.
const WITHOUT_OPT_IN: u32 = 48 * 1024;

/// A loaded cubin.
pub(super) struct CudaModule {
    context: Arc<CudaContext>,
    /// The driver's module; `None` after the cubin is unloaded.
    module: Option<Arc<LoadedImage>>,
    image: Arc<[u8]>,
    /// Maximum shared memory per block, in bytes.
    most_shared: u32,
}

impl CudaModule {
    /// Loads an artifact that was compiled for this architecture.
    pub fn load(
        context: &Arc<CudaContext>,
        artifact: &Artifact,
        info: &DeviceInfo,
    ) -> Result<CudaModule, DeviceError> {
        check(artifact, info).map_err(|unfit| DeviceError::Load {
            text: unfit.to_string(),
        })?;
        let module = LoadedImage::load(&context.raw, &artifact.image).map_err(of_call)?;
        Ok(CudaModule {
            context: context.clone(),
            module: Some(Arc::new(module)),
            image: artifact.image.clone(),
            most_shared: info.limits.shared_bytes_per_block,
        })
    }

    fn entry(&self, symbol: &str) -> Result<CudaEntry, DeviceError> {
        let not_found = || DeviceError::NotFound {
            what: format!("kernel `{symbol}`"),
            text: "the image has no such entry".into(),
        };
        // For an empty name, the driver would report an invalid value.
        if symbol.is_empty() {
            return Err(not_found());
        }
        let module = self.module.as_ref().ok_or_else(not_found)?;
        let function = module.function(symbol);
        let function = function.map_err(|failed| match of_call(failed) {
            DeviceError::NotFound { .. } => not_found(),
            other => other,
        })?;
        let attribute = |attribute| {
            let value = function.attribute(attribute).map_err(of_call)?;
            Ok::<u32, DeviceError>(u32::try_from(value).unwrap_or(0))
        };
        let static_shared_bytes = attribute(FunctionAttribute::SharedBytes)?;
        let max_threads = attribute(FunctionAttribute::MaxThreadsPerBlock)?;
        // Drivers before CUDA 12.4 do not report the parameters, and no driver reports clusters.
        let stated = cubin_info::kernel(&self.image, symbol).ok();
        let kernel = stated.map_or_else(KernelLimits::default, |stated| stated.limits);
        let dynamic = self.most_shared.saturating_sub(static_shared_bytes);
        if dynamic > WITHOUT_OPT_IN.saturating_sub(static_shared_bytes) {
            // Done once here, so that no launch has to do it.
            let bytes = i32::try_from(dynamic).unwrap_or(i32::MAX);
            function
                .allow_dynamic_shared(bytes)
                .map_err(|failed| device_error(&failed, Some(symbol)))?;
        }
        Ok(CudaEntry {
            symbol: symbol.into(),
            bounds: KernelBounds {
                kernel: KernelLimits {
                    static_shared_bytes,
                    max_threads: Some(max_threads),
                    ..kernel
                },
                parameters: stated.map(|stated| stated.parameters),
            },
            constants: constants(module, symbol)?,
            context: self.context.clone(),
            function: Some(function),
        })
    }
}

/// The `__constant__` variables that launches of a kernel fill from its arguments; `None` if the kernel has none.
fn constants(
    module: &LoadedImage,
    symbol: &str,
) -> Result<Option<Constants<CudaContext>>, DeviceError> {
    let table = match module.read_global(&table_symbol(symbol)).map_err(of_call) {
        Err(DeviceError::NotFound { .. }) => return Ok(None),
        table => table?,
    };
    let find = |symbol: &str| module.global(symbol).map_err(of_call);
    Constants::new(&String::from_utf8_lossy(&table), find).map(Some)
}

/// Checks that an artifact is for this device. It compares the artifact's target and the header of the image.
fn check(artifact: &Artifact, info: &DeviceInfo) -> Result<(), UnfitArtifact> {
    if artifact.build != BuildKind::Release {
        return Err(UnfitArtifact::CheckBuild);
    }
    let (target, arch) = (&artifact.target, &info.key.arch);
    if artifact.backend == Backend::Cuda && target != arch {
        let (target, arch) = (target.clone(), arch.clone());
        return Err(UnfitArtifact::OtherTarget { target, arch });
    }
    Ok(image::check(artifact, &Wanted::of_device(info))?)
}

impl Module for CudaModule {
    fn function(self: Arc<Self>, symbol: &str) -> Result<Function, DeviceError> {
        let entry = self.entry(symbol)?;
        let (device_index, shared) = (
            self.context.device_index,
            entry.bounds.kernel.static_shared_bytes,
        );
        Ok(Function::new(symbol, device_index, shared, Arc::new(entry)))
    }
}

impl Drop for CudaModule {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            self.context.free(module);
        }
    }
}

impl fmt::Debug for CudaModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaModule").finish_non_exhaustive()
    }
}

/// A kernel of a module. It keeps the module loaded.
pub(super) struct CudaEntry {
    /// The symbol of the kernel.
    pub symbol: Box<str>,
    /// The limits of launches of the kernel.
    pub bounds: KernelBounds,
    /// The `__constant__` variables that launches fill from the kernel's arguments.
    pub constants: Option<Constants<CudaContext>>,
    context: Arc<CudaContext>,
    /// The driver's function; `None` after it is dropped.
    function: Option<RawFunction>,
}

impl CudaEntry {
    /// The driver's function to launch.
    ///
    /// # Errors
    /// Returns no error as long as the entry exists.
    #[inline]
    pub fn function(&self) -> Result<&RawFunction, DeviceError> {
        self.function.as_ref().ok_or_else(|| DeviceError::NotFound {
            what: format!("kernel `{}`", self.symbol),
            text: "its module was unloaded".into(),
        })
    }
}

impl Drop for CudaEntry {
    fn drop(&mut self) {
        if let Some(function) = self.function.take() {
            self.context.free(function);
        }
    }
}
