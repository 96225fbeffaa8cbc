//! Reading the values that kernel arguments point to.

use crate::device::KernelArgs;

/// The bytes of each argument's value, `sizes` bytes of it; as many as there are of both.
pub(super) fn values(args: KernelArgs<'_>, sizes: &[usize]) -> Vec<Vec<u8>> {
    let pairs = args.pointers().iter().zip(sizes);
    pairs
        .map(|(pointer, &bytes)| {
            let mut value = vec![0; bytes];
            // SAFETY: whoever made the `KernelArgs` promised one pointer for each parameter, to a live value of
            // that parameter's type; `sizes` are the sizes of the declared types. `value` has as many bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), value.as_mut_ptr(), bytes);
            }
            value
        })
        .collect()
}
