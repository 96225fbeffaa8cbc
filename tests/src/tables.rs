//! Tables as `tune bake` would write them on devices that this machine does not have.

use std::path::Path;

use kiln_project::{PackageSelection, Project, TunedKernel};
use kiln_spec::DeviceKey;
use kiln_spec::baked::{BakedTable, Evidence, Hashes, Row};
use kiln_spec::codegen::{Symbol, Target, symbol_hash};

/// The kernel with this name in the package of a manifest, with features.
///
/// # Panics
/// If there is none.
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

/// A table with one row for the first problem on each device, with its config; nothing was measured for it.
///
/// # Panics
/// If the spec does not have the config.
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

/// The row for the first problem on a device, with a config; nothing was measured for it.
///
/// # Panics
/// If the spec does not have the config.
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
