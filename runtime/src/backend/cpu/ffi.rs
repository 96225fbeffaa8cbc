//! All unsafe code of the cpu device: mapped memory, loaded objects, and calls of kernels.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Range;
use std::ptr::NonNull;

use kiln_spec::LaunchPlan;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::fs::MemfdFlags;
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags};
use thiserror::Error;

use crate::backend::shared_library::with_causes;
use crate::device::{KernelArgs, Schedule};

use super::unique_path::unique_path;

/// Size of a page, in bytes.
pub(super) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Zeroed memory in whole pages, which is unmapped on drop.
///
/// Kernels write to the memory through its address. Every access through this type is a copy. Callers must not let a
/// copy run at the same time as a kernel.
pub(super) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is not tied to a thread, and its users synchronise their accesses.
unsafe impl Send for Mapping {}
// SAFETY: the device's lock prevents copies and kernels from accessing the memory at the same time.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` bytes, rounded up to whole pages.
    pub fn new(bytes: usize) -> rustix::io::Result<Mapping> {
        Mapping::with_flags(bytes, MapFlags::PRIVATE)
    }

    /// Like [`Self::new`], for memory that is accessed only in small parts.
    pub fn sparse(bytes: usize) -> rustix::io::Result<Mapping> {
        Mapping::with_flags(bytes, MapFlags::PRIVATE | MapFlags::NORESERVE)
    }

    fn with_flags(bytes: usize, flags: MapFlags) -> rustix::io::Result<Mapping> {
        let bytes = bytes
            .max(1)
            .checked_next_multiple_of(page_bytes())
            .ok_or(rustix::io::Errno::NOMEM)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the operating system chooses the address, so the new mapping does not overlap existing memory.
        let start =
            unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), bytes, protection, flags)? };
        let start = NonNull::new(start.cast()).ok_or(rustix::io::Errno::NOMEM)?;
        Ok(Mapping { start, bytes })
    }

    /// The first address of the memory.
    pub fn address(&self) -> usize {
        self.start.as_ptr() as usize
    }

    /// The size of the memory in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn pointer(&self, range: &Range<usize>) -> *mut u8 {
        assert!(
            range.start <= range.end && range.end <= self.bytes,
            "the range should be inside the mapping"
        );
        // SAFETY: the offset is inside the mapping, as asserted above.
        unsafe { self.start.as_ptr().add(range.start) }
    }

    /// Makes the pages of a range inaccessible.
    pub fn guard(&self, range: Range<usize>) -> rustix::io::Result<()> {
        let start = self.pointer(&range).cast();
        // SAFETY: the pages belong to this mapping. From now on every access to them faults, which is the purpose.
        unsafe { rustix::mm::mprotect(start, range.len(), MprotectFlags::empty()) }
    }

    /// Requests huge pages. The kernel of the operating system may decline.
    pub fn ask_for_huge_pages(&self) {
        // SAFETY: the advice changes how the pages are backed and never their content. The system may refuse it.
        let _ = unsafe {
            rustix::mm::madvise(
                self.start.as_ptr().cast(),
                self.bytes,
                Advice::LinuxHugepage,
            )
        };
    }

    /// Copies bytes from `offset` into `out`. The range must be inside the mapping and not guarded.
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        let from = self.pointer(&(offset..offset + out.len()));
        // SAFETY: the source is inside the mapping, and `out` is borrowed exclusively.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
    }

    /// Copies `data` to `offset`. The range must be inside the mapping and not guarded.
    pub fn write(&self, offset: usize, data: &[u8]) {
        let to = self.pointer(&(offset..offset + data.len()));
        // SAFETY: the target is inside the mapping. It is never borrowed, because only copies access it.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
    }

    /// Sets all bytes of a range to `value`. The range must be inside the mapping and not guarded.
    pub fn fill(&self, range: Range<usize>, value: u8) {
        let to = self.pointer(&range);
        // SAFETY: the range is inside the mapping. It is never borrowed, because only copies access it.
        unsafe { std::ptr::write_bytes(to, value, range.len()) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this object, and nothing can reach it any more.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mapping({} bytes)", self.bytes)
    }
}

