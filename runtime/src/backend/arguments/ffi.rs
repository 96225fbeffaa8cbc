//! Reads the values that kernel arguments point to.

use crate::device::KernelArgs;

/// The bytes of the arguments' values. `sizes` contains the size of each value in bytes. Arguments without a size are
/// left out.
pub(crate) fn values(args: KernelArgs<'_>, sizes: &[usize]) -> Vec<Vec<u8>> {
    let pairs = args.pointers().iter().zip(sizes);
    pairs
        .map(|(pointer, &bytes)| {
            let mut value = vec![0; bytes];
            // SAFETY: the creator of the `KernelArgs` promised one pointer per parameter, to a live value of that
            // parameter's type. `sizes` contains the sizes of the declared types, and `value` has that size.
            unsafe {
                std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), value.as_mut_ptr(), bytes);
            }
            value
        })
        .collect()
}

#[cfg(feature = "testing")]
/// The address in the last argument. For a receipt entry, this is the address of the receipt.
pub(crate) fn last_address(args: KernelArgs<'_>) -> Option<u64> {
    // The other arguments are not read, so their sizes are 0.
    let mut sizes = vec![0; args.pointers().len()];
    *sizes.last_mut()? = size_of::<u64>();
    let address = values(args, &sizes).pop()?;
    Some(u64::from_le_bytes(address.try_into().ok()?))
}
