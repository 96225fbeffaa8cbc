//! Launch GPU kernels with configs that were tuned once and baked in at build time.
//!
//! [`tuned_kernel`] declares a kernel: its CUDA C++ source, its tunable parameters, and its baseline (the config of
//! the simplest correct version). The command `tune` finds the fastest config for each device and writes it to a
//! table in the repository. The macro reads that table when the program is built. At run time the program calls a
//! typed function:
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
//! 1. [`select`] chooses the baked row (one tuned config for one problem on one device) that fits this device and
//!    problem, or the baseline. Each thread memoises the choice; a memoised launch takes no lock and allocates
//!    nothing.
//! 2. The launch function checks the lengths, alignments and devices of all slices, and the launch plan.
//! 3. [`prepare`] runs at the first launch of a row on a device. It compiles the row's entry (its `__global__`
//!    function), or loads the image that the build embedded, and keeps it loaded for the rest of the process. Compiled
//!    code is cached on disk.
//! 4. `launch` queues the kernel on the stream.
//!
//! A launch logs a warning if it uses an unproven row, if it uses the row of another problem, or if it uses the
//! baseline because no row fits. Each of these warnings is logged at most once per kernel, through the [`log`] crate
//! with the target `kiln`.
//!
//! [`smoke`] tests check, for every baked row and without a GPU, that a launch runs the intended entry.
//!
//! # Safety
//!
//! A generated launch function is safe to call. Kiln checks everything that the spec can state:
//!
//! - Every slice has exactly the length that `#[len(..)]` declares for these sizes, has the alignment that the
//!   config's vector loads need, and is in the memory of the stream's device.
//! - Slices that the kernel writes are borrowed mutably, so no other slice of the same launch overlaps them.
//! - Grid, block and shared memory are within the device's limits, and sizes are within the range of their types.
//! - The declared arguments match those of the `__global__` function (the macro compares them), and the launched
//!   symbol is the symbol of the baked row (the symbol contains the hash of source, prelude and config).
//!
//! With the `unsafe` of the `unsafe extern "C"` block, the author vouches for everything that Kiln cannot check. For
//! every config of the search space and every problem, the kernel must stay inside the declared lengths, terminate, and
//! use no memory other than its arguments. `tune` verifies much of this, with guard zones around buffers and with
//! builds for the cpu device that check every memory access. But no test can prove it for all sizes.
//!
//! Memory is freed only after the work queued on its device is done. Reading a [`Buffer`] waits for the work of the
//! stream that is passed to the read. Two streams of one device may use the same buffer at the same time only if
//! neither of them writes to it.
//!
//! Programs can pass memory and streams of other libraries to launch functions through [`interop`]. Its traits, and
//! its functions that accept raw pointers, are `unsafe`, because the caller or the other library must vouch for those
//! objects.
//!
//! # Renamed dependencies
//!
//! Generated code refers to this crate as `::kiln`. If `Cargo.toml` gives the dependency another name, such as
//! `tuning = { package = "kiln-gpu", .. }`, add `extern crate tuning as kiln;` to the root of your crate.
//!
//! # Stability
//!
//! Public modules and items that the documentation does not show exist for `tune` and for generated code. Semantic
//! versioning does not apply to them.
//!
//! Inside this crate, `unsafe` blocks are only in the backends' `ffi.rs` (or a folder `ffi/`) and in `launch/mod.rs`.

#[cfg(not(unix))]
compile_error!(
    "Kiln runs on Unix only: Linux is tested, macOS and the BSDs may work, Windows needs WSL 2"
);

// Generated code refers to this crate as `::kiln`, including in this crate's own tests.
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
pub use data::{buffer, element, inputs, reference};
#[doc(hidden)]
pub use data::{fill, scalars, unusual};
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
