//! `tune init --own`: writes a program into a folder of a package. The program is a `tune` into which the references of
//! the package's kernels are linked.

use std::fs;
use std::path::{Component, Path, PathBuf};

use cargo_metadata::{Dependency, Package};

use crate::error::Failure;
use kiln_project::tables::write_if_changed;
use kiln_project::{Project, ProjectError, TunedKernel};

/// The folder of the program, inside the package.
const FOLDER: &str = "tune";

/// Writes the program for every package that has kernels. Existing files are not changed. If the package was read with
/// `features`, the program enables the same features. `say` receives each line of output.
///
/// # Errors
/// If a package has kernels but none of them is in its library, or a file cannot be written.
pub fn write(project: &Project, features: &[String], say: &dyn Fn(&str)) -> Result<(), Failure> {
    for package in &project.packages {
        let kernels: Vec<&TunedKernel> = project
            .kernels
            .iter()
            .filter(|kernel| kernel.package == package.name.as_str())
            .collect();
        if !kernels.is_empty() {
            one(package, &kernels, features, say)?;
        }
    }
    Ok(())
}

fn one(
    package: &Package,
    kernels: &[&TunedKernel],
    features: &[String],
    say: &dyn Fn(&str),
) -> Result<(), Failure> {
    let (linked, left_out): (Vec<&TunedKernel>, Vec<_>) =
        kernels.iter().partition(|kernel| kernel.in_library);
    if linked.is_empty() {
        return Err(ProjectError::NoLibrary {
            package: package.name.to_string(),
        }
        .into());
    }
    for kernel in left_out {
        say(&format!(
            "left out: `{}` is not in the package's library ({})\n",
            kernel.spec.name,
            kernel.file.display()
        ));
    }
    let root = package
        .manifest_path
        .parent()
        .map_or_else(PathBuf::new, |root| root.as_std_path().to_owned());
    let folder = root.join(FOLDER);
    let files = [
        ("Cargo.toml", manifest(package, &folder, features)),
        ("src/main.rs", program(package, &linked)),
        (".gitignore", "/target\n".to_owned()),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        if path.exists() {
            say(&format!("{} is there already\n", path.display()));
            continue;
        }
        let parent = path.parent().unwrap_or(&folder);
        fs::create_dir_all(parent).map_err(Failure::file("make the folder", parent))?;
        write_if_changed(&path, text)?;
        say(&format!("wrote {}\n", path.display()));
    }
    say(&format!(
        "run it in {}: cargo run --release --manifest-path {FOLDER}/Cargo.toml -- run\n",
        root.display()
    ));
    Ok(())
}

/// The manifest of the program. The program has its own workspace, so the package builds without the dependencies of
/// `tune`.
fn manifest(package: &Package, folder: &Path, features: &[String]) -> String {
    let name = &package.name;
    let mut with = "path = \"..\"".to_owned();
    if !features.is_empty() {
        let quoted: Vec<String> = features.iter().map(|name| format!("{name:?}")).collect();
        with += &format!(", features = [{}]", quoted.join(", "));
    }
    let kiln = package
        .dependencies
        .iter()
        .find(|dependency| dependency.name == "kiln-gpu");
    let tuner = kiln.map_or_else(
        || format!("{:?}", env!("CARGO_PKG_VERSION")),
        |kiln| beside(kiln, folder),
    );
    format!(
        "[package]\nname = \"{name}-tune\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [[bin]]\nname = \"tune\"\npath = \"src/main.rs\"\n\n\
         [dependencies]\n{name} = {{ {with} }}\nkiln-tuner = {tuner}\n\n\
         # A workspace of its own: the package is built without what `tune` depends on.\n[workspace]\n"
    )
}

/// The dependency on `kiln-tuner`, from the same source (path, git or registry) as the package's dependency on `kiln`.
fn beside(kiln: &Dependency, folder: &Path) -> String {
    if let Some(path) = &kiln.path {
        let tuner = path
            .parent()
            .map_or_else(PathBuf::new, |root| root.as_std_path().join("tuner"));
        return format!("{{ path = {:?} }}", relative(folder, &tuner));
    }
    let git = kiln
        .source
        .as_ref()
        .and_then(|source| source.repr.strip_prefix("git+").map(str::to_owned));
    let Some(git) = git else {
        return format!("{:?}", kiln.req.to_string());
    };
    let (url, query) = git.split_once('?').unwrap_or((&git, ""));
    let query = query.split('#').next().unwrap_or_default();
    let at: String = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| format!(", {key} = {value:?}"))
        .collect();
    format!("{{ git = {url:?}{at} }}")
}

/// A path relative to a folder. The manifest can be committed because it contains no absolute paths. Both arguments
/// must be absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<_>) =
        (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| Component::ParentDir);
    up.chain(to[common..].iter().copied()).collect()
}

/// The source of the program: a list of the kernels, and a call of `kiln_tuner::main`.
fn program(package: &Package, kernels: &[&TunedKernel]) -> String {
    let lines: String = kernels
        .iter()
        .map(|kernel| format!("    &{}::{}::KERNEL,\n", kernel.module, kernel.spec.name))
        .collect();
    format!(
        "//! `tune` with the references of the kernels of `{}`: what it finds is compared with them, and so *verified*.\n\n\
         /// Every kernel of the package; a new one is added here. Its function and modules are `pub`.\n\
         static KERNELS: &[&kiln_tuner::Kernel] = &[\n{lines}];\n\n\
         fn main() -> std::process::ExitCode {{\n    kiln_tuner::main(KERNELS)\n}}\n",
        package.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_seen_from_the_folder() {
        let seen = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(
            seen("/a/mine/tune", "/a/kiln/tuner"),
            Path::new("../../kiln/tuner")
        );
        assert_eq!(seen("/a/tune", "/b/tuner"), Path::new("../../b/tuner"));
        assert_eq!(seen("/a", "/a/tuner"), Path::new("tuner"));
    }

    #[test]
    fn the_tuner_comes_from_where_kiln_comes_from() {
        let dependency = |fields: serde_json::Value| -> Dependency {
            let mut all = serde_json::json!({
                "name": "kiln-gpu", "req": "^0.1", "kind": null, "optional": false,
                "uses_default_features": true, "features": [], "target": null,
            });
            for (key, value) in fields.as_object().into_iter().flatten() {
                all[key] = value.clone();
            }
            serde_json::from_value(all).unwrap()
        };
        let folder = Path::new("/home/me/mine/tune");
        let path = dependency(serde_json::json!({"path": "/home/me/kiln/runtime"}));
        assert_eq!(beside(&path, folder), "{ path = \"../../kiln/tuner\" }");
        let git = dependency(
            serde_json::json!({"req": "*", "source": "git+https://host/kiln?rev=0a1b#0a1b"}),
        );
        assert_eq!(
            beside(&git, folder),
            "{ git = \"https://host/kiln\", rev = \"0a1b\" }"
        );
        let registry = dependency(
            serde_json::json!({"source": "registry+https://github.com/rust-lang/crates.io-index"}),
        );
        assert_eq!(beside(&registry, folder), "\"^0.1\"");
    }
}
