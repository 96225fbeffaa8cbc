//! [`FakeDevice`], a device for tests whose behaviour a script specifies.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use kiln_spec::{Backend, DeviceKey, LaunchPlan};

use super::compiler::{FakeCompiler, FakeUnit};
use super::execute::{self, EntryHistory};
use super::fault::FakeFault;
use super::host_kernel::{HostKernel, provided};
use super::memory::{Blocks, FakeMemory};
use super::outcome::Behaviour;
use super::script;
use super::script::{LaunchOutcome, ReceiptOutcome, Script};
use super::timer::{self, FakeDraws};
use crate::backend::arguments;
use crate::compiler::{Artifact, CompileError, Compiler};
use crate::device::{
    Allocation, ArgSets, DeviceBackend, DeviceError, DeviceInfo, Function, KernelArgs, Module,
    StreamHandle,
};
use crate::launch::checks::{check_arguments, entry_of};
use crate::receipt::{RECEIPT_ABI, RECEIPT_BYTES, Receipt};

/// A device whose behaviour a script specifies.
#[derive(Debug)]
pub struct FakeDevice {
    index: u32,
    info: DeviceInfo,
    script: Arc<Script>,
    compiler: FakeCompiler,
    memory: FakeMemory,
    placement: u64,
    state: Mutex<State>,
    now_ns: AtomicU64,
    next_stream: AtomicU64,
}

#[derive(Debug)]
struct State {
    /// The error after which the device can no longer be used.
    broken: Option<DeviceError>,
    draws: FakeDraws,
    timed_calls: u64,
    last_nonce: u64,
    histories: BTreeMap<String, EntryHistory>,
}

/// An entry, and how the fake device launches it.
#[derive(Debug)]
struct FakeEntry {
    unit: Arc<FakeUnit>,
    symbol: String,
    is_receipt: bool,
    behaviour: Behaviour,
    host: Option<HostKernel>,
    placement_factor: f64,
    /// Whether a launch does nothing.
    does_nothing: bool,
}

impl FakeEntry {
    /// Checks the number of arguments, if the kernel's number of parameters is known.
    fn check_arguments(&self, args: KernelArgs<'_>) -> Result<(), DeviceError> {
        let Some(host) = &self.host else {
            return Ok(());
        };
        let wanted = host.spec.passed().count() + usize::from(self.is_receipt);
        check_arguments(&self.symbol, args, Some(wanted))
    }
}

impl FakeDevice {
    /// A new device with a script.
    pub fn new(script: Script) -> Arc<FakeDevice> {
        let script = Arc::new(script);
        let placement = script.placement.unwrap_or_else(random_word);
        Arc::new(FakeDevice {
            index: crate::device::next_index(),
            info: DeviceInfo {
                key: DeviceKey {
                    backend: Backend::Fake,
                    arch: script.arch.clone(),
                    name: script.name.clone(),
                },
                limits: script.limits,
                fingerprint: BTreeMap::from([("script".into(), script.name.clone())]),
                instance: script.instance.clone(),
                ordinal: 0,
                timer_tick_ns: script.timer_tick_ns,
                is_simulated: false,
            },
            compiler: FakeCompiler::new(script.clone()),
            memory: FakeMemory::new(script.limits.memory_bytes),
            placement,
            state: Mutex::new(State {
                broken: None,
                draws: FakeDraws::new(&[
                    b"times",
                    &script.seed.to_le_bytes(),
                    &placement.to_le_bytes(),
                ]),
                timed_calls: 0,
                last_nonce: 0,
                histories: BTreeMap::new(),
            }),
            now_ns: AtomicU64::new(0),
            next_stream: AtomicU64::new(1),
            script,
        })
    }

    /// Opens the device that the script file `script` specifies, or else the script file `$KILN_FAKE_SCRIPT`. Without
    /// either file, opens the default device.
    ///
    /// # Errors
    /// If the script cannot be read, or if it is not valid.
    pub fn open(script: Option<&str>) -> Result<Arc<FakeDevice>, DeviceError> {
        static DEFAULT: OnceLock<Arc<FakeDevice>> = OnceLock::new();
        let from_env = std::env::var("KILN_FAKE_SCRIPT").ok();
        match script.map(str::to_owned).or(from_env) {
            Some(path) => Ok(FakeDevice::new(Script::from_file(Path::new(&path))?)),
            None => Ok(DEFAULT
                .get_or_init(|| FakeDevice::new(Script::default()))
                .clone()),
        }
    }

    /// The virtual time in nanoseconds, which is the sum of the times of all launches so far.
    pub fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn usable(&self) -> Result<(), DeviceError> {
        self.state().broken.clone().map_or(Ok(()), Err)
    }

