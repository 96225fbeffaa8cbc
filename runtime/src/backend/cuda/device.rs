//! [`CudaDevice`], an NVIDIA GPU.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kiln_spec::LaunchPlan;

use crate::backend::gpu::recording::{GpuRecording, LENT_MEMORY};
use crate::backend::gpu::timer::Timed;
use crate::compiler::{Artifact, CompileError, Compiler};
use crate::device::{
    Allocation, ArgSets, ClockReading, DeviceBackend, DeviceError, DeviceInfo, ErrorClass,
    Function, KernelArgs, Module, RecordedLaunches, StreamHandle,
};

use crate::interop::VouchedStream;
use crate::launch::checks::{check_launch, entry_of};

use super::compiler::NvrtcCompiler;
use super::context::CudaContext;
use super::driver::FoundDriver;
use super::error::{device_error, of_call};
use super::ffi::PrimaryContext;
use super::fingerprint::{INSTANCE_UUID, device_info};
use super::module::{CudaEntry, CudaModule};
use super::numbers::DeviceAttribute;
use super::{memory, processes};

/// An NVIDIA GPU, used through the CUDA driver.
///
/// Its primary context is retained on first use, so querying the properties of a device allocates nothing on it.
/// Other CUDA libraries of the process share the context.
pub struct CudaDevice {
    info: DeviceInfo,
    index: u32,
    found: &'static FoundDriver,
    /// The primary context. It is retained on first use. If that fails, the next use tries again.
    context: OnceLock<Arc<CudaContext>>,
    joining: Mutex<()>,
    compiler: OnceLock<Result<NvrtcCompiler, CompileError>>,
}

impl CudaDevice {
    /// Opens the device with this number in the driver. A process has one object per device, no matter how often the
    /// device is opened.
    ///
    /// # Errors
    /// [`DeviceError::NotFound`] if the driver or the device does not exist, with the reason.
    pub fn open(ordinal: u32) -> Result<Arc<CudaDevice>, DeviceError> {
        static OPENED: Mutex<Vec<Arc<CudaDevice>>> = Mutex::new(Vec::new());
        let found = FoundDriver::get()?;
        let count = found.device_count()?;
        if ordinal >= count {
            return Err(DeviceError::NotFound {
                what: format!("device `cuda:{ordinal}`"),
                text: format!("{} knows {count} devices", found.file.display()),
            });
        }
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let known = opened.iter().find(|device| device.info.ordinal == ordinal);
        if let Some(device) = known {
            return Ok(device.clone());
        }
        let device = Arc::new(CudaDevice {
            info: device_info(found, ordinal)?,
            index: crate::device::next_index(),
            found,
            context: OnceLock::new(),
            joining: Mutex::new(()),
            compiler: OnceLock::new(),
        });
        opened.push(device.clone());
        Ok(device)
    }

    /// The number of devices that the driver reports; never 0.
    ///
    /// # Errors
    /// [`DeviceError::NotFound`] if there is no driver or no device, with the reason.
    pub fn count() -> Result<u32, DeviceError> {
        let found = FoundDriver::get()?;
        match found.device_count()? {
            0 => Err(DeviceError::NotFound {
                what: "an NVIDIA GPU".into(),
                text: format!("{} knows no device", found.file.display()),
            }),
            count => Ok(count),
        }
    }

    #[inline]
    fn context(&self) -> Result<&Arc<CudaContext>, DeviceError> {
        match self.context.get() {
            Some(context) => Ok(context),
            None => self.join(),
        }
    }

    #[cold]
    fn join(&self) -> Result<&Arc<CudaContext>, DeviceError> {
        let _joining = self.joining.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = self.context.get() {
            return Ok(context);
        }
        let number = i32::try_from(self.info.ordinal).unwrap_or(i32::MAX);
        let device = self.found.driver.device(number).map_err(of_call)?;
        let raw = PrimaryContext::retain(&self.found.driver, device).map_err(of_call)?;
        let joined = || Arc::new(CudaContext::new(raw, self.index));
        Ok(self.context.get_or_init(joined))
    }

    /// Checks that the launch is within all limits, and returns the entry of the function.
    #[inline]
    fn checked<'a>(
        &self,
        function: &'a Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<&'a CudaEntry, DeviceError> {
        let entry: &CudaEntry = entry_of(function, self.index)?;
        let info = &self.info;
        check_launch(function, plan, args, info, &entry.bounds, |_| Ok(()))?;
        Ok(entry)
    }
}

impl CudaDevice {
    fn uuid(&self) -> &str {
        let uuid = self.info.instance.get(INSTANCE_UUID);
        uuid.map_or("", String::as_str)
    }
}

