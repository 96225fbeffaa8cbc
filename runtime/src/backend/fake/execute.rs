//! Runs a launch. The reference computes correct outputs, which are then changed as the script specifies.

use kiln_spec::{
    Access, ArgSpec, ElemRef, ElemType, KernelSpec, LaunchPlan, Problem, ProblemValue, SliceArg,
};

use super::compiler::FakeUnit;
use super::fault::FakeFault;
use super::host_kernel::HostKernel;
use super::memory::Blocks;
use super::script::OutputOutcome;
use super::timer::FakeDraws;
use crate::backend::arguments;
use crate::data::reference::{ArgData, ReferenceCall};
use crate::device::KernelArgs;

/// The state of an entry that is kept between launches.
#[derive(Debug, Default)]
pub(super) struct EntryHistory {
    /// Number of launches so far.
    pub(super) launches: u64,
    /// The outputs of the first launch, each with the index of its argument.
    first_answers: Vec<(usize, Vec<u8>)>,
}

/// One slice argument of a launch.
struct FakeSlice {
    argument: usize,
    address: u64,
    ty: ElemType,
    bytes: usize,
    access: Access,
}

/// The values of the arguments of a launch.
struct Arguments {
    problem: Problem,
    data: Vec<ArgData>,
    slices: Vec<FakeSlice>,
}

/// One launch whose outputs are to be computed.
pub(super) struct HostRun<'a> {
    pub(super) kernel: &'a HostKernel,
    pub(super) unit: &'a FakeUnit,
    pub(super) plan: &'a LaunchPlan,
    pub(super) args: KernelArgs<'a>,
    pub(super) outcome: OutputOutcome,
}

/// Computes and writes the outputs of one launch.
///
/// # Errors
/// The fault of the launch, such as an illegal access.
pub(super) fn compute(
    run: &HostRun<'_>,
    history: &mut EntryHistory,
    draws: &mut FakeDraws,
    memory: &mut Blocks,
) -> Result<(), FakeFault> {
    let kernel = run.kernel;
    let arguments = read_arguments(&kernel.spec, run.unit, run.args, memory)?;
    let mut call = ReferenceCall::new(&kernel.spec, &arguments.problem, arguments.data);
    (kernel.compute)(&mut call);
    let outcome = settle(run.outcome, history, draws);
    for slice in &arguments.slices {
        let Some(wide) = call.output(slice.argument) else {
            if outcome == OutputOutcome::ChangesInput {
                change_first(memory, slice)?;
            }
            continue;
        };
        let right = wide.narrow();
        if history.launches == 0 {
            history.first_answers.push((slice.argument, right.clone()));
        }
        let first = history
            .first_answers
            .iter()
            .find(|(argument, answer)| *argument == slice.argument && answer.len() == right.len())
            .map(|(_, answer)| answer.as_slice());
        write_output(memory, slice, right, first, outcome, run.plan)?;
    }
    Ok(())
}

/// Replaces an outcome that depends on earlier launches or on chance with a definite outcome.
fn settle(outcome: OutputOutcome, history: &EntryHistory, draws: &mut FakeDraws) -> OutputOutcome {
    let wrong = match outcome {
        OutputOutcome::WrongAfter(launches) => history.launches >= launches,
        OutputOutcome::WrongSometimes(probability) => draws.uniform() < probability,
        other => return other,
    };
    if wrong {
        OutputOutcome::Scaled(2.0)
    } else {
        OutputOutcome::Right
    }
}

fn read_arguments(
    spec: &KernelSpec,
    unit: &FakeUnit,
    args: KernelArgs<'_>,
    memory: &mut Blocks,
) -> Result<Arguments, FakeFault> {
    let passed = args.pointers().len();
    if let Some(size) = spec.args.iter().find(|arg| !arg.is_passed()) {
        let name = size.name().to_owned();
        return Err(FakeFault::NoSize { name });
    }
    if passed < spec.args.len() {
        let takes = spec.args.len();
        return Err(FakeFault::Arguments { passed, takes });
    }
    let declared = spec.problems.first();
    let type_of = |ty: &ElemRef| match ty {
        ElemRef::Param(name) => unit.elem_type(name).or_else(|| spec.type_of(ty, declared?)),
        ElemRef::Fixed(ty) => Some(*ty),
    };
    let size = |arg: &ArgSpec| match arg {
        ArgSpec::Scalar(scalar) => scalar.ty.bytes(),
        ArgSpec::Typed(typed) => type_of(&typed.ty).map_or(0, ElemType::bytes),
        ArgSpec::Slice(_) => size_of::<u64>(),
        ArgSpec::Plain(plain) => plain.value.layout().bytes,
    };
    let sizes: Vec<usize> = spec.args.iter().map(size).collect();
    let values = arguments::values(args, &sizes);
    let mut arguments = Arguments {
        problem: problem_of(spec, unit, &values),
        data: Vec::new(),
        slices: Vec::new(),
    };
    for (argument, (arg, value)) in spec.args.iter().zip(values).enumerate() {
        let data = match arg {
            ArgSpec::Scalar(_) | ArgSpec::Plain(_) | ArgSpec::Typed(_) => ArgData::Scalar(value),
            ArgSpec::Slice(declared) => {
                let address = integer(&value) as u64;
                let slice = FakeSlice::new(spec, declared, &arguments.problem, argument, address)?;
                let bytes = slice.read(memory)?;
                arguments.slices.push(slice);
                ArgData::Slice(bytes)
            }
        };
        arguments.data.push(data);
    }
    Ok(arguments)
}

