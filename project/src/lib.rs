//! A cargo package on the disk: its kernels and its folders of baked tables. The package need not be built.
//!
//! [`Project::read`] asks cargo for the packages, follows the `mod` declarations from the root file of each target,
//! and parses each `#[tuned_kernel]` with the grammar of the macro. A [`TableFolder`] reads and writes tables.
#![forbid(unsafe_code)]

pub mod atomic_file;
mod declaration_error;
mod discover;
mod error;
mod kernel;
mod selection;
pub mod tables;
mod unreached;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};

pub use declaration_error::{DeclarationError, SourceFault};
pub use error::ProjectError;
pub use kernel::{HiddenKernel, TunedKernel};
pub use selection::PackageSelection;
pub use tables::{FolderLock, TableFileError, TableFolder};

use self::workspace::root_of;

/// The kernels of the selected packages, and facts about these packages.
#[derive(Clone, Debug)]
pub struct Project {
    /// The kernels, ordered by package and file.
    pub kernels: Vec<TunedKernel>,
    /// The target directory of the workspace.
    pub target: PathBuf,
    /// The root folders of the selected packages.
    pub roots: Vec<PathBuf>,
    /// The selected packages, as cargo describes them.
    pub packages: Vec<Package>,
    /// Kernels of the selected packages that are compiled only with features that are not enabled.
    pub hidden: Vec<HiddenKernel>,
    /// The errors in declarations of kernels that were not requested.
    pub wrong: Vec<String>,
}

impl Project {
    /// The text of every problem that a kernel declares for any device, as `tune list` prints it.
    pub fn problems(&self) -> Vec<String> {
        let kernels = self.kernels.iter();
        let problems = kernels.flat_map(|kernel| kernel.spec.all_problems());
        problems.map(ToString::to_string).collect()
    }

    /// The kernel with this name.
    ///
    /// # Errors
    /// If no kernel has this name, or the kernels of several packages have it.
    pub fn one(&self, name: &str) -> Result<&TunedKernel, ProjectError> {
        let is_it = |kernel: &&TunedKernel| kernel.spec.name == name;
        let found: Vec<&TunedKernel> = self.kernels.iter().filter(is_it).collect();
        match found.as_slice() {
            [kernel] => Ok(kernel),
            [] => Err(ProjectError::NoKernel {
                wanted: name.to_owned(),
                known: listed(&[]),
            }),
            several => Err(ProjectError::SeveralKernels {
                wanted: name.to_owned(),
                packages: several
                    .iter()
                    .map(|kernel| kernel.package.clone())
                    .collect(),
            }),
        }
    }

    /// Reads the kernels of the selected packages. A selection names one package, or it selects all packages of the
    /// workspace except those whose manifest has `package.metadata.kiln.tune = false`.
    ///
    /// # Errors
    /// See [`ProjectError`]. Every invalid declaration is reported, not only the first one.
    pub fn read(selection: &PackageSelection) -> Result<Project, ProjectError> {
        let metadata = workspace::describe(selection)?;
        let packages = chosen(&metadata, selection)?;
        let features: BTreeSet<String> = selection.features.iter().cloned().collect();
        known_features(&features, &packages)?;
        let mut kernels = Vec::new();
        let mut errors = Vec::new();
        let mut hidden = Vec::new();
        for package in &packages {
            let found = discover::kernels(package, &features);
            kernels.extend(found.kernels);
            errors.extend(found.errors);
            hidden.extend(found.hidden);
        }
        // If the requested kernels are valid, the command can continue although other declarations are invalid.
        let is_found = |name: &String| kernels.iter().any(|kernel| kernel.spec.name == *name);
        let all_found = !selection.kernels.is_empty() && selection.kernels.iter().all(is_found);
        if !errors.is_empty() && !all_found {
            return Err(ProjectError::Declarations { errors });
        }
        no_duplicates(&kernels)?;
        label(&mut kernels);
        let roots = packages.iter().map(|package| root_of(package)).collect();
        let target = metadata.target_directory.clone().into();
        let project = Project {
            kernels,
            target,
            roots,
            packages: packages.iter().map(|&package| package.clone()).collect(),
            hidden,
            wrong: errors.iter().map(ToString::to_string).collect(),
        };
        project.only(&selection.kernels, &packages)
    }

    /// Keeps only the kernels with these names.
    fn only(mut self, wanted: &[String], packages: &[&Package]) -> Result<Project, ProjectError> {
        let names: Vec<_> = self
            .kernels
            .iter()
            .map(|kernel| kernel.spec.name.clone())
            .collect();
        if let Some(missing) = wanted.iter().find(|name| !names.contains(name)) {
            if let Some(hidden) = self.hidden.iter().find(|hidden| hidden.name == *missing) {
                return Err(ProjectError::Hidden {
                    kernels: hidden.to_string(),
                    features: hidden.features().to_owned(),
                });
            }
            return Err(ProjectError::NoKernel {
                wanted: missing.clone(),
                known: listed(&names),
            });
        }
        if let Some(first) = self.hidden.first().filter(|_| names.is_empty()) {
            let all: Vec<String> = self.hidden.iter().map(ToString::to_string).collect();
            return Err(ProjectError::Hidden {
                kernels: all.join("\n"),
                features: first.features().to_owned(),
            });
        }
        if names.is_empty() {
            let names: Vec<_> = packages
                .iter()
                .map(|package| format!("package `{}`", package.name))
                .collect();
            let unreached = self
                .roots
                .iter()
                .flat_map(|root| unreached::kernels_below(&root.join("src")));
            let unreached: String = unreached
                .map(|file| {
                    format!(
                        "\n{} has a `#[tuned_kernel]`, but no `mod` leads to it",
                        file.display()
                    )
                })
                .collect();
            return Err(ProjectError::NothingFound {
                searched: listed(&names) + &unreached,
            });
        }
        if !wanted.is_empty() {
            self.kernels
                .retain(|kernel| wanted.contains(&kernel.spec.name));
        }
        Ok(self)
    }