/// Mirrors `struct kiln_cpu_launch` of the prelude.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawLaunch {
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    flags: u32,
    args: *const *const c_void,
    stacks: *mut u8,
    stack_stride: u64,
    stack_bytes: u64,
    seed: u64,
    memory: *const RawMemory,
    memory_count: u64,
    history: *mut RawHistory,
}

/// Mirrors `struct kiln_cpu_memory` of the prelude.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawMemory {
    name: *const c_char,
    start: *mut u8,
    bytes: u64,
    element_bytes: u32,
    kind: u32,
    initial: *const u8,
}

/// Mirrors `struct kiln_cpu_history` of the prelude.
#[repr(C)]
struct RawHistory {
    cells: *mut u8,
    count: u64,
    interval: u64,
}

/// Size of the prelude's `kiln_cpu_cell`, which stores the accesses of one granule (1, 2 or 4 bytes of memory).
pub(super) const CELL_BYTES: usize = 64;

/// The list of memory that the kernels of a check build may access, in the format of the prelude.
pub(super) struct MemoryTable {
    rows: Vec<RawMemory>,
    /// The names that the rows point to.
    _names: Vec<CString>,
    /// The initial contents that the rows point to.
    initial: Vec<Box<[u8]>>,
}

// SAFETY: the rows point to the names and contents of the table and to memory that only kernels access.
unsafe impl Send for MemoryTable {}
// SAFETY: a table that several threads share is only read.
unsafe impl Sync for MemoryTable {}

impl MemoryTable {
    /// A table with the name, address, size in bytes and `kiln_cpu_memory_kind` (of the prelude) of each range.
    pub fn new<'a>(rows: impl Iterator<Item = (&'a str, u64, u64, u32)>) -> MemoryTable {
        let mut names = Vec::new();
        let rows = rows.map(|(name, address, bytes, kind)| {
            let name = CString::new(name).ok().filter(|name| !name.is_empty());
            let pointer = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
            names.extend(name);
            RawMemory {
                name: pointer,
                start: address as *mut u8,
                bytes,
                element_bytes: 0,
                kind,
                initial: std::ptr::null(),
            }
        });
        let rows = rows.collect();
        MemoryTable {
            rows,
            _names: names,
            initial: Vec::new(),
        }
    }

    /// Stores what the variables of `kind` hold, for the watch to compare. Variables of zeros, which may be large, need no
    /// copy.
    ///
    /// # Safety
    /// The rows must be variables of a loaded object, and none of its kernels may run.
    unsafe fn keep_initial(&mut self, kind: u32) {
        let variables = self.rows.iter_mut().filter(|row| row.kind == kind);
        for row in variables {
            // SAFETY: the row is a variable of a loaded object, which nothing writes now.
            let content = unsafe { std::slice::from_raw_parts(row.start, row.bytes as usize) };
            if content.iter().all(|&byte| byte == 0) {
                continue;
            }
            let content: Box<[u8]> = content.into();
            row.initial = content.as_ptr();
            self.initial.push(content);
        }
    }
}

/// The additional input of a watched launch (a launch of a check build that checks every access), next to the [`Call`].
pub(super) struct LaunchWatch<'a> {
    /// The memory that the kernel may access.
    pub memory: &'a MemoryTable,
    /// The records of accesses, in cells. They are all zero, or earlier launches wrote them.
    pub cells: &'a Mapping,
    /// The number of the last interval between barriers. The launch continues to count from it.
    pub interval: &'a mut u64,
}

/// The prelude's `KILN_CPU_REVERSE`, for a launch in reverse order.
const REVERSE: u32 = 1;
/// The prelude's `KILN_CPU_SEEDED`, for a launch in a pseudo-random order.
const SEEDED: u32 = 2;

/// The stacks of a block's threads. Stack `i` begins at `base + i * stride` and has `bytes` bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stacks {
    /// Address of the first stack; 0 if there are no stacks.
    pub base: usize,
    /// Distance from one stack to the next, in bytes.
    pub stride: usize,
    /// Size of each stack, in bytes.
    pub bytes: usize,
}

/// One launch, whose blocks can run on any thread.
#[derive(Clone, Copy)]
pub(super) struct Call(RawLaunch);

