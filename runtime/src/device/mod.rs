//! [`Device`], the handle that programs use, and [`DeviceBackend`], the trait that each backend implements.
//!
//! A device loads [`Artifact`]s into [`Module`]s, returns their [`Function`]s by symbol, and launches these with a
//! [`LaunchPlan`] on a stream. The work of one stream runs in order; [`Stream`](crate::Stream) keeps its device
//! alive. Errors are classified by cause into [`ErrorClass`]es.

#[doc(hidden)]
pub mod devices;
pub(crate) mod error;
pub(crate) mod graph;
pub(crate) mod kernel_args;
pub(crate) mod lent;
#[doc(hidden)]
pub mod stream;

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use kiln_spec::{DeviceKey, DeviceLimits, LaunchPlan};

use crate::compiler::error::CompileError;
use crate::compiler::{Artifact, Compiler};
use crate::interop::VouchedStream;

pub use crate::device::error::{DeviceError, ErrorClass};
pub use crate::device::kernel_args::{ArgMemory, ArgSets, KernelArgs};

/// Properties of a device that are known before anything runs on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Backend, architecture and product name, by which baked rows are selected.
    pub key: DeviceKey,
    /// Launch limits and sizes.
    pub limits: DeviceLimits,
    /// The device fingerprint in clear text: driver, processor features, clocks… It contains no compiler, and nothing
    /// that differs between devices of the same kind.
    pub fingerprint: BTreeMap<String, String>,
    /// Identifies this device among others of its kind: a UUID, the exact size of its memory. It does not affect
    /// times, so it is recorded with results and is never part of their key.
    pub instance: BTreeMap<String, String>,
    /// Its number among the devices of its backend, as the driver counts them.
    pub ordinal: u32,
    /// The resolution of [`DeviceBackend::time`] in nanoseconds: the step of the clock and, on a GPU, the variation
    /// from the start of one batch to the next.
    pub timer_tick_ns: u64,
    /// Whether it is an interpreter of that device's images, which has no clock: its times would mean nothing, and its results
    /// are not evidence of the device's speed.
    pub is_simulated: bool,
}

/// The state of a device's clock at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockReading {
    /// The clock of its multiprocessors, in kHz, if it is reported.
    pub khz: Option<u32>,
    /// Whether heat or the power supply throttles the clock at this moment. A configured power limit does not count,
    /// since large kernels always reach it.
    pub is_braked: bool,
}

/// An open device: a cheap handle that can be cloned and sent between threads. Clones are the same device.
///
/// It is opened by [`Device::cpu`], [`Device::cuda`], [`Device::hip`] or, by name, [`Device::open`]; work is queued
/// on its streams ([`Device::stream`], [`Device::new_stream`]). It dereferences to [`DeviceBackend`], which has the
/// other methods.
///
/// ```
/// # fn main() -> Result<(), kiln::Error> {
/// use kiln::{Buffer, Device};
///
/// let device = Device::cpu()?;
/// assert_eq!(device.name(), "cpu");
/// let stream = device.stream();
/// let ones = Buffer::from_slice(&stream, &[1.0_f32; 4])?;
/// assert_eq!(ones.to_vec(&stream)?, [1.0; 4]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Device(Arc<dyn DeviceBackend>);

impl<B: DeviceBackend + 'static> From<Arc<B>> for Device {
    fn from(backend: Arc<B>) -> Device {
        Device(backend)
    }
}

impl Deref for Device {
    type Target = dyn DeviceBackend;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Two handles are equal if they refer to the same device object.
impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.index() == other.index()
    }
}

impl Eq for Device {}

/// The index of a new device object.
pub(crate) fn next_index() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The operations of a device, implemented by each backend. [`Device`] is the handle that programs use.
pub trait DeviceBackend: Send + Sync + fmt::Debug {
    /// Identity, limits and fingerprint.
    fn info(&self) -> &DeviceInfo;

    /// A small number of this device object, unique within the process, as an index into tables of loaded functions.
    fn index(&self) -> u32;

    /// The compiler for this device.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] if none is installed; images can still be loaded then.
    fn compiler(&self) -> Result<&dyn Compiler, CompileError>;

    /// Allocates `bytes` zeroed bytes aligned to `align` (a power of two).
    ///
    /// # Errors
    /// [`DeviceError::Oom`] if there is not enough memory.
    fn alloc(&self, bytes: usize, align: usize) -> Result<Box<dyn Allocation>, DeviceError>;