    /// The folders of committed tables, sorted.
    pub fn table_folders(&self) -> BTreeSet<&TableFolder> {
        self.kernels.iter().map(|kernel| &kernel.tuned).collect()
    }

    /// The path of the file of allowed signers: `allowed_signers` in the folder of baked tables of the first kernel.
    pub fn allowed_signers(&self) -> PathBuf {
        let tuned = self.kernels.first().map(|kernel| kernel.tuned.path());
        tuned.unwrap_or(Path::new("")).join("allowed_signers")
    }

    /// The folder for tables that are not committed, which contain the rows of this machine's CPU.
    pub fn local_tables(&self, kernel: &TunedKernel) -> TableFolder {
        let local = self.target.join("kiln/tuned").join(&kernel.package);
        kernel.tuned.at(local)
    }
}

/// The packages that a selection selects.
fn chosen<'a>(
    metadata: &'a Metadata,
    selection: &PackageSelection,
) -> Result<Vec<&'a Package>, ProjectError> {
    let members = metadata.workspace_packages();
    let Some(wanted) = &selection.package else {
        let mut chosen = Vec::new();
        for package in members {
            if is_tuned_by_default(package)? {
                chosen.push(package);
            }
        }
        return Ok(chosen);
    };
    let found: Vec<_> = members
        .iter()
        .copied()
        .filter(|package| package.name.as_str() == wanted)
        .collect();
    if found.is_empty() {
        let known: Vec<_> = members
            .iter()
            .map(|package| package.name.to_string())
            .collect();
        return Err(ProjectError::NoPackage {
            wanted: wanted.clone(),
            known: listed(&known),
        });
    }
    Ok(found)
}

/// Whether a package is selected by default. A package is not selected if its manifest has
/// `package.metadata.kiln.tune = false`.
fn is_tuned_by_default(package: &Package) -> Result<bool, ProjectError> {
    let Some(settings) = package.metadata.get("kiln") else {
        return Ok(true);
    };
    let wrong = |name: &str, value: &dyn std::fmt::Display| ProjectError::Setting {
        package: package.name.to_string(),
        name: name.to_owned(),
        value: value.to_string(),
    };
    let known = settings.as_object().ok_or_else(|| wrong("*", settings))?;
    if let Some((name, value)) = known.iter().find(|(name, _)| *name != "tune") {
        return Err(wrong(name, value));
    }
    let tune = known.get("tune").unwrap_or(&serde_json::Value::Bool(true));
    tune.as_bool().ok_or_else(|| wrong("tune", tune))
}

fn no_duplicates(kernels: &[TunedKernel]) -> Result<(), ProjectError> {
    for (i, second) in kernels.iter().enumerate() {
        let same = |first: &&TunedKernel| {
            first.package == second.package && first.spec.name == second.spec.name
        };
        if let Some(first) = kernels[..i].iter().find(same) {
            return Err(ProjectError::Duplicate {
                package: second.package.clone(),
                name: second.spec.name.clone(),
                first: first.file.display().to_string(),
                second: second.file.display().to_string(),
            });
        }
    }
    Ok(())
}

/// Adds the package to the labels of kernels whose name is not unique.
fn label(kernels: &mut [TunedKernel]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for kernel in kernels.iter() {
        *seen.entry(kernel.spec.name.clone()).or_default() += 1;
    }
    for kernel in kernels {
        if seen[&kernel.spec.name] > 1 {
            kernel.label = format!("{} of {}", kernel.spec.name, kernel.package);
        }
    }
}

/// Checks that each requested feature belongs to a selected package. A feature of another package (`package/feature`)
/// is not checked, because it does not affect the sources that are read.
fn known_features(wanted: &BTreeSet<String>, packages: &[&Package]) -> Result<(), ProjectError> {
    let known: BTreeSet<&String> = packages
        .iter()
        .flat_map(|package| package.features.keys())
        .collect();
    let is_unknown = |name: &&String| !name.contains('/') && !known.contains(name);
    let Some(unknown) = wanted.iter().find(is_unknown) else {
        return Ok(());
    };
    let names: Vec<String> = packages
        .iter()
        .map(|package| package.name.to_string())
        .collect();
    let features: Vec<String> = known.into_iter().cloned().collect();
    Err(ProjectError::UnknownFeature {
        wanted: unknown.clone(),
        packages: listed(&names),
        known: listed(&features),
    })
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".into()
    } else {
        let mut known = BTreeSet::new();
        let once = names.iter().filter(|name| known.insert(name.as_str()));
        once.map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}
