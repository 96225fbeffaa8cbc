//! Kernels without a decision for a device. Nothing can be baked for such a kernel.

use kiln::Kernel;
use kiln_cache::Cache;
use kiln_spec::Backend;

use crate::error::Failure;
use crate::tables::bake;
use crate::task::Conditions;
use kiln_project::Project;

/// A kernel without a decision for the device.
pub struct Unproven {
    /// The package that declares the kernel.
    pub package: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The key of the device.
    pub device: String,
    /// The problem of the kernel's first stale row for the device, and the part that changed since the row was baked;
    /// `None` if no row for the device is stale.
    pub stale: Option<(String, &'static str)>,
    /// The remedy: the text of a `help:` line without the prefix.
    pub help: String,
}

impl Unproven {
    /// The message and its help line.
    pub fn to_text(&self) -> String {
        let Unproven {
            kernel,
            device,
            stale,
            help,
            ..
        } = self;
        let what = stale.as_ref().map_or_else(
            || "nothing is proven on this device".to_owned(),
            |(problem, which)| {
                format!(
                    "its row of `{device}` for {problem} is stale because its {which} changed, and nothing has been \
                     proven since"
                )
            },
        );
        format!("{kernel}: {what}\nhelp: {help}\n")
    }
}

/// The kernels of a project for which the cache has no decision for a device.
///
/// # Errors
/// If the cache or a table cannot be read.
pub fn unproven(
    project: &Project,
    conditions: &Conditions<'_>,
    cache: &Cache,
    catalogue: &[&'static Kernel],
) -> Result<Vec<Unproven>, Failure> {
    let device = &conditions.info.key;
    let mut unproven = Vec::new();
    for kernel in &project.kernels {
        if !bake::rows(kernel, conditions, cache, catalogue)?.is_empty() {
            continue;
        }
        let mut rows = kernel.rows_of(device)?.into_iter();
        let stale = rows.find_map(|row| kernel.stale_part(&row).map(|part| (row.problem, part)));
        let name = &kernel.spec.name;
        let how = match device.backend {
            Backend::Cpu | Backend::Fake => " --device cpu --write",
            Backend::Cuda | Backend::Hip => "",
        };
        unproven.push(Unproven {
            package: kernel.package.clone(),
            kernel: name.clone(),
            device: device.to_string(),
            stale,
            help: format!("run `tune run -k {name}{how}`"),
        });
    }
    Ok(unproven)
}
