//! The work that streams execute: copies, fills, launches and event records.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;
use std::time::Instant;

use kiln::compiler::{Artifact, BuildKind};
use kiln::device::{Allocation, DeviceBackend as _, KernelArgs, StreamHandle};
use kiln::spec::{Backend, LaunchPlan};
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

use crate::image::image_at;
use crate::queue::Signal;
use crate::runtime::{
    INVALID_HANDLE, INVALID_IMAGE, INVALID_VALUE, Kernel, LAUNCH_FAILURE, Loaded, NOT_FOUND,
    Outcome, Runtime, call, check_stream_of, chosen_device,
};

/// One item of work.
#[derive(Clone, Debug)]
pub enum Work {
    /// Copies to an address of the host.
    ToHost {
        memory: Arc<dyn Allocation>,
        offset: usize,
        host: usize,
        bytes: usize,
    },
    /// Copies from an address of the host.
    ToDevice {
        memory: Arc<dyn Allocation>,
        offset: usize,
        host: usize,
        bytes: usize,
    },
    /// Sets bytes to a value.
    Fill {
        memory: Arc<dyn Allocation>,
        offset: usize,
        bytes: usize,
        value: u8,
    },
    /// Launches a kernel with copies of the argument values.
    Launch {
        kernel: Kernel,
        plan: LaunchPlan,
        values: Vec<u64>,
    },
    /// Records the current time in an event.
    Record(Arc<Signal<Instant>>),
}

impl Work {
    /// Whether the work can be recorded. Launches and fills can, as Kiln promises for every device.
    pub fn is_recordable(&self) -> bool {
        matches!(self, Work::Launch { .. } | Work::Fill { .. })
    }

    /// Executes the work. An error breaks the runtime, as it breaks the runtime of a GPU.
    pub fn run(self, runtime: &Runtime) {
        if let Work::Record(event) = self {
            // The event is set even if the runtime is broken, because a thread may be waiting for it.
            return event.set(Instant::now());
        }
        if runtime.check_broken().is_err() {
            return;
        }
        if let Err(code) = self.try_run(runtime) {
            runtime.break_with(code);
        }
    }

