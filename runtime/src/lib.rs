//! Launch GPU kernels with configs that were tuned once and baked in at build time.
//!
//! [`tuned_kernel`] declares a kernel: its CUDA C++ source, its tunable parameters, the simplest correct version.
//! `tune` finds the fastest config for each device and writes it to a table that is checked in; the macro reads the
//! table when the program is built. At run time there is only a typed function:
//!
//! ```ignore
//! use kiln::{Buffer, Device, tuned_kernel};
//!
//! #[tuned_kernel(
//!     source = "scale.cu",
//!     params(THREADS in [64, 128, 256]),
//!     baseline(THREADS = 64),
//!     grid(n.div_ceil(THREADS)),
//!     block(THREADS),
//!     problems((n = 1_000_000)),
//! )]
//! unsafe extern "C" {
//!     /// `y = 2 x`
//!     pub fn scale(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
//! }
//!
//! let stream = Device::cpu()?.stream();
//! let x = Buffer::from_slice(&stream, &[1.0, 2.0])?;
//! let mut y = Buffer::zeros(&stream, 2)?;
//! scale(&stream, 2, &x, &mut y)?;
//! assert_eq!(y.to_vec(&stream)?, [2.0, 4.0]);
//! ```
//!
//! # What a launch does
//!
//! 1. [`select`]: the baked row that fits this device and problem, or the baseline. Memoised per thread, without a
//!    lock or an allocation.
//! 2. Checks: lengths, alignments, the device of every slice, the launch plan.
//! 3. [`prepare`]: at the first launch of a row on a device, its entry is compiled (or its embedded image loaded) and
//!    kept for the process; compiled artifacts are cached on disk (`artifacts`).
//! 4. `launch`: the launch itself.
//!
//! If a launch uses the baseline because no row fits, or the row of another problem, or an unproven row, a warning is
//! logged once per kernel, through the [`log`] crate with the target `kiln`.
//!
//! [`smoke`] tests prove, for every baked row and without a GPU, that the intended entry is launched.
//!
//! # Safety
//!
//! A generated launch function is safe to call. Kiln checks everything that the spec can state:
//!
//! - every slice has exactly the length that `#[len(..)]` gives for these sizes, the alignment that the config's
//!   vector loads need, and is in the memory of the stream's device;
//! - slices that the kernel writes are borrowed mutably, so no other slice of the same launch overlaps them;
//! - grid, block and shared memory are within the device's limits, and sizes within their types;
//! - the declared arguments are those of the `__global__` function (compared by the macro), and the launched
//!   symbol is that of the baked row (it carries the hash of source, prelude and config).
//!
//! The author vouches for everything that cannot be checked with the `unsafe` of the `unsafe extern "C"` block: for
//! every config of the space and every problem, the kernel stays inside the declared lengths, ends, and uses no
//! memory other than its arguments. `tune` verifies much of this (guard zones, the check build of the cpu device),
//! but no test proves it for all sizes.
//!
//! Memory is freed only after the work queued on its device is done; reading a [`Buffer`] waits for its
//! stream. Two streams of one device may use one buffer at once only if both read.
//!
//! Memory and streams of other libraries come in through [`interop`]: its functions and traits are `unsafe`, and the
//! caller or the library vouches for its own objects there.
//!
//! # Stability
//!
//! Modules and items that the documentation does not show are public for `tune` and for generated code. They are
//! outside semantic versioning.
//!
//! Inside this crate, `unsafe` blocks are only in the backends' `ffi.rs` and in `launch/mod.rs`.

#[cfg(not(unix))]
compile_error!(
    "Kiln runs on Unix only: Linux is tested, macOS and the BSDs may work, Windows needs WSL 2"
);

// Generated code uses `::kiln`, also in this crate's own tests.
extern crate self as kiln;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[doc(hidden)]
pub mod backend;
#[doc(hidden)]
pub mod compare;
#[doc(hidden)]
pub mod compiler;
mod data;
pub mod device;
pub mod error;
#[doc(hidden)]
pub mod image;
pub mod interop;
pub mod kernel;
#[doc(hidden)]
pub mod launch;
mod parallel;
pub mod prepare;
pub mod receipt;
pub mod rig;
mod selection;
pub mod smoke;
#[doc(hidden)]
pub mod supervise;

#[doc(hidden)]
pub use compiler::{artifacts, compile_only, recipe};
#[doc(hidden)]
pub use data::fill;
pub use data::{buffer, element, inputs, reference};
#[doc(inline)]
pub use device::{devices, stream};
pub use selection::select;

pub use data::buffer::{Buffer, DeviceSlice, DeviceSliceMut, View, ViewMut};
pub use data::element::{Element, Scalar};
pub use data::reference::ReferenceCall;
pub use device::Device;
pub use device::devices::{devices, open};
pub use device::error::{DeviceError, ErrorClass};
pub use device::graph::Graph;
pub use device::stream::Stream;
pub use error::Error;
pub use half::{bf16, f16};
pub use kernel::{Kernel, ReferenceFn};
pub use kiln_macros::tuned_kernel;
pub use kiln_spec as spec;
pub use launch::error::{LaunchCause, LaunchError};
pub use selection::forced::Forced;
pub use selection::{BaselineReason, Choice, Selection};
