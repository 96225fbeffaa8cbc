//! Work on a device: streams, events, modules, launches and recorded graphs.

use std::ffi::{CString, c_int};
use std::sync::Arc;

use kiln_spec::LaunchPlan;

use crate::backend::gpu;
use crate::device::KernelArgs;
use crate::interop::VouchedStream;

use super::super::numbers::{
    CAPTURE_THREAD_LOCAL, EVENT_DEFAULT, FunctionAttribute, STREAM_NON_BLOCKING,
};
use super::driver::{Failed, Handle, PrimaryContext};

/// Makes one call of the driver that creates a handle, and returns the handle.
macro_rules! created {
    ($context:expr, $name:literal, |$handle:ident, $functions:ident| $call:expr) => {{
        let $functions = $context.enter()?;
        let mut $handle = std::ptr::null_mut();
        // SAFETY: the call writes a local handle. The caller of the macro justifies the other arguments.
        let code = unsafe { $call };
        $context.check($name, code)?;
        $handle
    }};
}

/// Declares that an owned handle may be used from any thread and from several threads at once. The driver permits
/// this for all objects except graphs.
macro_rules! any_thread {
    ($($owner:ty),*) => {
        $(
            // SAFETY: any thread may call the driver's functions, and the handle does not point to memory of this
            // process.
            unsafe impl Send for $owner {}
            // SAFETY: several threads may call the driver's functions at once, and the handle does not point to memory
            // of this process.
            unsafe impl Sync for $owner {}
        )*
    };
}

any_thread!(RawStream, CudaEvent, LoadedImage, RawFunction);

// SAFETY: the handle does not point to memory of this process, and any thread may use it, but not two threads at once.
// The driver does not synchronise access to graph objects ("Graph object thread safety" in NVIDIA's documentation of
// the driver), so this type is not `Sync`.
unsafe impl Send for RawGraph {}

/// A stream. It is destroyed on drop, unless it is the default stream or belongs to another library.
pub(in crate::backend::cuda) struct RawStream {
    handle: Handle,
    /// The context in which the stream was created; `None` for a stream that must not be destroyed.
    context: Option<Arc<PrimaryContext>>,
}

impl RawStream {
    /// The default stream, which every context has.
    pub const DEFAULT: RawStream = RawStream {
        handle: std::ptr::null_mut(),
        context: None,
    };

    /// Creates a stream that waits for no other stream, not even for the default stream.
    pub fn new(context: &Arc<PrimaryContext>) -> Result<RawStream, Failed> {
        let handle = created!(context, "cuStreamCreate", |handle, functions| {
            (functions.stream_create)(&raw mut handle, STREAM_NON_BLOCKING)
        });
        Ok(RawStream {
            handle,
            context: Some(context.clone()),
        })
    }

    /// A stream of another library, which continues to own it. A raw handle of 0 is the default stream.
    pub fn adopted(stream: &VouchedStream) -> RawStream {
        RawStream {
            handle: stream.raw() as Handle,
            context: None,
        }
    }

    /// The driver's handle as an integer.
    pub fn raw(&self) -> u64 {
        self.handle as u64
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    /// Queues a copy on the device, as in [`gpu::Gpu::copy_on_device`].
    pub fn copy_on_device(
        &self,
        context: &PrimaryContext,
        to: u64,
        from: u64,
        bytes: usize,
    ) -> Result<(), Failed> {
        let functions = context.enter()?;
        // SAFETY: the caller vouches for both addresses. The stream was created or is the default stream.
        let code = unsafe { (functions.copy_on_device)(to, from, bytes, self.handle) };
        context.check("cuMemcpyDtoDAsync", code)
    }

    /// Waits until all work of the stream is done.
    pub fn synchronize(&self, context: &PrimaryContext) -> Result<(), Failed> {
        let functions = context.enter()?;
        // SAFETY: the stream was created or is the default stream.
        let code = unsafe { (functions.stream_synchronize)(self.handle) };
        context.check("cuStreamSynchronize", code)
    }

    /// Starts recording the work that this thread queues on the stream. The work is recorded instead of run.
    pub fn begin_capture(&self, context: &PrimaryContext) -> Result<(), Failed> {
        let functions = context.enter()?;
        // SAFETY: the stream was created.
        let code = unsafe { (functions.begin_capture)(self.handle, CAPTURE_THREAD_LOCAL) };
        context.check("cuStreamBeginCapture", code)
    }

    /// Ends recording and prepares the recorded work for launching.
    pub fn end_capture(&self, context: &Arc<PrimaryContext>) -> Result<RawGraph, Failed> {
        let graph = created!(context, "cuStreamEndCapture", |graph, functions| {
            (functions.end_capture)(self.handle, &raw mut graph)
        });
        let functions = context.enter()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the graph was just recorded, and `handle` is a local variable.
        let code = unsafe { (functions.graph_instantiate)(&raw mut handle, graph, 0) };
        let made = context.check("cuGraphInstantiate", code);
        // SAFETY: the executable graph does not depend on the recorded graph, which nothing uses any more.
        let _ = unsafe { (functions.graph_destroy)(graph) };
        made.map(|()| RawGraph {
            handle,
            context: context.clone(),
        })
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        let Some(Ok(functions)) = self.context.as_ref().map(|context| context.enter()) else {
            return;
        };
        // SAFETY: this object created the stream. The driver keeps the stream until its work is done.
        let _ = unsafe { (functions.stream_destroy)(self.handle) };
    }
}

/// A point in a stream. It records the time at which the stream reaches it.
pub(in crate::backend::cuda) struct CudaEvent {
    handle: Handle,
    context: Arc<PrimaryContext>,
}

impl CudaEvent {
    /// Creates an event that records its time.
    pub fn new(context: &Arc<PrimaryContext>) -> Result<CudaEvent, Failed> {
        let handle = created!(context, "cuEventCreate", |handle, functions| {
            (functions.event_create)(&raw mut handle, EVENT_DEFAULT)
        });
        Ok(CudaEvent {
            handle,
            context: context.clone(),
        })
    }
}

impl gpu::Event<RawStream, Failed> for CudaEvent {
    fn record(&self, stream: &RawStream) -> Result<(), Failed> {
        let functions = self.context.enter()?;
        // SAFETY: the event and the stream were created in this context.
        let code = unsafe { (functions.event_record)(self.handle, stream.handle) };
        self.context.check("cuEventRecord", code)
    }

