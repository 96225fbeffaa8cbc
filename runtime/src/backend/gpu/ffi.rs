//! Looks up functions in a vendor's library.

use std::ffi::c_void;
use std::mem::transmute_copy;

use libloading::os::unix::Library;

use crate::backend::shared_library::LibraryError;

/// The symbol of a library as a value of type `F`.
///
/// # Safety
/// `F` must be the type of the library's symbol with this name, and must not be used after the library is closed.
pub(in crate::backend) unsafe fn symbol<F: Copy>(
    library: &Library,
    name: &str,
) -> Result<F, LibraryError> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let address = address(library, name)?;
    // SAFETY: both types have the same size, and the caller vouches for `F`.
    Ok(unsafe { transmute_copy::<*mut c_void, F>(&address) })
}

/// The address of a symbol, which is never null. This function is not generic, because the generic function of
/// `libloading` would be compiled for each of about ninety types.
fn address(library: &Library, name: &str) -> Result<*mut c_void, LibraryError> {
    // SAFETY: the address is only returned here and never dereferenced.
    match unsafe { library.get::<*mut c_void>(name.as_bytes()) } {
        Ok(found) if !found.is_null() => Ok(*found),
        _ => Err(LibraryError::NoSymbol {
            name: name.trim_end_matches('\0').into(),
        }),
    }
}
