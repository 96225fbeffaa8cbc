//! A device that launches something other than what was requested.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Mutex};

use kiln::compiler::{
    Artifact, BuildKind, CompileError, CompileRequest, Compiler, CompilerIdentity,
};
use kiln::device::{
    Allocation, ArgSets, DeviceError, DeviceInfo, Function, KernelArgs, Module, StreamHandle,
};
use kiln::device::{Device, DeviceBackend};
use kiln::receipt::RECEIPT_BYTES;
use kiln::spec::LaunchPlan;

/// The fault of a device.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The device has no fault.
    None,
    /// Every launch uses a changed plan.
    Plan(fn(&mut LaunchPlan)),
    /// Only launches of receipt entries use a changed plan.
    ReceiptPlan(fn(&mut LaunchPlan)),
    /// Only launches of release entries use a changed plan.
    ReleasePlan(fn(&mut LaunchPlan)),
    /// Every launch uses the first loaded entry of the same kind, as if an old symbol or a fallback were used.
    OldEntry,
    /// Like `OldEntry`, with the plan of that entry's first launch.
    OldEntryAndPlan,
    /// Like `OldEntry`, but only for release entries. Receipts are right.
    OldRelease,
    /// Every launch of a release entry uses the first loaded release entry and the plan of that entry's first launch.
    /// This is a perfect, silent fallback.
    SilentFallback,
    /// Nothing is launched.
    NoOp,
    /// Launches of release entries do nothing. Receipts are right.
    ReleaseNoOp,
    /// Everything is launched twice.
    Twice,
    /// The grid is launched in two halves.
    TwoHalves,
    /// A launch runs only when the next one is requested.
    Late,
    /// Receipts are those of the previous launch.
    OldReceipt,
    /// Receipts are cleared after the launch.
    ClearedReceipt,
    /// Two arguments are swapped.
    SwappedArgs(usize, usize),
    /// A 32-bit scalar argument is decremented.
    OneLess(usize),
    /// One pointer argument has its value from the previous launch.
    OldPointer(usize),
    /// The compiler receives a changed source text.
    Source(fn(&str) -> String),
    /// Every artifact is the first compiled artifact, with the new symbols.
    OldArtifact,
    /// A module returns the functions of the first loaded module.
    WrongModule,
    /// Release functions come from the first module, and receipt functions from the right module.
    MixedModules,
}

/// A device that wraps a device without faults and adds one fault.
pub struct Misdispatching {
    inner: Device,
    fault: Fault,
    compiler: MisdispatchingCompiler,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    first_artifact: Option<(String, Artifact)>,
    first_module: Option<Arc<dyn Module>>,
    first_symbol: Option<String>,
    first: BTreeMap<bool, (Function, LaunchPlan)>,
    pointers: BTreeMap<usize, u64>,
    last_record: Option<Vec<u8>>,
    allocations: Vec<Arc<dyn Allocation>>,
    pending: Option<(Function, LaunchPlan, Vec<u64>)>,
}

impl Misdispatching {
    pub fn around(inner: Device, fault: Fault) -> Device {
        let state = Arc::new(Mutex::new(State::default()));
        let device = Misdispatching {
            compiler: MisdispatchingCompiler {
                inner: inner.clone(),
                fault: fault.clone(),
                state: state.clone(),
            },
            inner,
            fault,
            state,
        };
        Arc::new(device).into()
    }

    fn run(&self, launch: Launch) -> Result<(), DeviceError> {
        // SAFETY: the pointers are those that were vouched for, or point to values of the same type; the cpu and the
        // fake device survive the effects of wrong launches in these tests.
        let args = unsafe { KernelArgs::new(&launch.pointers) };
        self.inner
            .launch(launch.stream, &launch.function, &launch.plan, args)
    }

    fn with_another_plan(&self, mut launch: Launch, receipt: bool) -> Result<(), DeviceError> {
        match &self.fault {
            Fault::Plan(change) => change(&mut launch.plan),
            Fault::ReceiptPlan(change) if receipt => change(&mut launch.plan),
            Fault::ReleasePlan(change) if !receipt => change(&mut launch.plan),
            _ => {}
        }
        self.run(launch)
    }

    fn of_another_entry(
        &self,
        mut launch: Launch,
        receipt: bool,
        (function, plan): (Function, LaunchPlan),
    ) -> Result<(), DeviceError> {
        let (other_function, other_plan) = match self.fault {
            Fault::OldEntry => (true, false),
            Fault::OldEntryAndPlan => (true, true),
            Fault::OldRelease => (!receipt, false),
            _ => (!receipt, !receipt),
        };
        if other_function {
            launch.function = function;
        }
        if other_plan {
            launch.plan = plan;
        }
        self.run(launch)
    }

    fn twice(&self, mut launch: Launch) -> Result<(), DeviceError> {
        if matches!(self.fault, Fault::TwoHalves) {
            launch.plan.grid[0] = launch.plan.grid[0].div_ceil(2);
        }
        self.run(launch.clone())?;
        self.run(launch)
    }