// SAFETY: the arguments that the call points to are only read. They stay alive until the launch is done, because the
// caller of `KernelArgs::new` vouched for that and the executor does not return earlier.
unsafe impl Send for Call {}
// SAFETY: the arguments are only read, as for `Send`.
unsafe impl Sync for Call {}

impl Call {
    /// A launch with this plan. Only check builds use the schedule.
    pub fn new(plan: &LaunchPlan, args: KernelArgs<'_>, schedule: Schedule) -> Call {
        let (flags, seed) = match schedule {
            Schedule::Forward => (0, 0),
            Schedule::Reversed => (REVERSE, 0),
            Schedule::Seeded(seed) => (SEEDED, seed),
        };
        Call(RawLaunch {
            grid: plan.grid,
            block: plan.block,
            dynamic_shared_bytes: plan.shared_bytes,
            flags,
            args: args.pointers().as_ptr(),
            stacks: std::ptr::null_mut(),
            stack_stride: 0,
            stack_bytes: 0,
            seed,
            memory: std::ptr::null(),
            memory_count: 0,
            history: std::ptr::null_mut(),
        })
    }
}

type RunBlocks = unsafe extern "C" fn(*const RawLaunch, u64, u64) -> c_int;
type ErrorText = unsafe extern "C" fn() -> *const c_char;

/// A fault that a kernel reported before it stopped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub(super) struct Reported {
    /// The text that the prelude generated.
    pub text: String,
}

/// The reason why a copy of an object cannot be loaded.
#[derive(Debug, Error)]
pub(super) enum CopyError {
    /// The in-memory file cannot be created or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The dynamic loader cannot load it.
    #[error("{}", with_causes(.0))]
    Loader(#[from] libloading::Error),
}

/// The entry of a kernel in one copy of an object. It is valid while that copy is loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryPoint {
    run: RunBlocks,
    error: ErrorText,
}

impl EntryPoint {
    /// Runs a range of blocks on this thread. At most one thread may run in one copy at a time, and the copy must
    /// still be loaded. The executor ensures both, because every thread has its own copy and the entry keeps the
    /// module.
    ///
    /// The error is the fault that the kernel reported.
    pub fn run(&self, call: &Call, stacks: Stacks, blocks: Range<u64>) -> Result<(), Reported> {
        self.run_raw(call.0, stacks, blocks)
    }

    /// Like [`Self::run`], for check builds. Returns the remarks on a launch without a fault, one a line.
    pub fn run_watched(
        &self,
        call: &Call,
        stacks: Stacks,
        blocks: Range<u64>,
        watch: LaunchWatch<'_>,
    ) -> Result<String, Reported> {
        let mut history = RawHistory {
            cells: watch.cells.address() as *mut u8,
            count: (watch.cells.bytes() / CELL_BYTES) as u64,
            interval: *watch.interval,
        };
        let launch = RawLaunch {
            memory: watch.memory.rows.as_ptr(),
            memory_count: watch.memory.rows.len() as u64,
            history: &raw mut history,
            ..call.0
        };
        let ran = self.run_raw(launch, stacks, blocks);
        *watch.interval = history.interval;
        ran.map(|()| self.text())
    }

    fn run_raw(
        &self,
        launch: RawLaunch,
        stacks: Stacks,
        blocks: Range<u64>,
    ) -> Result<(), Reported> {
        let launch = RawLaunch {
            stacks: stacks.base as *mut u8,
            stack_stride: stacks.stride as u64,
            stack_bytes: stacks.bytes as u64,
            ..launch
        };
        // SAFETY: the entry belongs to a loaded object with this ABI, and the caller of `KernelArgs::new` vouched for
        // the arguments. The executor ensures that there are enough stacks for the plan's threads.
        let status =
            unsafe { (self.run)(&raw const launch, blocks.start, blocks.end - blocks.start) };
        if status == 0 {
            return Ok(());
        }
        Err(Reported { text: self.text() })
    }

    /// What the prelude says about the last launch in this copy.
    fn text(&self) -> String {
        // SAFETY: the prelude keeps a zero-terminated text in static memory of the same copy.
        let text = unsafe { CStr::from_ptr((self.error)()) };
        text.to_string_lossy().into_owned()
    }
}

