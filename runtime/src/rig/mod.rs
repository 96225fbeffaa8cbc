//! Rigs: the data of one kernel on one problem, set up so that every wrong write shows.
//!
//! Inputs are made from a seed as the spec declares, outputs are poisoned before each launch, and every
//! buffer lies either between guard zones of a known pattern or against inaccessible memory. It is how `tune`
//! verifies and times candidates inside its worker processes.

mod expected;
mod host_pace;
mod orders;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kiln_spec::{
    Access, ArgSpec, Backend, Comparison, Config, ElemType, KernelSpec, LaunchPlan, Problem,
    Reference, SliceArg,
};
use thiserror::Error;

use crate::buffer::RawSlice;
use crate::compare::{MaxError, compare_output};
use crate::device::{Allocation, ArgMemory, DeviceError, Function, Schedule};
use crate::launch::{Aligned, Arg, launch_held_scheduled, time_held};
use crate::lent::Lent;
use crate::parallel;
use crate::receipt::{RECEIPT_BYTES, Receipt};
use crate::reference::{ArgData, DataError, make_data_for};
use crate::stream::Stream;

pub use expected::{Expected, ExpectedError};
pub use host_pace::HostPace;

/// Bytes of a guard zone, before and after each buffer.
const GUARD_BYTES: usize = 1024;
/// The byte that fills guard zones.
const GUARD: u8 = 0xA5;
/// The byte that fills outputs before a launch: NaN in every real type.
const POISON: u8 = 0xFF;
/// Like [`POISON`], for a second launch: it shows whether an element is never written or its value is the poison.
const OTHER_POISON: u8 = 0xB7;
/// Every buffer starts at a multiple of this many bytes.
const ALIGN: usize = 256;
/// As [`ALIGN`], for buffers against inaccessible memory: the widest vector load.
const GUARDED_ALIGN: usize = 32;

/// How a rig lays out its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Between guard zones that are looked at after each launch.
    Zones,
    /// Against inaccessible memory, so that a stray access ends the process; as `Zones` if the device has no
    /// such memory.
    Fences,
    /// Tight: for timing.
    Plain,
}

/// The source of an expected output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// A plain-Rust reference.
    Reference,
    /// A launch of the entry that the spec names as reference.
    ReferenceEntry,
    /// A launch of the baseline.
    Baseline,
}

/// What is wrong with a launch.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RigError {
    /// The device refused, or reported a fault.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The data cannot be made.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An output is beyond its tolerance.
    #[error("{worst}")]
    Incorrect {
        /// The worst element.
        worst: MaxError,
        /// The source of the expected value.
        against: Against,
    },
    /// An output holds NaN or infinity where the reference is finite.
    #[error("`{output}`[{index}] is not a finite number, but should be")]
    NotANumber {
        /// The output.
        output: String,
        /// The element.
        index: u64,
    },
    /// The kernel left elements of an output as they were before the launch.
    #[error(
        "`{output}`[{index}] is never written ({count} of the {len} elements of `{output}`)\nhelp: write every \
         element, make `#[len(..)]` of `{output}` smaller, or declare it as `#[inout]` if it keeps what it holds"
    )]
    Unwritten {
        /// The output.
        output: String,
        /// The first such element.
        index: u64,
        /// How many there are.
        count: u64,
        /// How many elements the output has.
        len: u64,
    },
    /// A guard zone was written.
    #[error("the kernel wrote outside `{argument}`")]
    GuardHit {
        /// The argument.
        argument: String,
    },
    /// An input was written.
    #[error("the kernel wrote its input `{argument}`")]
    InputChanged {
        /// The argument.
        argument: String,
    },
    /// The expected outputs are of another problem.
    #[error("there is no expected output for `{argument}` of {len} elements")]
    NoExpectation {
        /// The argument.
        argument: String,
        /// Its length.
        len: usize,
    },
}

/// One argument in place.
#[derive(Debug)]
enum Held {
    /// The value, in memory of its own so that its address is stable.
    Value(Box<[Aligned<[u64; 4]>]>),
    Slice(Box<HeldSlice>),
}

#[derive(Debug)]
struct HeldSlice {
    spec: SliceArg,
    ty: ElemType,
    initial: Vec<u8>,
    memory: Box<dyn Allocation>,
    /// Bytes of the zone before the elements; the zone behind has the same.
    zone: usize,
    /// Where the elements of each set lie.
    raw: Vec<RawSlice>,
    /// From one set's elements to the next one's, in bytes.
    stride: usize,
}