    /// Runs the previous launch, if its memory still exists.
    fn late(&self, launch: Launch) -> Result<(), DeviceError> {
        let stream = launch.stream;
        let values: Vec<u64> = (launch.pointers.iter().enumerate())
            .map(|(i, pointer)| {
                if i < 2 {
                    low_word(*pointer)
                } else {
                    value(*pointer)
                }
            })
            .collect();
        let pending = (launch.function, launch.plan, values);
        let before = self.state.lock().unwrap().pending.replace(pending);
        let Some((function, plan, values)) = before else {
            return Ok(());
        };
        if values[2..]
            .iter()
            .any(|&address| self.memory_at(address).is_none())
        {
            return Ok(());
        }
        self.run(Launch {
            stream,
            function,
            plan,
            pointers: values.iter().map(|v| (&raw const *v).cast()).collect(),
        })
    }

    fn with_other_arguments(&self, mut launch: Launch) -> Result<(), DeviceError> {
        let (less, old);
        match self.fault {
            Fault::SwappedArgs(a, b) => launch.pointers.swap(a, b),
            Fault::OneLess(argument) => {
                less = low_word(launch.pointers[argument]) as u32 - 1;
                launch.pointers[argument] = (&raw const less).cast();
            }
            Fault::OldPointer(argument) => {
                let new = value(launch.pointers[argument]);
                let before = self.state.lock().unwrap().pointers.insert(argument, new);
                let before = before.filter(|old| self.memory_at(*old).is_some());
                old = before.unwrap_or(new);
                launch.pointers[argument] = (&raw const old).cast();
            }
            _ => {}
        }
        self.run(launch)
    }

    fn memory_at(&self, address: u64) -> Option<Arc<dyn Allocation>> {
        let state = self.state.lock().unwrap();
        let found = state
            .allocations
            .iter()
            .find(|memory| memory.address() == address);
        found.cloned()
    }
}

/// One launch, either as it was requested or as it runs.
#[derive(Clone)]
struct Launch {
    stream: StreamHandle,
    function: Function,
    plan: LaunchPlan,
    pointers: Vec<*const c_void>,
}

fn is_receipt(function: &Function) -> bool {
    function.symbol().ends_with("_receipt")
}

fn value(pointer: *const c_void) -> u64 {
    // SAFETY: slice arguments point to their 64-bit address.
    unsafe { *pointer.cast::<u64>() }
}

impl DeviceBackend for Misdispatching {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn index(&self) -> u32 {
        self.inner.index()
    }

    fn compiler(&self) -> Result<&dyn Compiler, CompileError> {
        Ok(&self.compiler)
    }

    fn alloc(&self, bytes: usize, align: usize) -> Result<Box<dyn Allocation>, DeviceError> {
        let memory: Arc<dyn Allocation> = self.inner.alloc(bytes, align)?.into();
        self.state.lock().unwrap().allocations.push(memory.clone());
        Ok(Box::new(Shared(memory)))
    }

    fn load(&self, artifact: &Artifact) -> Result<Arc<dyn Module>, DeviceError> {
        let module = self.inner.load(artifact)?;
        let mut state = self.state.lock().unwrap();
        let first = state.first_module.get_or_insert(module.clone()).clone();
        drop(state);
        Ok(Arc::new(MisdispatchingModule {
            module,
            first,
            fault: self.fault.clone(),
            state: self.state.clone(),
        }))
    }

    fn launch(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        args: KernelArgs<'_>,
    ) -> Result<(), DeviceError> {
        let receipt = is_receipt(function);
        let first = {
            let mut state = self.state.lock().unwrap();
            let first = state.first.entry(receipt);
            first.or_insert((function.clone(), *plan)).clone()
        };
        let launch = Launch {
            stream,
            function: function.clone(),
            plan: *plan,
            pointers: args.pointers().to_vec(),
        };
        match &self.fault {
            Fault::Plan(_) | Fault::ReceiptPlan(_) | Fault::ReleasePlan(_) => {
                self.with_another_plan(launch, receipt)
            }
            Fault::OldEntry
            | Fault::OldEntryAndPlan
            | Fault::OldRelease
            | Fault::SilentFallback => self.of_another_entry(launch, receipt, first),
            Fault::NoOp => Ok(()),
            Fault::ReleaseNoOp if !receipt => Ok(()),
            Fault::Twice | Fault::TwoHalves => self.twice(launch),
            Fault::Late => self.late(launch),
            Fault::OldReceipt | Fault::ClearedReceipt => {
                let record = launch.pointers.last().copied();
                self.run(launch)?;
                match record {
                    Some(record) if receipt => self.falsify_record(stream, value(record)),
                    _ => Ok(()),
                }
            }
            Fault::SwappedArgs(..) | Fault::OneLess(_) | Fault::OldPointer(_) => {
                self.with_other_arguments(launch)
            }
            _ => self.run(launch),
        }
    }

    fn time(
        &self,
        stream: StreamHandle,
        function: &Function,
        plan: &LaunchPlan,
        sets: ArgSets<'_>,
        launches: u32,
    ) -> Result<u64, DeviceError> {
        self.inner.time(stream, function, plan, sets, launches)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.inner.synchronize()
    }