/// One loaded copy of a shared object.
pub(super) struct ObjectCopy {
    library: Library,
    /// The list to which the prelude's `kiln_cpu_variables` points in a check build.
    variables: Option<Box<MemoryTable>>,
    /// Keeps the file open. Sanitizers read line numbers from it while the copy is loaded.
    _file: Option<File>,
}

impl ObjectCopy {
    /// Loads a copy of an image. It shares no variables with other copies of the same image.
    ///
    /// # Errors
    /// The error of the dynamic loader.
    pub fn load(image: &[u8], keep_file: bool) -> Result<ObjectCopy, CopyError> {
        let descriptor =
            rustix::fs::memfd_create("kiln", MemfdFlags::CLOEXEC).map_err(io::Error::from)?;
        let mut file = File::from(descriptor);
        file.write_all(image)?;
        let path = unique_path(&file);
        // SAFETY: Kiln generated the object, which has no initialisers. The author vouches for the kernel in it.
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }?;
        Ok(ObjectCopy {
            library,
            variables: None,
            _file: keep_file.then_some(file),
        })
    }

    /// The value of a constant that the prelude exports; `None` if the object does not have it.
    pub fn constant(&self, name: &str) -> Option<u32> {
        // SAFETY: the prelude declares constants with such names as `const uint32_t`.
        let symbol = unsafe { self.library.get::<*const u32>(name.as_bytes()) }.ok()?;
        let pointer = symbol.into_raw().cast::<u32>();
        // SAFETY: the symbol was found, so it points into the loaded object.
        (!pointer.is_null()).then(|| unsafe { *pointer })
    }

    /// The entry of the kernel with this symbol; `None` if the object does not have it.
    pub fn entry(&self, symbol: &str) -> Option<EntryPoint> {
        let run_name = format!("kiln_cpu_run_{symbol}");
        // SAFETY: `KILN_CPU_ENTRY` exports functions of this type under such names.
        let run = unsafe { self.library.get::<RunBlocks>(run_name.as_bytes()) }.ok()?;
        // SAFETY: the prelude exports a function of this type under this name.
        let error = unsafe { self.library.get::<ErrorText>(b"kiln_cpu_error") }.ok()?;
        Some(EntryPoint {
            run: *run,
            error: *error,
        })
    }

    /// Passes the list of variables to a check build. The list contains for each variable the name, the address
    /// relative to `kiln_cpu_abi`, the size in bytes and the prelude's `kiln_cpu_memory_kind`. The list must be ordered
    /// by address. Variables of the kind `compared` are compared with their initial content.
    pub fn set_variables<'a>(
        &mut self,
        variables: impl Iterator<Item = (&'a str, i64, u64, u32)>,
        compared: u32,
    ) -> Option<()> {
        let get = |name: &str| {
            // SAFETY: only the address of the symbol is taken here.
            let symbol = unsafe { self.library.get::<*mut u8>(name.as_bytes()) }.ok()?;
            Some(symbol.into_raw().cast::<u8>())
        };
        let anchor = get("kiln_cpu_abi")? as u64;
        let table = get("kiln_cpu_variables")?.cast::<*const RawMemory>();
        let count = get("kiln_cpu_variable_count")?.cast::<u64>();
        let absolute = |(name, offset, bytes, kind)| {
            let address = anchor.wrapping_add_signed(offset);
            (name, address, bytes, kind)
        };
        let mut variables = Box::new(MemoryTable::new(variables.map(absolute)));
        // SAFETY: the symbol table of the object has these variables, and no kernel runs in a copy that is being loaded.
        unsafe { variables.keep_initial(compared) };
        // SAFETY: the prelude declares both variables with these types, and no kernel runs in a copy that is being
        // loaded. The table lives as long as the copy.
        unsafe {
            *table = variables.rows.as_ptr();
            *count = variables.rows.len() as u64;
        }
        self.variables = Some(variables);
        Some(())
    }
}

impl fmt::Debug for ObjectCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObjectCopy")
    }
}

/// Whether the process contains a symbol, for example from a preloaded library.
pub(super) fn process_has(symbol: &str) -> bool {
    // SAFETY: the symbol is only looked up and never used.
    unsafe { Library::this().get::<*const c_void>(symbol.as_bytes()) }.is_ok()
}