    fn entry<'f>(&self, function: &'f Function) -> Result<&'f FakeEntry, DeviceError> {
        entry_of(function, self.index)
    }

    fn run(
        &self,
        entry: &FakeEntry,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        computes: bool,
    ) -> Result<(), DeviceError> {
        let mut state = self.state();
        let state = &mut *state;
        let history = state.histories.entry(entry.symbol.clone()).or_default();
        if let Some(error) = misbehave(entry, history.launches) {
            if matches!(error, DeviceError::Sticky { .. } | DeviceError::Lost { .. }) {
                state.broken = Some(error.clone());
            }
            return Err(error);
        }
        let mut memory = self.memory.lock();
        let mut ran = Ok(());
        if let Some(host) = entry.host.as_ref().filter(|_| computes) {
            let run = execute::HostRun {
                kernel: host,
                unit: &entry.unit,
                plan,
                args,
                outcome: entry.behaviour.output,
            };
            ran = execute::compute(&run, history, &mut state.draws, &mut memory);
        }
        history.launches += 1;
        if ran.is_ok() && entry.is_receipt {
            ran = self.sign(entry, plan, args, &mut state.last_nonce, &mut memory);
        }
        ran.map_err(|fault| {
            let text = fault.to_string();
            let error = DeviceError::Sticky { text };
            state.broken = Some(error.clone());
            error
        })
    }

    /// Launches after all checks. `computes` determines whether the outputs are computed.
    fn launch_checked(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        computes: bool,
    ) -> Result<(), DeviceError> {
        let entry = self.entry(function)?;
        plan.check(&self.info.limits)
            .map_err(|error| DeviceError::Plan {
                symbol: entry.symbol.clone(),
                error,
            })?;
        entry.check_arguments(args)?;
        if entry.does_nothing {
            return Ok(());
        }
        self.usable()?;
        self.run(entry, plan, args, computes)?;
        let once = timer::true_ns(&entry.behaviour, &entry.unit, plan);
        self.now_ns.fetch_add(once as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Writes the receipt that the script specifies.
    fn sign(
        &self,
        entry: &FakeEntry,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
        last_nonce: &mut u64,
        memory: &mut Blocks,
    ) -> Result<(), FakeFault> {
        let address = arguments::last_address(args).ok_or(FakeFault::NoReceipt)?;
        let record = memory
            .range(address, RECEIPT_BYTES)
            .and_then(|range| range.first_chunk_mut::<RECEIPT_BYTES>())
            .ok_or(FakeFault::Receipt { address })?;
        let nonce_in = nonce_in(record);
        let honest = Receipt {
            nonce: nonce_in,
            symbol_hash: entry.unit.symbol_hash,
            config_hash: entry.unit.config_hash,
            // As on a real device, every thread increments the number that is already in the record.
            threads: Receipt::decode(record).threads + plan.blocks() * plan.threads_per_block(),
            block: plan.block,
            grid: plan.grid,
            dynamic_shared_bytes: plan.shared_bytes,
            warp_size: self.info.limits.warp_size,
            abi_version: RECEIPT_ABI,
        };
        if let Some(receipt) = falsify(honest, entry.behaviour.receipt, *last_nonce) {
            *last_nonce = nonce_in;
            *record = receipt.encode(nonce_in);
        }
        Ok(())
    }
}

/// Changes a receipt as the script specifies; `None` if no receipt is to be written.
fn falsify(mut receipt: Receipt, outcome: ReceiptOutcome, last_nonce: u64) -> Option<Receipt> {
    match outcome {
        ReceiptOutcome::Honest => {}
        ReceiptOutcome::Missing => return None,
        ReceiptOutcome::OldNonce => receipt.nonce = last_nonce,
        ReceiptOutcome::Symbol(hash) => receipt.symbol_hash = hash,
        ReceiptOutcome::Config(hash) => receipt.config_hash = hash,
        ReceiptOutcome::Block(block) => receipt.block = block,
        ReceiptOutcome::Grid(grid) => receipt.grid = grid,
        ReceiptOutcome::SharedBytes(bytes) => receipt.dynamic_shared_bytes = bytes,
        ReceiptOutcome::Threads(threads) => receipt.threads = threads,
    }
    Some(receipt)
}

/// The nonce that the host wrote into a record.
fn nonce_in(record: &[u8; RECEIPT_BYTES]) -> u64 {
    let mut nonce = [0; 8];
    nonce.copy_from_slice(&record[..8]);
    u64::from_le_bytes(nonce)
}

/// Makes a launch fail or end the process as the script specifies; returns `None` if the launch succeeds.
fn misbehave(entry: &FakeEntry, launches: u64) -> Option<DeviceError> {
    let symbol = || entry.symbol.clone();
    let scripted = || "the script says so".to_owned();
    match entry.behaviour.launch {
        LaunchOutcome::Works => None,
        LaunchOutcome::CrashAfter(runs) if launches < runs => None,
        LaunchOutcome::Crash | LaunchOutcome::CrashAfter(_) => crash(),
        LaunchOutcome::Abort => std::process::abort(),
        LaunchOutcome::Exit(code) => std::process::exit(code),
        LaunchOutcome::Hang => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        LaunchOutcome::MemoryBomb => eat_memory(),
        LaunchOutcome::Refused => Some(DeviceError::LaunchRefused {
            symbol: symbol(),
            text: scripted(),
        }),
        LaunchOutcome::Oom => Some(DeviceError::Oom {
            wanted_bytes: 1 << 40,
            text: scripted(),
        }),
        LaunchOutcome::KernelFault => Some(DeviceError::KernelFault {
            symbol: symbol(),
            text: scripted(),
        }),
        LaunchOutcome::Sticky => Some(DeviceError::Sticky { text: scripted() }),
        LaunchOutcome::Lost => Some(DeviceError::Lost { text: scripted() }),
    }
}

fn crash() -> ! {
    let this = rustix::process::getpid();
    // The first signal goes to the handler of Rust's runtime, which only removes itself. The second signal ends the
    // process.
    for _ in 0..100 {
        let _ = rustix::process::kill_process(this, rustix::process::Signal::SEGV);
        std::thread::sleep(Duration::from_millis(1));
    }
    std::process::abort()
}

fn eat_memory() -> ! {
    let mut eaten: Vec<Vec<u8>> = Vec::new();
    loop {
        // The bytes are not zero, so the system really has to allocate every page.
        eaten.push(vec![1; 64 << 20]);
    }
}

/// A number that differs between processes.
fn random_word() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id())
}

