//! [`Device`], the handle that programs use, and [`DeviceBackend`], the trait that each backend implements.
//!
//! A device loads [`Artifact`]s as [`Module`]s. A module finds a [`Function`] by its symbol, and the device launches
//! that function with a [`LaunchPlan`] on a stream. The work of one stream runs in order. A [`Stream`](crate::Stream)
//! keeps its device open. Each error belongs to one [`ErrorClass`].

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
    /// The limits of launches and other sizes of the device.
    pub limits: DeviceLimits,
    /// The device fingerprint in clear text: driver, processor features, clocks and similar properties. It contains
    /// nothing about compilers, and nothing that differs between devices of the same kind.
    pub fingerprint: BTreeMap<String, String>,
    /// Identifies this device among others of its kind, for example by UUID or exact memory size. These values do not
    /// affect times, so they are recorded with results and are never part of a result's key.
    pub instance: BTreeMap<String, String>,
    /// The number of the device among the devices of its backend, as the driver numbers them.
    pub ordinal: u32,
    /// The resolution of [`DeviceBackend::time`] in nanoseconds: the step of the clock and, on a GPU, the variation
    /// from the start of one batch (launches that are timed together) to the next.
    pub timer_tick_ns: u64,
    /// Whether the device is a simulator that interprets the device's images. A simulator has no clock, so it
    /// measures no times and its results are not evidence of speed.
    pub is_simulated: bool,
}

/// The state of a device's clock at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockReading {
    /// The clock frequency of the device's multiprocessors in kHz; `None` if it is not reported.
    pub khz: Option<u32>,
    /// Whether heat or the power supply throttles the clock at this moment. Reaching a configured power limit does
    /// not count as throttling, since large kernels always reach it.
    pub is_braked: bool,
}

