//! The runtime of the process: its device, its live objects, and the code around every call.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use kiln::backend::cpu::{CpuDevice, CpuOptions};
use kiln::device::{Allocation, Function, Module};

use crate::faults::{Faults, is_sticky};
use crate::graph::Executable;
use crate::queue::{Queue, Signal};
use crate::stream::Stream;
use crate::work::Work;

/// Values of `hipError_t`.
pub const SUCCESS: i32 = 0;
pub const INVALID_VALUE: i32 = 1;
pub const OUT_OF_MEMORY: i32 = 2;
pub const NO_DEVICE: i32 = 100;
pub const INVALID_DEVICE: i32 = 101;
pub const INVALID_IMAGE: i32 = 200;
pub const INVALID_HANDLE: i32 = 400;
pub const NOT_FOUND: i32 = 500;
pub const NOT_READY: i32 = 600;
pub const LAUNCH_FAILURE: i32 = 719;
pub const NOT_SUPPORTED: i32 = 801;
pub const CAPTURE_UNSUPPORTED: i32 = 900;
pub const CAPTURE_INVALIDATED: i32 = 901;
pub const UNKNOWN: i32 = 999;

/// The result of a call. The error is a value of `hipError_t`.
pub type Outcome<T = ()> = Result<T, i32>;

/// A loaded kernel: the function that the cpu device launches, and its number of arguments.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub function: Function,
    pub parameters: usize,
    /// The number of the device on which the kernel was loaded.
    pub ordinal: i32,
}

/// A loaded module, and the number of arguments of each of its kernels.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub module: Arc<dyn Module>,
    pub parameters: BTreeMap<String, usize>,
    /// The number of the device on which the module was loaded.
    pub ordinal: i32,
}

/// All live objects, by handle or by address.
#[derive(Debug, Default)]
pub struct Alive {
    pub memory: BTreeMap<usize, Arc<dyn Allocation>>,
    pub streams: BTreeMap<usize, Arc<Stream>>,
    /// For each event, the number of its device, and its time.
    pub events: BTreeMap<usize, (i32, Arc<Signal<std::time::Instant>>)>,
    pub modules: BTreeMap<usize, Loaded>,
    /// For each kernel, the handle of its module, and the kernel.
    pub kernels: BTreeMap<usize, (usize, Kernel)>,
    pub graphs: BTreeMap<usize, Vec<Work>>,
    pub executables: BTreeMap<usize, Arc<Executable>>,
    last_handle: usize,
}

impl Alive {
    /// A handle that was never used before.
    pub fn handle(&mut self) -> usize {
        self.last_handle += 16;
        self.last_handle
    }

    /// Total size of all allocations in bytes.
    pub fn used_bytes(&self) -> usize {
        self.memory.values().map(|memory| memory.bytes()).sum()
    }

    /// The allocation that contains a range of addresses, and the offset of the range in this allocation.
    pub fn memory_at(&self, address: usize, bytes: usize) -> Outcome<(Arc<dyn Allocation>, usize)> {
        let (start, memory) = self
            .memory
            .range(..=address)
            .next_back()
            .ok_or(INVALID_VALUE)?;
        let offset = address - start;
        let end = offset.checked_add(bytes).ok_or(INVALID_VALUE)?;
        if end > memory.bytes() {
            return Err(INVALID_VALUE);
        }
        Ok((memory.clone(), offset))
    }
}

/// The runtime, of which a process has one.
pub struct Runtime {
    pub device: Arc<CpuDevice>,
    pub devices: i32,
    pub memory_bytes: usize,
    pub default_stream: Arc<Stream>,
    faults: Faults,
    alive: Mutex<Alive>,
    /// The error that every call returns because an earlier one broke the runtime; 0 if it is intact.
    broken: AtomicI32,
}

/// The runtime of this process. The first call starts it.
pub static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let number = |name: &str, unset: usize| match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}: {text:?} is not a number")),
        Err(_) => unset,
    };
    let options = CpuOptions::from_env().expect("the options of the cpu device should be good");
    Runtime {
        device: CpuDevice::with_options(options).expect("threads should start"),
        // All devices are the same host processor.
        devices: number("KILN_HIP_HOST_DEVICES", 1).min(2) as i32,
        memory_bytes: number("KILN_HIP_HOST_MEMORY", 1 << 30),
        default_stream: Arc::new(Stream::new(Queue::start())),
        faults: Faults::parse(&std::env::var("KILN_HIP_HOST_FAULTS").unwrap_or_default()),
        alive: Mutex::default(),
        broken: AtomicI32::new(SUCCESS),
    }
});

thread_local! {
    static LAST_ERROR: Cell<i32> = const { Cell::new(SUCCESS) };
    static CHOSEN: Cell<i32> = const { Cell::new(0) };
}

/// The number of the current device of this thread. Initially it is 0.
pub fn chosen_device() -> i32 {
    CHOSEN.get()
}

/// Sets the current device of this thread.
pub fn choose_device(ordinal: i32) {
    CHOSEN.set(ordinal);
}

/// Checks that a default stream is used only with objects of the thread's current device.
pub fn check_stream_of(ordinal: i32, stream: usize) -> Outcome {
    if stream == 0 && ordinal != chosen_device() {
        return Err(INVALID_HANDLE);
    }
    Ok(())
}

/// Returns and clears the last error of this thread.
pub fn take_last_error() -> i32 {
    LAST_ERROR.replace(SUCCESS)
}

impl Runtime {
    /// The live objects.
    pub fn alive(&self) -> MutexGuard<'_, Alive> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stream with this handle.
    pub fn stream(&self, handle: usize) -> Outcome<Arc<Stream>> {
        if handle == 0 {
            return Ok(self.default_stream.clone());
        }
        self.alive()
            .streams
            .get(&handle)
            .cloned()
            .ok_or(INVALID_HANDLE)
    }

    /// All streams, including the default stream.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        let mut streams = vec![self.default_stream.clone()];
        streams.extend(self.alive().streams.values().cloned());
        streams
    }

    /// Breaks the runtime: every later call returns this error.
    pub fn break_with(&self, code: i32) {
        // If the runtime is broken already, the first error remains.
        let _ = self
            .broken
            .compare_exchange(SUCCESS, code, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The error that has broken the runtime, if any.
    pub fn check_broken(&self) -> Outcome {
        match self.broken.load(Ordering::SeqCst) {
            SUCCESS => Ok(()),
            code => Err(code),
        }
    }

    /// Counts a call, and returns the error that a script specifies for it, if any.
    pub fn check_fault(&self, name: &str) -> Outcome {
        let Some(code) = self.faults.next(name) else {
            return Ok(());
        };
        if is_sticky(code) {
            self.break_with(code);
        }
        Err(code)
    }
}

/// The code around every call of a function: checks that the device exists and is not broken, applies scripted errors,
/// and catches panics.
pub fn call(name: &str, act: impl FnOnce(&Runtime) -> Outcome) -> i32 {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let runtime = &*RUNTIME;
        runtime.check_fault(name)?;
        runtime.check_broken()?;
        if runtime.devices == 0 {
            return Err(INVALID_DEVICE);
        }
        act(runtime)
    }));
    let code = match caught {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => UNKNOWN,
    };
    if code != SUCCESS {
        LAST_ERROR.set(code);
    }
    code
}
