//! Streams, events, recordings, and the kernels that are launched on them.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use kiln_spec::LaunchPlan;

use super::HipPlace;
use crate::backend::gpu;
use crate::backend::hip::status::HipFailure;
use crate::backend::hip::types::{
    CaptureMode, CopyKind, FunctionAttribute, RawEvent, RawFunction, RawGraph, RawGraphExec,
    RawModule, RawStream,
};
use crate::device::KernelArgs;
use crate::interop::VouchedStream;

/// A stream of one device. If this object owns the stream, dropping the object destroys the stream. Otherwise the
/// creator of the `VouchedStream` vouches for the stream's lifetime.
#[derive(Debug)]
pub(in crate::backend::hip) struct OwnedStream {
    place: HipPlace,
    pub(super) raw: RawStream,
    /// Whether the stream is destroyed on drop.
    owned: bool,
}

/// `hipStreamNonBlocking`. Such a stream and the default stream do not wait for each other.
pub const STREAM_NON_BLOCKING: u32 = 1;

/// `hipStreamPerThread`, the largest of the special handles that mean a stream of the thread's current device.
const LAST_OF_EVERY_DEVICE: usize = 2;

impl OwnedStream {
    /// Creates a new stream.
    pub fn new(place: &HipPlace) -> Result<OwnedStream, HipFailure> {
        place.hip.select(place.ordinal)?;
        let mut raw = RawStream::default();
        // SAFETY: `hipStreamCreateWithFlags` writes one handle, to `raw`.
        let status = unsafe {
            (place.hip.table.hipStreamCreateWithFlags)(&raw mut raw, STREAM_NON_BLOCKING)
        };
        place.hip.check("hipStreamCreateWithFlags", status)?;
        let place = place.clone();
        Ok(OwnedStream {
            place,
            raw,
            owned: true,
        })
    }

    /// The device's default stream.
    pub fn default_of(place: &HipPlace) -> OwnedStream {
        OwnedStream {
            place: place.clone(),
            raw: RawStream::default(),
            owned: false,
        }
    }

    /// A stream that the program owns and continues to own.
    pub fn borrowed(place: &HipPlace, stream: &VouchedStream) -> OwnedStream {
        OwnedStream {
            place: place.clone(),
            raw: RawStream(stream.raw() as usize),
            owned: false,
        }
    }

    /// The runtime's own handle as an integer.
    pub fn raw(&self) -> u64 {
        self.raw.0 as u64
    }

    /// Makes the stream's device current if the stream's handle does not identify the device. The handles of default
    /// streams (null, `hipStreamLegacy`, `hipStreamPerThread`) are the same on every device.
    fn select_if_default(&self) -> Result<(), HipFailure> {
        if self.raw.0 > LAST_OF_EVERY_DEVICE {
            return Ok(());
        }
        self.place.hip.select(self.place.ordinal)
    }

    /// Queues a copy on the device, as in [`gpu::Gpu::copy_on_device`].
    pub fn copy_on_device(&self, to: u64, from: u64, bytes: usize) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        let (to, from) = (to as *mut c_void, from as *const c_void);
        let kind = CopyKind::ON_DEVICE;
        // SAFETY: the caller vouches for both addresses, and the stream is alive.
        let status = unsafe { (hip.table.hipMemcpyAsync)(to, from, bytes, kind, self.raw) };
        hip.check("hipMemcpyAsync", status)
    }

    /// Waits until all work queued on the stream is done.
    pub fn synchronize(&self) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        // SAFETY: the stream is alive.
        let status = unsafe { (hip.table.hipStreamSynchronize)(self.raw) };
        hip.check("hipStreamSynchronize", status)
    }

    /// Starts recording the work queued on the stream. The work is recorded instead of run. Other threads are not
    /// affected.
    pub fn begin_capture(&self) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        // SAFETY: the stream is alive.
        let status =
            unsafe { (hip.table.hipStreamBeginCapture)(self.raw, CaptureMode::THREAD_LOCAL) };
        hip.check("hipStreamBeginCapture", status)
    }

    /// Ends recording and prepares the recorded work for launching.
    pub fn end_capture(&self) -> Result<HipGraph, HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        let mut graph = RawGraph::default();
        // SAFETY: the stream is alive, and `hipStreamEndCapture` writes one handle, to `graph`.
        let status = unsafe { (hip.table.hipStreamEndCapture)(self.raw, &raw mut graph) };
        hip.check("hipStreamEndCapture", status)?;
        let mut raw = RawGraphExec::default();
        let (node, log) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the graph was just created, and the call requests neither a node nor a log.
        let status = unsafe { (hip.table.hipGraphInstantiate)(&raw mut raw, graph, node, log, 0) };
        let instantiated = hip.check("hipGraphInstantiate", status);
        // SAFETY: the graph belongs to this function, and the executable graph does not need it.
        let _ = unsafe { (hip.table.hipGraphDestroy)(graph) };
        instantiated?;
        let place = self.place.clone();
        Ok(HipGraph { place, raw })
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        if self.owned && self.place.hip.select(self.place.ordinal).is_ok() {
            // SAFETY: the stream belongs to this object. Work that is queued on the stream still completes.
            let _ = unsafe { (self.place.hip.table.hipStreamDestroy)(self.raw) };
        }
    }
}