impl FakeSlice {
    fn new(
        spec: &KernelSpec,
        declared: &SliceArg,
        problem: &Problem,
        argument: usize,
        address: u64,
    ) -> Result<FakeSlice, FakeFault> {
        let ty = spec.elem_type(declared, problem).unwrap_or(ElemType::F32);
        let len = spec.slice_len(&declared.len, &spec.baseline.config, problem)?;
        Ok(FakeSlice {
            argument,
            address,
            ty,
            bytes: len as usize * ty.bytes(),
            access: declared.access,
        })
    }

    /// The content of a slice before the launch. The content of an output is not read; zeros are returned instead.
    fn read(&self, memory: &mut Blocks) -> Result<Vec<u8>, FakeFault> {
        if self.access == Access::Out {
            return Ok(vec![0; self.bytes]);
        }
        Ok(range(memory, self.address, self.bytes)?.to_vec())
    }
}

/// The problem that the scalar arguments and the element types of the unit determine.
fn problem_of(spec: &KernelSpec, unit: &FakeUnit, values: &[Vec<u8>]) -> Problem {
    let first = spec.problems.first();
    let dims = first.into_iter().flat_map(Problem::iter);
    Problem::new(dims.map(|(name, declared)| {
        let value = match declared {
            ProblemValue::Type(ty) => ProblemValue::Type(unit.elem_type(name).unwrap_or(ty)),
            ProblemValue::Size(_) => {
                let argument = spec.args.iter().position(|arg| arg.name() == &**name);
                ProblemValue::Size(argument.map_or(0, |argument| integer(&values[argument])))
            }
        };
        (name.clone(), value)
    }))
}

/// Decodes a little-endian integer of up to 8 bytes.
fn integer(bytes: &[u8]) -> i64 {
    let mut whole = [0; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(whole)
}

fn range(memory: &mut Blocks, address: u64, bytes: usize) -> Result<&mut [u8], FakeFault> {
    if bytes == 0 {
        return Ok(&mut []);
    }
    memory
        .range(address, bytes)
        .ok_or(FakeFault::Access { bytes, address })
}

fn change_first(memory: &mut Blocks, slice: &FakeSlice) -> Result<(), FakeFault> {
    if slice.access == Access::In && slice.bytes > 0 {
        range(memory, slice.address, 1)?[0] ^= 0x40;
    }
    Ok(())
}

/// Writes an output as the outcome specifies.
fn write_output(
    memory: &mut Blocks,
    slice: &FakeSlice,
    right: Vec<u8>,
    first: Option<&[u8]>,
    outcome: OutputOutcome,
    plan: &LaunchPlan,
) -> Result<(), FakeFault> {
    let one = slice.ty.bytes();
    let len = right.len() / one;
    let target = range(memory, slice.address, right.len())?;
    if len == 0 {
        return Ok(());
    }
    let last = (len - 1) * one;
    let written = match outcome {
        OutputOutcome::Untouched => 0,
        OutputOutcome::LastMissing => last,
        OutputOutcome::Partial(fraction) => (len as f64 * fraction.clamp(0.0, 1.0)) as usize * one,
        OutputOutcome::OneBlockOnly => len.div_ceil(plan.blocks().max(2) as usize) * one,
        _ => right.len(),
    };
    let right = distort(right, slice.ty, first, outcome);
    target[..written].copy_from_slice(&right[..written]);
    let stray = match outcome {
        OutputOutcome::WritesBehind => Some(slice.address + right.len() as u64),
        OutputOutcome::WritesBefore => Some(slice.address - one as u64),
        _ => None,
    };
    if let Some(stray) = stray {
        range(memory, stray, one)?.copy_from_slice(&right[..one]);
    }
    Ok(())
}

fn distort(
    mut right: Vec<u8>,
    ty: ElemType,
    first: Option<&[u8]>,
    outcome: OutputOutcome,
) -> Vec<u8> {
    let one = ty.bytes();
    let last = right.len() - one;
    let no_number = |infinite: bool| -> Vec<u8> {
        let value = if infinite { f64::INFINITY } else { f64::NAN };
        if ty.is_float() {
            crate::data::element::for_elem_type!(ty, T => {
                bytemuck::bytes_of(&<T as crate::Element>::from_f64(value)).to_vec()
            })
        } else {
            vec![0xff; one]
        }
    };
    match outcome {
        OutputOutcome::Zeros => right.fill(0),
        OutputOutcome::Nan => right
            .chunks_exact_mut(one)
            .for_each(|element| element.copy_from_slice(&no_number(false))),
        OutputOutcome::OneNan => {
            right[last / 2 / one * one..][..one].copy_from_slice(&no_number(false))
        }
        OutputOutcome::OneInfinite => right[..one].copy_from_slice(&no_number(true)),
        OutputOutcome::LastWrong => scale(&mut right[last..], ty, 3.0),
        OutputOutcome::Scaled(factor) => scale(&mut right, ty, factor),
        OutputOutcome::Shifted => right.rotate_right(one),
        OutputOutcome::Reversed => {
            let elements: Vec<&[u8]> = right.chunks_exact(one).rev().collect();
            right = elements.concat();
        }
        OutputOutcome::FirstAnswer => {
            if let Some(first) = first {
                right = first.to_vec();
            }
        }
        _ => {}
    }
    right
}

/// Scales all elements. If scaling does not change an element, adds 1 to it instead.
fn scale(bytes: &mut [u8], ty: ElemType, factor: f64) {
    crate::data::element::for_elem_type!(ty, T => {
        for element in bytes.chunks_exact_mut(ty.bytes()) {
            let old: T = bytemuck::pod_read_unaligned(element);
            let value = crate::Element::to_f64(old);
            let mut new = <T as crate::Element>::from_f64(value * factor);
            if new == old {
                new = <T as crate::Element>::from_f64(value + 1.0);
            }
            element.copy_from_slice(bytemuck::bytes_of(&new));
        }
    });
}
