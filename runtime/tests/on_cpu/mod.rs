//! Shared code of the tests of the cpu device. It finds the installed compilers and runs kernels with each of them.
#![allow(dead_code, clippy::unwrap_used)] // every test binary uses a part; a failed call fails the test

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use kiln::artifacts::ArtifactCache;
use kiln::backend::cpu::{CpuCompiler, CpuDevice, CpuOptions};
use kiln::compiler::{Artifact, BuildKind, CompileError, CompileRequest};
use kiln::device::{
    Allocation, ArgMemory, ArgSets, DeviceBackend as _, DeviceError, Function, KernelArgs,
    Schedule, StreamHandle,
};
use kiln::spec::{Backend, LaunchPlan};

pub const STREAM: StreamHandle = StreamHandle::DEFAULT;

/// Options for tests. Few threads are used, so that parallel tests do not overload the machine.
pub fn options() -> CpuOptions {
    CpuOptions {
        threads: 2,
        ..CpuOptions::default()
    }
}

/// A device for each family of compilers, opened with these options. If a family is not installed, this is reported,
/// and the test fails if `CI` is set.
pub fn devices_with(options: &CpuOptions) -> Vec<Arc<CpuDevice>> {
    let installed = CpuCompiler::installed();
    let of_family = |family: &str| {
        let named = |path: &&std::path::PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy());
            name.is_some_and(|name| name.starts_with(family))
        };
        let found = installed.iter().find(named);
        if found.is_none() {
            assert!(
                std::env::var_os("CI").is_none(),
                "{family} is not installed, but CI is set"
            );
            eprintln!("skipped: {family} is not installed");
        }
        found
    };
    let device = |path: &Path| {
        let compiler = CpuCompiler::at(path, options).unwrap();
        CpuDevice::with_compiler(options.clone(), compiler).unwrap()
    };
    let families = ["clang++", "g++"].into_iter().filter_map(of_family);
    families.map(|path| device(path)).collect()
}

/// A device for each family of compilers, opened with [`options`].
pub fn devices() -> Vec<Arc<CpuDevice>> {
    devices_with(&options())
}

/// A translation unit with one entry, whose parts are in the same order as in generated code.
pub fn unit(fibers: bool, source: &str, entry: &str) -> String {
    let fibers = u8::from(fibers);
    format!(
        "#define KILN_CPU_FIBERS {fibers}\n#include \"kiln_cpu.h\"\n#line 1 \"kernel.cu\"\n{source}\n\
         KILN_CPU_ENTRY(entry, {entry})\n"
    )
}

/// A plan without dynamic shared memory.
pub fn plan(grid: [u32; 3], block: [u32; 3]) -> LaunchPlan {
    LaunchPlan {
        grid,
        block,
        shared_bytes: 0,
    }
}

/// Compiles a translation unit with the device's compiler. If `KILN_CACHE` is set, results of earlier runs are
/// reused.
pub fn compile(device: &CpuDevice, unit: &str, build: BuildKind) -> Result<Artifact, CompileError> {
    // The user's own cache is not used, because the tests would fill it.
    let cache = std::env::var_os("KILN_CACHE").and_then(|_| ArtifactCache::of_user());
    let Some(cache) = cache else {
        return compile_anew(device, unit, build);
    };
    let request = CompileRequest::new("entry", unit).with_build(build);
    cache.compile(device.compiler()?, Backend::Cpu, &request)
}

/// Compiles a translation unit with the device's compiler, without a cache. This is for tests of the compiler.
pub fn compile_anew(
    device: &CpuDevice,
    unit: &str,
    build: BuildKind,
) -> Result<Artifact, CompileError> {
    let request = CompileRequest::new("entry", unit).with_build(build);
    device.compiler()?.compile(&request)
}

/// A kernel that is loaded on a device.
pub struct Loaded {
    pub device: Arc<CpuDevice>,
    pub function: Function,
}

/// One argument of a kernel.
pub enum Arg<'a> {
    Buffer(&'a dyn Allocation),
    Int(i32),
    Uint(u32),
    Float(f32),
}

