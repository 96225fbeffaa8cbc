//! Temporary.
use std::collections::BTreeSet;
use cargo_metadata::Package;
use crate::project::TunedKernel;
/// Found.
#[derive(Debug, Default)]
pub struct Found { /** k */ pub kernels: Vec<TunedKernel>, /** e */ pub errors: Vec<String> }
/// Kernels.
pub fn kernels(_package: &Package, _features: &BTreeSet<String>) -> Found { Found::default() }
