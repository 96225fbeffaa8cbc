//! Code that the candle and burn examples share, and the kernels of the course. `tune` reads only the library and the
//! programs that a package ships. Examples are not shipped, so this library includes them.
//!
//! With `--features course`, the programs of the course are modules of this library. Without the feature they are not,
//! so a plain `cargo tune` tunes the kernel library and not the course.
#![forbid(unsafe_code)]
// Nothing calls the `main` functions of the programs here.
#![allow(dead_code)]

pub mod tensors;

#[cfg(feature = "course")]
#[path = "03-baked-tables/main.rs"]
mod baked_tables;
#[cfg(feature = "course")]
#[path = "05-element-types/main.rs"]
mod element_types;
#[cfg(feature = "course")]
#[path = "07-embedding/main.rs"]
mod embedding;
#[cfg(feature = "course")]
#[path = "01-first-kernel/main.rs"]
mod first_kernel;
#[cfg(feature = "course")]
#[path = "06-other-devices/main.rs"]
mod other_devices;
#[cfg(feature = "course")]
#[path = "02-search-space/main.rs"]
mod search_space;
#[cfg(feature = "course")]
#[path = "04-verification/main.rs"]
mod verification;
