//! Tables like those that `tune bake` writes, for devices that this machine does not have.

use std::path::Path;

use kiln_project::{PackageSelection, Project, TunedKernel};
use kiln_spec::DeviceKey;
use kiln_spec::baked::{BakedTable, Evidence, Hashes, Row};
use kiln_spec::codegen::{Symbol, Target, symbol_hash};

/// The kernel of this name in the package of a manifest, built with these features.
///
/// # Panics
/// If the package has no such kernel.
pub fn kernel(manifest: &Path, name: &str, features: &[&str]) -> TunedKernel {
    let args = PackageSelection {
        manifest_path: Some(manifest.to_owned()),
        kernels: vec![name.into()],
        features: features.iter().map(|&feature| feature.into()).collect(),
        ..PackageSelection::default()
    };
    let mut project = Project::read(&args).expect("the kernel should be found");
    project.kernels.remove(0)
}

/// A table with one row per device, for the first problem, with the given config. The rows were never measured.
///
/// # Panics
/// If the config is not in the search space.
pub fn unmeasured(kernel: &TunedKernel, rows: &[(DeviceKey, &str)]) -> BakedTable {
    let spec = &kernel.spec;
    let mut table = BakedTable::new(spec.name.as_str());
    for (device, config) in rows {
        let row = row(kernel, device, config);
        table
            .replace_device(device, vec![row])
            .expect("the row should be one that tables hold");
    }
    table
}

/// A row for the first problem, with this device and config. The row was never measured.
///
/// # Panics
/// If the config is not in the search space.
pub fn row(kernel: &TunedKernel, device: &DeviceKey, config: &str) -> Row {
    let (spec, source) = (&kernel.spec, kernel.source.hash());
    let config = spec
        .parse_config(config)
        .expect("the config should be in the spec");
    let problem = &spec.problems[0];
    let target = Target::from(device.backend);
    let hash = symbol_hash(source, spec, &spec.entry, &config, problem, target)
        .expect("the config should have a symbol");
    Row {
        device: device.clone(),
        problem: problem.to_string(),
        entry: spec.entry.clone(),
        config: config.to_string(),
        evidence: Evidence::Predicted,
        speedup: None,
        baseline: spec.baseline_text(),
        symbol: Symbol::release(&spec.entry, hash).as_str().to_owned(),
        plan: spec
            .plan(&config, problem, None)
            .expect("the config should have a plan"),
        hashes: Hashes::now(spec, source, device.backend),
        image: None,
    }
}
