//! A HIP runtime whose only device is the host processor. It lets Kiln's hip backend run through its real interface on
//! machines without an AMD GPU.
//!
//! This library exports the functions of `libamdhip64` that the backend uses, and implements them with Kiln's cpu
//! device. Memory is real, kernels compute, streams run in parallel on their own threads, events measure real times,
//! and recordings are replayed. The architecture of the device is `kiln-host`. Its images are shared objects that the
//! host's C++ compiler built.
//!
//! The library is stricter than a GPU where that helps to find mistakes: closed handles, addresses outside allocations,
//! and calls that are forbidden during a recording are always errors. It does not reproduce other properties of a GPU
//! (timing, memory models, faults that end the process).
//!
//! Kiln uses this library only with `KILN_HIP_LIBRARY=/path/to/libkiln_hip_host.so`. The library reads these variables:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `KILN_HIP_HOST_DEVICES` | `0`: the runtime reports no device |
//! | `KILN_HIP_HOST_MEMORY` | memory of the device in bytes; the default is 1 GiB |
//! | `KILN_HIP_HOST_FAULTS` | calls that fail, see [`faults`] |

#![allow(
    non_snake_case,
    reason = "the names are those of the library that it stands for"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "what the functions take is what the vendor's headers say"
)]

mod device;
mod faults;
mod graph;
mod image;
mod memory;
mod queue;
mod runtime;
mod stream;
mod work;
