//! [`HipDevice`], an AMD GPU.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kiln_spec::{LaunchPlan, PlanError};

use crate::backend::gpu::Gpu;
use crate::backend::gpu::recording::{GpuRecording, LENT_MEMORY};
use crate::backend::gpu::timer::Timed;
use crate::compiler::{Artifact, CompileError, Compiler};
use crate::device::{
    Allocation, ArgSets, DeviceBackend, DeviceError, DeviceInfo, Function, KernelArgs, Module,
    RecordedLaunches, StreamHandle,
};

use crate::interop::VouchedStream;
use crate::launch::checks::{check_launch, entry_of};

use super::choice::compiler;
use super::context::HipContext;
use super::ffi::{HipPlace, OwnedStream};
#[cfg(feature = "testing")]
use super::host_arch::HostCompiler;
use super::library::{Runtime, runtime};
use super::limits::device_info;
use super::module::{HipEntry, HipModule};
use super::status::HipFailure;
use super::{memory, processes};
#[cfg(feature = "testing")]
use crate::compiler::dialect::HOST_ARCH;

/// An AMD GPU, used through the HIP runtime.
pub struct HipDevice {
    info: DeviceInfo,
    context: Arc<HipContext>,
    compiler: OnceLock<Result<Box<dyn Compiler>, CompileError>>,
}

impl HipDevice {
    /// Opens the device with this number in the runtime. A process has one object per device, no matter how often the
    /// device is opened.
    ///
    /// # Errors
    /// [`DeviceError::NotFound`] if there is no HIP runtime, or if it does not have the device.
    pub fn open(ordinal: u32) -> Result<Arc<HipDevice>, DeviceError> {
        static OPEN: Mutex<BTreeMap<u32, Arc<HipDevice>>> = Mutex::new(BTreeMap::new());
        let runtime = runtime()?;
        check_ordinal(&runtime, ordinal)?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = open.get(&ordinal) {
            return Ok(device.clone());
        }
        let device = Arc::new(HipDevice::new(&runtime, ordinal)?);
        Ok(open.entry(ordinal).or_insert(device).clone())
    }

    /// Opens the device with this number in a HIP runtime that is loaded from `file` instead of the installed runtime.
    ///
    /// # Errors
    /// The errors of [`Self::open`].
    pub fn of_library(file: &Path, ordinal: u32) -> Result<Arc<HipDevice>, DeviceError> {
        let runtime = Runtime::of(file)?;
        check_ordinal(&runtime, ordinal)?;
        Ok(Arc::new(HipDevice::new(&runtime, ordinal)?))
    }

    /// The number of devices that the runtime reports.
    ///
    /// # Errors
    /// [`DeviceError::NotFound`] if there is no HIP runtime, or if it has no device.
    pub fn count() -> Result<u32, DeviceError> {
        runtime().map(|runtime| runtime.devices)
    }

    fn new(runtime: &Runtime, ordinal: u32) -> Result<HipDevice, DeviceError> {
        let place = HipPlace {
            hip: runtime.hip.clone(),
            ordinal,
        };
        Ok(HipDevice {
            info: device_info(&place)?,
            context: Arc::new(HipContext::new(place)),
            compiler: OnceLock::new(),
        })
    }

    /// Checks that the launch is within all limits, and returns the entry of the function.
    fn checked<'a>(
        &self,
        function: &'a Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<&'a HipEntry, DeviceError> {
        let entry: &HipEntry = entry_of(function, self.context.index)?;
        let info = &self.info;
        check_launch(function, plan, args, info, &entry.bounds, check_work_items)?;
        Ok(entry)
    }
}

/// Checks that the runtime has a device with this number.
fn check_ordinal(runtime: &Runtime, ordinal: u32) -> Result<(), DeviceError> {
    if ordinal < runtime.devices {
        return Ok(());
    }
    let (library, devices) = (runtime.name.display(), runtime.devices);
    Err(DeviceError::NotFound {
        what: format!("device `hip:{ordinal}`"),
        text: format!("{library} counts {devices} devices, from 0 on"),
    })
}

/// Checks the number of threads per axis of the grid. A dispatch counts threads and not blocks, with 32 bits per axis
/// (HSA system architecture, dispatch packet).
fn check_work_items(plan: &LaunchPlan) -> Result<(), PlanError> {
    let axes = ["grid x * block x", "grid y * block y", "grid z * block z"];
    for (axis, what) in axes.into_iter().enumerate() {
        let value = u64::from(plan.grid[axis]) * u64::from(plan.block[axis]);
        let limit = u64::from(u32::MAX);
        if value > limit {
            return Err(PlanError::Limit { what, value, limit });
        }
    }
    Ok(())
}