/// The data of one kernel on one problem, on a device.
#[derive(Debug)]
pub struct Rig {
    stream: Stream,
    spec: Arc<KernelSpec>,
    args: Vec<Held>,
    receipt: Box<dyn Allocation>,
    receipt_address: RawSlice,
    /// The number of copies of the data.
    sets: usize,
    /// The set that the next timed launch takes.
    next_set: AtomicUsize,
}

impl Rig {
    /// Makes the data and copies it to the device; outputs are poisoned. Lengths and computed arguments that depend on
    /// the config are the baseline's.
    ///
    /// # Errors
    /// When the data has no values for this problem, or there is no room on the device.
    pub fn new(
        stream: &Stream,
        spec: &Arc<KernelSpec>,
        problem: &Problem,
        seed: u64,
        layout: Layout,
    ) -> Result<Rig, RigError> {
        Rig::of_config(stream, spec, &spec.baseline.config, problem, seed, layout)
    }

    /// As [`Self::new`], for launches with this config.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_config(
        stream: &Stream,
        spec: &Arc<KernelSpec>,
        config: &Config,
        problem: &Problem,
        seed: u64,
        layout: Layout,
    ) -> Result<Rig, RigError> {
        let data = make_data_for(spec, config, problem, seed)?;
        Rig::with_data(stream, spec, problem, data, layout, 1)
    }

    /// As [`Self::of_config`] for timing, with the data there that many times over: timed launches take the sets in turn, so
    /// that what one leaves in a cache is not what the next one needs.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn rotating(
        stream: &Stream,
        spec: &Arc<KernelSpec>,
        config: &Config,
        problem: &Problem,
        seed: u64,
        sets: usize,
    ) -> Result<Rig, RigError> {
        let data = make_data_for(spec, config, problem, seed)?;
        Rig::with_data(stream, spec, problem, data, Layout::Plain, sets.max(1))
    }

    fn with_data(
        stream: &Stream,
        spec: &Arc<KernelSpec>,
        problem: &Problem,
        data: Vec<ArgData>,
        layout: Layout,
        sets: usize,
    ) -> Result<Rig, RigError> {
        let held = spec
            .args
            .iter()
            .zip(data)
            .map(|(arg, data)| match (arg, data) {
                (ArgSpec::Slice(slice), ArgData::Slice(bytes)) => {
                    let ty = spec.elem_type(slice, problem).unwrap_or(ElemType::F32);
                    let slice = HeldSlice::new(stream, slice, ty, bytes, layout, sets)?;
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
        };
        for slice in rig.slices() {
            (0..sets).try_for_each(|set| slice.reset(stream, set))?;
        }
        Ok(rig)
    }

    /// The stream it launches on.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Poisons outputs, restores in-out arguments, and redraws the guard zones, of the data that [`Self::launch`] takes.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn reset(&self) -> Result<(), RigError> {
        self.slices()
            .try_for_each(|slice| slice.reset(&self.stream, 0))
    }

    /// Restores the in-out arguments that the next timed launches take.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn restore(&self, launches: u32) -> Result<(), RigError> {
        for slice in self.slices() {
            if slice.spec.access == Access::InOut {
                self.sets_of_next(launches)
                    .try_for_each(|set| slice.reset(&self.stream, set))?;
            }
        }
        Ok(())
    }

    /// The sets that the next timed launches take, each once, in their order.
    fn sets_of_next(&self, launches: u32) -> impl Iterator<Item = usize> + use<> {
        let (first, sets) = (self.next_set.load(Ordering::Relaxed), self.sets);
        (0..sets.min(launches as usize)).map(move |nth| (first + nth) % sets)
    }

    /// Launches a release entry once and waits for it.
    ///
    /// # Errors
    /// When the device refuses or the kernel faults.
    pub fn launch(&self, function: &Function, plan: &LaunchPlan) -> Result<(), RigError> {
        self.launch_scheduled(function, plan, Schedule::Forward)
    }

    /// As [`Self::launch`], with blocks, warps and threads run in the order of a schedule: two orders that give two
    /// results show a race.
    ///
    /// # Errors
    /// As [`Self::launch`]; if the schedule is not [`Schedule::Forward`], also [`DeviceError::Unsupported`] if the
    /// device cannot choose the order, and [`DeviceError::LaunchRefused`] if the entry was not built for checking.
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

    /// Launches a receipt entry once and gives what the device wrote.
    ///
    /// # Errors
    /// As [`Self::launch`].
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
        });
        let schedule = Schedule::Forward;
        launch_held_scheduled(&self.stream, function, plan, &args, &memory, schedule)?;
        self.stream.synchronize()?;
        let mut record = [0; RECEIPT_BYTES];
        self.receipt.read(handle, 0, &mut record)?;
        Ok(Receipt::decode(&record))
    }

    /// Launches a release entry `launches` times back to back, on the sets of data in turn; nanoseconds for all together,
    /// on the device's own clock.
    ///
    /// # Errors
    /// As [`Self::launch`].
    pub fn time(
        &self,
        function: &Function,
        plan: &LaunchPlan,
        launches: u32,
    ) -> Result<u64, RigError> {
        let sets: Vec<_> = self
            .sets_of_next(launches)
            .map(|set| self.arguments(set))
            .collect();
        let span_ns = time_held(&self.stream, function, plan, &sets, launches)?;
        let next = self.next_set.load(Ordering::Relaxed) + launches as usize;
        self.next_set.store(next % self.sets, Ordering::Relaxed);
        Ok(span_ns)
    }

    /// Looks at every buffer after a launch: guard zones whole, inputs unchanged, outputs as expected. Gives the
    /// largest error as a fraction of its bound.
    ///
    /// # Errors
    /// The first thing that is wrong.
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
            worst = worst.max(slice.compare(&bytes, argument, expected, &self.spec)?);
        }
        Ok(worst)
    }

    /// Whether a launch writes every element of its outputs; to be asked after one on poisoned outputs.
    ///
    /// An element that still holds the poison is under suspicion only: it may be the kernel's answer. If there is
    /// one, the kernel is launched once more on another poison: what is never written follows it.
    ///
    /// # Errors
    /// [`RigError::Unwritten`]; otherwise as [`Self::launch`].
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
        for slice in self.slices() {
            slice.reset_with(&self.stream, 0, OTHER_POISON)?;
        }
        self.launch(function, plan)?;
        for (slice, poisoned) in suspects {
            let still = slice.elements_of(&slice.read(&self.stream)?, OTHER_POISON);
            let never: Vec<usize> = poisoned
                .into_iter()
                .filter(|element| still.binary_search(element).is_ok())
                .collect();
            let len = slice.initial.len() / slice.ty.bytes();
            // The fake device computes only what it was given; a kernel that it was not given writes nothing.
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
        // What is read next are outputs on the ordinary poison, as those of every candidate.
        self.reset()?;
        self.launch(function, plan)
    }

    /// What the outputs hold now, as expectations of others: for kernels whose reference is an entry.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn outputs(&self) -> Result<Expected, RigError> {
        let mut expected = Expected::of_launch();
        for (argument, held) in self.args.iter().enumerate() {
            if let Held::Slice(slice) = held
                && slice.spec.access != Access::In
            {
                let bytes = slice.read(&self.stream)?;
                expected.insert(argument, crate::reference::Wide::of_bytes(slice.ty, &bytes));
            }
        }
        Ok(expected)
    }

    fn slices(&self) -> impl Iterator<Item = &HeldSlice> {
        self.args.iter().filter_map(|held| match held {
            Held::Slice(slice) => Some(&**slice),
            Held::Value(_) => None,
        })
    }

    /// The slices that are poisoned before a launch and must be filled by it: a workspace, which is not compared, need
    /// not be.
    fn outputs_only(&self) -> impl Iterator<Item = &HeldSlice> {
        self.slices().filter(|slice| {
            slice.spec.access == Access::Out && slice.spec.compare != Some(Comparison::None)
        })
    }

    /// The memory of the arguments that [`Self::launch`] takes.
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

