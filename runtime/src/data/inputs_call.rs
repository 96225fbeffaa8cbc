//! Calls of functions that generate inputs, and the functions that a thread uses.

use std::cell::RefCell;

use kiln_spec::{Access, ArgSpec, ElemType, KernelSpec, Problem, ProblemValue};

use crate::data::arg_data::{ArgData, DataError};
use crate::data::element::{Element, Scalar};

/// A function that generates inputs, behind one signature for all kernels.
pub type InputsFn = fn(&mut InputsCall);

thread_local! {
    /// The functions passed to [`provide`]; the last one for a declaration counts.
    static PROVIDED: RefCell<Vec<(&'static KernelSpec, InputsFn)>> = const { RefCell::new(Vec::new()) };
}

/// From here on, this thread generates the inputs of kernels with this declaration by this function.
pub(crate) fn provide(spec: &'static KernelSpec, function: InputsFn) {
    PROVIDED.with_borrow_mut(|provided| {
        provided.retain(|(known, _)| !std::ptr::eq(*known, spec));
        provided.push((spec, function));
    });
}

fn provided(spec: &KernelSpec) -> Option<InputsFn> {
    let same = |(known, _): &&(&KernelSpec, InputsFn)| {
        known.name == spec.name && known.inputs == spec.inputs && known.args == spec.args
    };
    let found = PROVIDED.with_borrow(|provided| provided.iter().rev().find(same).copied());
    found.map(|(_, function)| function)
}

/// Generates the inputs with the function that a spec names; `data` are the values of `#[fill(..)]`.
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

/// One call of a function that generates inputs.
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
    /// If the problem has no such type parameter.
    pub fn elem_type(&self, name: &str) -> ElemType {
        match self.problem.get(name) {
            Some(ProblemValue::Type(ty)) => ty,
            _ => panic!("the problem should have the type parameter `{name}`"),
        }
    }

    /// The value of a scalar argument.
    ///
    /// # Panics
    /// If that argument is not a scalar of this type.
    pub fn scalar<T: Scalar>(&self, argument: usize) -> T {
        bytemuck::pod_read_unaligned(self.data[argument].bytes())
    }

    /// A number in a struct or array, by its offset in bytes.
    ///
    /// # Panics
    /// If that argument has no such number.
    pub fn field<T: Scalar>(&self, argument: usize, at: usize) -> T {
        let bytes = self.data[argument].bytes();
        bytemuck::pod_read_unaligned(&bytes[at..at + size_of::<T>()])
    }

    /// Takes the elements of an input, to be changed and returned.
    ///
    /// # Panics
    /// If that argument is not an input, or was taken already.
    pub fn take<T: Element>(&mut self, argument: usize) -> Vec<T> {
        assert!(!self.taken[argument], "an input should be taken once");
        self.taken[argument] = true;
        bytemuck::pod_collect_to_vec(self.data[argument].bytes())
    }

    /// Returns the elements of an input.
    pub fn put<T: Element>(&mut self, argument: usize, elements: &[T]) {
        self.data[argument] = ArgData::Slice(bytemuck::cast_slice(elements).to_vec());
    }
}
