//! Errors of reading a project's kernels.

use std::path::PathBuf;

use kiln_spec::TextError;
use thiserror::Error;

use super::declaration_error::DeclarationError;

/// Why a project's kernels could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// Cargo cannot describe the package.
    #[error(
        "cannot read the package: {text}\nhelp: run it in a package, or name one with `--manifest-path`"
    )]
    Metadata {
        /// Cargo's message.
        text: String,
    },
    /// Cargo cannot be started.
    #[error(
        "cannot start cargo: {text}\nhelp: put cargo on the PATH, set CARGO to it, or keep its answer from another machine: `--cargo-metadata`"
    )]
    NoCargo {
        /// The system's error.
        text: String,
    },
    /// Saved cargo metadata cannot be used.
    #[error(
        "cannot read the workspace from {}: {why}\nhelp: write it in the workspace's root with `cargo metadata --no-deps --format-version 1`", .file.display()
    )]
    Kept {
        /// The file.
        file: PathBuf,
        /// The error.
        why: String,
    },
    /// The workspace does not have this package.
    #[error(
        "the workspace has no package `{wanted}` (it has: {known})\nhelp: choose one of them with `--package`"
    )]
    NoPackage {
        /// The requested name.
        wanted: String,
        /// The existing packages.
        known: String,
    },
    /// A setting in a package's manifest is invalid.
    #[error(
        "package `{package}`: `package.metadata.kiln.{name}` is {value}\nhelp: the one setting is `tune`, which is true or false"
    )]
    Setting {
        /// The package.
        package: String,
        /// The setting.
        name: String,
        /// Its value.
        value: String,
    },
    /// The project does not have this kernel.
    #[error("no kernel `{wanted}` (found: {known})\nhelp: run `tune list`")]
    NoKernel {
        /// The requested name.
        wanted: String,
        /// The existing kernels.
        known: String,
    },
    /// The kernel, or every kernel, is behind disabled features.
    #[error("{kernels}\nhelp: add `--features {features}`")]
    Hidden {
        /// The kernels and their features, one per line.
        kernels: String,
        /// The value for `--features`.
        features: String,
    },
    /// The project has no kernels.
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
    /// No kernel of a package can be linked into another program.
    #[error(
        "the kernels of package `{package}` are in its program, which no other program can link\n\
         help: move them into a library: `src/lib.rs` with a `pub mod` for each file of kernels"
    )]
    NoLibrary {
        /// The package.
        package: String,
    },
    /// A text is not a problem of the kernel.
    #[error("problem `{text}`: {error}")]
    Problem {
        /// The text.
        text: String,
        /// Why it is not.
        error: TextError,
    },
    /// A declaration or source is invalid; the text names the place.
    #[error("{}", all(.errors))]
    Declarations {
        /// The errors.
        errors: Vec<DeclarationError>,
    },
}

/// All errors as one text. Each but the first starts with `error: `, which the printer of the text adds to the first.
fn all(errors: &[DeclarationError]) -> String {
    let each = errors.iter().map(|error| {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        text.trim_end().to_owned()
    });
    each.collect::<Vec<_>>().join("\nerror: ")
}