/// The compiler for an architecture, including the architecture of the test library.
fn compiler_for(arch: &str) -> Result<Box<dyn Compiler>, CompileError> {
    match arch {
        #[cfg(feature = "testing")]
        HOST_ARCH => Ok(Box::new(HostCompiler::find()?)),
        _ => compiler(arch),
    }
}

impl DeviceBackend for HipDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn index(&self) -> u32 {
        self.context.index
    }

    fn compiler(&self) -> Result<&dyn Compiler, CompileError> {
        let find = || compiler_for(&self.info.key.arch);
        match self.compiler.get_or_init(find) {
            Ok(compiler) => Ok(&**compiler),
            Err(error) => Err(error.clone()),
        }
    }

    fn alloc(&self, bytes: usize, align: usize) -> Result<Box<dyn Allocation>, DeviceError> {
        Ok(Box::new(memory::alloc(&self.context, bytes, align)?))
    }

    fn load(&self, artifact: &Artifact) -> Result<Arc<dyn Module>, DeviceError> {
        let module = HipModule::load(&self.context, &self.info, artifact)?;
        Ok(Arc::new(module))
    }

    fn launch(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<(), DeviceError> {
        let entry = self.checked(function, plan, args)?;
        if let Some(constants) = &entry.constants {
            let launch = |stream: &_| entry.kernel.launch(plan, args, stream);
            return constants.launch(&self.context, stream, args, function.symbol(), launch);
        }
        let stream = self.context.stream(stream)?;
        let launched = entry.kernel.launch(plan, args, &stream);
        launched.map_err(|failure| failure.launch_error(function.symbol()))
    }

    fn time(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        sets: ArgSets<'_>,
        launches: u32,
    ) -> Result<u64, DeviceError> {
        let entry = self.checked(function, plan, sets.first())?;
        let stream = self.context.stream(stream)?;
        let timed = Timed {
            gpu: &*self.context,
            stream: &stream,
            kernel: &entry.kernel,
            symbol: function.symbol(),
            plan,
            sets,
            launches,
        };
        match &entry.constants {
            Some(constants) => {
                constants.filled(&self.context, &stream, sets.first(), || timed.time())
            }
            None => timed.time(),
        }
    }

    fn other_processes(&self) -> Result<Vec<u32>, DeviceError> {
        processes::others(Path::new(processes::LISTED))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.context.wait().map_err(HipFailure::error)
    }

    fn open_stream(&self) -> Result<StreamHandle, DeviceError> {
        let stream = OwnedStream::new(&self.context.place).map_err(HipFailure::error)?;
        Ok(self.context.add_stream(stream))
    }

    fn adopt_stream(&self, stream: VouchedStream) -> Result<StreamHandle, DeviceError> {
        let stream = OwnedStream::borrowed(&self.context.place, &stream);
        Ok(self.context.add_stream(stream))
    }

    fn raw_stream(&self, stream: StreamHandle) -> Result<u64, DeviceError> {
        Ok(self.context.stream(stream)?.raw())
    }

    fn close_stream(&self, stream: StreamHandle) {
        if let Some(stream) = self.context.remove_stream(stream) {
            // The next call on the device reports an error of the stream's work.
            let _ = stream.synchronize();
        }
    }

    fn synchronize_stream(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        let stream = self.context.stream(stream)?;
        stream.synchronize().map_err(HipFailure::error)
    }

    fn occupancy(
        &self,
        function: &Function,
        threads_per_block: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<u32, DeviceError> {
        let entry: &HipEntry = entry_of(function, self.context.index)?;
        let blocks = entry
            .kernel
            .resident_blocks(threads_per_block, dynamic_shared_bytes as usize)
            .map_err(HipFailure::error)?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    fn begin_capture(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        GpuRecording::begin(&*self.context, stream)
    }

    fn unrecorded(
        &self,
        stream: StreamHandle,
        queue: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let raw = self.context.stream(stream)?.raw();
        self.context
            .kept
            .recorded
            .unless_recorded(raw, LENT_MEMORY, queue)
    }

    fn end_capture(&self, stream: StreamHandle) -> Result<Box<dyn RecordedLaunches>, DeviceError> {
        Ok(Box::new(GpuRecording::end(&self.context, stream)?))
    }
}

impl fmt::Debug for HipDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HipDevice")
            .field("key", &self.info.key.to_string())
            .field("ordinal", &self.info.ordinal)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_of_more_threads_than_a_dispatch_can_count_is_refused() {
        let plan = |grid, block| LaunchPlan {
            grid,
            block,
            shared_bytes: 0,
        };
        assert_eq!(
            check_work_items(&plan([1 << 24, 1, 1], [255, 1, 1])),
            Ok(())
        );
        let error = check_work_items(&plan([1 << 24, 1, 1], [256, 1, 1])).unwrap_err();
        assert!(error.to_string().contains("grid x * block x"), "{error}");
        assert!(check_work_items(&plan([1, 1, 1 << 31], [1, 1, 2])).is_err());
    }
}
