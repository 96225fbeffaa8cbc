//! What the examples with tensors of other libraries share; and the kernels of the course, for `tune`: it reads only
//! what a package ships, and examples are not shipped.
//!
//! With `--features course` the course's programs are modules of this library. Without it they are not, so that a plain
//! `cargo tune` tunes the kernel library and not the course.
#![forbid(unsafe_code)]
// As modules, the programs are not run.
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
