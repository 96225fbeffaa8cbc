//! Inputs that must agree with each other (the rows of a sparse matrix, links of a list, sorted keys): a plain-Rust
//! function makes them.
//!
//! `inputs = function` names it in the spec. It is called as `function(seed, ..)` with every argument of the kernel but
//! the outputs: numbers and structs by value, slices as `&mut [T]`, as `#[fill(..)]` filled them. The same seed must give
//! the same inputs, in every process.
//!
//! The function is compiled into the crate that declares the kernel, so only a program that this crate is linked into
//! can call it: the generated smoke test, and a `tune` of the crate's own.

use std::cell::RefCell;

use kiln_spec::{Access, ArgSpec, ElemType, KernelSpec, Problem, ProblemValue};

use crate::element::{Element, Scalar};
use crate::kernel::Kernel;
use crate::reference::{ArgData, DataError};

/// A function that makes inputs, behind one signature for all kernels.
pub type InputsFn = fn(&mut InputsCall);

thread_local! {
    /// What [`provide`] was given, last one first in effect.
    static PROVIDED: RefCell<Vec<&'static Kernel>> = const { RefCell::new(Vec::new()) };
}

/// From here on, this thread makes the inputs of kernels with this declaration by the kernel's own function.
///
/// Whoever makes data ([`crate::reference::make_data`], [`crate::rig::Rig`]) has the declaration alone, which names the
/// function but does not hold it.
pub fn provide(kernel: &'static Kernel) {
    if kernel.inputs().is_none() {
        return;
    }
    PROVIDED.with_borrow_mut(|provided| {
        provided.retain(|known| !std::ptr::eq(*known, kernel));
        provided.push(kernel);
    });
}

fn provided(spec: &KernelSpec) -> Option<InputsFn> {
    let same = |kernel: &&&Kernel| {
        let known = kernel.spec();
        known.name == spec.name && known.inputs == spec.inputs && known.args == spec.args
    };
    let found = PROVIDED.with_borrow(|provided| provided.iter().rev().find(same).copied());
    found?.inputs()
}

/// Lets the function that a spec names make the inputs; `data` is what `#[fill(..)]` made.
pub(crate) fn make(
    spec: &KernelSpec,
    problem: &Problem,
    seed: u64,
    data: Vec<ArgData>,
) -> Result<Vec<ArgData>, DataError> {
    let Some(path) = &spec.inputs else {
        return Ok(data);
    };
    let function = provided(spec).ok_or_else(|| DataError::NoInputs {
        kernel: spec.name.clone(),
        function: path.clone(),
    })?;
    let made_by_hand = |arg: &ArgSpec| match arg {
        ArgSpec::Slice(slice) => slice.access != Access::Out,
        ArgSpec::Scalar(_) | ArgSpec::Plain(_) => false,
    };
    let mut call = InputsCall {
        problem: problem.clone(),
        seed,
        taken: spec.args.iter().map(|arg| !made_by_hand(arg)).collect(),
        data,
    };
    function(&mut call);
    Ok(call.data)
}

/// One call of a function that makes inputs.
#[derive(Clone, Debug)]
pub struct InputsCall {
    problem: Problem,
    seed: u64,
    data: Vec<ArgData>,
    /// Arguments that cannot be taken (again).
    taken: Vec<bool>,
}

impl InputsCall {
    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The element type of a type parameter.
    ///
    /// # Panics
    /// When the problem has no such type parameter.
    pub fn elem_type(&self, name: &str) -> ElemType {
        match self.problem.get(name) {
            Some(ProblemValue::Type(ty)) => ty,
            _ => panic!("the problem should have the type parameter `{name}`"),
        }
    }

    /// The value of a scalar argument.
    ///
    /// # Panics
    /// When that argument is not a scalar of this type.
    pub fn scalar<T: Scalar>(&self, argument: usize) -> T {
        bytemuck::pod_read_unaligned(self.data[argument].bytes())
    }

    /// A number in a struct or array, by its offset in bytes.
    ///
    /// # Panics
    /// When that argument has no such number.
    pub fn field<T: Scalar>(&self, argument: usize, at: usize) -> T {
        let bytes = self.data[argument].bytes();
        bytemuck::pod_read_unaligned(&bytes[at..at + size_of::<T>()])
    }

    /// Takes the elements of an input out, to be made and given back.
    ///
    /// # Panics
    /// When that argument is not an input, or was taken already.
    pub fn take<T: Element>(&mut self, argument: usize) -> Vec<T> {
        assert!(!self.taken[argument], "an input should be taken once");
        self.taken[argument] = true;
        bytemuck::pod_collect_to_vec(self.data[argument].bytes())
    }

    /// Gives the elements of an input back.
    pub fn put<T: Element>(&mut self, argument: usize, elements: &[T]) {
        self.data[argument] = ArgData::Slice(bytemuck::cast_slice(elements).to_vec());
    }
}