impl DeviceBackend for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn index(&self) -> u32 {
        self.index
    }

    /// A compiler with an NVRTC whose images the driver can load.
    fn compiler(&self) -> Result<&dyn Compiler, CompileError> {
        let find = || NvrtcCompiler::for_driver(&self.info.key.arch, self.found.version);
        match self.compiler.get_or_init(find) {
            Ok(compiler) => Ok(compiler),
            Err(error) => Err(error.clone()),
        }
    }

    fn alloc(&self, bytes: usize, align: usize) -> Result<Box<dyn Allocation>, DeviceError> {
        let most = self.info.limits.memory_bytes;
        Ok(Box::new(memory::alloc(
            self.context()?,
            bytes,
            align,
            most,
        )?))
    }

    fn alloc_guarded(
        &self,
        bytes: usize,
        align: usize,
    ) -> Result<Box<dyn Allocation>, DeviceError> {
        let context = self.context()?;
        let number = i32::try_from(self.info.ordinal).unwrap_or(i32::MAX);
        let device = self.found.driver.device(number).map_err(of_call)?;
        let mapping = DeviceAttribute::VirtualMemory;
        if self.found.driver.attribute(device, mapping) != Ok(1) {
            return Err(DeviceError::Unsupported {
                what: format!("guarded memory on {}", self.info.key),
            });
        }
        Ok(Box::new(memory::alloc_guarded(context, bytes, align)?))
    }

    fn load(&self, artifact: &Artifact) -> Result<Arc<dyn Module>, DeviceError> {
        let module = CudaModule::load(self.context()?, artifact, &self.info)?;
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
        let kernel = entry.function()?;
        if let Some(constants) = &entry.constants {
            let launch = |stream: &_| kernel.launch(stream, plan, args);
            let context = &**self.context()?;
            return constants.launch(context, stream, args, function.symbol(), launch);
        }
        self.context()?.with_stream(stream, |stream| {
            kernel
                .launch(stream, plan, args)
                .map_err(|failed| device_error(&failed, Some(function.symbol())))
        })
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
        let kernel = entry.function()?;
        let context = self.context()?;
        let stream = context.streams.get(stream)?;
        let timed = Timed {
            gpu: &**context,
            stream: &stream,
            kernel,
            symbol: function.symbol(),
            plan,
            sets,
            launches,
        };
        match &entry.constants {
            Some(constants) => constants.filled(context, &stream, sets.first(), || timed.time()),
            None => timed.time(),
        }
    }

    /// On a device that cannot reserve L2 cache, the driver returns an error, which is ignored.
    fn ready_for_timing(&self) -> Result<(), DeviceError> {
        let shared = self.context()?.raw.share_l2().map_err(of_call);
        shared.or_else(|error| match error.class() {
            ErrorClass::Sticky | ErrorClass::Hang | ErrorClass::DeviceLost => Err(error),
            _ => Ok(()),
        })
    }

    fn other_processes(&self) -> Result<Vec<u32>, DeviceError> {
        processes::others(self.uuid())
    }

    fn clock(&self) -> Option<ClockReading> {
        processes::clock(self.uuid())
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.context()?.raw.synchronize().map_err(of_call)
    }

    fn open_stream(&self) -> Result<StreamHandle, DeviceError> {
        let context = self.context()?;
        context.streams.open(&context.raw)
    }

    fn close_stream(&self, stream: StreamHandle) {
        if let Ok(context) = self.context() {
            // The next synchronisation of the device reports an error of the stream's work.
            let _ = context.synchronize_stream(stream);
            context.streams.close(stream);
        }
    }

    fn adopt_stream(&self, stream: VouchedStream) -> Result<StreamHandle, DeviceError> {
        Ok(self.context()?.streams.adopt(&stream))
    }

    fn raw_stream(&self, stream: StreamHandle) -> Result<u64, DeviceError> {
        self.context()?
            .with_stream(stream, |stream| Ok(stream.raw()))
    }

    fn synchronize_stream(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        self.context()?.synchronize_stream(stream)
    }

    fn occupancy(
        &self,
        function: &Function,
        threads_per_block: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<u32, DeviceError> {
        let kernel = entry_of::<CudaEntry>(function, self.index)?.function()?;
        let threads = i32::try_from(threads_per_block).unwrap_or(i32::MAX);
        let blocks = kernel
            .occupancy(threads, dynamic_shared_bytes as usize)
            .map_err(of_call)?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    fn begin_capture(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        GpuRecording::begin(&**self.context()?, stream)
    }

    fn unrecorded(
        &self,
        stream: StreamHandle,
        queue: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let context = self.context()?;
        let raw = context.with_stream(stream, |stream| Ok(stream.raw()))?;
        context
            .kept
            .recorded
            .unless_recorded(raw, LENT_MEMORY, queue)
    }

    fn end_capture(&self, stream: StreamHandle) -> Result<Box<dyn RecordedLaunches>, DeviceError> {
        Ok(Box::new(GpuRecording::end(self.context()?, stream)?))
    }
}

impl fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaDevice")
            .field("key", &self.info.key.to_string())
            .field("ordinal", &self.info.ordinal)
            .field("driver", &self.found.file)
            .finish_non_exhaustive()
    }
}
