//! Loaded images, and the kernels in them.

use std::sync::{Arc, Mutex, PoisonError};

use kiln_sim::{FaultKind, Image, ImageError, Kernel, gfx11};
use kiln_spec::Backend;
use kiln_spec::targets::KnownTarget;

use super::memory::SimMemory;
use crate::backend::gpu::constants::{Variable, table_symbol, variables};
use crate::compiler::{Artifact, BuildKind};
use crate::device::{DeviceError, Function, KernelArgs, Module};
use crate::image::{self, Wanted};

/// An image that a simulated device has loaded.
#[derive(Debug)]
pub(super) struct SimModule {
    image: Image,
    device_index: u32,
    memory: Arc<SimMemory>,
    /// Held by a launch that fills `__constant__` variables, until it ends.
    filling: Mutex<()>,
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
        memory: &Arc<SimMemory>,
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
                "it is for {}/{}, but this device simulates {}/{}",
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
            memory: Arc::clone(memory),
            filling: Mutex::default(),
        })
    }

    /// The `__constant__` variables that a launch of an entry fills.
    fn constants(&self, symbol: &str) -> Result<Vec<Variable>, DeviceError> {
        let Some((address, bytes)) = self.image.variable(&table_symbol(symbol)) else {
            return Ok(Vec::new());
        };
        let mut table = vec![0; bytes as usize];
        self.memory
            .memory
            .read(address, &mut table)
            .map_err(outside)?;
        let find = |symbol: &str| match self.image.variable(symbol) {
            Some((address, bytes)) => Ok((address, bytes as usize)),
            None => Err(DeviceError::Load {
                text: format!("it has no `__constant__` variable `{symbol}`"),
            }),
        };
        variables(&String::from_utf8_lossy(&table), find)
    }
}

/// The error for an address that the simulated memory does not have.
fn outside(fault: FaultKind) -> DeviceError {
    DeviceError::Load {
        text: format!("a `__constant__` variable cannot be filled: {fault}"),
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
    /// The `__constant__` variables that a launch fills.
    constants: Vec<Variable>,
    /// Keeps the module, whose memory contains the kernel's code and variables.
    module: Arc<SimModule>,
}

impl SimKernel {
    /// Copies arguments into the `__constant__` variables, and calls `launch`. The variables do not change during the
    /// call.
    ///
    /// # Errors
    /// If an argument or a variable is outside the memory, or an error of `launch`.
    pub(super) fn with_constants<T>(
        &self,
        args: KernelArgs<'_>,
        launch: impl FnOnce() -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        if self.constants.is_empty() {
            return launch();
        }
        let filling = self.module.filling.lock();
        let _filling = filling.unwrap_or_else(PoisonError::into_inner);
        let memory = &self.module.memory.memory;
        for variable in &self.constants {
            let mut value = vec![0; variable.bytes];
            let copied = memory.read(variable.source(args)?, &mut value);
            copied
                .and_then(|()| memory.write(variable.address, &value))
                .map_err(outside)?;
        }
        launch()
    }
}

impl Module for SimModule {
    fn function(self: Arc<Self>, symbol: &str) -> Result<Function, DeviceError> {
        let kernel = self.image.kernel(symbol);
        let kernel = kernel.map_err(|error| match error {
            ImageError::Gfx11Kernel(gfx11::KernelError::NotImplemented { .. }) => {
                let what = format!("`{symbol}` on a simulated GPU ({error})");
                DeviceError::Unsupported { what }
            }
            _ => DeviceError::NotFound {
                what: format!("kernel `{symbol}`"),
                text: error.to_string(),
            },
        })?;
        let shared = kernel.info.static_shared_bytes;
        let index = self.device_index;
        let loaded = SimKernel {
            kernel,
            constants: self.constants(symbol)?,
            module: self,
        };
        Ok(Function::new(symbol, index, shared, Arc::new(loaded)))
    }
}
