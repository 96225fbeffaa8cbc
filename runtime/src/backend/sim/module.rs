//! Loaded images, and the kernels in them.

use std::sync::Arc;

use kiln_sim::{Image, ImageError, Kernel};
use kiln_spec::Backend;
use kiln_spec::targets::KnownTarget;

use super::memory::SimMemory;
use crate::compiler::{Artifact, BuildKind};
use crate::device::{DeviceError, Function, Module};
use crate::image::{self, Wanted};

/// An image that a simulated device has loaded.
#[derive(Debug)]
pub(super) struct SimModule {
    image: Image,
    device_index: u32,
}

impl SimModule {
    /// Loads an artifact that was compiled for a target.
    ///
    /// # Errors
    /// [`DeviceError::Load`] if the artifact is a check build, is for another target, is damaged, or is a cubin. The
    /// machine code in cubins is not documented.
    pub(super) fn load(
        artifact: &Artifact,
        target: &KnownTarget,
        memory: &SimMemory,
        device_index: u32,
    ) -> Result<SimModule, DeviceError> {
        let unfit = |text: String| DeviceError::Load { text };
        if artifact.build != BuildKind::Release {
            return Err(unfit(
                "it is a build for checking, which no GPU runs".into(),
            ));
        }
        if artifact.backend != target.backend || artifact.target != target.arch {
            return Err(unfit(format!(
                "it is for {}/{}, this device simulates {}/{}",
                artifact.backend, artifact.target, target.backend, target.arch
            )));
        }
        let image = match target.backend {
            Backend::Cuda => Image::of_ptx(ptx(&artifact.image)?, &memory.memory),
            _ => {
                image::check(artifact, &Wanted::of_target(target.backend, target.arch))
                    .map_err(|error| unfit(error.to_string()))?;
                Image::of_code_object(&artifact.image, &memory.memory)
            }
        };
        Ok(SimModule {
            image: image.map_err(|error| unfit(error.to_string()))?,
            device_index,
        })
    }
}

/// The text of a PTX image, without its final zero byte. That byte shows that the image is complete.
fn ptx(image: &[u8]) -> Result<&str, DeviceError> {
    let unfit = |text: &str| DeviceError::Load { text: text.into() };
    let text = std::str::from_utf8(image)
        .map_err(|_| unfit("it is a cubin: a simulated device executes PTX"))?;
    let whole = text.strip_suffix('\0');
    whole.ok_or_else(|| unfit("it is cut off: PTX ends with a zero byte"))
}

/// A kernel that is ready to launch.
#[derive(Debug)]
pub(super) struct SimKernel {
    pub(super) kernel: Kernel,
    /// Keeps the module, whose memory contains the kernel's code and variables.
    _module: Arc<SimModule>,
}

impl Module for SimModule {
    fn function(self: Arc<Self>, symbol: &str) -> Result<Function, DeviceError> {
        let kernel = self.image.kernel(symbol);
        let kernel = kernel.map_err(|error: ImageError| DeviceError::NotFound {
            what: format!("kernel `{symbol}`"),
            text: error.to_string(),
        })?;
        let shared = kernel.info.static_shared_bytes;
        let index = self.device_index;
        let loaded = SimKernel {
            kernel,
            _module: self,
        };
        Ok(Function::new(symbol, index, shared, Arc::new(loaded)))
    }
}
