//! Rigs. A rig holds the data of one kernel for one problem, arranged so that every wrong write is detected.
//!
//! Inputs are generated from a seed as the spec declares. Outputs are filled with a poison value before each launch
//! that is checked. Except in rigs for timing, every buffer is either between guard zones with a known pattern or next
//! to inaccessible guard pages. `tune` uses rigs in its worker processes to verify and time candidates. A rig launches
//! either the release entry of a kernel (the kernel as programs launch it) or the receipt entry (the same kernel plus
//! code that writes a receipt).

mod content;
mod error;
mod expected;
mod held;
mod host_pace;
mod orders;
mod passed;
mod timed;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use kiln_spec::{
    Access, ArgSpec, Backend, Comparison, Config, ElemType, KernelSpec, LaunchPlan, Problem,
    SliceArg,
    hash::{Hash, Hasher},
};

use serde::{Deserialize, Serialize};

use crate::data::buffer::RawSlice;
use crate::data::reference::{ArgData, make_data_for};
use crate::device::lent::Lent;
use crate::device::stream::Stream;
use crate::device::{Allocation, ArgMemory, Function, Schedule};
use crate::launch::{Arg, launch_held_scheduled};
use crate::receipt::{RECEIPT_BYTES, Receipt};

use held::{ALIGN, Held, HeldSlice, OTHER_POISON, POISON, Placement, blocks};

pub use content::Content;
pub use error::{ExpectedSource, RigError};
pub use expected::{Expected, ExpectedError};
pub use host_pace::HostPace;
pub use orders::CheckedOrders;

/// How a rig lays out its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Layout {
    /// Each buffer is between guard zones, which are checked after each launch.
    Zones,
    /// Like `Zones`, but each buffer has no more than the alignment that the spec declares. Without `#[align(..)]`, that
    /// is the size of an element, so a buffer begins like the view `x.view(1..)` of another buffer.
    Views,
    /// Like `Zones` for every second slice, beginning with the first, and like `Views` for the others. A kernel that looks
    /// at the alignment of one argument alone then finds another one with less.
    Mixed,
    /// Like `Mixed`, but in pairs of slices: with both layouts, any two of the first four slices differ in one of them.
    Pairs,
    /// Each buffer is next to inaccessible memory, so an access outside the buffer ends the process. If the device
    /// does not support this, the layout is `Zones`.
    Fences,
    /// Buffers have no guards. This layout is for timing.
    Plain,
}

/// The data of one kernel for one problem, on a device.
#[derive(Debug)]
pub struct Rig {
    stream: Stream,
    spec: Arc<KernelSpec>,
    args: Vec<Held>,
    receipt: Box<dyn Allocation>,
    receipt_address: RawSlice,
    /// The number of copies of the data.
    sets: usize,
    /// The index of the set that the next timed launch uses.
    next_set: AtomicUsize,
    /// The symbols of the entries that [`Rig::time_restored`] has launched.
    warm: Mutex<BTreeSet<String>>,
}

impl Rig {
    /// Generates the data, copies it to the device, and poisons the outputs. Lengths and computed arguments that
    /// depend on the config are computed for the baseline's config.
    ///
    /// # Errors
    /// If the data cannot be generated for this problem, or if the device does not have enough memory.
    pub fn new(
        stream: &Stream,
        spec: &Arc<KernelSpec>,
        problem: &Problem,
        seed: u64,
        layout: Layout,
    ) -> Result<Rig, RigError> {
        Rig::of_config(stream, spec, &spec.baseline.config, problem, seed, layout)
    }