    fn try_run(self, runtime: &Runtime) -> Outcome {
        let stream = StreamHandle::DEFAULT;
        let done = match self {
            Work::ToHost {
                memory,
                offset,
                host,
                bytes,
            } => {
                // SAFETY: the caller of the copy keeps the memory alive until the copy is done.
                let out = unsafe { std::slice::from_raw_parts_mut(host as *mut u8, bytes) };
                memory.read(stream, offset, out)
            }
            Work::ToDevice {
                memory,
                offset,
                host,
                bytes,
            } => {
                // SAFETY: the caller of the copy keeps the memory alive until the copy is done.
                let data = unsafe { std::slice::from_raw_parts(host as *const u8, bytes) };
                memory.write(stream, offset, data)
            }
            Work::Fill {
                memory,
                offset,
                bytes,
                value,
            } => memory.fill(stream, offset, bytes, value),
            Work::Launch {
                kernel,
                plan,
                values,
            } => {
                runtime.check_fault("kernel")?;
                let pointers = values
                    .iter()
                    .map(|value| (&raw const *value).cast::<c_void>());
                let pointers: Vec<*const c_void> = pointers.collect();
                // SAFETY: the values were copied from the caller's arguments, one for each parameter of the kernel, and
                // the caller vouched for the arguments.
                let args = unsafe { KernelArgs::new(&pointers) };
                runtime.device.launch(stream, &kernel.function, &plan, args)
            }
            Work::Record(_) => Ok(()),
        };
        done.map_err(|error| {
            eprintln!("kiln-hip-host: {error}");
            LAUNCH_FAILURE
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(module: *mut usize, image: *const c_void) -> i32 {
    call("hipModuleLoadData", |runtime| {
        // SAFETY: the caller vouches for the image. Its length follows from its headers.
        let image = unsafe { image_at(image.cast()) }.ok_or(INVALID_IMAGE)?;
        let parameters = parameters(image).ok_or(INVALID_IMAGE)?;
        let compiler = runtime.device.compiler().map_err(|_| INVALID_IMAGE)?;
        let target = compiler.target_arch();
        let build = BuildKind::Release;
        let artifact = Artifact::new(Backend::Cpu, target, build, image, String::new());
        let loaded = runtime.device.load(&artifact).map_err(|error| {
            eprintln!("kiln-hip-host: {error}");
            INVALID_IMAGE
        })?;
        let mut alive = runtime.alive();
        let handle = alive.handle();
        alive.modules.insert(
            handle,
            Loaded {
                module: loaded,
                parameters,
                ordinal: chosen_device(),
            },
        );
        // SAFETY: the caller provides room for a handle.
        unsafe { *module = handle };
        Ok(())
    })
}

/// The number of arguments of each kernel in a shared object.
fn parameters(image: &[u8]) -> Option<BTreeMap<String, usize>> {
    let file: ElfFile64 = ElfFile64::parse(image).ok()?;
    let mut found = BTreeMap::new();
    for symbol in file.dynamic_symbols() {
        let name = symbol.name().unwrap_or_default();
        if let Some(kernel) = name.strip_prefix("kiln_cpu_parameters_") {
            let section = file.section_by_index(symbol.section_index()?).ok()?;
            let bytes = section.data_range(symbol.address(), 4).ok()??;
            let count = u32::from_ne_bytes(bytes.try_into().ok()?);
            found.insert(kernel.to_owned(), count as usize);
        }
    }
    Some(found)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleUnload(module: usize) -> i32 {
    call("hipModuleUnload", |runtime| {
        for stream in runtime.streams() {
            stream.wait()?;
        }
        let mut alive = runtime.alive();
        alive.modules.remove(&module).ok_or(INVALID_HANDLE)?;
        alive.kernels.retain(|_, (of, _)| *of != module);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    function: *mut usize,
    module: usize,
    name: *const c_char,
) -> i32 {
    call("hipModuleGetFunction", |runtime| {
        // SAFETY: the caller provides a zero-terminated text.
        let name = unsafe { CStr::from_ptr(name) }
            .to_str()
            .map_err(|_| INVALID_VALUE)?;
        let mut alive = runtime.alive();
        let loaded = alive.modules.get(&module).cloned().ok_or(INVALID_HANDLE)?;
        let parameters = *loaded.parameters.get(name).ok_or(NOT_FOUND)?;
        let found = loaded.module.function(name).map_err(|_| NOT_FOUND)?;
        let handle = alive.handle();
        let kernel = Kernel {
            function: found,
            parameters,
            ordinal: loaded.ordinal,
        };
        alive.kernels.insert(handle, (module, kernel));
        // SAFETY: the caller provides room for a handle.
        unsafe { *function = handle };
        Ok(())
    })
}

/// Always fails, because kernels of this device fill their `__constant__` variables themselves, as on the cpu device.
#[unsafe(no_mangle)]
pub extern "C" fn hipModuleGetGlobal(
    _address: *mut usize,
    _bytes: *mut usize,
    module: usize,
    _name: *const c_char,
) -> i32 {
    call("hipModuleGetGlobal", |runtime| {
        let alive = runtime.alive();
        let _loaded = alive.modules.get(&module).ok_or(INVALID_HANDLE)?;
        Err(NOT_FOUND)
    })
}

/// The kernel with this handle. Its module must be loaded.
pub fn kernel_of(runtime: &Runtime, handle: usize) -> Outcome<Kernel> {
    let alive = runtime.alive();
    let found = alive.kernels.get(&handle).map(|(_, kernel)| kernel.clone());
    found.ok_or(INVALID_HANDLE)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    function: usize,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared_bytes: u32,
    stream: usize,
    parameters: *const *const c_void,
    extra: *const *const c_void,
) -> i32 {
    call("hipModuleLaunchKernel", |runtime| {
        let kernel = kernel_of(runtime, function)?;
        let plan = LaunchPlan {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared_bytes,
        };
        if !extra.is_null() || plan.check(&runtime.device.info().limits).is_err() {
            return Err(INVALID_VALUE);
        }
        let values = (0..kernel.parameters).map(|place| {
            // SAFETY: the caller provides a pointer for each parameter of the kernel.
            let value = unsafe { *parameters.add(place) };
            // SAFETY: the caller's value exists, and has at most eight bytes.
            unsafe { value_at(value.cast()) }
        });
        let values = values.collect();
        check_stream_of(kernel.ordinal, stream)?;
        let stream = runtime.stream(stream)?;
        stream.submit(Work::Launch {
            kernel,
            plan,
            values,
        })
    })
}

/// Up to eight bytes of a value of unknown size. The function never reads beyond the page. A value cannot cross the end
/// of a page, because it is aligned to its size.
///
/// # Safety
/// The address must point to a value of at most eight bytes.
unsafe fn value_at(value: *const u8) -> u64 {
    let to_page_end = 4096 - value as usize % 4096;
    let mut bytes = [0_u8; 8];
    for (place, byte) in bytes.iter_mut().enumerate().take(to_page_end) {
        // SAFETY: the byte is on the same page as the value's first byte.
        *byte = unsafe { value.add(place).read_volatile() };
    }
    u64::from_ne_bytes(bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFuncGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    function: usize,
) -> i32 {
    call("hipFuncGetAttribute", |runtime| {
        let kernel = kernel_of(runtime, function)?;
        let number = match attribute {
            0 => runtime.device.info().limits.max_threads_per_block,
            1 => kernel.function.static_shared_bytes(),
            _ => return Err(INVALID_VALUE),
        };
        // SAFETY: the caller provides room for a number.
        unsafe { *value = number.cast_signed() };
        Ok(())
    })
}

/// The number of blocks that fit on a multiprocessor with 2,048 threads and the shared memory of one block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: usize,
    block_threads: c_int,
    dynamic_shared_bytes: usize,
) -> i32 {
    call(
        "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
        |runtime| {
            let kernel = kernel_of(runtime, function)?;
            let threads = usize::try_from(block_threads).ok().filter(|&n| n > 0);
            let by_threads = 2048 / threads.ok_or(INVALID_VALUE)?;
            let shared = kernel.function.static_shared_bytes() as usize + dynamic_shared_bytes;
            let limit = runtime.device.info().limits.shared_bytes_per_block as usize;
            let by_shared = limit.checked_div(shared).unwrap_or(usize::MAX);
            // SAFETY: the caller provides room for a number.
            unsafe { *blocks = by_threads.min(by_shared) as c_int };
            Ok(())
        },
    )
}
