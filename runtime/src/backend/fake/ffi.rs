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

/// The address in the last argument: that of the record, for a receipt entry.
pub(super) fn last_address(args: KernelArgs<'_>) -> Option<u64> {
    // Of the other arguments nothing is read: their sizes do not matter.
    let mut sizes = vec![0; args.pointers().len()];
    *sizes.last_mut()? = size_of::<u64>();
    let address = values(args, &sizes).pop()?;
    Some(u64::from_le_bytes(address.try_into().ok()?))
}