    /// Like [`Self::new`], but computes lengths and arguments for this config.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn of_config(
        stream: &Stream,
        spec: &Arc<KernelSpec>,
        config: &Config,
        problem: &Problem,
        seed: u64,
        layout: Layout,
    ) -> Result<Rig, RigError> {
        let data = make_data_for(spec, config, problem, seed)?;
        Rig::with_data(stream, spec, (config, problem), data, layout, 1)
    }

    /// Like [`Self::of_config`], with `sets` copies of the data. Timed launches alternate between the copies, so no
    /// launch finds its data in a cache because the previous launch used it.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn rotating(
        stream: &Stream,
        spec: &Arc<KernelSpec>,
        config: &Config,
        problem: &Problem,
        seed: u64,
        sets: usize,
    ) -> Result<Rig, RigError> {
        let data = make_data_for(spec, config, problem, seed)?;
        let (of, sets) = ((config, problem), sets.max(1));
        Rig::with_data(stream, spec, of, data, Layout::Plain, sets)
    }

    fn with_data(
        stream: &Stream,
        spec: &Arc<KernelSpec>,
        (config, problem): (&Config, &Problem),
        data: Vec<ArgData>,
        layout: Layout,
        sets: usize,
    ) -> Result<Rig, RigError> {
        let mut slices = 0_usize;
        let held = spec
            .args
            .iter()
            .zip(data)
            .map(|(arg, data)| match (arg, data) {
                (ArgSpec::Slice(slice), ArgData::Slice(bytes)) => {
                    let ty = spec.elem_type(slice, problem).unwrap_or(ElemType::F32);
                    let least = Placement::Zones {
                        align_bytes: align_bytes(spec, slice, config, problem),
                    };
                    slices += 1;
                    let place = match layout {
                        Layout::Mixed if slices.is_multiple_of(2) => least,
                        Layout::Pairs if (slices / 2).is_multiple_of(2) => least,
                        Layout::Views => least,
                        Layout::Zones | Layout::Mixed | Layout::Pairs => {
                            Placement::Zones { align_bytes: ALIGN }
                        }
                        Layout::Fences => Placement::Fences,
                        Layout::Plain => Placement::Plain { sets },
                    };
                    let slice = HeldSlice::new(stream, slice, ty, bytes, place)?;
                    Ok(Held::Slice(Box::new(slice)))
                }
                (_, data) => Ok(Held::Value(blocks(data.bytes()))),
            });
        let args = held.collect::<Result<Vec<_>, RigError>>()?;
        let receipt = stream.device().alloc(RECEIPT_BYTES, ALIGN)?;
        let receipt_address = RawSlice {
            address: receipt.address(),
            len: 1,
            device_index: stream.device_index(),
            lent: Lent::NOT,
        };
        let rig = Rig {
            stream: stream.clone(),
            spec: spec.clone(),
            args,
            receipt,
            receipt_address,
            sets,
            next_set: AtomicUsize::new(0),
            warm: Mutex::default(),
        };
        for slice in rig.slices() {
            (0..sets).try_for_each(|set| slice.reset(stream, set))?;
        }
        Ok(rig)
    }

    /// The stream on which the rig launches.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Prepares the data of [`Self::launch`] for a launch: fills outputs with the poison value, writes the initial
    /// values of inputs and in-out arguments, and rewrites the guard zones.
    ///
    /// # Errors
    /// If the device cannot write the data.
    pub fn reset(&self) -> Result<(), RigError> {
        self.slices()
            .try_for_each(|slice| slice.reset(&self.stream, 0))
    }

    /// Launches a release entry once more, with all data restored except the workspaces, which are as the last launch left
    /// them. Returns the largest error of an output element as a fraction of its bound.
    ///
    /// # Errors
    /// The errors of [`Self::launch`] and [`Self::check`].
    pub fn check_again(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        expected: &Expected,
    ) -> Result<f64, RigError> {
        let mut restored = self
            .slices()
            .filter(|slice| !slice.spec.is_kept_workspace());
        restored.try_for_each(|slice| slice.reset(&self.stream, 0))?;
        self.launch(function, plan)?;
        self.check(expected)
    }

    /// Replaces the data of [`Self::launch`] by that of another seed, for the same problem and config.
    ///
    /// # Errors
    /// If the data cannot be generated or written.
    pub fn reseed(
        &mut self,
        config: &Config,
        problem: &Problem,
        seed: u64,
    ) -> Result<(), RigError> {
        let data = make_data_for(&self.spec, config, problem, seed)?;
        for (held, data) in self.args.iter_mut().zip(data) {
            match (held, data) {
                (Held::Slice(slice), ArgData::Slice(bytes)) => slice.initial = bytes,
                (held, data) => *held = Held::Value(blocks(data.bytes())),
            }
        }
        self.reset()
    }

    /// Launches a release entry once and waits for it.
    ///
    /// # Errors
    /// If the device refuses the launch, or if the kernel faults.
    pub fn launch(&self, function: &Function, plan: &LaunchPlan) -> Result<(), RigError> {
        self.launch_scheduled(function, plan, Schedule::Forward)
    }

    /// Like [`Self::launch`], but a schedule determines the order in which blocks, warps and threads run. If two orders
    /// give different results, the kernel has a race. On the cpu device, orders other than [`Schedule::Forward`] need a
    /// check build (a build of the kernel that checks every memory access).
    ///
    /// # Errors
    /// The errors of [`Self::launch`]. If the schedule is not [`Schedule::Forward`], also
    /// [`DeviceError::Unsupported`](crate::DeviceError::Unsupported) if the device cannot control the order, and, on
    /// the cpu device, [`DeviceError::LaunchRefused`](crate::DeviceError::LaunchRefused) if the entry does not belong
    /// to a check build.
    pub fn launch_scheduled(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        schedule: Schedule,
    ) -> Result<(), RigError> {
        let (args, memory) = (self.arguments(0), self.memory());
        launch_held_scheduled(&self.stream, function, plan, &args, &memory, schedule)?;
        Ok(self.stream.synchronize()?)
    }

    /// Launches a receipt entry once and returns the receipt that the device wrote.
    ///
    /// # Errors
    /// The errors of [`Self::launch`].
    pub fn launch_for_receipt(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        nonce: u64,
    ) -> Result<Receipt, RigError> {
        let handle = self.stream.handle();
        self.receipt.write(handle, 0, &Receipt::blank(nonce))?;
        let mut args = self.arguments(0);
        args.push(Arg::slice(&self.receipt_address));
        let mut memory = self.memory();
        memory.push(ArgMemory {
            name: "receipt",
            address: self.receipt_address.address,
            bytes: RECEIPT_BYTES as u64,
            has_content: true,
        });
        let schedule = Schedule::Forward;
        launch_held_scheduled(&self.stream, function, plan, &args, &memory, schedule)?;
        self.stream.synchronize()?;
        let mut record = [0; RECEIPT_BYTES];
        self.receipt.read(handle, 0, &mut record)?;
        Ok(Receipt::decode(&record))
    }

    /// Checks every buffer after a launch: guard zones must be intact, inputs unchanged, and outputs as expected.
    /// Returns the largest error of an output element as a fraction of its bound.
    ///
    /// # Errors
    /// The first fault that is found.
    pub fn check(&self, expected: &Expected) -> Result<f64, RigError> {
        let mut worst = 0.0_f64;
        for (argument, held) in self.args.iter().enumerate() {
            let Held::Slice(slice) = held else { continue };
            let bytes = slice.read(&self.stream)?;
            if slice.spec.access == Access::In {
                if bytes != slice.initial {
                    return Err(RigError::InputChanged {
                        argument: slice.spec.name.clone(),
                    });
                }
                continue;
            }
            worst = worst.max(slice.compare(bytes, argument, expected, &self.spec)?);
        }
        Ok(worst)
    }

    /// Checks that a launch writes every element of its outputs, except outputs that are never compared (workspaces).
    /// Call it after a launch on poisoned outputs.
    ///
    /// An element that still has the poison value may be unwritten, or that value may be the kernel's result. If there
    /// is such an element, this launches the kernel again on outputs with another poison value. An element that is
    /// never written then has that other value.
    ///
    /// # Errors
    /// [`RigError::Unwritten`]; otherwise the errors of [`Self::launch`].
    pub fn check_written(&self, function: &Function, plan: &LaunchPlan) -> Result<(), RigError> {
        let mut suspects = Vec::new();
        for slice in self.outputs_only() {
            let poisoned = slice.elements_of(&slice.read(&self.stream)?, POISON);
            if !poisoned.is_empty() {
                suspects.push((slice, poisoned));
            }
        }
        if suspects.is_empty() {
            return Ok(());
        }
        self.launch_on(OTHER_POISON, function, plan)?;
        for (slice, poisoned) in suspects {
            let still = slice.elements_of(&slice.read(&self.stream)?, OTHER_POISON);
            let never: Vec<usize> = poisoned
                .into_iter()
                .filter(|element| still.binary_search(element).is_ok())
                .collect();
            let len = slice.initial.len() / slice.ty.bytes();
            // The fake device computes only kernels with registered host code. Its other kernels write nothing.
            let fake = self.stream.device().info().key.backend == Backend::Fake;
            if let Some(&first) = never.first()
                && !(fake && never.len() == len)
            {
                return Err(RigError::Unwritten {
                    output: slice.spec.name.clone(),
                    index: first as u64,
                    count: never.len() as u64,
                    len: len as u64,
                });
            }
        }
        // Code that reads the outputs later expects the outputs of a launch on the first poison value.
        self.launch_on(POISON, function, plan)
    }

    /// The current outputs, as expected outputs of other launches. This is for outputs that are compared with those of
    /// a reference entry or of the baseline.
    ///
    /// # Errors
    /// If the device cannot read the data.
    pub fn outputs(&self) -> Result<Expected, RigError> {
        let mut expected = Expected::of_launch();
        for (argument, held) in self.args.iter().enumerate() {
            if let Held::Slice(slice) = held
                && slice.spec.access != Access::In
            {
                let bytes = slice.read(&self.stream)?;
                expected.insert(
                    argument,
                    crate::data::reference::Wide::of_bytes(slice.ty, &bytes),
                );
            }
        }
        Ok(expected)
    }

    /// A hash of the current outputs, except those that are never compared. Devices that compute the same, bit for bit,
    /// have equal hashes.
    ///
    /// # Errors
    /// If the device cannot read the data.
    pub fn outputs_hash(&self) -> Result<Hash, RigError> {
        let mut hasher = Hasher::new("outputs");
        for slice in self.slices() {
            let spec = &slice.spec;
            if spec.access != Access::In && spec.compare != Some(Comparison::None) {
                hasher.field(&slice.read(&self.stream)?);
            }
        }
        Ok(hasher.finish())
    }

    fn slices(&self) -> impl Iterator<Item = &HeldSlice> {
        self.args.iter().filter_map(|held| match held {
            Held::Slice(slice) => Some(&**slice),
            Held::Value(_) => None,
        })
    }

    /// The slices that are poisoned before a launch and that the launch must fill. An output that is never compared (a
    /// workspace) need not be filled, so it is not included.
    fn outputs_only(&self) -> impl Iterator<Item = &HeldSlice> {
        self.slices().filter(|slice| {
            slice.spec.access == Access::Out && slice.spec.compare != Some(Comparison::None)
        })
    }

    /// The memory that the arguments of [`Self::launch`] refer to.
    fn memory(&self) -> Vec<ArgMemory<'_>> {
        self.slices().map(HeldSlice::memory).collect()
    }

    fn arguments(&self, set: usize) -> Vec<Arg<'_>> {
        fn argument(held: &Held, set: usize) -> Arg<'_> {
            match held {
                Held::Value(blocks) => Arg::blocks(blocks),
                Held::Slice(slice) => Arg::slice(&slice.raw[set]),
            }
        }
        let passed = self.spec.passed();
        passed
            .map(|(place, _)| argument(&self.args[place], set))
            .collect()
    }
}

/// The alignment in bytes that a launch requires of a slice; [`ALIGN`] if it cannot be computed.
fn align_bytes(spec: &KernelSpec, slice: &SliceArg, config: &Config, problem: &Problem) -> usize {
    let bytes = spec.align_bytes(slice, config, problem).ok();
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    bytes
        .filter(|bytes| bytes.is_power_of_two())
        .unwrap_or(ALIGN)
}