/// A handle of an open device. Clones refer to the same device, are cheap, and can be sent between threads.
///
/// [`Device::cpu`], [`Device::cuda`], [`Device::hip`] and, by name, [`Device::open`] open a device. Work is queued on
/// its streams ([`Device::stream`], [`Device::new_stream`]). `Device` dereferences to [`DeviceBackend`], which has
/// the other methods.
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
    /// The identity, limits and fingerprint of the device.
    fn info(&self) -> &DeviceInfo;

    /// The number of this device object, unique within the process and small. It is an index into tables of loaded
    /// functions.
    fn index(&self) -> u32;

    /// The compiler for this device.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] if no compiler is installed. The device can still load images in that case.
    fn compiler(&self) -> Result<&dyn Compiler, CompileError>;

    /// Allocates `bytes` zeroed bytes aligned to `align` (a power of two).
    ///
    /// # Errors
    /// [`DeviceError::Oom`] if there is not enough memory.
    fn alloc(&self, bytes: usize, align: usize) -> Result<Box<dyn Allocation>, DeviceError>;

    /// Like [`Self::alloc`], with inaccessible memory directly before and after the allocation, so an access outside
    /// it faults. The end of the allocation is as close to the inaccessible memory as `align` allows.
    ///
    /// # Errors
    /// The errors of [`Self::alloc`]; [`DeviceError::Unsupported`] if the device does not support guards.
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
    /// [`DeviceError::Load`] if the artifact is damaged or was compiled for another target.
    fn load(&self, artifact: &Artifact) -> Result<Arc<dyn Module>, DeviceError>;

    /// Queues one launch on a stream. On return the launch may still be running, except on devices that run launches
    /// immediately.
    ///
    /// # Errors
    /// [`DeviceError::Plan`] if the plan exceeds a limit, and [`DeviceError::LaunchRefused`] if the launch is invalid
    /// for another reason. Errors of the kernel itself are returned here or by the next synchronisation.
    fn launch(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<(), DeviceError>;

    /// Like [`Self::launch`], but a schedule determines the order in which blocks, warps and threads run. If two orders
    /// give different results, the kernel has a race. On the cpu device, orders other than [`Schedule::Forward`] need a
    /// check build (a build of the kernel that checks every memory access).
    ///
    /// # Errors
    /// The errors of [`Self::launch`]. If the schedule is not [`Schedule::Forward`], also [`DeviceError::Unsupported`]
    /// if the device cannot control the order, and, on the cpu device, [`DeviceError::LaunchRefused`] if the function
    /// does not belong to a check build.
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

    /// Takes the remarks of check builds on the launches since the last call: what is not a fault, but what the author
    /// of the kernel may not know. Each begins with its kind, `early return: ` or `undefined value: `.
    fn take_remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Launches a function `launches` times, one launch directly after another. Returns the total time on the device's
    /// own clock, in nanoseconds. A GPU measures the time between two events. The cpu device measures each launch as
    /// the CPU time of its busiest thread.
    ///
    /// The launches alternate between the sets of arguments, beginning with the first set.
    ///
    /// # Errors
    /// The errors of [`Self::launch`]; [`DeviceError::LaunchRefused`] if the device has no clock, which is the case for
    /// simulated GPUs.
    fn time(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        sets: ArgSets<'_>,
        launches: u32,
    ) -> Result<u64, DeviceError>;

    /// Releases this process's reservations in the last-level cache (persisting L2), so that the times that this
    /// process measures can be compared with times of other processes. Call it before measuring, in a process that only
    /// measures.
    ///
    /// # Errors
    /// An error that broke the device earlier. A device that cannot reserve L2 cache returns no error.
    fn ready_for_timing(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// The IDs of the other processes that currently compute on the device. Empty for a device on which other processes
    /// always run too, such as the cpu device.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`], with the reason, if the other processes cannot be determined.
    fn other_processes(&self) -> Result<Vec<u32>, DeviceError> {
        Ok(Vec::new())
    }

    /// The current state of the device's clock; `None` if the device does not report it.
    fn clock(&self) -> Option<ClockReading> {
        None
    }

    /// Waits until everything queued on every stream is done.
    ///
    /// # Errors
    /// An error of a kernel that ran since the last synchronisation.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Opens a new stream. [`Stream`](crate::Stream) closes it.
    ///
    /// # Errors
    /// If the driver cannot open a stream.
    fn open_stream(&self) -> Result<StreamHandle, DeviceError>;

    /// Closes a stream that [`Self::open_stream`] opened, after its work is done.
    fn close_stream(&self, stream: StreamHandle);

    /// Adopts a stream that another library opened. [`Self::close_stream`] releases it without destroying it.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device cannot adopt streams.
    fn adopt_stream(&self, stream: VouchedStream) -> Result<StreamHandle, DeviceError> {
        let _ = stream;
        Err(DeviceError::Unsupported {
            what: format!("a stream of another library on {}", self.info().key),
        })
    }

    /// The driver's own handle of a stream, as an integer.
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
    /// The errors of [`Self::synchronize`].
    fn synchronize_stream(&self, stream: StreamHandle) -> Result<(), DeviceError>;

    /// The number of blocks of a function that are resident per multiprocessor, as the driver computes it.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device does not report occupancy.
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

    /// Starts recording the launches that this thread queues on a stream. The launches are recorded instead of run.
    /// [`Graph`](crate::Graph) uses this.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device cannot record, or cannot record on its default stream.
    fn begin_capture(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        let _ = stream;
        Err(DeviceError::Unsupported {
            what: format!("recording launches on {}", self.info().key),
        })
    }

    /// Calls `queue`, which queues work that must not be recorded: it uses memory of another library, which may be
    /// freed before a recording is replayed. No recording of the stream begins during the call.
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

    /// Ends recording and returns the recorded launches. From then on, freed memory stays allocated until the last
    /// recording of the device is dropped, so a replay never accesses memory that was reallocated.
    ///
    /// # Errors
    /// The error of the call that invalidated the recording. Only launches can be recorded, not copies or
    /// allocations.
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
    /// From the first to the last block, warp and thread. A device that cannot control the order, and a release build
    /// on the cpu device, use their own order.
    #[default]
    Forward,
    /// From the last to the first block, warp and thread.
    Reversed,
    /// In a pseudo-random order, which depends only on this seed.
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

/// Launches that a device has recorded and can replay.
pub trait RecordedLaunches: Send + Sync + fmt::Debug {
    /// Queues all recorded launches on a stream.
    ///
    /// # Errors
    /// The errors of [`DeviceBackend::launch`].
    fn launch(&self, stream: StreamHandle) -> Result<(), DeviceError>;
}

/// Device memory, which is freed on drop.
///
/// A copy runs after the earlier work of the stream that is passed to it, and is complete when the method returns.
pub trait Allocation: Send + Sync + fmt::Debug {
    /// The address of the memory in kernels, which is the value of a kernel argument.
    fn address(&self) -> u64;

    /// The size in bytes.
    fn bytes(&self) -> usize;

    /// The [`DeviceBackend::index`] of the device that owns the memory.
    fn device_index(&self) -> u32;

    /// Copies `out.len()` bytes, beginning at `offset`, to the host.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range is not inside the allocation.
    fn read(&self, stream: StreamHandle, offset: usize, out: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies `data` from the host into this memory, beginning at `offset`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range is not inside the allocation.
    fn write(&self, stream: StreamHandle, offset: usize, data: &[u8]) -> Result<(), DeviceError>;

    /// Sets `bytes` bytes, beginning at `offset`, to `value`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the range is not inside the allocation.
    fn fill(
        &self,
        stream: StreamHandle,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), DeviceError>;
}

/// An artifact that a device has loaded.
pub trait Module: Send + Sync + fmt::Debug {
    /// The function with this symbol. The function keeps the module loaded.
    ///
    /// # Errors
    /// [`DeviceError::NotFound`] if the module has no kernel with this symbol.
    fn function(self: Arc<Self>, symbol: &str) -> Result<Function, DeviceError>;
}

/// A kernel that is ready to launch: its symbol, and the backend's own entry, which keeps the module loaded.
#[derive(Clone)]
pub struct Function {
    symbol: Arc<str>,
    device_index: u32,
    static_shared_bytes: u32,
    entry: Arc<dyn Any + Send + Sync>,
}

impl Function {
    /// Creates a function of the device with index `device_index`. The backend launches the kernel with `entry`,
    /// which must own the module. `static_shared_bytes` is the kernel's static shared memory in bytes.
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

    /// The symbol with which the function was looked up.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// The [`DeviceBackend::index`] of the device that loaded the function.
    pub fn device_index(&self) -> u32 {
        self.device_index
    }

    /// Static shared memory of one block, in bytes.
    pub fn static_shared_bytes(&self) -> u32 {
        self.static_shared_bytes
    }

    /// The backend's entry; `None` if it is not an `E` or if the function belongs to another device.
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

/// A backend's identifier for one of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamHandle(pub u64);

impl StreamHandle {
    /// The default stream, which every device has.
    pub const DEFAULT: StreamHandle = StreamHandle(0);
}
