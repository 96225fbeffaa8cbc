//! The code that every generated launch function calls.
//!
//! Before a launch, this code checks everything that the spec can state: the length, alignment, device and stream of
//! each slice, and the launch plan against the device's limits. With the `unsafe` of the `unsafe extern "C"` block, the
//! author vouches for the rest: the kernel stays inside those lengths, and the kernel's signature on this device is the
//! declared one.

pub(crate) mod announce;
pub(crate) mod call;
pub(crate) mod checks;
mod choose;
pub(crate) mod error;
pub(crate) mod memo;
pub(crate) mod slice_needs;

use std::ffi::c_void;
use std::marker::PhantomData;
use std::thread::LocalKey;

use kiln_spec::{ElemType, LaunchPlan, PlanError, Problem, ProblemValue};

use crate::data::buffer::RawSlice;
use crate::data::element::{Element, Scalar};
use crate::device::stream::Stream;
use crate::device::{ArgMemory, ArgSets, DeviceError, Function, KernelArgs, Schedule};
use crate::kernel::Kernel;
use crate::launch::announce::announce;
use crate::launch::choose::{check_constraints, check_sizes, resolve, selection_for};
use crate::launch::error::{LaunchCause, LaunchError};
use crate::launch::memo::{Memo, Resolved, SliceNeeds};
use crate::launch::slice_needs::{check_slices, needs_of};
use crate::prepare::prepared::Prepared;
use crate::selection::Selection;
use crate::selection::forced::{Forced, LaunchRecord};

// Device addresses are passed as 64-bit values to kernels that expect pointers.
const _: () = assert!(size_of::<*const c_void>() == size_of::<u64>());

/// Represents a problem size that exceeds 63 bits. It is never memoised, and a launch with it is always an error.
const BEYOND: i64 = i64::MIN;

/// The value of a scalar argument as a problem dimension.
#[inline]
pub fn size<T: Scalar>(value: T) -> i64 {
    value.to_size().unwrap_or(BEYOND)
}

/// The element type of a type parameter as a problem dimension.
#[inline]
pub const fn type_code(ty: ElemType) -> i64 {
    ty as i64
}

impl<'a> KernelArgs<'a> {
    /// Vouches for the arguments, so that the launch itself can be a safe call.
    ///
    /// # Safety
    /// There must be one pointer for each parameter of the kernel that is launched with the arguments. Each pointer
    /// must point to a live value of that parameter's type. Every buffer that such a value points to must be alive,
    /// must be large enough for the kernel with its launch plan, and must not be used elsewhere until the launch is
    /// done.
    pub unsafe fn new(pointers: &'a [*const c_void]) -> KernelArgs<'a> {
        KernelArgs::of(pointers)
    }

    /// The device address in the pointer argument at an index; `None` if there is no argument or only a placeholder at
    /// this index.
    pub(crate) fn address(self, place: usize) -> Option<u64> {
        let pointer = self
            .pointers
            .get(place)
            .filter(|pointer| !pointer.is_null())?;
        // SAFETY: the pointer points to a live value of the parameter's type, as the caller of `new` vouched, and a
        // pointer has 64 bits.
        Some(unsafe { pointer.cast::<u64>().read() })
    }
}

/// A value with an alignment of 32 bytes, so that kernels of the cpu device may read the value as any of their vector
/// types.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Aligned<T>(pub T);

/// A pointer to the value of one kernel argument.
#[derive(Clone, Copy, Debug)]
pub struct Arg<'a>(*const c_void, PhantomData<&'a ()>);

impl<'a> Arg<'a> {
    /// The placeholder for the last argument, which only receipt entries have.
    pub const RECEIPT: Arg<'static> = Arg(std::ptr::null(), PhantomData);

    /// The placeholder for an argument whose value is computed from the config and the sizes.
    pub const COMPUTED: Arg<'static> = Arg(std::ptr::null(), PhantomData);

