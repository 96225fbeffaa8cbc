//! The kernels of a package, found by reading its sources: no build of it is needed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cargo_metadata::{Metadata, Package};
use kiln_spec::KernelSpec;
use kiln_spec::baked::Evidence;
use kiln_spec::source::{SourceScan, SourceText};
use thiserror::Error;

use crate::cli::PackageArgs;
use crate::{discover, workspace};

/// A declared kernel and its source.
#[derive(Clone, Debug)]
pub struct TunedKernel {
    /// What was declared.
    pub spec: KernelSpec,
    /// The expanded source.
    pub source: SourceText,
    /// What is in the source.
    pub scan: SourceScan,
    /// The Rust file that declares it.
    pub file: PathBuf,
    /// The package that declares it.
    pub package: String,
    /// The folder of the package's tables.
    pub tuned: PathBuf,
    /// Evidence beside `proven` that the program accepts in a row.
    pub accepts: Vec<Evidence>,
}

/// The kernels of the chosen packages.
#[derive(Clone, Debug)]
pub struct Project {
    /// Kernels, by package and file.
    pub kernels: Vec<TunedKernel>,
    /// Where the workspace builds to.
    pub target: PathBuf,
    /// The roots of the chosen packages.
    pub roots: Vec<PathBuf>,
}

/// Why a project's kernels could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// Cargo cannot describe the package.
    #[error(
        "cannot read the package: {text}\nhelp: run it in a package, or name one with `--manifest-path`"
    )]
    Metadata {
        /// What cargo says.
        text: String,
    },
    /// There is no cargo.
    #[error(
        "cannot start cargo: {text}\nhelp: put cargo on the PATH, set CARGO to it, or keep its answer from another machine: `--cargo-metadata`"
    )]
    NoCargo {
        /// What the system says.
        text: String,
    },
    /// What cargo said elsewhere cannot be used.
    #[error(
        "cannot read the workspace from {}: {why}\nhelp: write it in the workspace's root with `cargo metadata --no-deps --format-version 1`", .file.display()
    )]
    Kept {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is no such package.
    #[error(
        "the workspace has no package `{wanted}` (it has: {known})\nhelp: choose one of them with `--package`"
    )]
    NoPackage {
        /// The name asked for.
        wanted: String,
        /// Those that exist.
        known: String,
    },
    /// A setting of a package's manifest is none.
    #[error(
        "package `{package}`: `package.metadata.kiln.{name}` is {value}\nhelp: the one setting is `tune`, which is true or false"
    )]
    Setting {
        /// The package.
        package: String,
        /// The setting.
        name: String,
        /// What it is set to.
        value: String,
    },
    /// There is no such kernel.
    #[error("no kernel `{wanted}` (found: {known})\nhelp: run `tune list`")]
    NoKernel {
        /// The name asked for.
        wanted: String,
        /// Those that exist.
        known: String,
    },
    /// No kernel at all.
    #[error(
        "no `#[tuned_kernel]` in {searched}\nhelp: kernels made by other macros or `include!` are not found; see docs/spec-language.md"
    )]
    NothingFound {
        /// The files that were read.
        searched: String,
    },
    /// Two kernels of one package have the same name.
    #[error(
        "package `{package}` declares two kernels `{name}`: {first} and {second}\nhelp: rename one; tables are kept by kernel name"
    )]
    Duplicate {
        /// The package.
        package: String,
        /// The name.
        name: String,
        /// The first file.
        first: String,
        /// The second file.
        second: String,
    },
    /// A declaration or source is wrong; the text shows where.
    #[error("{0}")]
    Declarations(String),
}

impl Project {
    /// Reads the kernels of the packages that the flags choose: the named one, the one in the current folder, or all
    /// of the workspace.
    ///
    /// # Errors
    /// See [`ProjectError`]; every wrong declaration is reported, not only the first.
    pub fn read(args: &PackageArgs) -> Result<Project, ProjectError> {
        let metadata = workspace::describe(args)?;
        let packages = chosen(&metadata, args)?;
        let features: BTreeSet<String> = args.features.iter().cloned().collect();
        let mut kernels = Vec::new();
        let mut errors = Vec::new();
        for package in &packages {
            let found = discover::kernels(package, &features);
            kernels.extend(found.kernels);
            errors.extend(found.errors);
        }
        if !errors.is_empty() {
            return Err(ProjectError::Declarations(all(&errors)));
        }
        no_duplicates(&kernels)?;
        let roots = packages.iter().map(|package| root_of(package)).collect();
        let target = metadata.target_directory.clone().into();
        let project = Project {
            kernels,
            target,
            roots,
        };
        project.only(&args.kernels, &packages)
    }

    /// Keeps the named kernels.
    fn only(mut self, wanted: &[String], packages: &[&Package]) -> Result<Project, ProjectError> {
        let names: Vec<_> = self
            .kernels
            .iter()
            .map(|kernel| kernel.spec.name.clone())
            .collect();
        if let Some(missing) = wanted.iter().find(|name| !names.contains(name)) {
            return Err(ProjectError::NoKernel {
                wanted: missing.clone(),
                known: listed(&names),
            });
        }
        if names.is_empty() {
            let names: Vec<_> = packages
                .iter()
                .map(|package| format!("package `{}`", package.name))
                .collect();
            return Err(ProjectError::NothingFound {
                searched: listed(&names),
            });
        }
        if !wanted.is_empty() {
            self.kernels
                .retain(|kernel| wanted.contains(&kernel.spec.name));
        }
        Ok(self)
    }

    /// The folder for tables that are not to be committed: those of this machine's cpu.
    pub fn local_tables(&self, kernel: &TunedKernel) -> PathBuf {
        self.target.join("kiln/tuned").join(&kernel.package)
    }
}

/// All errors as one text, each after `error: ` but the first: whoever prints the text says it.
fn all(errors: &[String]) -> String {
    let each = errors
        .iter()
        .map(|error| error.strip_prefix("error: ").unwrap_or(error).trim_end());
    each.collect::<Vec<_>>().join("\nerror: ")
}

/// The packages that the flags choose.
fn chosen<'a>(
    metadata: &'a Metadata,
    args: &PackageArgs,
) -> Result<Vec<&'a Package>, ProjectError> {
    let members = metadata.workspace_packages();
    let Some(wanted) = &args.package else {
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

/// Whether a package is meant where none is named: unless its manifest has `package.metadata.kiln.tune = false`.
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

/// The folder of a package's manifest.
pub fn root_of(package: &Package) -> PathBuf {
    package
        .manifest_path
        .parent()
        .map_or_else(|| PathBuf::from("."), |path| path.as_std_path().to_owned())
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

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}
