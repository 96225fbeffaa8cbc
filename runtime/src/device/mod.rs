//! [`Device`], what programs hold, and [`DeviceBackend`], the trait that each backend implements.
//!
//! A device loads [`Artifact`]s into [`Module`]s, hands out [`Function`]s of them by symbol, and launches
//! those with a [`LaunchPlan`] on a stream. Work of one stream runs in order; [`Stream`](crate::Stream) keeps its device
//! alive. Errors are values, sorted by cause into [`ErrorClass`]es.

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
    /// Backend, architecture and product name: what baked rows are selected by.
    pub key: DeviceKey,
    /// Launch limits and sizes.
    pub limits: DeviceLimits,
    /// The device fingerprint in clear text: driver, processor features, clocks… Never a compiler, and
    /// nothing that another device of its kind has otherwise.
    pub fingerprint: BTreeMap<String, String>,
    /// Identifies this device among others of its kind: a UUID, the exact size of its memory. It does not affect times, so
    /// it is recorded next to results and is never part of their key.
    pub instance: BTreeMap<String, String>,
    /// Its number among the devices of its backend, as the driver counts them.
    pub ordinal: u32,
    /// The smallest difference that [`DeviceBackend::time`] can tell, in nanoseconds: the step of the clock, and on a GPU what
    /// varies from the start of one batch to the next.
    pub timer_tick_ns: u64,
}

/// The state of a device's clock at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockReading {
    /// The clock of its multiprocessors, in kHz, if it is reported.
    pub khz: Option<u32>,
    /// Heat or the power supply throttles the clock at this moment. A configured power limit does not count: large
    /// kernels reach it all the time.
    pub is_braked: bool,
}

/// A device that was opened: a cheap handle, cloned and sent between threads at will. Clones are the same device.
///
/// It is opened by [`Device::cpu`], [`Device::cuda`], [`Device::hip`] or, by name, [`Device::open`]; work is queued on
/// its streams ([`Device::stream`], [`Device::new_stream`]). What a backend offers is called through it: it
/// dereferences to [`DeviceBackend`].
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

/// Two handles are equal if they are of the same device object.
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

/// What a backend offers of one of its devices. [`Device`] is the handle that programs hold.
pub trait DeviceBackend: Send + Sync + fmt::Debug {
    /// Identity, limits and fingerprint.
    fn info(&self) -> &DeviceInfo;

    /// A small number of this device object, unique within the process: an index for tables of loaded
    /// functions.
    fn index(&self) -> u32;

    /// The compiler for this device.
    ///
    /// # Errors
    /// [`CompileError::NotFound`] when none is installed; images can still be loaded then.
    fn compiler(&self) -> Result<&dyn Compiler, CompileError>;

    /// Allocates `bytes` bytes aligned to `align` (a power of two), with every byte zero.
    ///
    /// # Errors
    /// [`DeviceError::Oom`] when there is no room.
    fn alloc(&self, bytes: usize, align: usize) -> Result<Box<dyn Allocation>, DeviceError>;

    /// As [`Self::alloc`], with inaccessible memory directly before and after it, so that a stray access
    /// faults. The end lies against the guard as closely as `align` allows.
    ///
    /// # Errors
    /// As [`Self::alloc`]; [`DeviceError::Unsupported`] if the device has no such memory.
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
    /// [`DeviceError::Load`] when it is damaged or was compiled for another target.
    fn load(&self, artifact: &Artifact) -> Result<Arc<dyn Module>, DeviceError>;

