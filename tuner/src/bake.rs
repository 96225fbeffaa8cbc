//! Temporary.
use kiln::compiler::Compiler;
use kiln::device::DeviceInfo;
use kiln_cache::Cache;
use kiln_spec::DeviceKey;
use crate::exit::Failure;
use crate::project::Project;
use crate::report::TableReport;
/// Bake.
pub fn bake(_: &Project, _: &DeviceKey, _: &dyn Compiler, _: &DeviceInfo, _: &Cache, _: bool) -> Result<Vec<TableReport>, Failure> { Ok(Vec::new()) }
/// Notices.
pub fn notices(_: &[TableReport], _: bool) -> Vec<String> { Vec::new() }
