//! Looks up the plain-Rust references that are linked into this program.

use kiln::reference::DataError;
use kiln::{Kernel, ReferenceFn};
use kiln_spec::KernelSpec;

/// The plain-Rust reference of a package's kernel; `None` if it is not linked into this program.
///
/// The package must match, because kernels of two packages can have the same name and arguments and still compute
/// different results.
pub fn reference_of(
    catalogue: &[&'static Kernel],
    package: &str,
    spec: &KernelSpec,
) -> Option<ReferenceFn> {
    linked_in(catalogue, package, spec)?.reference()
}

/// A package's kernel; `None` if no kernel with this name and these arguments is linked into this program.
pub fn linked_in(
    catalogue: &[&'static Kernel],
    package: &str,
    spec: &KernelSpec,
) -> Option<&'static Kernel> {
    let same = |kernel: &&&'static Kernel| {
        kernel.package() == package && kernel.name() == spec.name && kernel.spec().args == spec.args
    };
    catalogue.iter().find(same).copied()
}

/// Checks that the function that generates the kernel's inputs is linked in, if the spec specifies one. Such a function
/// is code of the kernel's crate.
///
/// # Errors
/// [`DataError::NoInputs`] if the function is not linked into this program.
pub fn check_inputs(
    catalogue: &[&'static Kernel],
    package: &str,
    spec: &KernelSpec,
) -> Result<(), DataError> {
    let Some(function) = &spec.inputs else {
        return Ok(());
    };
    match linked_in(catalogue, package, spec).and_then(Kernel::inputs) {
        Some(_) => Ok(()),
        None => Err(DataError::NoInputs {
            kernel: spec.name.clone(),
            function: function.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_of_another_package_has_no_reference_even_with_the_same_name_and_arguments() {
        let catalogue = kiln_kernels::catalogue();
        let kernel = catalogue
            .iter()
            .find(|kernel| kernel.reference().is_some())
            .expect("a kernel of the library should have a reference");
        let spec = kernel.spec();
        assert!(reference_of(catalogue, kernel.package(), spec).is_some());
        assert!(reference_of(catalogue, "somebody-elses", spec).is_none());
    }
}
