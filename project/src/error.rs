//! Errors of reading the kernels of a project.

use std::path::PathBuf;

use kiln_spec::TextError;
use thiserror::Error;

use super::declaration_error::DeclarationError;

/// The reason why the kernels of a project cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// Cargo cannot describe the package.
    #[error(
        "cannot read the package: {text}\nhelp: run it in a package, or name one with `--manifest-path`"
    )]
    Metadata {
        /// The message of cargo.
        text: String,
    },
    /// Cargo cannot be started.
    #[error(
        "cannot start cargo: {text}\n\
         help: put cargo on the PATH, set CARGO to it, or pass its output from another machine with \
         `--cargo-metadata`"
    )]
    NoCargo {
        /// The error of the operating system.
        text: String,
    },
    /// A file with the output of `cargo metadata` cannot be used.
    #[error(
        "cannot read the workspace from {}: {why}\nhelp: write it in the workspace's root with `cargo metadata --no-deps --format-version 1`", .file.display()
    )]
    Kept {
        /// The path of the file.
        file: PathBuf,
        /// Why the file cannot be used.
        why: String,
    },
    /// The workspace has no package with the requested name.
    #[error(
        "the workspace has no package `{wanted}` (it has: {known})\nhelp: choose one of them with `--package`"
    )]
    NoPackage {
        /// The requested name.
        wanted: String,
        /// The names of the packages that the workspace has.
        known: String,
    },
    /// A setting in the manifest of a package is invalid.
    #[error(
        "package `{package}`: `package.metadata.kiln.{name}` is {value}\n\
         help: the only setting is `tune`, which is true or false"
    )]
    Setting {
        /// The name of the package.
        package: String,
        /// The name of the setting.
        name: String,
        /// The value of the setting.
        value: String,
    },
    /// The project has no kernel with the requested name.
    #[error("no kernel `{wanted}` (found: {known})\nhelp: run `tune list`")]
    NoKernel {
        /// The requested name.
        wanted: String,
        /// The names of the kernels that the project has.
        known: String,
    },
    /// Several packages have a kernel with the requested name.
    #[error(
        "kernel `{wanted}` is in several packages: {}\nhelp: choose one with `--package`", .packages.join(", ")
    )]
    SeveralKernels {
        /// The requested name.
        wanted: String,
        /// The names of the packages.
        packages: Vec<String>,
    },
    /// No selected package has the requested feature.
    #[error(
        "no feature `{wanted}` in {packages} (features: {known})\nhelp: give a feature of the manifest's `[features]`"
    )]
    UnknownFeature {
        /// The requested feature.
        wanted: String,
        /// The names of the selected packages.
        packages: String,
        /// The features of the selected packages.
        known: String,
    },
    /// The requested kernels are compiled only with features that are not enabled.
    #[error("{kernels}\nhelp: add `--features {features}`")]
    Hidden {
        /// The kernels with their features, one per line.
        kernels: String,
        /// The value for `--features` that would enable the kernels.
        features: String,
    },
    /// The project declares no kernels.
    #[error(
        "no `#[tuned_kernel]` in {searched}\nhelp: kernels made by other macros or `include!` are not found; see docs/spec-language.md"
    )]
    NothingFound {
        /// The files that were searched.
        searched: String,
    },
    /// Two kernels of one package have the same name.
    #[error(
        "package `{package}` declares two kernels `{name}`: {first} and {second}\nhelp: rename one; tables are kept by kernel name"
    )]
    Duplicate {
        /// The name of the package.
        package: String,
        /// The name of the kernels.
        name: String,
        /// The file of the first kernel.
        first: String,
        /// The file of the second kernel.
        second: String,
    },
    /// The kernels of a package cannot be linked into another program, because no library of the package declares them.
    #[error(
        "the kernels of package `{package}` are in its program, which no other program can link\n\
         help: move them into a library: `src/lib.rs` with a `pub mod` for each file of kernels"
    )]
    NoLibrary {
        /// The name of the package.
        package: String,
    },
    /// A text is not a problem of the kernel.
    #[error("problem `{text}`: {error}")]
    Problem {
        /// The text.
        text: String,
        /// What is wrong with the text.
        error: TextError,
    },
    /// Declarations or sources are invalid. The text of each error names the position.
    #[error("{}", all(.errors))]
    Declarations {
        /// Every error that was found.
        errors: Vec<DeclarationError>,
    },
}

/// All errors as one text. Each error except the first starts with `error: `; the caller adds this prefix to the first.
fn all(errors: &[DeclarationError]) -> String {
    let each = errors.iter().map(|error| {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        text.trim_end().to_owned()
    });
    each.collect::<Vec<_>>().join("\nerror: ")
}
