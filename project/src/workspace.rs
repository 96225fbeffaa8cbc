//! Describes a workspace. The description comes from cargo or, on a machine without cargo, from a file with cargo's
//! output.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package};
use serde_json::Value;

use super::error::ProjectError;
use super::selection::PackageSelection;

/// Describes the workspace that a selection names, or the workspace of the current folder.
///
/// # Errors
/// If there is no workspace, if cargo cannot be started, or if the file that contains cargo's output cannot be used.
pub fn describe(selection: &PackageSelection) -> Result<Metadata, ProjectError> {
    match &selection.cargo_metadata {
        Some(file) => kept(file),
        None => asked(selection.manifest_path.as_deref()),
    }
}

fn asked(manifest: Option<&Path>) -> Result<Metadata, ProjectError> {
    let mut command = MetadataCommand::new();
    if let Some(path) = manifest {
        command.manifest_path(path);
    }
    command.no_deps().exec().map_err(|error| match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            let from = stderr.find("error: ").unwrap_or(0);
            let text = stderr[from..].trim();
            ProjectError::Metadata {
                text: text.strip_prefix("error: ").unwrap_or(text).to_owned(),
            }
        }
        cargo_metadata::Error::Io(error) => ProjectError::NoCargo {
            text: error.to_string(),
        },
        other => ProjectError::Metadata {
            text: other.to_string(),
        },
    })
}

/// Reads a file with the output of another machine's cargo. The file must be in the root of the workspace. Paths
/// below the old root become paths below the current root.
fn kept(file: &Path) -> Result<Metadata, ProjectError> {
    let wrong = |why: String| ProjectError::Kept {
        file: file.to_owned(),
        why,
    };
    let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let mut answer: Value =
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let then = answer["workspace_root"].as_str().map(PathBuf::from);
    let then = then.ok_or_else(|| wrong("it has no `workspace_root`".into()))?;
    let now = std::path::absolute(file).map_err(|error| wrong(error.to_string()))?;
    let now = now.parent().unwrap_or(Path::new("/"));
    move_paths(&mut answer, &then, now);
    let metadata: Metadata =
        serde_json::from_value(answer).map_err(|error| wrong(error.to_string()))?;
    let manifests = metadata
        .packages
        .iter()
        .map(|package| &package.manifest_path);
    match manifests.into_iter().find(|manifest| !manifest.exists()) {
        Some(missing) => Err(wrong(format!("there is no {missing}"))),
        None => Ok(metadata),
    }
}

/// Replaces the folder `from` by `to` at the start of paths, in every string of a JSON value.
fn move_paths(value: &mut Value, from: &Path, to: &Path) {
    match value {
        Value::String(text) => {
            if let Ok(rest) = Path::new(text.as_str()).strip_prefix(from) {
                // Joining an empty path would append a slash to the folder.
                let moved = if rest.as_os_str().is_empty() {
                    to.to_owned()
                } else {
                    to.join(rest)
                };
                *text = moved.to_string_lossy().into_owned();
            }
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| move_paths(value, from, to)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|value| move_paths(value, from, to)),
        _ => {}
    }
}

/// The folder that contains the manifest of a package.
pub fn root_of(package: &Package) -> PathBuf {
    package
        .manifest_path
        .parent()
        .map_or_else(|| PathBuf::from("."), |path| path.as_std_path().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_old_root_are_moved() {
        let mut answer = serde_json::json!({
            "workspace_root": "/a/b",
            "packages": [{"manifest_path": "/a/b/c/Cargo.toml", "id": "path+file:///a/b/c#c@0.1.0"}],
            "target_directory": "/elsewhere/target",
            "other": "/a/bc",
        });
        move_paths(&mut answer, Path::new("/a/b"), Path::new("/x"));
        let moved = serde_json::json!({
            "workspace_root": "/x",
            "packages": [{"manifest_path": "/x/c/Cargo.toml", "id": "path+file:///a/b/c#c@0.1.0"}],
            "target_directory": "/elsewhere/target",
            "other": "/a/bc",
        });
        assert_eq!(answer, moved);
    }
}