impl Loaded {
    /// Compiles and loads the entry of a translation unit.
    pub fn new(device: &Arc<CpuDevice>, unit: &str, build: BuildKind) -> Loaded {
        let artifact =
            compile(device, unit, build).unwrap_or_else(|error| panic!("{error}\n{error:?}"));
        Loaded::of(device, &artifact)
    }

    /// Loads the entry of an artifact.
    pub fn of(device: &Arc<CpuDevice>, artifact: &Artifact) -> Loaded {
        let function = device.load(artifact).unwrap().function("entry").unwrap();
        Loaded {
            device: device.clone(),
            function,
        }
    }

    /// Launches once.
    pub fn launch(&self, plan: &LaunchPlan, args: &[Arg]) -> Result<(), DeviceError> {
        with_pointers(args, |args| {
            self.device.launch(STREAM, &self.function, plan, args)
        })
    }

    /// Launches once in the order of a schedule.
    pub fn launch_scheduled(
        &self,
        plan: &LaunchPlan,
        args: &[Arg],
        schedule: Schedule,
    ) -> Result<(), DeviceError> {
        with_pointers(args, |args| {
            self.device
                .launch_scheduled(STREAM, &self.function, plan, args, schedule)
        })
    }

    /// Launches once in the order of a schedule. Check builds compare accesses with the memory of the named
    /// arguments. `outputs` have no content when the launch begins.
    pub fn launch_named(
        &self,
        plan: &LaunchPlan,
        args: &[(&'static str, &dyn Allocation)],
        outputs: &[&str],
        schedule: Schedule,
    ) -> Result<(), DeviceError> {
        let memory = |&(name, memory): &(&'static str, &dyn Allocation)| ArgMemory {
            name,
            address: memory.address(),
            bytes: memory.bytes() as u64,
            has_content: !outputs.contains(&name),
        };
        let memory: Vec<_> = args.iter().map(memory).collect();
        let args: Vec<_> = args
            .iter()
            .map(|(_, memory)| Arg::Buffer(*memory))
            .collect();
        with_pointers(&args, |args| {
            let args = args.with_memory(&memory);
            self.device
                .launch_scheduled(STREAM, &self.function, plan, args, schedule)
        })
    }

    /// Launches several times. Returns the total time in nanoseconds.
    pub fn time(&self, plan: &LaunchPlan, args: &[Arg], launches: u32) -> u64 {
        with_pointers(args, |args| {
            self.device.time(
                STREAM,
                &self.function,
                plan,
                ArgSets::new(&[args]).unwrap(),
                launches,
            )
        })
        .unwrap()
    }
}

/// Device memory that contains these values.
pub fn buffer<T: bytemuck::NoUninit>(device: &CpuDevice, values: &[T]) -> Box<dyn Allocation> {
    let memory = device.alloc(size_of_val(values), 256).unwrap();
    memory
        .write(STREAM, 0, bytemuck::cast_slice(values))
        .unwrap();
    memory
}

/// The values that device memory contains.
pub fn contents<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
    memory: &dyn Allocation,
) -> Vec<T> {
    let mut values = vec![T::zeroed(); memory.bytes() / size_of::<T>()];
    memory
        .read(STREAM, 0, bytemuck::cast_slice_mut(&mut values))
        .unwrap();
    values
}

fn with_pointers<R>(args: &[Arg], launch: impl FnOnce(KernelArgs<'_>) -> R) -> R {
    let addresses: Vec<u64> = args
        .iter()
        .map(|arg| match arg {
            Arg::Buffer(memory) => memory.address(),
            Arg::Int(value) => u64::from(value.cast_unsigned()),
            Arg::Uint(value) => u64::from(*value),
            Arg::Float(value) => u64::from(value.to_bits()),
        })
        .collect();
    let pointers: Vec<*const c_void> = addresses
        .iter()
        .map(|value| std::ptr::from_ref(value).cast())
        .collect();
    // SAFETY: every test passes the arguments that its kernel takes; on this little-endian machine a value begins at
    // the start of its 64-bit word.
    launch(unsafe { KernelArgs::new(&pointers) })
}
