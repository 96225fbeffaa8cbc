//! A HIP runtime whose one device is the host processor, so that Kiln's hip backend runs through its real
//! interface on machines without an AMD GPU.
//!
//! It exports the functions of `libamdhip64` that the backend uses, over Kiln's cpu device: memory is real, kernels
//! compute, streams run side by side on threads of their own, events take real times, recordings are replayed.
//! The device's architecture is `kiln-host`; its images are shared objects that the host's C++ compiler built.
//!
//! It is stricter than a GPU where that finds mistakes: handles that are not alive, addresses outside allocations and
//! calls that a recording forbids are errors, always. What a GPU does otherwise (timing, memory models, faults that end
//! the process) it does not show.
//!
//! Nobody finds it who does not name it: `KILN_HIP_LIBRARY=/path/to/libkiln_hip_host.so`. Variables that it reads:
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
