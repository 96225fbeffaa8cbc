//! All unsafe code of the CUDA backend: the functions of NVRTC, NVML and the driver, and types that own their
//! objects.
//!
//! Each function is looked up once. A missing function is an error. Kiln does not use cudarc's bindings, for three
//! reasons:
//!
//! - The bindings panic if a library or a symbol is missing.
//! - They return result codes as an enumeration that does not cover the codes of a newer driver.
//! - They force all crates of a program to agree on one version of CUDA.
//!
//! Programs that use cudarc themselves find adapters in `interop`.

/// Declares a table of functions that return a result code, with a function that fills it from a library.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($field:ident = $symbol:literal($($arg:ty),* $(,)?);)* }) => {
        $(#[$doc])*
        pub(super) struct $table {
            $(pub $field: unsafe extern "C" fn($($arg),*) -> c_int,)*
        }

        impl $table {
            /// Looks up every function.
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

use crate::backend::gpu::ffi::symbol;
use crate::backend::shared_library::LibraryError;

pub(super) use driver::{Driver, Failed, PrimaryContext};
pub(super) use memory::OwnedMemory;
pub(super) use nvml::Nvml;
pub(super) use nvrtc::{ImageKind, Nvrtc, NvrtcOutput};
pub(super) use work::{CudaEvent, LoadedImage, RawFunction, RawGraph, RawStream};

/// Opens a library, either the file at a path or the library that the loader finds by name.
fn open(file: &Path, scope: c_int) -> Result<Library, LibraryError> {
    // SAFETY: the file was checked to be a complete library for this machine. It comes from the vendor, so its
    // initialisers do only what is necessary to load the library.
    let opened = unsafe { Library::open(Some(file), RTLD_NOW | scope) };
    opened.map_err(|error| LibraryError::Refused { error })
}
