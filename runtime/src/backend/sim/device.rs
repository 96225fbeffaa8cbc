//! [`SimDevice`], a simulated GPU.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kiln_sim::{FaultKind, Kernel, KernelInfo, Launch, Order};
use kiln_spec::targets::{KnownTarget, TARGETS};
use kiln_spec::{Backend, Cluster, DeviceKey, DeviceLimits, KernelLimits, LaunchPlan};

use super::compiler::compiler;
use super::memory::SimMemory;
use super::module::{SimKernel, SimModule};
use super::profile::{LaunchProfile, Profiler};
use crate::backend::arguments;
use crate::compiler::{Artifact, CompileError, Compiler};
use crate::device::{
    Allocation, ArgSets, DeviceBackend, DeviceError, DeviceInfo, Function, KernelArgs, Module,
    Schedule, StreamHandle,
};
use crate::launch::checks::{KernelBounds, check_launch, entry_of, refused};

/// Maximum size of a simulated device's memory in bytes. It is limited because the memory is in the host's memory.
const MAX_BYTES: u64 = 4 << 30;

/// A simulated GPU, whose images are interpreted.
pub struct SimDevice {
    index: u32,
    info: DeviceInfo,
    target: &'static KnownTarget,
    memory: Arc<SimMemory>,
    compiler: OnceLock<Result<Box<dyn Compiler>, CompileError>>,
    launches: AtomicU64,
    next_stream: AtomicU64,
    profiler: Profiler,
}

impl SimDevice {
    /// The simulated device of an architecture. A process has one object per architecture.
    ///
    /// # Errors
    /// [`DeviceError::NotFound`] if no known GPU target has this architecture.
    pub fn open(arch: &str) -> Result<Arc<SimDevice>, DeviceError> {
        static OPEN: Mutex<BTreeMap<&str, Arc<SimDevice>>> = Mutex::new(BTreeMap::new());
        let target = targets().find(|target| target.arch == arch);
        let Some(target) = target else {
            let known: Vec<_> = targets()
                .map(|target| format!("sim:{}", target.arch))
                .collect();
            return Err(DeviceError::NotFound {
                what: format!("the simulated device `sim:{arch}`"),
                text: format!("there are {}", known.join(", ")),
            });
        };
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let device = open.entry(target.arch);
        Ok(device
            .or_insert_with(|| Arc::new(SimDevice::of(target)))
            .clone())
    }

    /// Creates a new device object.
    fn of(target: &'static KnownTarget) -> SimDevice {
        let limits = DeviceLimits {
            memory_bytes: target.limits.memory_bytes.min(MAX_BYTES),
            ..target.limits
        };
        SimDevice {
            index: crate::device::next_index(),
            info: DeviceInfo {
                key: DeviceKey {
                    backend: target.backend,
                    arch: target.arch.into(),
                    name: target.product.into(),
                },
                limits,
                fingerprint: BTreeMap::from([(
                    "simulator".into(),
                    concat!("kiln-sim ", env!("CARGO_PKG_VERSION")).into(),
                )]),
                instance: BTreeMap::new(),
                ordinal: 0,
                timer_tick_ns: 1,
                is_simulated: true,
            },
            target,
            memory: Arc::new(SimMemory::new(limits.memory_bytes)),
            compiler: OnceLock::new(),
            launches: AtomicU64::new(0),
            next_stream: AtomicU64::new(1),
            profiler: Profiler::default(),
        }
    }

    /// Calls `launch`, which must launch once, and returns the profile of that launch. At most `max_blocks` of its
    /// blocks are executed, evenly distributed over the grid, so the outputs are incomplete if the grid has more
    /// blocks. Only one thread can profile at a time.
    ///
    /// # Errors
    /// The error of `launch`, or [`DeviceError::NotFound`] if it launched nothing.
    pub fn profile<E: From<DeviceError>>(
        &self,
        max_blocks: u64,
        launch: impl FnOnce() -> Result<(), E>,
    ) -> Result<LaunchProfile, E> {
        self.profiler.profile(max_blocks, launch)
    }

    fn run(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        order: Order,
    ) -> Result<(), DeviceError> {
        let loaded: &SimKernel = entry_of(function, self.index)?;
        let kernel = &loaded.kernel;
        let bounds = KernelBounds {
            kernel: limits_of(&kernel.info),
            parameters: Some(kernel.info.parameters.len()),
        };
        check_launch(function, plan, args, &self.info, &bounds, |_| Ok(()))?;
        let launch = Launch {
            grid: plan.grid,
            block: plan.block,
            shared_bytes: plan.shared_bytes,
            arguments: packed(kernel, args),
            order,
        };
        let memory = &self.memory.memory;
        let symbol = function.symbol();
        let run = || {
            let ran = self.profiler.launch(symbol, kernel, &launch, memory);
            ran.map(drop).map_err(|fault| match fault.kind {
                FaultKind::NotImplemented { .. } => DeviceError::Unsupported {
                    what: format!("`{symbol}` on a simulated GPU ({fault})"),
                },
                _ => DeviceError::KernelFault {
                    symbol: symbol.into(),
                    text: fault.to_string(),
                },
            })
        };
        loaded.with_constants(args, run)
    }