/// Recorded launches that are ready to be launched together.
#[derive(Debug)]
pub(in crate::backend::hip) struct HipGraph {
    place: HipPlace,
    raw: RawGraphExec,
}

impl gpu::GpuGraph<OwnedStream, HipFailure> for HipGraph {
    fn upload(&self, stream: &OwnedStream) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        let Some(upload) = hip.table.hipGraphUpload else {
            return Ok(());
        };
        hip.select(self.place.ordinal)?;
        // SAFETY: the graph and the stream are alive and belong to the same library.
        let status = unsafe { upload(self.raw, stream.raw) };
        hip.check("hipGraphUpload", status)
    }

    fn launch(&self, stream: &OwnedStream) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        // SAFETY: the graph and the stream are alive and belong to the same library. Whoever recorded the launches
        // vouched for their arguments as long as the graph is launched.
        let status = unsafe { (hip.table.hipGraphLaunch)(self.raw, stream.raw) };
        hip.check("hipGraphLaunch", status)
    }
}

impl Drop for HipGraph {
    fn drop(&mut self) {
        if self.place.hip.select(self.place.ordinal).is_ok() {
            // SAFETY: the graph belongs to this object.
            let _ = unsafe { (self.place.hip.table.hipGraphExecDestroy)(self.raw) };
        }
    }
}

/// A point in a stream. It records the time at which the stream reaches it.
#[derive(Debug)]
pub(in crate::backend::hip) struct HipEvent {
    place: HipPlace,
    raw: RawEvent,
}

impl HipEvent {
    /// Creates an event that is not queued yet.
    pub fn new(place: &HipPlace) -> Result<HipEvent, HipFailure> {
        place.hip.select(place.ordinal)?;
        let mut raw = RawEvent::default();
        // SAFETY: `hipEventCreateWithFlags` writes one handle, to `raw`. Without flags, the event records times.
        let status = unsafe { (place.hip.table.hipEventCreateWithFlags)(&raw mut raw, 0) };
        place.hip.check("hipEventCreateWithFlags", status)?;
        let place = place.clone();
        Ok(HipEvent { place, raw })
    }
}

impl gpu::Event<OwnedStream, HipFailure> for HipEvent {
    fn record(&self, stream: &OwnedStream) -> Result<(), HipFailure> {
        stream.select_if_default()?;
        // SAFETY: the event and the stream are alive and belong to the same library.
        let status = unsafe { (self.place.hip.table.hipEventRecord)(self.raw, stream.raw) };
        self.place.hip.check("hipEventRecord", status)
    }

    fn hold_back(&self, stream: &OwnedStream) -> Result<(), HipFailure> {
        stream.select_if_default()?;
        let wait = self.place.hip.table.hipStreamWaitEvent;
        // SAFETY: the event and the stream are alive and belong to the same library, and no flags are passed.
        let status = unsafe { wait(stream.raw, self.raw, 0) };
        self.place.hip.check("hipStreamWaitEvent", status)
    }

    fn synchronize(&self) -> Result<(), HipFailure> {
        // SAFETY: the event is alive.
        let status = unsafe { (self.place.hip.table.hipEventSynchronize)(self.raw) };
        self.place.hip.check("hipEventSynchronize", status)
    }

    fn ms_since(&self, earlier: &HipEvent) -> Result<f32, HipFailure> {
        let mut ms = 0.0;
        let function = self.place.hip.table.hipEventElapsedTime;
        // SAFETY: both events are alive, and the function writes one number, to `ms`.
        let status = unsafe { function(&raw mut ms, earlier.raw, self.raw) };
        self.place.hip.check("hipEventElapsedTime", status)?;
        Ok(ms)
    }
}

impl Drop for HipEvent {
    fn drop(&mut self) {
        // SAFETY: the event belongs to this object.
        let _ = unsafe { (self.place.hip.table.hipEventDestroy)(self.raw) };
    }
}

/// A loaded code object.
#[derive(Debug)]
pub(in crate::backend::hip) struct LoadedCodeObject {
    place: HipPlace,
    raw: RawModule,
}

impl LoadedCodeObject {
    /// Loads an image. The caller must have checked that it is complete, because the runtime does not receive its
    /// size.
    pub fn new(place: &HipPlace, image: &[u8]) -> Result<LoadedCodeObject, HipFailure> {
        place.hip.select(place.ordinal)?;
        let mut raw = RawModule::default();
        // SAFETY: the image is an ELF file whose headers and sections all end inside the file, as the caller has
        // checked. The runtime copies the image.
        let status =
            unsafe { (place.hip.table.hipModuleLoadData)(&raw mut raw, image.as_ptr().cast()) };
        place.hip.check("hipModuleLoadData", status)?;
        let place = place.clone();
        Ok(LoadedCodeObject { place, raw })
    }
}

