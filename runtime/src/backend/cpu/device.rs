//! The cpu device.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use kiln_spec::{LaunchPlan, PlanError};

use crate::compiler::{Artifact, CompileError, Compiler};
use crate::device::{
    Allocation, ArgSets, DeviceBackend, DeviceError, DeviceInfo, Function, KernelArgs, Module,
    Schedule, StreamHandle,
};

use crate::interop::VouchedStream;
use crate::launch::checks::{check_launch, entry_of, refused};
use crate::supervise::thread_cpu_ns;

use super::compiler::CpuCompiler;
use super::executor::Executor;
use super::limits::{CpuOptions, INDEX_BOUND, device_key, device_limits, fingerprint};
use super::memory::{CpuMemory, Order, in_order};
use super::module::{CpuEntry, CpuModule};
use super::watch;

/// The host processor as a device.
///
/// Launches run immediately and in order. A launch has ended when the call returns, and copies wait for launches.
pub struct CpuDevice {
    info: DeviceInfo,
    index: u32,
    options: CpuOptions,
    compiler: OnceLock<Result<CpuCompiler, CompileError>>,
    order: Order,
    executor: Executor,
}

impl CpuDevice {
    /// Opens the device with options from the environment.
    ///
    /// # Errors
    /// If an option is invalid, or if the system cannot create threads.
    pub fn open() -> Result<Arc<CpuDevice>, DeviceError> {
        CpuDevice::with_options(CpuOptions::from_env()?)
    }

    /// Opens the device with the supplied options.
    ///
    /// # Errors
    /// If the system cannot create threads.
    pub fn with_options(options: CpuOptions) -> Result<Arc<CpuDevice>, DeviceError> {
        let executor = Executor::new(&options)
            .map_err(|error| DeviceError::internal("starting threads", error))?;
        let info = DeviceInfo {
            key: device_key(),
            limits: device_limits(&options),
            fingerprint: fingerprint(&options),
            instance: BTreeMap::new(),
            ordinal: 0,
            timer_tick_ns: timer_tick_ns(),
            is_simulated: false,
        };
        Ok(Arc::new(CpuDevice {
            info,
            index: crate::device::next_index(),
            options,
            compiler: OnceLock::new(),
            order: Order::default(),
            executor,
        }))
    }

    /// Like [`Self::with_options`], with the supplied compiler instead of one that Kiln finds.
    ///
    /// # Errors
    /// The errors of [`Self::with_options`].
    pub fn with_compiler(
        options: CpuOptions,
        compiler: CpuCompiler,
    ) -> Result<Arc<CpuDevice>, DeviceError> {
        let device = CpuDevice::with_options(options)?;
        // The device is new, so the cell is empty.
        let _ = device.compiler.set(Ok(compiler));
        Ok(device)
    }

    /// Checks that the plan is within all limits, and returns the entry of the function.
    fn checked<'a>(
        &self,
        function: &'a Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<&'a Arc<CpuEntry>, DeviceError> {
        let entry: &Arc<CpuEntry> = entry_of(function, self.index)?;
        let info = &self.info;
        check_launch(function, plan, args, info, &entry.bounds, check_indices)?;
        Ok(entry)
    }

    fn launch_in_order(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        schedule: Schedule,
    ) -> Result<(), DeviceError> {
        let entry = self.checked(function, plan, args)?;
        if schedule != Schedule::Forward && !entry.module.checks {
            let text = format!("only check builds run threads in {schedule}");
            return Err(refused(function.symbol(), text));
        }
        let _turn = in_order(&self.order);
        if !entry.module.watches {
            return self.executor.launch(entry, plan, args, schedule);
        }
        let (memory, bytes) = watch::memory_of(args, &self.order);
        self.executor
            .launch_watched(entry, plan, args, schedule, &memory, bytes)
    }
}

/// Checks that global thread indices stay below the bound that the prelude states to the compiler.
fn check_indices(plan: &LaunchPlan) -> Result<(), PlanError> {
    if plan.blocks() == 0 || plan.threads_per_block() == 0 {
        return Err(PlanError::Extent {
            what: "an extent of grid or block",
            value: 0,
        });
    }
    let axes = ["grid x * block x", "grid y * block y"];
    for (axis, what) in axes.into_iter().enumerate() {
        let value = u64::from(plan.grid[axis] - 1) * u64::from(plan.block[axis]);
        if value > INDEX_BOUND {
            let limit = INDEX_BOUND;
            return Err(PlanError::Limit { what, value, limit });
        }
    }
    Ok(())
}