    fn open_stream(&self) -> Result<StreamHandle, DeviceError> {
        self.inner.open_stream()
    }

    fn close_stream(&self, stream: StreamHandle) {
        self.inner.close_stream(stream);
    }

    fn synchronize_stream(&self, stream: StreamHandle) -> Result<(), DeviceError> {
        self.inner.synchronize_stream(stream)
    }
}

impl Misdispatching {
    fn falsify_record(&self, stream: StreamHandle, address: u64) -> Result<(), DeviceError> {
        let memory = self.memory_at(address).unwrap();
        let mut record = vec![0; RECEIPT_BYTES];
        memory.read(stream, 0, &mut record)?;
        let mut state = self.state.lock().unwrap();
        let old = state.last_record.replace(record);
        let false_record = match (&self.fault, old) {
            (Fault::OldReceipt, Some(old)) => old,
            (Fault::OldReceipt, None) => return Ok(()),
            _ => vec![0; RECEIPT_BYTES],
        };
        memory.write(stream, 0, &false_record)
    }
}

/// The 32-bit value that an argument points to.
fn low_word(pointer: *const c_void) -> u64 {
    // SAFETY: the first two arguments are 32-bit scalars.
    unsafe { u64::from(*pointer.cast::<u32>()) }
}

impl fmt::Debug for Misdispatching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "misdispatching device ({:?})", self.fault)
    }
}

#[derive(Debug)]
struct Shared(Arc<dyn Allocation>);

impl Allocation for Shared {
    fn address(&self) -> u64 {
        self.0.address()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn device_index(&self) -> u32 {
        self.0.device_index()
    }

    fn read(&self, stream: StreamHandle, offset: usize, out: &mut [u8]) -> Result<(), DeviceError> {
        self.0.read(stream, offset, out)
    }

    fn write(&self, stream: StreamHandle, offset: usize, data: &[u8]) -> Result<(), DeviceError> {
        self.0.write(stream, offset, data)
    }

    fn fill(
        &self,
        stream: StreamHandle,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<(), DeviceError> {
        self.0.fill(stream, offset, bytes, value)
    }
}

struct MisdispatchingModule {
    module: Arc<dyn Module>,
    first: Arc<dyn Module>,
    fault: Fault,
    state: Arc<Mutex<State>>,
}

impl fmt::Debug for MisdispatchingModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("misdispatching module")
    }
}

impl Module for MisdispatchingModule {
    fn function(self: Arc<Self>, symbol: &str) -> Result<Function, DeviceError> {
        let release = symbol.strip_suffix("_receipt").unwrap_or(symbol).to_owned();
        let mut state = self.state.lock().unwrap();
        let first = state.first_symbol.get_or_insert(release).clone();
        drop(state);
        match (&self.fault, symbol.strip_suffix("_receipt")) {
            (Fault::WrongModule, Some(_)) => {
                self.first.clone().function(&format!("{first}_receipt"))
            }
            (Fault::WrongModule | Fault::MixedModules, None) => self.first.clone().function(&first),
            _ => self.module.clone().function(symbol),
        }
    }
}

struct MisdispatchingCompiler {
    inner: Device,
    fault: Fault,
    state: Arc<Mutex<State>>,
}

impl fmt::Debug for MisdispatchingCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("misdispatching compiler")
    }
}

impl Compiler for MisdispatchingCompiler {
    fn identity(&self) -> &CompilerIdentity {
        self.inner.compiler().unwrap().identity()
    }

    fn flags(&self, build: BuildKind) -> Vec<String> {
        self.inner.compiler().unwrap().flags(build)
    }

    fn target_arch(&self) -> &str {
        self.inner.compiler().unwrap().target_arch()
    }

    fn artifacts_are_kept(&self) -> bool {
        let changed = matches!(self.fault, Fault::Source(_) | Fault::OldArtifact);
        !changed && self.inner.compiler().unwrap().artifacts_are_kept()
    }

    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        let mut request = request.clone();
        match &self.fault {
            Fault::Source(change) => request.source = change(&request.source),
            Fault::OldArtifact => return self.old_artifact(&request),
            _ => {}
        }
        self.inner.compiler()?.compile(&request)
    }
}

impl MisdispatchingCompiler {
    /// Compiles the first translation unit again, with its symbols replaced by the new ones. Its receipt still
    /// contains its own hashes.
    fn old_artifact(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        let mut state = self.state.lock().unwrap();
        let first = state.first_artifact.get_or_insert_with(|| {
            let nothing = Artifact::new(
                self.inner.info().key.backend,
                "",
                BuildKind::Release,
                Vec::new(),
                request.name.clone(),
            );
            (request.source.clone(), nothing)
        });
        let (source, name) = (first.0.clone(), first.1.log.clone());
        drop(state);
        let mut renamed = request.clone();
        renamed.source = source.replace(&name, &request.name);
        self.inner.compiler()?.compile(&renamed)
    }
}