impl HeldSlice {
    fn new(
        stream: &Stream,
        spec: &SliceArg,
        ty: ElemType,
        initial: Vec<u8>,
        layout: Layout,
        sets: usize,
    ) -> Result<HeldSlice, RigError> {
        let device = stream.device();
        let stride = initial.len().next_multiple_of(ALIGN);
        let len = (initial.len() / ty.bytes()) as u64;
        let fenced = match layout {
            Layout::Fences => device.alloc_guarded(initial.len().max(1), GUARDED_ALIGN),
            Layout::Zones | Layout::Plain => Err(DeviceError::Unsupported {
                what: "fences".into(),
            }),
        };
        let (memory, zone) = match fenced {
            Ok(memory) => (memory, 0),
            Err(DeviceError::Unsupported { .. }) => {
                let zone = if layout == Layout::Plain {
                    0
                } else {
                    GUARD_BYTES
                };
                (
                    device.alloc(
                        ((sets - 1) * stride + initial.len() + 2 * zone).max(1),
                        ALIGN,
                    )?,
                    zone,
                )
            }
            Err(error) => return Err(error.into()),
        };
        let raw = |set: usize| RawSlice {
            address: memory.address() + (zone + set * stride) as u64,
            len,
            device_index: stream.device_index(),
            lent: Lent::NOT,
        };
        Ok(HeldSlice {
            raw: (0..sets).map(raw).collect(),
            stride,
            spec: spec.clone(),
            ty,
            initial,
            memory,
            zone,
        })
    }

