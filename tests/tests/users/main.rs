//! Tests from a user's point of view: the documentation, packages outside the workspace, bad input, the first hour.

#![forbid(unsafe_code)]

mod adding_a_backend;
mod adding_a_kernel;
mod bad_input;
mod book;
mod course;
mod fresh_clone;
mod gpu_day;
mod gpu_day_gate;
mod gpu_day_steps;
mod init;
mod library_and_program;
mod readme;
mod recipes;
mod standalone;
mod warp_code;
mod without_cargo;
