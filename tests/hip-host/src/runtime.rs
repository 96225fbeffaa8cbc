//! The runtime of the process: its device, live objects, and the frame of calls.

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

/// Numbers of `hipError_t`.
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

/// The result of a call: nothing, or a number of `hipError_t`.
pub type Outcome<T = ()> = Result<T, i32>;

/// A loaded kernel: the function that the cpu device launches, and its number of arguments.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub function: Function,
    pub parameters: usize,
    /// The device on which it was loaded.
    pub ordinal: i32,
}

/// A module, and the number of arguments of each kernel.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub module: Arc<dyn Module>,
    pub parameters: BTreeMap<String, usize>,
    /// The device on which it was loaded.
    pub ordinal: i32,
}

/// All live objects, by handle or address.
#[derive(Debug, Default)]
pub struct Alive {
    pub memory: BTreeMap<usize, Arc<dyn Allocation>>,
    pub streams: BTreeMap<usize, Arc<Stream>>,
    /// Events, and the device of each.
    pub events: BTreeMap<usize, (i32, Arc<Signal<std::time::Instant>>)>,
    pub modules: BTreeMap<usize, Loaded>,
    /// Kernels, and the module of each.
    pub kernels: BTreeMap<usize, (usize, Kernel)>,
    pub graphs: BTreeMap<usize, Vec<Work>>,
    pub executables: BTreeMap<usize, Arc<Executable>>,
    last_handle: usize,
}

impl Alive {
    /// A handle that was never used.
    pub fn handle(&mut self) -> usize {
        self.last_handle += 16;
        self.last_handle
    }

    /// Total size of all allocations in bytes.
    pub fn used_bytes(&self) -> usize {
        self.memory.values().map(|memory| memory.bytes()).sum()
    }

    /// The allocation that contains a range of addresses, and the offset.
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

/// The runtime.
pub struct Runtime {
    pub device: Arc<CpuDevice>,
    pub devices: i32,
    pub memory_bytes: usize,
    pub default_stream: Arc<Stream>,
    faults: Faults,
    alive: Mutex<Alive>,
    /// The error that every call returns from now on; 0 for none.
    broken: AtomicI32,
}

/// The runtime of this process, started by the first call.
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
        // All of them are the same host processor.
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

/// The current device of this thread; initially the first one.
pub fn chosen_device() -> i32 {
    CHOSEN.get()
}

/// Sets the current device.
pub fn choose_device(ordinal: i32) {
    CHOSEN.set(ordinal);
}

/// Checks that a default stream is used only for objects of the thread's current device.
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

    /// Every stream.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        let mut streams = vec![self.default_stream.clone()];
        streams.extend(self.alive().streams.values().cloned());
        streams
    }

    /// From now on every call returns this error.
    pub fn break_with(&self, code: i32) {
        // The first error stays.
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

    /// Counts a call that a script can make fail.
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

/// Runs a call from outside: the device must exist and not be broken, and a script may make the call fail. Panics do
/// not leave it.
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