/// The resolution of the clock that measures a thread's CPU time, in nanoseconds.
fn timer_tick_ns() -> u64 {
    let reading = |_| {
        let start = thread_cpu_ns();
        thread_cpu_ns() - start
    };
    (0..64).map(reading).filter(|&ns| ns > 0).min().unwrap_or(1)
}

impl DeviceBackend for CpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn index(&self) -> u32 {
        self.index
    }

    fn compiler(&self) -> Result<&dyn Compiler, CompileError> {
        let find = || CpuCompiler::find(&self.options);
        match self.compiler.get_or_init(find) {
            Ok(compiler) => Ok(compiler),
            Err(error) => Err(error.clone()),
        }
    }

    fn alloc(&self, bytes: usize, align: usize) -> Result<Box<dyn Allocation>, DeviceError> {
        let memory = CpuMemory::new(bytes, align, false, self.index, self.order.clone())?;
        Ok(Box::new(memory))
    }

    fn alloc_guarded(
        &self,
        bytes: usize,
        align: usize,
    ) -> Result<Box<dyn Allocation>, DeviceError> {
        let memory = CpuMemory::new(bytes, align, true, self.index, self.order.clone())?;
        Ok(Box::new(memory))
    }

    fn load(&self, artifact: &Artifact) -> Result<Arc<dyn Module>, DeviceError> {
        let module = CpuModule::load(artifact, self.index, self.executor.threads())?;
        Ok(Arc::new(module))
    }

    fn take_remarks(&self) -> Vec<String> {
        self.executor.take_remarks()
    }

    fn launch(
        &self,
        _: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<(), DeviceError> {
        self.launch_in_order(function, plan, args, Schedule::Forward)
    }

    fn launch_scheduled(
        &self,
        _: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        schedule: Schedule,
    ) -> Result<(), DeviceError> {
        self.launch_in_order(function, plan, args, schedule)
    }

    fn time(
        &self,
        _: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        sets: ArgSets<'_>,
        launches: u32,
    ) -> Result<u64, DeviceError> {
        let entry = self.checked(function, plan, sets.first())?;
        let _turn = in_order(&self.order);
        self.executor.time(entry, plan, sets, launches)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        let _turn = in_order(&self.order);
        Ok(())
    }

    /// This device has a single stream, because all work runs in order.
    fn open_stream(&self) -> Result<StreamHandle, DeviceError> {
        Ok(StreamHandle::DEFAULT)
    }

    fn close_stream(&self, _: StreamHandle) {}

    /// Work on another library's stream runs in order with all other work.
    fn adopt_stream(&self, _: VouchedStream) -> Result<StreamHandle, DeviceError> {
        Ok(StreamHandle::DEFAULT)
    }

    fn synchronize_stream(&self, _: StreamHandle) -> Result<(), DeviceError> {
        self.synchronize()
    }
}

impl fmt::Debug for CpuDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuDevice")
            .field("key", &self.info.key.to_string())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(grid: [u32; 3], block: [u32; 3]) -> LaunchPlan {
        LaunchPlan {
            grid,
            block,
            shared_bytes: 0,
        }
    }

    #[test]
    fn indices_beyond_the_promised_bound_are_refused_on_both_axes() {
        let good = [1 + (INDEX_BOUND / 256) as u32, 1, 1];
        assert_eq!(check_indices(&plan(good, [256, 1, 1])), Ok(()));
        let bad = [good[0] + 1, 1, 1];
        let error = check_indices(&plan(bad, [256, 1, 1])).unwrap_err();
        assert!(matches!(
            error,
            PlanError::Limit {
                what: "grid x * block x",
                ..
            }
        ));
        assert!(check_indices(&plan([1, u32::MAX, 1], [1, 1, 1])).is_err());
        assert!(check_indices(&plan([1, 0, 1], [1, 1, 1])).is_err());
        assert!(check_indices(&plan([1, 1, 1], [0, 1, 1])).is_err());
    }

    #[test]
    fn a_device_says_what_it_is() {
        let options = CpuOptions {
            threads: 2,
            ..CpuOptions::default()
        };
        let device = CpuDevice::with_options(options).unwrap();
        let info = device.info();
        assert!(info.timer_tick_ns > 0);
        assert_eq!(info.limits.multiprocessors, 2);
        assert_eq!(info.key.to_string().parse(), Ok(info.key.clone()));
        assert!(!info.fingerprint["features"].is_empty());
        let other = CpuDevice::with_options(CpuOptions::default()).unwrap();
        assert_ne!(device.index(), other.index());
    }
}
