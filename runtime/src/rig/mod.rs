//! Rigs: the data of one kernel on one problem, set up so that every wrong write shows.
//!
//! Inputs are made from a seed as the spec declares, outputs are poisoned before each launch, and every
//! buffer lies either between guard zones of a known pattern or against inaccessible memory. It is how `tune`
//! verifies and times candidates inside its worker processes.

mod expected;
mod host_pace;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kiln_spec::{Access, ArgSpec, ElemType, KernelSpec, LaunchPlan, Problem, SliceArg};
use thiserror::Error;

use crate::buffer::RawSlice;
use crate::compare::{MaxError, compare};
use crate::device::{Allocation, DeviceError, Function};
use crate::launch::{Arg, launch_held, launch_held_reversed, time_held};
use crate::lent::Lent;
use crate::receipt::{RECEIPT_BYTES, Receipt};
use crate::reference::{ArgData, DataError, make_data};
use crate::stream::Stream;

pub use expected::{Expected, ExpectedError};
pub use host_pace::HostPace;

/// Bytes of a guard zone, before and behind each buffer.
const GUARD_BYTES: usize = 1024;
/// What guard zones hold.
const GUARD: u8 = 0xA5;
/// What outputs hold before a launch: NaN in every real type.
const POISON: u8 = 0xFF;
/// Every buffer starts at a multiple of this many bytes.
const ALIGN: usize = 256;
/// As [`ALIGN`], for buffers against inaccessible memory: the widest vector load.
const GUARDED_ALIGN: usize = 32;

/// How a rig lays out its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Between guard zones that are looked at after each launch.
    Zones,
    /// Against inaccessible memory, so that a stray access ends the process; as `Zones` where the device has no
    /// such memory.
    Fences,
    /// Tight: for timing.
    Plain,
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
    #[error("{0}")]
    Incorrect(MaxError),
    /// An output holds NaN or infinity where the reference is finite.
    #[error("`{output}`[{index}] is no finite number, the reference is")]
    NotANumber {
        /// The output.
        output: String,
        /// The element.
        index: u64,
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
    Scalar(Box<[u64; 1]>),
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
    /// How often the data is there.
    sets: usize,
    /// The set that the next timed launch takes.
    next_set: AtomicUsize,
}

impl Rig {
    /// Makes the data and copies it to the device; outputs are poisoned.
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
        Rig::with_sets(stream, spec, problem, seed, layout, 1)
    }

    /// As [`Self::new`] for timing, with the data there so many times over: timed launches take the sets in turn, so
    /// that what one leaves in a cache is not what the next one needs.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn rotating(
        stream: &Stream,
        spec: &Arc<KernelSpec>,
        problem: &Problem,
        seed: u64,
        sets: usize,
    ) -> Result<Rig, RigError> {
        Rig::with_sets(stream, spec, problem, seed, Layout::Plain, sets.max(1))
    }

    fn with_sets(
        stream: &Stream,
        spec: &Arc<KernelSpec>,
        problem: &Problem,
        seed: u64,
        layout: Layout,
        sets: usize,
    ) -> Result<Rig, RigError> {
        let data = make_data(spec, problem, seed)?;
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
                (_, data) => Ok(Held::Scalar(Box::new([word(data.bytes())]))),
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
        launch_held(&self.stream, function, plan, &self.arguments(0))?;
        Ok(self.stream.synchronize()?)
    }

    /// As [`Self::launch`], with the threads of every block from the last to the first: two orders that give two
    /// results show a race.
    ///
    /// # Errors
    /// As [`Self::launch`]; [`DeviceError::Unsupported`] where the device has no such choice, and
    /// [`DeviceError::LaunchRefused`] where the entry was not built for checking.
    pub fn launch_reversed(&self, function: &Function, plan: &LaunchPlan) -> Result<(), RigError> {
        launch_held_reversed(&self.stream, function, plan, &self.arguments(0))?;
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
        launch_held(&self.stream, function, plan, &args)?;
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
            Held::Scalar(_) => None,
        })
    }

    fn arguments(&self, set: usize) -> Vec<Arg<'_>> {
        fn argument(held: &Held, set: usize) -> Arg<'_> {
            match held {
                Held::Scalar(word) => Arg::scalar(&word[0]),
                Held::Slice(slice) => Arg::slice(&slice.raw[set]),
            }
        }
        self.args.iter().map(|held| argument(held, set)).collect()
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

    fn reset(&self, stream: &Stream, set: usize) -> Result<(), RigError> {
        let (handle, bytes) = (stream.handle(), self.initial.len());
        let start = self.zone + set * self.stride;
        if self.zone > 0 {
            self.memory.fill(handle, 0, self.zone, GUARD)?;
            self.memory
                .fill(handle, self.zone + bytes, self.zone, GUARD)?;
        }
        match self.spec.access {
            _ if bytes == 0 => {}
            Access::Out => self.memory.fill(handle, start, bytes, POISON)?,
            Access::In | Access::InOut => self.memory.write(handle, start, &self.initial)?,
        }
        Ok(())
    }

    /// The elements, after looking at the guard zones.
    fn read(&self, stream: &Stream) -> Result<Vec<u8>, RigError> {
        let mut all = vec![0; self.initial.len() + 2 * self.zone];
        if !all.is_empty() {
            self.memory.read(stream.handle(), 0, &mut all)?;
        }
        let elements = self.zone..self.zone + self.initial.len();
        let whole = |zone: &[u8]| zone.iter().all(|&byte| byte == GUARD);
        if !whole(&all[..elements.start]) || !whole(&all[elements.end..]) {
            return Err(RigError::GuardHit {
                argument: self.spec.name.clone(),
            });
        }
        Ok(all[elements].to_vec())
    }

    fn compare(
        &self,
        bytes: &[u8],
        argument: usize,
        expected: &Expected,
        spec: &KernelSpec,
    ) -> Result<f64, RigError> {
        let len = self.initial.len() / self.ty.bytes();
        let fits =
            |want: &&crate::reference::Wide| want.elem_type() == self.ty && want.len() == len;
        let name = &self.spec.name;
        let want =
            expected
                .output(argument)
                .filter(fits)
                .ok_or_else(|| RigError::NoExpectation {
                    argument: name.clone(),
                    len,
                })?;
        let worst = compare(name, bytes, want, &spec.tolerance_of(&self.spec));
        match worst.map(|worst| worst.loosened(expected.slack())) {
            None => Ok(0.0),
            Some(worst) if worst.passes() => Ok(worst.ratio()),
            Some(worst) if !worst.got.is_finite() && worst.want.is_finite() => {
                Err(RigError::NotANumber {
                    output: name.clone(),
                    index: worst.index,
                })
            }
            Some(worst) => Err(RigError::Incorrect(worst)),
        }
    }
}

/// A scalar's bytes at the start of a word, as its address is handed to the launch.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(word)
}
