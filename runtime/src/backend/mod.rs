//! The devices that Kiln launches on, one folder each.

pub mod cpu;
pub mod fake;
pub mod hip;
