//! Everything unsafe of the CUDA backend: the functions of NVRTC, NVML and the driver, and what they own.
//!
//! Each function is looked up once, and one that is missing is an error. No binding of others is used: those of cudarc
//! panic where a library or symbol is missing, give result codes as an enumeration that a newer driver leaves, and make
//! every crate of a program agree on one version of CUDA (`interop` has adapters for programs that use it).

/// Declares a table of functions that return a result code, and how it is filled from a library.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($field:ident = $symbol:literal($($arg:ty),* $(,)?);)* }) => {
        $(#[$doc])*
        pub(super) struct $table {
            $(pub $field: unsafe extern "C" fn($($arg),*) -> c_int,)*
        }

        impl $table {
            /// Looks every function up.
            pub fn of(library: &Library) -> Result<$table, $crate::backend::shared_library::LibraryError> {
                Ok($table {
                    // SAFETY: the vendor's header declares a function of this type under this name.
                    $($field: unsafe { symbol(library, $symbol) }?,)*
                })
            }
        }
    };
}

mod driver;
mod memory;
mod nvml;
mod nvrtc;
mod work;

use std::ffi::c_int;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_NOW};

use crate::backend::shared_library::LibraryError;

pub(super) use driver::{Driver, Failed, PrimaryContext};
pub(super) use memory::OwnedMemory;
pub(super) use nvml::Nvml;
pub(super) use nvrtc::{Nvrtc, NvrtcOutput};
pub(super) use work::{CudaEvent, LoadedImage, RawFunction, RawGraph, RawStream};

/// A symbol of a library.
///
/// # Safety
/// `F` is the type of what the library has under this name, and is not used after the library is closed.
unsafe fn symbol<F: Copy>(library: &Library, name: &str) -> Result<F, LibraryError> {
    // SAFETY: as the caller vouches.
    match unsafe { library.get::<F>(name.as_bytes()) } {
        Ok(found) => Ok(*found),
        Err(_) => Err(LibraryError::NoSymbol { name: name.into() }),
    }
}

/// Opens a library by its path, or by name through the loader.
fn open(file: &Path, scope: c_int) -> Result<Library, LibraryError> {
    // SAFETY: the file was checked to be a whole library of this machine, and is the vendor's: its initialisers do
    // what loading it is meant to do.
    let opened = unsafe { Library::open(Some(file), RTLD_NOW | scope) };
    opened.map_err(|error| LibraryError::Refused { error })
}