    /// Like [`Self::alloc`], with inaccessible memory directly before and after it, so that a stray access faults.
    /// The end is as close to the guard as `align` allows.
    ///
    /// # Errors
    /// Those of [`Self::alloc`]; [`DeviceError::Unsupported`] if the device does not support guards.
    fn alloc_guarded(
        &self,
        bytes: usize,
        align: usize,
    ) -> Result<Box<dyn Allocation>, DeviceError> {
        let _ = (bytes, align);
        Err(DeviceError::Unsupported {
            what: format!("guarded memory on {}", self.info().key),
        })
    }

    /// Loads an artifact that was compiled for this device.
    ///
    /// # Errors
    /// [`DeviceError::Load`] if it is damaged or was compiled for another target.
    fn load(&self, artifact: &Artifact) -> Result<Arc<dyn Module>, DeviceError>;

    /// Queues one launch on a stream. On return the launch may still be running, except on devices that run launches
    /// immediately.
    ///
    /// # Errors
    /// [`DeviceError::LaunchRefused`] if the plan exceeds a limit. Errors of the kernel itself are reported here or
    /// by the next synchronisation.
    fn launch(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<(), DeviceError>;

    /// Like [`Self::launch`], but blocks, warps and threads run in the order of a schedule: if two orders give
    /// different results, there is a race. Orders other than [`Schedule::Forward`] need a check build.
    ///
    /// # Errors
    /// Those of [`Self::launch`]; [`DeviceError::Unsupported`] if the device cannot choose the order, and
    /// [`DeviceError::LaunchRefused`] if the function does not belong to a check build.
    fn launch_scheduled(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        schedule: Schedule,
    ) -> Result<(), DeviceError> {
        if schedule == Schedule::Forward {
            return self.launch(stream, function, plan, args);
        }
        Err(DeviceError::Unsupported {
            what: format!("choosing the order of threads on {}", self.info().key),
        })
    }

    /// Launches `launches` times back to back. Returns the total time on the device's own clock, in nanoseconds:
    /// between events on a GPU, the largest thread CPU time on the cpu.
    ///
    /// The launches use the sets of arguments in turn, beginning with the first.
    ///
    /// # Errors
    /// Those of [`Self::launch`].
    fn time(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        sets: ArgSets<'_>,
        launches: u32,
    ) -> Result<u64, DeviceError>;

    /// Gives up this process's reservations in the last-level cache (persisting L2), so that its times can be
    /// compared with those of other processes. Call it before measuring, in processes that do nothing else.
    ///
    /// # Errors
    /// An error that broke the device earlier. It is not an error if the device has no such reservations.
    fn ready_for_timing(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// The IDs of the other processes that compute on the device now. Empty for a device that processes share anyway.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if this cannot be determined, with the reason.
    fn other_processes(&self) -> Result<Vec<u32>, DeviceError> {
        Ok(Vec::new())
    }

    /// The state of the device's clock now; `None` if it does not report it.
    fn clock(&self) -> Option<ClockReading> {
        None
    }

    /// Waits until everything queued on every stream is done.
    ///
    /// # Errors
    /// An error of a kernel since the last synchronisation.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Opens a new stream; [`Stream`](crate::Stream) closes it.
    ///
    /// # Errors
    /// If the driver refuses.
    fn open_stream(&self) -> Result<StreamHandle, DeviceError>;

    /// Closes a stream of [`Self::open_stream`] after its work is done.
    fn close_stream(&self, stream: StreamHandle);

    /// Adopts a stream that another library opened. [`Self::close_stream`] releases it without destroying it.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device does not support it.
    fn adopt_stream(&self, stream: VouchedStream) -> Result<StreamHandle, DeviceError> {
        let _ = stream;
        Err(DeviceError::Unsupported {
            what: format!("a stream of another library on {}", self.info().key),
        })
    }

    /// The driver's own handle of a stream, as a number.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device has no driver with streams.
    fn raw_stream(&self, stream: StreamHandle) -> Result<u64, DeviceError> {
        let _ = stream;
        Err(DeviceError::Unsupported {
            what: format!("a driver's handle of a stream on {}", self.info().key),
        })
    }

    /// Waits until everything queued on one stream is done.
    ///
    /// # Errors
    /// Those of [`Self::synchronize`].
    fn synchronize_stream(&self, stream: StreamHandle) -> Result<(), DeviceError>;

    /// Resident blocks of a function per multiprocessor, as the driver computes it.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device does not report it.
    fn occupancy(
        &self,
        function: &Function,
        threads_per_block: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<u32, DeviceError> {
        let _ = (function, threads_per_block, dynamic_shared_bytes);
        Err(DeviceError::Unsupported {
            what: format!("asking for occupancy on {}", self.info().key),
        })
    }

    /// Starts recording the launches of this thread on a stream, instead of running them; used by the graph of a
    /// stream.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device cannot record, or not on its default stream.
    fn begin_capture(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        let _ = stream;
        Err(DeviceError::Unsupported {
            what: format!("recording launches on {}", self.info().key),
        })
    }

    /// Calls `queue`, which queues work that must not be recorded: memory of another library may be gone when a
    /// recording is replayed. No recording of the stream begins meanwhile.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the stream is being recorded; otherwise the errors of `queue`.
    fn unrecorded(
        &self,
        stream: StreamHandle,
        queue: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let _ = stream;
        queue()
    }

    /// Ends recording and returns the recorded launches. Memory that is freed from here on stays allocated until the
    /// last recording of the device is gone, so that no recorded launch ever accesses memory that now belongs to
    /// somebody else.
    ///
    /// # Errors
    /// The call that invalidated the recording: only launches can be recorded, no copies and no allocations.
    fn end_capture(&self, stream: StreamHandle) -> Result<Box<dyn RecordedLaunches>, DeviceError> {
        let _ = stream;
        Err(DeviceError::Unsupported {
            what: format!("recording launches on {}", self.info().key),
        })
    }
}

/// The order in which a launch runs its blocks, the warps of a block and the threads of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// From the first to the last.
    #[default]
    Forward,
    /// From the last to the first.
    Reversed,
    /// Random; the same seed gives the same order.
    Seeded(u64),
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Forward => f.write_str("forward order"),
            Schedule::Reversed => f.write_str("reversed order"),
            Schedule::Seeded(seed) => write!(f, "random order {seed}"),
        }
    }
}

