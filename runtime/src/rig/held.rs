//! The arguments of a rig in the device's memory, with guard zones around slices and poison in outputs.

use kiln_spec::{Access, Comparison, ElemType, KernelSpec, Reference, SliceArg};

use super::error::{ExpectedSource, RigError};
use super::expected::Expected;
use crate::compare::compare_output;
use crate::data::buffer::RawSlice;
use crate::device::lent::Lent;
use crate::device::stream::Stream;
use crate::device::{Allocation, ArgMemory, DeviceError};
use crate::launch::Aligned;
use crate::parallel;
/// Minimum size in bytes of each guard zone. One is before each buffer and one is after it.
const GUARD_BYTES: usize = 1024;
/// The byte that fills guard zones. In floating point, an element of such bytes is large or NaN, so that a stray read of it
/// changes a sum.
const GUARD: u8 = 0x7E;
/// The byte that fills outputs before a launch. In every real type, an element of such bytes is NaN.
pub(super) const POISON: u8 = 0xFF;
/// Like [`POISON`], for a second launch. The second launch shows whether an element was never written, or whether the
/// kernel's result only happens to equal the first poison.
pub(super) const OTHER_POISON: u8 = 0xB7;
/// Alignment of every buffer in bytes.
pub(super) const ALIGN: usize = 256;
/// Like [`ALIGN`], for buffers next to guard pages. This is the size of the widest vector load.
const GUARDED_ALIGN: usize = 32;

/// One argument of a kernel in the device's memory.
#[derive(Debug)]
pub(super) enum Held {
    /// A value that is passed by value, boxed so that its address is stable.
    Value(Box<[Aligned<[u64; 4]>]>),
    Slice(Box<HeldSlice>),
}

/// Where the elements of a slice are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Placement {
    /// Between guard zones. The address of the first element is a multiple of `align_bytes`, but of no larger power of
    /// two below [`ALIGN`].
    Zones { align_bytes: usize },
    /// Next to inaccessible memory, or between guard zones if the device has no such memory.
    Fences,
    /// Several copies, without guards.
    Plain { sets: usize },
}

#[derive(Debug)]
pub(super) struct HeldSlice {
    pub(super) spec: SliceArg,
    pub(super) ty: ElemType,
    pub(super) initial: Vec<u8>,
    pub(super) memory: Box<dyn Allocation>,
    /// Size in bytes of the guard zone before the elements. The guard zone after them has the same size.
    pub(super) zone: usize,
    /// The elements of each set of data.
    pub(super) raw: Vec<RawSlice>,
    /// Distance in bytes from the elements of one set to the elements of the next set.
    pub(super) stride: usize,
}

impl HeldSlice {
    pub(super) fn new(
        stream: &Stream,
        spec: &SliceArg,
        ty: ElemType,
        initial: Vec<u8>,
        place: Placement,
    ) -> Result<HeldSlice, RigError> {
        let device = stream.device();
        let stride = initial.len().next_multiple_of(ALIGN);
        let len = (initial.len() / ty.bytes()) as u64;
        let fenced = match place {
            Placement::Fences => device.alloc_guarded(initial.len().max(1), GUARDED_ALIGN),
            Placement::Zones { .. } | Placement::Plain { .. } => Err(DeviceError::Unsupported {
                what: "fences".into(),
            }),
        };
        let (zone, sets) = match place {
            Placement::Zones { align_bytes } => (GUARD_BYTES + align_bytes % ALIGN, 1),
            Placement::Fences => (GUARD_BYTES, 1),
            Placement::Plain { sets } => (0, sets),
        };
        let (memory, zone) = match fenced {
            Ok(memory) => (memory, 0),
            Err(DeviceError::Unsupported { .. }) => {
                let bytes = (sets - 1) * stride + initial.len() + 2 * zone;
                (device.alloc(bytes.max(1), ALIGN)?, zone)
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

    /// The memory of the first set of data. A check build compares every access of the kernel with it.
    pub(super) fn memory(&self) -> ArgMemory<'_> {
        ArgMemory {
            name: &self.spec.name,
            address: self.raw[0].address,
            bytes: self.initial.len() as u64,
            has_content: self.spec.access != Access::Out,
        }
    }

    pub(super) fn reset(&self, stream: &Stream, set: usize) -> Result<(), RigError> {
        self.reset_with(stream, set, POISON)
    }

    pub(super) fn reset_with(
        &self,
        stream: &Stream,
        set: usize,
        poison: u8,
    ) -> Result<(), RigError> {
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

    /// The indices of the elements of `bytes` whose bytes are all `poison`, in order.
    pub(super) fn elements_of(&self, bytes: &[u8], poison: u8) -> Vec<usize> {
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

    /// Checks the guard zones and returns the elements.
    pub(super) fn read(&self, stream: &Stream) -> Result<Vec<u8>, RigError> {
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

    /// Compares the bytes of an output with what is expected. Returns the largest error as a fraction of its bound.
    pub(super) fn compare(
        &self,
        bytes: Vec<u8>,
        argument: usize,
        expected: &Expected,
        spec: &KernelSpec,
    ) -> Result<f64, RigError> {
        if self.spec.compare == Some(Comparison::None) {
            return Ok(0.0);
        }
        if let Some(ratio) = expected.passed.ratio(argument, &bytes) {
            return Ok(ratio);
        }
        let len = self.initial.len() / self.ty.bytes();
        // Outputs that are compared by a reduction may differ in length.
        let any_length = self.spec.compare.is_some();
        let fits = |want: &&crate::data::reference::Wide| {
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
        let worst = compare_output(spec, &self.spec, &bytes, want);
        let passed = |ratio: f64| {
            expected.passed.insert(argument, bytes, ratio);
            Ok(ratio)
        };
        match worst.map(|worst| worst.loosened(expected.slack(&spec.tolerance_of(&self.spec)))) {
            None => passed(0.0),
            Some(worst) if worst.passes() => passed(worst.ratio()),
            Some(worst) if !worst.got.is_finite() && worst.want.is_finite() => {
                Err(RigError::NotANumber {
                    output: name.clone(),
                    index: worst.index,
                })
            }
            Some(worst) => Err(RigError::Incorrect {
                worst,
                against: match &spec.reference {
                    _ if !expected.is_launched() => ExpectedSource::Reference,
                    Some(Reference::Entry(_)) => ExpectedSource::ReferenceEntry,
                    _ => ExpectedSource::Baseline,
                },
            }),
        }
    }
}

/// Copies the bytes of a value into whole blocks, whose alignment suffices for any type that a kernel may read.
pub(super) fn blocks(bytes: &[u8]) -> Box<[Aligned<[u64; 4]>]> {
    let block = |bytes: &[u8]| {
        let mut block = [0_u64; 4];
        bytemuck::bytes_of_mut(&mut block)[..bytes.len()].copy_from_slice(bytes);
        Aligned(block)
    };
    bytes.chunks(size_of::<[u64; 4]>()).map(block).collect()
}