impl LoadedCodeObject {
    /// The address of a variable, and its size in bytes.
    pub fn global(&self, symbol: &str) -> Result<(u64, usize), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        let name = CString::new(symbol).unwrap_or_default();
        let (mut address, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: the module is loaded and the name is zero-terminated. The function writes one address and one number.
        let status = unsafe {
            (hip.table.hipModuleGetGlobal)(
                &raw mut address,
                &raw mut bytes,
                self.raw,
                name.as_ptr(),
            )
        };
        hip.check("hipModuleGetGlobal", status)?;
        Ok((address as u64, bytes))
    }

    /// The content of a variable, copied to the host.
    pub fn read_global(&self, symbol: &str) -> Result<Vec<u8>, HipFailure> {
        let (address, bytes) = self.global(symbol)?;
        let mut content = vec![0; bytes];
        let hip = &self.place.hip;
        let stream = OwnedStream::default_of(&self.place);
        let (to, from) = (content.as_mut_ptr().cast(), address as *const c_void);
        let kind = CopyKind::TO_HOST;
        // SAFETY: the runtime returned the address and the size of the variable, and the target has that size. This
        // function waits for the copy before it returns.
        let status = unsafe { (hip.table.hipMemcpyAsync)(to, from, bytes, kind, stream.raw) };
        hip.check("hipMemcpyAsync", status)?;
        stream.synchronize()?;
        Ok(content)
    }
}

impl Drop for LoadedCodeObject {
    fn drop(&mut self) {
        let hip = &self.place.hip;
        if hip.select(self.place.ordinal).is_ok() && hip.synchronize().is_ok() {
            // SAFETY: the module belongs to this object, and all work of the device is done. Kernels of the module keep
            // this object alive, and so do recordings that could run them (`HipContext::free`).
            let _ = unsafe { (hip.table.hipModuleUnload)(self.raw) };
        }
    }
}

/// A kernel of a module. It keeps the module loaded.
#[derive(Clone, Debug)]
pub(in crate::backend::hip) struct LoadedKernel {
    module: Arc<LoadedCodeObject>,
    raw: RawFunction,
}

impl LoadedKernel {
    /// The kernel with this symbol.
    pub fn find(
        module: &Arc<LoadedCodeObject>,
        symbol: &CString,
    ) -> Result<LoadedKernel, HipFailure> {
        let hip = &module.place.hip;
        hip.select(module.place.ordinal)?;
        let mut raw = RawFunction::default();
        // SAFETY: the module is loaded and the symbol is zero-terminated. The function writes one handle, to `raw`.
        let status =
            unsafe { (hip.table.hipModuleGetFunction)(&raw mut raw, module.raw, symbol.as_ptr()) };
        hip.check("hipModuleGetFunction", status)?;
        let module = module.clone();
        Ok(LoadedKernel { module, raw })
    }

    /// The value of an attribute of the kernel.
    pub fn attribute(&self, attribute: FunctionAttribute) -> Result<i32, HipFailure> {
        let hip = &self.module.place.hip;
        let mut value = 0;
        // SAFETY: the module is loaded, and `hipFuncGetAttribute` writes one number, to `value`.
        let status =
            unsafe { (hip.table.hipFuncGetAttribute)(&raw mut value, attribute, self.raw) };
        hip.check("hipFuncGetAttribute", status)?;
        Ok(value)
    }

    /// The number of resident blocks per multiprocessor, for blocks with this number of threads and this amount of
    /// dynamic shared memory in bytes.
    pub fn resident_blocks(&self, threads: u32, shared_bytes: usize) -> Result<i32, HipFailure> {
        let hip = &self.module.place.hip;
        hip.select(self.module.place.ordinal)?;
        let mut blocks = 0;
        let function = hip.table.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor;
        // SAFETY: the module is loaded, and the function writes one number, to `blocks`.
        let status = unsafe {
            function(
                &raw mut blocks,
                self.raw,
                threads.cast_signed(),
                shared_bytes,
            )
        };
        hip.check("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", status)?;
        Ok(blocks)
    }

    /// Queues one launch. The caller must have checked the plan and the number of arguments against the kernel.
    pub fn launch(
        &self,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        stream: &OwnedStream,
    ) -> Result<(), HipFailure> {
        stream.select_if_default()?;
        let hip = &self.module.place.hip;
        let ([gx, gy, gz], [bx, by, bz]) = (plan.grid, plan.block);
        let pointers = args.pointers().as_ptr().cast_mut().cast::<*mut c_void>();
        let none = std::ptr::null_mut();
        // SAFETY: the kernel's module is loaded and the stream is alive. The caller of `KernelArgs::new` vouched for
        // the values, and there are as many as the kernel takes. The runtime only reads them, and does so before the
        // call returns.
        let status = unsafe {
            (hip.table.hipModuleLaunchKernel)(
                self.raw,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                plan.shared_bytes,
                stream.raw,
                pointers,
                none,
            )
        };
        hip.check("hipModuleLaunchKernel", status)
    }
}
