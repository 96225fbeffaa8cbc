//! What the workspace tests share: which tools this machine has, and crates outside the workspace.
#![forbid(unsafe_code)]

pub mod capability;
pub mod command;
pub mod throwaway;