    /// The order of the next launch. Forward, reversed and random orders alternate, so that a kernel whose result
    /// depends on the order is likely to be detected.
    fn next_order(&self) -> Order {
        let launch = self.launches.fetch_add(1, Ordering::Relaxed);
        match launch % 3 {
            0 => Order::Forward,
            1 => Order::Reversed,
            _ => Order::Random { seed: launch },
        }
    }
}

/// What a simulated kernel requires of its launches.
fn limits_of(kernel: &KernelInfo) -> KernelLimits {
    KernelLimits {
        static_shared_bytes: kernel.static_shared_bytes,
        max_threads: Some(kernel.max_threads),
        required_block: kernel.required_block,
        cluster: kernel.cluster.map(|blocks| Cluster {
            blocks,
            grid_of_clusters: kernel.grid_of_clusters,
        }),
        parameter_bytes: kernel.parameter_bytes,
    }
}

/// The known GPU targets. Each of them can be opened as a simulated device.
pub fn targets() -> impl Iterator<Item = &'static KnownTarget> {
    let is_gpu = |target: &&KnownTarget| matches!(target.backend, Backend::Cuda | Backend::Hip);
    TARGETS.iter().filter(is_gpu)
}

/// The values of the arguments, in the layout of the kernel's parameter buffer.
fn packed(kernel: &Kernel, args: KernelArgs<'_>) -> Vec<u8> {
    let parameters = &kernel.info.parameters;
    let sizes: Vec<usize> = parameters.iter().map(|p| p.bytes as usize).collect();
    let mut buffer = vec![0; kernel.info.parameter_bytes as usize];
    for (parameter, value) in parameters.iter().zip(arguments::values(args, &sizes)) {
        let offset = parameter.offset as usize;
        buffer[offset..offset + value.len()].copy_from_slice(&value);
    }
    buffer
}

impl DeviceBackend for SimDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn index(&self) -> u32 {
        self.index
    }

    fn compiler(&self) -> Result<&dyn Compiler, CompileError> {
        let compiler = self.compiler.get_or_init(|| compiler(self.target));
        compiler.as_deref().map_err(CompileError::clone)
    }

    fn alloc(&self, bytes: usize, align: usize) -> Result<Box<dyn Allocation>, DeviceError> {
        Ok(Box::new(self.memory.alloc(bytes, align, self.index)?))
    }

    /// Every allocation is guarded, because the addresses next to it belong to no allocation.
    fn alloc_guarded(
        &self,
        bytes: usize,
        align: usize,
    ) -> Result<Box<dyn Allocation>, DeviceError> {
        self.alloc(bytes, align)
    }

    fn load(&self, artifact: &Artifact) -> Result<Arc<dyn Module>, DeviceError> {
        let module = SimModule::load(artifact, self.target, &self.memory, self.index)?;
        Ok(Arc::new(module))
    }

    fn launch(
        &self,
        _: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<(), DeviceError> {
        self.run(function, plan, args, self.next_order())
    }

    fn launch_scheduled(
        &self,
        _: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        schedule: Schedule,
    ) -> Result<(), DeviceError> {
        let order = match schedule {
            Schedule::Forward => Order::Forward,
            Schedule::Reversed => Order::Reversed,
            Schedule::Seeded(seed) => Order::Random { seed },
        };
        self.run(function, plan, args, order)
    }

    fn time(
        &self,
        _: StreamHandle,
        function: &Function,
        _: &LaunchPlan,
        _: ArgSets<'_>,
        _: u32,
    ) -> Result<u64, DeviceError> {
        let text = format!(
            "sim:{} has no clock; time it on the GPU itself",
            self.target.arch
        );
        Err(refused(function.symbol(), text))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn open_stream(&self) -> Result<StreamHandle, DeviceError> {
        let stream = self.next_stream.fetch_add(1, Ordering::Relaxed);
        Ok(StreamHandle(stream))
    }

    fn close_stream(&self, _: StreamHandle) {}

    fn synchronize_stream(&self, _: StreamHandle) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl std::fmt::Debug for SimDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimDevice")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
