//! Writes the decisions of a plan as rows of baked tables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kiln_cache::Winner;
use kiln_spec::DeviceKey;
use kiln_spec::baked::{Evidence, Row};

use super::FleetError;
use crate::error::Failure;
use crate::tables::bake;
use kiln_project::Project;

/// A table that was written, and the rows that the plan contributed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The name of the kernel.
    pub kernel: String,
    /// The path of the kernel's table.
    pub path: PathBuf,
    /// The rows from the plan's decisions.
    pub rows: Vec<Row>,
}

/// Writes the rows of winners into the tables of their kernels. Rows of the same device for other problems are kept.
///
/// # Errors
/// If a kernel is not in the project, or a table cannot be read or written.
pub fn write_rows(project: &Project, winners: &[Winner]) -> Result<Vec<Written>, Failure> {
    let mut by_table: BTreeMap<(&str, String), (DeviceKey, Vec<Row>)> = BTreeMap::new();
    for winner in winners {
        let kernel = project.one(&winner.kernel)?;
        let device = winner.device.clone();
        let table = (winner.kernel.as_str(), device.to_string());
        let rows = &mut by_table
            .entry(table)
            .or_insert_with(|| (device, Vec::new()))
            .1;
        rows.extend(bake::row(kernel, winner));
    }
    let mut written = Vec::new();
    for ((name, _), (device, rows)) in by_table {
        let kernel = project.one(name)?;
        let mut all = kernel.rows_of(&device)?;
        for row in &rows {
            replace(&mut all, row);
        }
        let path = bake::replace_rows(kernel, &device, all)?;
        written.push(Written {
            kernel: name.to_owned(),
            path,
            rows,
        });
    }
    Ok(written)
}

/// Replaces the row for the same problem, or adds the new row. A row that keeps the baseline does not replace a proven
/// row of the same kernel version, because the baseline did not race against the proven config.
fn replace(rows: &mut Vec<Row>, new: &Row) {
    let old = rows.iter().position(|row| row.problem == new.problem);
    let Some(old) = old.map(|place| &mut rows[place]) else {
        return rows.push(new.clone());
    };
    let is_proven = old.evidence == Evidence::Proven && old.speedup.is_some();
    if new.speedup.is_some() || !is_proven || old.hashes != new.hashes {
        *old = new.clone();
    }
}

/// Checks that the kernels with the names in `kernels` are the same in the project as in the plan. A kernel that the
/// plan does not list is not checked.
///
/// # Errors
/// If a kernel is missing from the project, or its spec or source differs. The error names the first such kernel.
pub fn check_sources<'k>(
    project: &Project,
    plan: &kiln_fleet::Plan,
    kernels: impl IntoIterator<Item = &'k str>,
) -> Result<(), Failure> {
    for name in kernels {
        let kernel = project.one(name)?;
        let Some(planned) = plan.kernel(name) else {
            continue;
        };
        let parts = [
            ("spec", kernel.spec.hash().to_string(), &planned.spec),
            ("source", kernel.source.hash().to_string(), &planned.source),
        ];
        for (part, found, planned) in parts {
            if found != *planned {
                return Err(Failure::from(FleetError::OtherSources {
                    kernel: name.to_owned(),
                    part,
                    found,
                    planned: planned.clone(),
                }));
            }
        }
    }
    Ok(())
}