impl DeviceBackend for FakeDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn index(&self) -> u32 {
        self.index
    }

    fn compiler(&self) -> Result<&dyn Compiler, CompileError> {
        Ok(&self.compiler)
    }

    fn alloc(&self, bytes: usize, align: usize) -> Result<Box<dyn Allocation>, DeviceError> {
        self.usable()?;
        Ok(Box::new(self.memory.alloc(bytes, align, self.index)?))
    }

    fn load(&self, artifact: &Artifact) -> Result<Arc<dyn Module>, DeviceError> {
        self.usable()?;
        if artifact.backend != Backend::Fake || artifact.target != self.script.arch {
            return Err(DeviceError::Load {
                text: format!(
                    "it is for {}/{}, but this device is {}/{}",
                    artifact.backend,
                    artifact.target,
                    Backend::Fake,
                    self.script.arch
                ),
            });
        }
        Ok(Arc::new(FakeModule {
            device_index: self.index,
            placement: self.placement,
            script: self.script.clone(),
            unit: Arc::new(FakeUnit::of_artifact(artifact)?),
        }))
    }

    fn launch(
        &self,
        _: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<(), DeviceError> {
        self.launch_checked(function, plan, args, true)
    }

    fn time(
        &self,
        _: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        sets: ArgSets<'_>,
        launches: u32,
    ) -> Result<u64, DeviceError> {
        // Each launch is performed separately, because a script may specify that a later launch misbehaves.
        for args in sets.in_turn(launches) {
            self.launch_checked(function, plan, args, self.script.computes_timed)?;
        }
        let entry = self.entry(function)?;
        let noise: &script::FakeNoise = &entry.behaviour.noise;
        let mut state = self.state();
        let calls = state.timed_calls;
        state.timed_calls += 1;
        let factor = timer::call_factor(noise, &mut state.draws, calls) * entry.placement_factor;
        let once = timer::true_ns(&entry.behaviour, &entry.unit, plan);
        let tick = self.info.timer_tick_ns.max(1);
        let ns = (once * factor * f64::from(launches)).round() as u64;
        Ok(ns / tick * tick)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.usable()
    }

    fn open_stream(&self) -> Result<StreamHandle, DeviceError> {
        self.usable()?;
        Ok(StreamHandle(
            self.next_stream.fetch_add(1, Ordering::Relaxed),
        ))
    }

    fn close_stream(&self, _: StreamHandle) {}

    fn synchronize_stream(&self, _: StreamHandle) -> Result<(), DeviceError> {
        self.usable()
    }
}

/// A loaded translation unit.
#[derive(Debug)]
struct FakeModule {
    device_index: u32,
    placement: u64,
    script: Arc<Script>,
    unit: Arc<FakeUnit>,
}

impl Module for FakeModule {
    fn function(self: Arc<Self>, symbol: &str) -> Result<Function, DeviceError> {
        let is_receipt = symbol.strip_suffix("_receipt") == Some(&self.unit.release);
        if !is_receipt && symbol != self.unit.release {
            return Err(DeviceError::NotFound {
                what: format!("kernel `{symbol}`"),
                text: format!("the module has `{}`", self.unit.release),
            });
        }
        let behaviour = self.script.behaviour(&self.unit, is_receipt);
        let host = provided(&self.unit.release, &self.unit.entry).filter(|_| self.script.computes);
        let entry = FakeEntry {
            unit: self.unit.clone(),
            symbol: symbol.into(),
            is_receipt,
            placement_factor: timer::placement_factor(&behaviour.noise, symbol, self.placement),
            does_nothing: host.is_none() && !is_receipt && behaviour.launch == LaunchOutcome::Works,
            host,
            behaviour,
        };
        Ok(Function::new(symbol, self.device_index, 0, Arc::new(entry)))
    }
}