    /// What the kernel may use of the first set.
    fn memory(&self) -> ArgMemory<'_> {
        ArgMemory {
            name: &self.spec.name,
            address: self.raw[0].address,
            bytes: self.initial.len() as u64,
        }
    }

    fn reset(&self, stream: &Stream, set: usize) -> Result<(), RigError> {
        self.reset_with(stream, set, POISON)
    }

    fn reset_with(&self, stream: &Stream, set: usize, poison: u8) -> Result<(), RigError> {
        let (handle, bytes) = (stream.handle(), self.initial.len());
        let start = self.zone + set * self.stride;
        if self.zone > 0 {
            self.memory.fill(handle, 0, self.zone, GUARD)?;
            self.memory
                .fill(handle, self.zone + bytes, self.zone, GUARD)?;
        }
        match self.spec.access {
            _ if bytes == 0 => {}
            Access::Out => self.memory.fill(handle, start, bytes, poison)?,
            Access::In | Access::InOut => self.memory.write(handle, start, &self.initial)?,
        }
        Ok(())
    }

    /// The elements whose bytes are all this one, in order.
    fn elements_of(&self, bytes: &[u8], poison: u8) -> Vec<usize> {
        let size = self.ty.bytes();
        let is_poisoned = |element: &usize| {
            let bytes = &bytes[element * size..(element + 1) * size];
            bytes.iter().all(|&byte| byte == poison)
        };
        let poisoned = parallel::ranges(bytes.len() / size, |range| {
            range.filter(is_poisoned).collect::<Vec<usize>>()
        });
        poisoned.concat()
    }

    /// The elements, after looking at the guard zones.
    fn read(&self, stream: &Stream) -> Result<Vec<u8>, RigError> {
        let read = |start: usize, len: usize| {
            let mut bytes = vec![0; len];
            if len > 0 {
                self.memory.read(stream.handle(), start, &mut bytes)?;
            }
            Ok::<_, RigError>(bytes)
        };
        let behind = self.zone + self.initial.len();
        let zones = [read(0, self.zone)?, read(behind, self.zone)?];
        if zones.concat().iter().any(|&byte| byte != GUARD) {
            return Err(RigError::GuardHit {
                argument: self.spec.name.clone(),
            });
        }
        read(self.zone, self.initial.len())
    }

    fn compare(
        &self,
        bytes: &[u8],
        argument: usize,
        expected: &Expected,
        spec: &KernelSpec,
    ) -> Result<f64, RigError> {
        if self.spec.compare == Some(Comparison::None) {
            return Ok(0.0);
        }
        let len = self.initial.len() / self.ty.bytes();
        // What elements come to does not depend on how many there are.
        let any_length = self.spec.compare.is_some();
        let fits = |want: &&crate::reference::Wide| {
            want.elem_type() == self.ty && (any_length || want.len() == len)
        };
        let name = &self.spec.name;
        let want =
            expected
                .output(argument)
                .filter(fits)
                .ok_or_else(|| RigError::NoExpectation {
                    argument: name.clone(),
                    len,
                })?;
        let worst = compare_output(spec, &self.spec, bytes, want);
        match worst.map(|worst| worst.loosened(expected.slack())) {
            None => Ok(0.0),
            Some(worst) if worst.passes() => Ok(worst.ratio()),
            Some(worst) if !worst.got.is_finite() && worst.want.is_finite() => {
                Err(RigError::NotANumber {
                    output: name.clone(),
                    index: worst.index,
                })
            }
            Some(worst) => Err(RigError::Incorrect {
                worst,
                against: match &spec.reference {
                    _ if !expected.is_launched() => Against::Reference,
                    Some(Reference::Entry(_)) => Against::ReferenceEntry,
                    _ => Against::Baseline,
                },
            }),
        }
    }
}

/// The bytes of a value in whole blocks, aligned for any type that a kernel may read them as.
fn blocks(bytes: &[u8]) -> Box<[Aligned<[u64; 4]>]> {
    let block = |bytes: &[u8]| {
        let mut block = [0_u64; 4];
        bytemuck::bytes_of_mut(&mut block)[..bytes.len()].copy_from_slice(bytes);
        Aligned(block)
    };
    bytes.chunks(size_of::<[u64; 4]>()).map(block).collect()
}