    /// A scalar, passed by value.
    #[inline]
    pub fn scalar<T: Scalar>(value: &'a T) -> Arg<'a> {
        Arg((&raw const *value).cast(), PhantomData)
    }

    /// A number whose type is a 16-bit float or a type parameter, passed by value.
    #[inline]
    pub fn element<T: Element>(value: &'a T) -> Arg<'a> {
        Arg((&raw const *value).cast(), PhantomData)
    }

    /// A struct or array, passed by value.
    #[inline]
    pub fn plain<T: Copy>(value: &'a Aligned<T>) -> Arg<'a> {
        Arg((&raw const *value).cast(), PhantomData)
    }

    /// A value that is passed by value, stored in whole aligned blocks.
    pub(crate) fn blocks(blocks: &'a [Aligned<[u64; 4]>]) -> Arg<'a> {
        Arg(blocks.as_ptr().cast(), PhantomData)
    }

    /// A slice, passed as its address.
    #[inline]
    pub fn slice(slice: &'a RawSlice) -> Arg<'a> {
        Arg((&raw const slice.address).cast(), PhantomData)
    }
}

/// Launches a kernel. Uses the memoised selection or selects a choice, checks the arguments, and queues the launch.
///
/// `dims` are the problem's dimensions in declared order, `slices` are the slice arguments in order, and `args` are
/// all arguments followed by a placeholder for the receipt.
///
/// # Errors
/// See [`LaunchCause`].
#[inline]
pub fn launch<const D: usize, const S: usize, const C: usize, const A: usize>(
    kernel: &'static Kernel,
    memo: &'static LocalKey<Memo<D, S, C>>,
    stream: &Stream,
    dims: [i64; D],
    slices: &[RawSlice; S],
    args: [Arg<'_>; A],
) -> Result<(), LaunchError> {
    let device_index = stream.device_index();
    let mut args = args.map(|arg| arg.0);
    if stream.what_is_forced().is_none() {
        let hit = memo.with(|memo| {
            memo.find(device_index, &dims, |resolved| {
                let fits = all_fit(&resolved.needs, slices, stream);
                fits.then_some((resolved.plan, resolved.prepared, resolved.computed))
            })
        });
        if let Some(Some((plan, prepared, computed))) = hit {
            place(&computed, &mut args[..A - 1]);
            return call_with(stream, &prepared.release, &plan, &args[..A - 1], slices)
                .map_err(|error| LaunchError::new(kernel.name(), error));
        }
    }
    launch_unmemoised(kernel, memo, stream, dims, slices, args)
        .map_err(|cause| LaunchError::new(kernel.name(), cause))
}

/// The length in elements that a slice must have for a launch with these sizes. The length may depend on the config
/// that the launch uses. `dims` has the same meaning as in [`launch`], and `place` is the slice's index among the
/// slices.
///
/// # Errors
/// See [`LaunchCause`].
pub fn slice_len<const D: usize>(
    kernel: &'static Kernel,
    stream: &Stream,
    dims: [i64; D],
    place: usize,
) -> Result<usize, LaunchError> {
    let needed = || {
        let problem = problem(kernel, &dims);
        check_sizes(&problem)?;
        let choice = selection_for(kernel, stream, &problem)?.choice();
        let needs = needs_of(kernel, choice, &problem)?;
        let len = needs.get(place).map_or(0, |need| need.len);
        usize::try_from(len).map_err(|_| {
            LaunchCause::Plan(PlanError::Size {
                what: "a slice length",
                value: len.into(),
            })
        })
    };
    needed().map_err(|cause| LaunchError::new(kernel.name(), cause))
}

/// Replaces the placeholders for computed arguments with pointers to their values. The last placeholder is for the
/// receipt and is not replaced.
#[inline]
fn place<const C: usize>(computed: &[u64; C], args: &mut [*const c_void]) {
    // Most kernels have no computed arguments, so their launches skip the search.
    if C == 0 {
        return;
    }
    let places = args.iter_mut().filter(|arg| arg.is_null());
    for (arg, value) in places.zip(computed) {
        *arg = (&raw const *value).cast();
    }
}

#[inline]
fn all_fit<const S: usize>(
    needs: &[SliceNeeds; S],
    slices: &[RawSlice; S],
    stream: &Stream,
) -> bool {
    let (device_index, stream) = (stream.device_index(), stream.id());
    let mut fit = true;
    for (need, slice) in needs.iter().zip(slices) {
        fit &= slice.len == need.len;
        fit &= slice.address & need.align_mask == 0;
        fit &= slice.device_index == device_index;
        fit &= slice.lent.goes_with(stream);
    }
    fit
}

#[cold]
#[inline(never)]
fn launch_unmemoised<const D: usize, const S: usize, const C: usize, const A: usize>(
    kernel: &'static Kernel,
    memo: &'static LocalKey<Memo<D, S, C>>,
    stream: &Stream,
    dims: [i64; D],
    slices: &[RawSlice; S],
    mut args: [*const c_void; A],
) -> Result<(), LaunchCause> {
    let problem = problem(kernel, &dims);
    check_sizes(&problem)?;
    let selection = selection_for(kernel, stream, &problem)?;
    let choice = selection.choice();
    let needs = needs_of(kernel, choice, &problem)?;
    let needs: [SliceNeeds; S] = needs.try_into().unwrap_or_else(|_| {
        unreachable!("the spec and the generated function should have the same slices")
    });
    check_slices(kernel, stream, &needs, slices)?;
    let limits = &stream.device().info().limits;
    let is_empty = kernel.launches_nothing(choice, &problem, limits);
    if is_empty && kernel.writes_nothing(choice, &problem) {
        return Ok(());
    }
    check_constraints(kernel, &problem, &selection, limits)?;
    if is_empty {
        return Ok(());
    }
    let (plan, prepared) = resolve(kernel, &**stream.device(), &problem, choice)?;
    announce(kernel, stream.device().info(), &problem, &selection);
    let computed =
        crate::data::reference::computed_words(kernel.spec(), &kernel.config(choice), &problem)?;
    let computed: [u64; C] = computed.try_into().unwrap_or_else(|_| {
        unreachable!("the spec and the generated function should compute the same arguments")
    });
    place(&computed, &mut args[..A - 1]);
    if let (Some(forced), Selection::Forced { .. }) = (stream.what_is_forced(), &selection) {
        return launch_forced(forced, selection, stream, prepared, plan, &mut args, slices);
    }
    memo.with(|memo| {
        memo.remember(Resolved {
            device_index: stream.device_index(),
            dims,
            plan,
            prepared,
            needs,
            computed,
        });
    });
    let release = &prepared.release;
    Ok(call_with(stream, release, &plan, &args[..A - 1], slices)?)
}

/// Launches the release entry or, if there is a slot for a receipt, the receipt entry. Records the launch.
fn launch_forced(
    forced: &Forced,
    selection: Selection,
    stream: &Stream,
    prepared: &'static Prepared,
    plan: LaunchPlan,
    args: &mut [*const c_void],
    slices: &[RawSlice],
) -> Result<(), LaunchCause> {
    let slot = forced.receipt();
    let function = match slot {
        Some(_) => &prepared.receipt,
        None => &prepared.release,
    };
    forced.record(LaunchRecord {
        selection,
        symbol: function.symbol().into(),
        plan,
    });
    let (receipt, release_args) = args
        .split_last_mut()
        .expect("a generated function should leave room for the receipt argument");
    match &slot {
        Some(slot) => {
            *receipt = (&raw const slot.address).cast();
            Ok(call_with(stream, function, &plan, args, slices)?)
        }
        None => Ok(call_with(stream, function, &plan, release_args, slices)?),
    }
}

/// Launches with slices as arguments. If a slice is only borrowed from another library, the launch must not be
/// recorded.
#[inline]
fn call_with(
    stream: &Stream,
    function: &Function,
    plan: &LaunchPlan,
    args: &[*const c_void],
    slices: &[RawSlice],
) -> Result<(), DeviceError> {
    if slices.iter().all(|slice| slice.lent.is_recordable()) {
        return call(stream, function, plan, args);
    }
    let mut queue = || call(stream, function, plan, args);
    stream.device().unrecorded(stream.handle(), &mut queue)
}

/// Passes the launch to the device.
#[inline]
fn call(
    stream: &Stream,
    function: &Function,
    plan: &LaunchPlan,
    args: &[*const c_void],
) -> Result<(), DeviceError> {
    // SAFETY: every pointer was created by `Arg` from a value that the generated function holds until this call
    // returns. There is one pointer for each parameter, in declared order and of the declared type (the macro compares
    // the declaration with the kernel's signature). Slices are borrowed, mutably if the kernel writes them, and were
    // checked to belong to this device and to have the declared length. The author of the `unsafe extern` block vouches
    // for what the kernel does inside and beyond them. Freeing device memory waits for the work queued on the device,
    // so a slice outlives the launch. `interop` required its callers to vouch for memory and streams of other
    // libraries. Borrowed memory is used only on the stream that it was borrowed for (`check_slices`) and never in a
    // recording (`call_with`).
    let args = unsafe { KernelArgs::new(args) };
    stream
        .device()
        .launch(stream.handle(), function, plan, args)
}

/// The problem with a kernel's dimensions, as [`size`] and [`type_code`] return them, in declared order.
pub fn problem(kernel: &Kernel, dims: &[i64]) -> Problem {
    let declared = kernel.spec().problems.first();
    let declared = declared.into_iter().flat_map(Problem::iter);
    let values = declared
        .zip(dims)
        .map(|((_, declared), &dim)| match declared {
            ProblemValue::Type(_) => {
                let ty = ElemType::ALL.iter().find(|ty| type_code(**ty) == dim);
                ProblemValue::Type(*ty.expect("a type dimension should hold a type's code"))
            }
            ProblemValue::Size(_) => ProblemValue::Size(dim),
        });
    kernel.problem_of(values)
}

/// Launches an entry with arguments that a [`crate::rig::Rig`] holds, without a launch function.
pub(crate) fn launch_held(
    stream: &Stream,
    function: &Function,
    plan: &LaunchPlan,
    args: &[Arg<'_>],
) -> Result<(), DeviceError> {
    let args: Vec<_> = args.iter().map(|arg| arg.0).collect();
    call(stream, function, plan, &args)
}

/// Like [`launch_held`], in the order of a schedule and with a list of the memory that the kernel may access.
pub(crate) fn launch_held_scheduled(
    stream: &Stream,
    function: &Function,
    plan: &LaunchPlan,
    args: &[Arg<'_>],
    memory: &[ArgMemory<'_>],
    schedule: Schedule,
) -> Result<(), DeviceError> {
    let args: Vec<_> = args.iter().map(|arg| arg.0).collect();
    // SAFETY: as in `time_held`, the rig holds every value and buffer until the device has finished, and there is one
    // pointer for each parameter, of the declared type and length.
    let args = unsafe { KernelArgs::new(&args) }.with_memory(memory);
    stream
        .device()
        .launch_scheduled(stream.handle(), function, plan, args, schedule)
}

/// Like [`launch_held`], but launches `launches` times with alternating sets of arguments. Returns the total time on
/// the device's own clock, in nanoseconds.
pub(crate) fn time_held(
    stream: &Stream,
    function: &Function,
    plan: &LaunchPlan,
    sets: &[Vec<Arg<'_>>],
    launches: u32,
) -> Result<u64, DeviceError> {
    let pointers = |args: &Vec<Arg<'_>>| args.iter().map(|arg| arg.0).collect::<Vec<_>>();
    let sets: Vec<_> = sets.iter().map(pointers).collect();
    // SAFETY: the rig holds every value and buffer until the device has finished. There is one pointer for each
    // parameter, in declared order and of the declared type and length.
    let sets: Vec<_> = sets
        .iter()
        .map(|args| unsafe { KernelArgs::new(args) })
        .collect();
    let sets = ArgSets::new(&sets)
        .ok_or_else(|| DeviceError::internal("timing", "the sets of arguments differ in number"))?;
    stream
        .device()
        .time(stream.handle(), function, plan, sets, launches)
}