    fn hold_back(&self, stream: &RawStream) -> Result<(), Failed> {
        let functions = self.context.enter()?;
        // SAFETY: the event and the stream were created in this context, and no flags are passed.
        let code = unsafe { (functions.stream_wait_event)(stream.handle, self.handle, 0) };
        self.context.check("cuStreamWaitEvent", code)
    }

    fn synchronize(&self) -> Result<(), Failed> {
        let functions = self.context.enter()?;
        // SAFETY: the event was created.
        let code = unsafe { (functions.event_synchronize)(self.handle) };
        self.context.check("cuEventSynchronize", code)
    }

    fn ms_since(&self, earlier: &CudaEvent) -> Result<f32, Failed> {
        let functions = self.context.enter()?;
        let mut ms = 0.0;
        // SAFETY: both events were created, and `ms` is a local variable.
        let code = unsafe { (functions.event_elapsed)(&raw mut ms, earlier.handle, self.handle) };
        self.context.check("cuEventElapsedTime", code).map(|()| ms)
    }
}

impl Drop for CudaEvent {
    fn drop(&mut self) {
        if let Ok(functions) = self.context.enter() {
            // SAFETY: this object created the event.
            let _ = unsafe { (functions.event_destroy)(self.handle) };
        }
    }
}

/// A loaded image, which is unloaded on drop.
pub(in crate::backend::cuda) struct LoadedImage {
    handle: Handle,
    context: Arc<PrimaryContext>,
}

impl LoadedImage {
    /// Loads an image. The image must be complete, because the driver reads as far as the image's headers state.
    pub fn load(context: &Arc<PrimaryContext>, image: &[u8]) -> Result<LoadedImage, Failed> {
        let handle = created!(context, "cuModuleLoadData", |handle, functions| {
            // The headers of the image were checked to stay inside the image, and the driver does not read further.
            (functions.module_load)(&raw mut handle, image.as_ptr().cast())
        });
        Ok(LoadedImage {
            handle,
            context: context.clone(),
        })
    }

    /// The kernel with this symbol. The kernel keeps the module loaded.
    pub fn function(self: &Arc<Self>, symbol: &str) -> Result<RawFunction, Failed> {
        let name = CString::new(symbol).unwrap_or_default();
        let handle = created!(self.context, "cuModuleGetFunction", |handle, functions| {
            (functions.module_function)(&raw mut handle, self.handle, name.as_ptr())
        });
        Ok(RawFunction {
            handle,
            module: self.clone(),
        })
    }
}

impl LoadedImage {
    /// The address of a variable, and its size in bytes.
    pub fn global(&self, symbol: &str) -> Result<(u64, usize), Failed> {
        let name = CString::new(symbol).unwrap_or_default();
        let functions = self.context.enter()?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, the name ends with a zero byte, and `address` and `bytes` are local numbers.
        let code = unsafe {
            (functions.module_global)(&raw mut address, &raw mut bytes, self.handle, name.as_ptr())
        };
        let found = self.context.check("cuModuleGetGlobal", code);
        found.map(|()| (address, bytes))
    }

