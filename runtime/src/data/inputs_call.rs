//! Calls of functions that generate inputs, and the registry of these functions.

use std::cell::RefCell;

use kiln_spec::{Access, ArgSpec, ElemType, KernelSpec, Problem, ProblemValue};

use crate::data::arg_data::{ArgData, DataError};
use crate::data::element::{Element, Scalar};

/// A function that generates a kernel's inputs. All kernels use this one signature.
pub type InputsFn = fn(&mut InputsCall);

thread_local! {
    /// The functions that this thread registered with [`provide`]. Registering again for the same spec replaces the
    /// function.
    static PROVIDED: RefCell<Vec<(&'static KernelSpec, InputsFn)>> = const { RefCell::new(Vec::new()) };
}

/// Registers a function. From then on, this thread calls it to generate the inputs of kernels with this spec.
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

/// Generates the inputs with the function that a spec specifies. `data` contains the values that `#[fill(..)]`
/// generated. If the spec specifies no function, `data` is returned unchanged.
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
        ArgSpec::Scalar(_) | ArgSpec::Plain(_) | ArgSpec::Typed(_) => false,
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
    /// For each argument, whether it cannot be taken, because it is not an input slice or was already taken.
    taken: Vec<bool>,
}

impl InputsCall {
    /// The seed from which the inputs are generated.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The element type that the problem assigns to a type parameter.
    ///
    /// # Panics
    /// If the problem has no such type parameter.
    pub fn elem_type(&self, name: &str) -> ElemType {
        match self.problem.get(name) {
            Some(ProblemValue::Type(ty)) => ty,
            _ => panic!("the problem should have the type parameter `{name}`"),
        }
    }

    /// The value of the scalar argument at an index.
    ///
    /// # Panics
    /// If the argument is not a scalar of this type.
    pub fn scalar<T: Scalar>(&self, argument: usize) -> T {
        bytemuck::pod_read_unaligned(self.data[argument].bytes())
    }

    /// The value at an index of an argument whose type is a 16-bit float or a type parameter.
    ///
    /// # Panics
    /// If the argument is not a number of this type.
    pub fn element<T: Element>(&self, argument: usize) -> T {
        bytemuck::pod_read_unaligned(self.data[argument].bytes())
    }

    /// The number at the byte offset `at` in an argument that is a struct or an array passed by value.
    ///
    /// # Panics
    /// If the argument has no such number.
    pub fn field<T: Scalar>(&self, argument: usize, at: usize) -> T {
        let bytes = self.data[argument].bytes();
        bytemuck::pod_read_unaligned(&bytes[at..at + size_of::<T>()])
    }

    /// Takes the elements of an input, so that the function can change them. The function passes the changed elements
    /// to [`Self::put`].
    ///
    /// # Panics
    /// If the argument is not an input slice, or if it was already taken.
    pub fn take<T: Element>(&mut self, argument: usize) -> Vec<T> {
        assert!(!self.taken[argument], "an input should be taken once");
        self.taken[argument] = true;
        bytemuck::pod_collect_to_vec(self.data[argument].bytes())
    }

    /// Replaces the elements of an input.
    pub fn put<T: Element>(&mut self, argument: usize, elements: &[T]) {
        self.data[argument] = ArgData::Slice(bytemuck::cast_slice(elements).to_vec());
    }
}