    /// Queues one launch on a stream. On return the launch may still be running, except on devices that
    /// run at once.
    ///
    /// # Errors
    /// [`DeviceError::LaunchRefused`] when the plan exceeds a limit; what the kernel itself did wrong shows
    /// here or at the next synchronisation.
    fn launch(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<(), DeviceError>;

    /// As [`Self::launch`], with blocks, warps and threads run in the order of a schedule: two orders that give two
    /// results show a race. Orders other than [`Schedule::Forward`] need a build for checking.
    ///
    /// # Errors
    /// As [`Self::launch`]; [`DeviceError::Unsupported`] if the device cannot choose the order, and
    /// [`DeviceError::LaunchRefused`] if the function is not of a build for checking.
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

    /// Launches `launches` times back to back and gives the time of all together on the device's own clock,
    /// in nanoseconds: events on a GPU, the largest thread CPU time on the cpu.
    ///
    /// The launches take the sets of arguments in turn, beginning with the first.
    ///
    /// # Errors
    /// As [`Self::launch`].
    fn time(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        sets: ArgSets<'_>,
        launches: u32,
    ) -> Result<u64, DeviceError>;

    /// Gives up this process's reservations in the last-level cache (persisting L2), so that its times can be compared with
    /// those of other processes. Call it before measuring, in processes that do nothing else.
    ///
    /// # Errors
    /// What broke the device before. It is not an error if there are no such reservations.
    fn ready_for_timing(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// The process IDs of the other processes that compute on the device now. Empty for a device that processes share
    /// anyway.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if that cannot be known, and why.
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
    /// What a kernel did wrong since the last synchronisation.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Opens a new stream; [`Stream`](crate::Stream) closes it.
    ///
    /// # Errors
    /// When the driver refuses.
    fn open_stream(&self) -> Result<StreamHandle, DeviceError>;

    /// Closes a stream that [`Self::open_stream`] gave, after its work is done.
    fn close_stream(&self, stream: StreamHandle);

    /// Takes in a stream that another library opened. [`Self::close_stream`] gives it back: it does not end.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device takes none.
    fn adopt_stream(&self, stream: VouchedStream) -> Result<StreamHandle, DeviceError> {
        let _ = stream;
        Err(DeviceError::Unsupported {
            what: format!("a stream of another library on {}", self.info().key),
        })
    }

    /// The driver's own handle of a stream, as a number.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if there is no driver with streams.
    fn raw_stream(&self, stream: StreamHandle) -> Result<u64, DeviceError> {
        let _ = stream;
        Err(DeviceError::Unsupported {
            what: format!("a driver's handle of a stream on {}", self.info().key),
        })
    }

    /// Waits until everything queued on one stream is done.
    ///
    /// # Errors
    /// As [`Self::synchronize`].
    fn synchronize_stream(&self, stream: StreamHandle) -> Result<(), DeviceError>;

    /// The number of blocks of a function that one multiprocessor holds at once, as the driver computes it.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device does not say.
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

    /// Begins to record what this thread launches on a stream, instead of running it; the graph of a stream does so.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the device records nothing, or not on its default stream.
    fn begin_capture(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        let _ = stream;
        Err(DeviceError::Unsupported {
            what: format!("recording launches on {}", self.info().key),
        })
    }

    /// Queues work that no recording may hold, as `queue` does: memory of another library may be gone when a recording is
    /// replayed. No recording of the stream begins meanwhile.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the stream is being recorded; what `queue` says.
    fn unrecorded(
        &self,
        stream: StreamHandle,
        queue: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let _ = stream;
        queue()
    }

    /// Ends recording and gives what was recorded. Memory that is freed from here on stays allocated until the last
    /// recording of the device is gone, so that no launch in it ever meets memory of somebody else.
    ///
    /// # Errors
    /// What invalidated the recording: only launches can be recorded, no copies and no allocations.
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

/// Launches that a device recorded and launches again together.
pub trait RecordedLaunches: Send + Sync + fmt::Debug {
    /// Queues all of them on a stream.
    ///
    /// # Errors
    /// As [`DeviceBackend::launch`].
    fn launch(&self, stream: StreamHandle) -> Result<(), DeviceError>;
}

/// Memory of a device, freed when dropped.
///
/// Copies are ordered after the earlier work of the stream they name and done on return.
pub trait Allocation: Send + Sync + fmt::Debug {
    /// Its address as kernels see it: what a kernel argument holds.
    fn address(&self) -> u64;

    /// Its size in bytes.
    fn bytes(&self) -> usize;

    /// The [`DeviceBackend::index`] of its device.
    fn device_index(&self) -> u32;

    /// Copies `out.len()` bytes from `offset` to the host.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] when the range is not inside.
    fn read(&self, stream: StreamHandle, offset: usize, out: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies `data` from the host to `offset`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] when the range is not inside.
    fn write(&self, stream: StreamHandle, offset: usize, data: &[u8]) -> Result<(), DeviceError>;

    /// Sets `bytes` bytes from `offset` to `value`.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] when the range is not inside.
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
    /// The function of that symbol, which keeps the module loaded.
    ///
    /// # Errors
    /// [`DeviceError::NotFound`] when the module has no such kernel.
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
    /// A function of the device `device_index`; `entry` is what the backend launches by and must own the
    /// module. `static_shared_bytes` is what the kernel declares of shared memory, in bytes.
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

    /// The symbol it was found by.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// The [`DeviceBackend::index`] of the device it was loaded on.
    pub fn device_index(&self) -> u32 {
        self.device_index
    }

    /// Static shared memory of one block, in bytes.
    pub fn static_shared_bytes(&self) -> u32 {
        self.static_shared_bytes
    }

    /// The backend's entry, if it is of that type and belongs to the device of that index.
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

/// A backend's name for one of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamHandle(pub u64);

impl StreamHandle {
    /// The stream that every device has from the start.
    pub const DEFAULT: StreamHandle = StreamHandle(0);
}