    /// The content of a variable, copied to the host.
    pub fn read_global(&self, symbol: &str) -> Result<Vec<u8>, Failed> {
        let (address, bytes) = self.global(symbol)?;
        let mut content = vec![0; bytes];
        let functions = self.context.enter()?;
        let (to, stream) = (content.as_mut_ptr().cast(), RawStream::DEFAULT);
        // SAFETY: the driver returned the address and the size of the variable, and the target has that size. This
        // function waits for the copy before it returns.
        let code = unsafe { (functions.copy_out)(to, address, bytes, stream.handle) };
        let queued = self.context.check("cuMemcpyDtoHAsync", code);
        queued.and(stream.synchronize(&self.context))?;
        Ok(content)
    }
}

impl Drop for LoadedImage {
    fn drop(&mut self) {
        if let Ok(functions) = self.context.enter() {
            // SAFETY: this object loaded the module. Every function keeps its module, so no function of this module is
            // left.
            let _ = unsafe { (functions.module_unload)(self.handle) };
        }
    }
}

/// A kernel of a loaded image.
pub(in crate::backend::cuda) struct RawFunction {
    handle: Handle,
    module: Arc<LoadedImage>,
}

impl RawFunction {
    /// The value of one attribute of the kernel.
    pub fn attribute(&self, attribute: FunctionAttribute) -> Result<i32, Failed> {
        let context = &self.module.context;
        let functions = context.enter()?;
        let mut value = 0;
        let number = attribute as c_int;
        // SAFETY: the function's module is loaded, and `value` is a local integer.
        let code = unsafe { (functions.function_attribute)(&raw mut value, number, self.handle) };
        context.check("cuFuncGetAttribute", code).map(|()| value)
    }

    /// Allows launches to use up to `bytes` bytes of dynamic shared memory.
    pub fn allow_dynamic_shared(&self, bytes: i32) -> Result<(), Failed> {
        let context = &self.module.context;
        let functions = context.enter()?;
        let most = FunctionAttribute::MaxDynamicSharedBytes as c_int;
        // SAFETY: the function's module is loaded.
        let code = unsafe { (functions.function_set)(self.handle, most, bytes) };
        context.check("cuFuncSetAttribute", code)
    }

    /// The number of resident blocks per multiprocessor.
    pub fn occupancy(&self, threads: i32, dynamic_bytes: usize) -> Result<i32, Failed> {
        let context = &self.module.context;
        let functions = context.enter()?;
        let mut blocks = 0;
        // SAFETY: the function's module is loaded, and `blocks` is a local integer.
        let code =
            unsafe { (functions.occupancy)(&raw mut blocks, self.handle, threads, dynamic_bytes) };
        let name = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
        context.check(name, code).map(|()| blocks)
    }

    /// Queues a launch. Allocates nothing.
    #[inline]
    pub fn launch(
        &self,
        stream: &RawStream,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<(), Failed> {
        self.launch_each(stream, plan, std::iter::once(args))
    }

    /// Queues one launch for each set of arguments, in order. Allocates nothing.
    #[inline]
    pub fn launch_each<'a>(
        &self,
        stream: &RawStream,
        plan: &LaunchPlan,
        sets: impl Iterator<Item = KernelArgs<'a>>,
    ) -> Result<(), Failed> {
        let context = &self.module.context;
        let functions = context.enter()?;
        let ([gx, gy, gz], [bx, by, bz]) = (plan.grid, plan.block);
        let shared = plan.shared_bytes;
        for args in sets {
            // The driver copies the arguments before it returns. It does not write to them.
            let params = args.pointers().as_ptr().cast_mut().cast();
            // SAFETY: the module is loaded, and the stream was created or is the default stream. The caller of
            // `KernelArgs::new` vouched that there is a pointer to a value of the right type for each parameter.
            let code = unsafe {
                (functions.launch)(
                    self.handle,
                    gx,
                    gy,
                    gz,
                    bx,
                    by,
                    bz,
                    shared,
                    stream.handle,
                    params,
                    std::ptr::null_mut(),
                )
            };
            context.check("cuLaunchKernel", code)?;
        }
        Ok(())
    }
}

/// Recorded launches that are ready to be launched together.
pub(in crate::backend::cuda) struct RawGraph {
    handle: Handle,
    context: Arc<PrimaryContext>,
}

impl gpu::GpuGraph<RawStream, Failed> for RawGraph {
    fn upload(&self, stream: &RawStream) -> Result<(), Failed> {
        self.context.enter()?;
        let Some(upload) = self.context.optional().graph_upload else {
            return Ok(());
        };
        // SAFETY: the graph was instantiated, and the stream was created.
        let code = unsafe { upload(self.handle, stream.handle) };
        self.context.check("cuGraphUpload", code)
    }

    fn launch(&self, stream: &RawStream) -> Result<(), Failed> {
        let functions = self.context.enter()?;
        // SAFETY: the graph was instantiated, only this thread uses it, and the stream was created. The memory that the
        // recorded launches use is kept as long as any graph lives.
        let code = unsafe { (functions.graph_launch)(self.handle, stream.handle) };
        self.context.check("cuGraphLaunch", code)
    }
}

impl Drop for RawGraph {
    fn drop(&mut self) {
        if let Ok(functions) = self.context.enter() {
            // SAFETY: this object instantiated the graph.
            let _ = unsafe { (functions.exec_destroy)(self.handle) };
        }
    }
}
