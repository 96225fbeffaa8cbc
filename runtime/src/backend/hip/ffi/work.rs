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

/// A stream of one device: alive as long as this, or as whoever made the `VouchedStream` vouches for.
#[derive(Debug)]
pub(in crate::backend::hip) struct OwnedStream {
    place: HipPlace,
    pub(super) raw: RawStream,
    /// Whether it is destroyed with this.
    owned: bool,
}

/// `hipStreamNonBlocking`: work on the default stream does not wait for it, nor it for that.
pub const STREAM_NON_BLOCKING: u32 = 1;

/// `hipStreamPerThread`, the last of the handles that are streams of whichever device the thread has chosen.
const LAST_OF_EVERY_DEVICE: usize = 2;

impl OwnedStream {
    /// A new stream.
    pub fn new(place: &HipPlace) -> Result<OwnedStream, HipFailure> {
        place.hip.select(place.ordinal)?;
        let mut raw = RawStream::default();
        // SAFETY: writes one handle.
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

    /// A stream of the program's own, which stays its own.
    pub fn borrowed(place: &HipPlace, stream: &VouchedStream) -> OwnedStream {
        OwnedStream {
            place: place.clone(),
            raw: RawStream(stream.raw() as usize),
            owned: false,
        }
    }

    /// The runtime's own handle.
    pub fn raw(&self) -> u64 {
        self.raw.0 as u64
    }

    /// Makes its device the thread's own if the handle does not say which device is meant: that of a default stream is
    /// the same number on every device (null, `hipStreamLegacy`, `hipStreamPerThread`).
    fn select_if_default(&self) -> Result<(), HipFailure> {
        if self.raw.0 > LAST_OF_EVERY_DEVICE {
            return Ok(());
        }
        self.place.hip.select(self.place.ordinal)
    }

    /// Queues a copy on the device, as [`gpu::Gpu::copy_on_device`] has it.
    pub fn copy_on_device(&self, to: u64, from: u64, bytes: usize) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        let (to, from) = (to as *mut c_void, from as *const c_void);
        let kind = CopyKind::ON_DEVICE;
        // SAFETY: the caller vouches for both places; the stream is alive.
        let status = unsafe { (hip.table.hipMemcpyAsync)(to, from, bytes, kind, self.raw) };
        hip.check("hipMemcpyAsync", status)
    }

    /// Waits for everything queued on it.
    pub fn synchronize(&self) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        // SAFETY: the stream is alive.
        let status = unsafe { (hip.table.hipStreamSynchronize)(self.raw) };
        hip.check("hipStreamSynchronize", status)
    }

    /// Begins to record what is queued on it instead of running it; other threads are not affected.
    pub fn begin_capture(&self) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        // SAFETY: the stream is alive.
        let status =
            unsafe { (hip.table.hipStreamBeginCapture)(self.raw, CaptureMode::THREAD_LOCAL) };
        hip.check("hipStreamBeginCapture", status)
    }

    /// Ends recording, and makes what was recorded ready to be launched.
    pub fn end_capture(&self) -> Result<HipGraph, HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        let mut graph = RawGraph::default();
        // SAFETY: the stream is alive; writes one handle.
        let status = unsafe { (hip.table.hipStreamEndCapture)(self.raw, &raw mut graph) };
        hip.check("hipStreamEndCapture", status)?;
        let mut raw = RawGraphExec::default();
        let (node, log) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the graph was just made; no node and no log are asked for.
        let status = unsafe { (hip.table.hipGraphInstantiate)(&raw mut raw, graph, node, log, 0) };
        let instantiated = hip.check("hipGraphInstantiate", status);
        // SAFETY: the graph is this function's own; what was made of it does not need it.
        let _ = unsafe { (hip.table.hipGraphDestroy)(graph) };
        instantiated?;
        let place = self.place.clone();
        Ok(HipGraph { place, raw })
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        if self.owned && self.place.hip.select(self.place.ordinal).is_ok() {
            // SAFETY: the stream is this object's own. What is queued on it still runs to its end.
            let _ = unsafe { (self.place.hip.table.hipStreamDestroy)(self.raw) };
        }
    }
}

/// Recorded launches.
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
        // SAFETY: graph and stream are alive and of one library.
        let status = unsafe { upload(self.raw, stream.raw) };
        hip.check("hipGraphUpload", status)
    }

    fn launch(&self, stream: &OwnedStream) -> Result<(), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        // SAFETY: graph and stream are alive and of one library. The launches in it were vouched for when they
        // were recorded, for as long as the graph is launched.
        let status = unsafe { (hip.table.hipGraphLaunch)(self.raw, stream.raw) };
        hip.check("hipGraphLaunch", status)
    }
}

impl Drop for HipGraph {
    fn drop(&mut self) {
        if self.place.hip.select(self.place.ordinal).is_ok() {
            // SAFETY: the graph is this object's own.
            let _ = unsafe { (self.place.hip.table.hipGraphExecDestroy)(self.raw) };
        }
    }
}

/// A point in a stream whose time is taken.
#[derive(Debug)]
pub(in crate::backend::hip) struct HipEvent {
    place: HipPlace,
    raw: RawEvent,
}

