//! A HIP runtime whose only device is the host processor, so that Kiln's hip backend can run through its real
//! interface on machines without an AMD GPU.
//!
//! It exports the functions of `libamdhip64` that the backend uses, on top of Kiln's cpu device: memory is real,
//! kernels compute, streams run in parallel on their own threads, events take real times, recordings are replayed.
//! The device's architecture is `kiln-host`; its images are shared objects that the host's C++ compiler built.
//!
//! It is stricter than a GPU if that helps to find mistakes: dead handles, addresses outside allocations and calls
//! that a recording forbids are always errors. It does not reproduce other properties of a GPU (timing, memory
//! models, faults that end the process).
//!
//! It is used only if it is named: `KILN_HIP_LIBRARY=/path/to/libkiln_hip_host.so`. Variables that it reads:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `KILN_HIP_HOST_DEVICES` | `0`: the runtime counts no device |
//! | `KILN_HIP_HOST_MEMORY` | bytes that the device has; 1 GiB where unset |
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