/// Launches that a device recorded and can launch repeatedly.
pub trait RecordedLaunches: Send + Sync + fmt::Debug {
    /// Queues all of them on a stream.
    ///
    /// # Errors
    /// Those of [`DeviceBackend::launch`].
    fn launch(&self, stream: StreamHandle) -> Result<(), DeviceError>;
}

/// Device memory, freed on drop.
///
/// Copies run after the earlier work of the given stream and are complete on return.
pub trait Allocation: Send + Sync + fmt::Debug {
    /// Its address in kernels: the value of a kernel argument.
    fn address(&self) -> u64;

    /// Its size in bytes.
    fn bytes(&self) -> usize;

    /// The [`DeviceBackend::index`] of its device.
    fn device_index(&self) -> u32;

    /// Copies `out.len()` bytes from `offset` to the host.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range is not inside.
    fn read(&self, stream: StreamHandle, offset: usize, out: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies `data` from the host to `offset`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range is not inside.
    fn write(&self, stream: StreamHandle, offset: usize, data: &[u8]) -> Result<(), DeviceError>;

    /// Sets `bytes` bytes from `offset` to `value`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range is not inside.
    fn fill(
        &self,
        stream: StreamHandle,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), DeviceError>;
}

/// A loaded artifact.
pub trait Module: Send + Sync + fmt::Debug {
    /// The function with this symbol, which keeps the module loaded.
    ///
    /// # Errors
    /// [`DeviceError::NotFound`] if the module does not have the kernel.
    fn function(self: Arc<Self>, symbol: &str) -> Result<Function, DeviceError>;
}

/// A kernel ready to launch: its symbol, and the backend's own entry, which keeps its module loaded.
#[derive(Clone)]
pub struct Function {
    symbol: Arc<str>,
    device_index: u32,
    static_shared_bytes: u32,
    entry: Arc<dyn Any + Send + Sync>,
}

impl Function {
    /// A function of the device `device_index`. The backend launches with `entry`, which must own the module.
    /// `static_shared_bytes` is the static shared memory of the kernel, in bytes.
    pub fn new(
        symbol: &str,
        device_index: u32,
        static_shared_bytes: u32,
        entry: Arc<dyn Any + Send + Sync>,
    ) -> Function {
        Function {
            symbol: symbol.into(),
            device_index,
            static_shared_bytes,
            entry,
        }
    }

    /// The symbol by which it was found.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// The [`DeviceBackend::index`] of the device on which it was loaded.
    pub fn device_index(&self) -> u32 {
        self.device_index
    }

    /// Static shared memory of one block, in bytes.
    pub fn static_shared_bytes(&self) -> u32 {
        self.static_shared_bytes
    }

    /// The backend's entry, if it has this type and belongs to the device with this index.
    pub fn entry<E: Any>(&self, device_index: u32) -> Option<&E> {
        if self.device_index != device_index {
            return None;
        }
        self.entry.downcast_ref()
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("symbol", &self.symbol)
            .field("device_index", &self.device_index)
            .finish_non_exhaustive()
    }
}

/// A backend's identifier of one of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamHandle(pub u64);

impl StreamHandle {
    /// The default stream, which every device has.
    pub const DEFAULT: StreamHandle = StreamHandle(0);
}