impl HipEvent {
    /// A new event, recorded nowhere.
    pub fn new(place: &HipPlace) -> Result<HipEvent, HipFailure> {
        place.hip.select(place.ordinal)?;
        let mut raw = RawEvent::default();
        // SAFETY: writes one handle; no flags: an event that takes times.
        let status = unsafe { (place.hip.table.hipEventCreateWithFlags)(&raw mut raw, 0) };
        place.hip.check("hipEventCreateWithFlags", status)?;
        let place = place.clone();
        Ok(HipEvent { place, raw })
    }
}

impl gpu::Event<OwnedStream, HipFailure> for HipEvent {
    fn record(&self, stream: &OwnedStream) -> Result<(), HipFailure> {
        stream.select_if_default()?;
        // SAFETY: event and stream are alive and of one library.
        let status = unsafe { (self.place.hip.table.hipEventRecord)(self.raw, stream.raw) };
        self.place.hip.check("hipEventRecord", status)
    }

    fn hold_back(&self, stream: &OwnedStream) -> Result<(), HipFailure> {
        stream.select_if_default()?;
        let wait = self.place.hip.table.hipStreamWaitEvent;
        // SAFETY: event and stream are alive and of one library; there are no flags.
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
        // SAFETY: both events are alive; writes one number.
        let status = unsafe { function(&raw mut ms, earlier.raw, self.raw) };
        self.place.hip.check("hipEventElapsedTime", status)?;
        Ok(ms)
    }
}

impl Drop for HipEvent {
    fn drop(&mut self) {
        // SAFETY: the event is this object's own.
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
    /// Loads an image that was checked to be whole: the runtime is not told where it ends.
    pub fn new(place: &HipPlace, image: &[u8]) -> Result<LoadedCodeObject, HipFailure> {
        place.hip.select(place.ordinal)?;
        let mut raw = RawModule::default();
        // SAFETY: the image is an ELF file none of whose headers and sections ends behind it, as the caller has
        // checked; the runtime copies it.
        let status =
            unsafe { (place.hip.table.hipModuleLoadData)(&raw mut raw, image.as_ptr().cast()) };
        place.hip.check("hipModuleLoadData", status)?;
        let place = place.clone();
        Ok(LoadedCodeObject { place, raw })
    }
}

impl LoadedCodeObject {
    /// Address and size of a variable, in bytes.
    pub fn global(&self, symbol: &str) -> Result<(u64, usize), HipFailure> {
        let hip = &self.place.hip;
        hip.select(self.place.ordinal)?;
        let name = CString::new(symbol).unwrap_or_default();
        let (mut address, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: the module is loaded, the name is terminated; writes one address and one number.
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

    /// What a variable holds.
    pub fn read_global(&self, symbol: &str) -> Result<Vec<u8>, HipFailure> {
        let (address, bytes) = self.global(symbol)?;
        let mut content = vec![0; bytes];
        let hip = &self.place.hip;
        let stream = OwnedStream::default_of(&self.place);
        let (to, from) = (content.as_mut_ptr().cast(), address as *const c_void);
        let kind = CopyKind::TO_HOST;
        // SAFETY: the runtime just said where the variable is and how large, as large as the target is; both are waited
        // for before this returns.
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
            // SAFETY: the module is this object's own, its kernels keep it alive, and nothing runs any more;
            // recordings that could run its kernels keep it too (`Context::free`).
            let _ = unsafe { (hip.table.hipModuleUnload)(self.raw) };
        }
    }
}

/// A kernel of a module, which it keeps loaded.
#[derive(Clone, Debug)]
pub(in crate::backend::hip) struct LoadedKernel {
    module: Arc<LoadedCodeObject>,
    raw: RawFunction,
}

impl LoadedKernel {
    /// The kernel of that symbol.
    pub fn find(
        module: &Arc<LoadedCodeObject>,
        symbol: &CString,
    ) -> Result<LoadedKernel, HipFailure> {
        let hip = &module.place.hip;
        hip.select(module.place.ordinal)?;
        let mut raw = RawFunction::default();
        // SAFETY: the module is loaded; the symbol is terminated; writes one handle.
        let status =
            unsafe { (hip.table.hipModuleGetFunction)(&raw mut raw, module.raw, symbol.as_ptr()) };
        hip.check("hipModuleGetFunction", status)?;
        let module = module.clone();
        Ok(LoadedKernel { module, raw })
    }

    /// A number of the kernel.
    pub fn attribute(&self, attribute: FunctionAttribute) -> Result<i32, HipFailure> {
        let hip = &self.module.place.hip;
        let mut value = 0;
        // SAFETY: the module is loaded; writes one number.
        let status =
            unsafe { (hip.table.hipFuncGetAttribute)(&raw mut value, attribute, self.raw) };
        hip.check("hipFuncGetAttribute", status)?;
        Ok(value)
    }

    /// How many blocks of that many threads and that much dynamic shared memory fit on one multiprocessor at once.
    pub fn resident_blocks(&self, threads: u32, shared_bytes: usize) -> Result<i32, HipFailure> {
        let hip = &self.module.place.hip;
        hip.select(self.module.place.ordinal)?;
        let mut blocks = 0;
        let function = hip.table.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor;
        // SAFETY: the module is loaded; writes one number.
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

    /// Queues one launch. The caller has compared plan and number of arguments with what the kernel takes.
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
        // SAFETY: the kernel's module is loaded and the stream alive; the values are vouched for by
        // `KernelArgs::new`, as many as the kernel takes, and are only read, before this returns.
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
