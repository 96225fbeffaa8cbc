//! Reads the files of the macro: the kernel's source with its includes. It only reads files inside the package.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use kiln_spec::KernelSpec;
use kiln_spec::baked::{
    STRICT_VARIABLE, StrictError, TUNED_VARIABLE, is_strict, local_tables_folder,
};
use kiln_spec::source::{ReadError, SourceError, SourceText};

/// Maximum size of a source file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Where a kernel is declared, and whether its build is strict.
#[derive(Clone, Debug)]
pub(crate) struct DeclarationSite {
    /// The folder of the package: the nearest folder with a `Cargo.toml` above the file that declares the kernel.
    pub(crate) root: PathBuf,
    /// The folder of the declaring file.
    pub(crate) folder: PathBuf,
    /// The name of the package.
    pub(crate) package: String,
    /// The folder of the package's baked tables.
    pub(crate) tuned: PathBuf,
    /// The folder of local tables that `KILN_TUNED` names.
    pub(crate) local: Option<PathBuf>,
    /// Whether the build is strict, which makes it an error if a kernel has no rows or stale rows. `Err` if
    /// `KILN_STRICT` has an unknown value.
    pub(crate) strict: Result<bool, StrictError>,
}

impl DeclarationSite {
    /// The site of the kernel whose attribute is being expanded.
    pub(crate) fn of_call() -> DeclarationSite {
        let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let file = proc_macro::Span::call_site().local_file();
        let mut site = DeclarationSite::new(
            file.as_deref(),
            manifest_dir.as_deref().unwrap_or(Path::new(".")),
            env::var("CARGO_PKG_NAME").unwrap_or_default(),
        );
        let given = env::var_os(TUNED_VARIABLE);
        site.local = local_tables_folder(given, &site.root, &site.package);
        let strict = env::var_os(STRICT_VARIABLE).filter(|_| {
            let is_primary = env::var_os("CARGO_PRIMARY_PACKAGE").is_some();
            let folder = env::current_dir().and_then(fs::canonicalize);
            is_own(is_primary, folder.ok().as_deref(), &site.root)
        });
        site.strict = is_strict(
            strict
                .map(|value| value.to_string_lossy().into_owned())
                .as_deref(),
        );
        site
    }

    /// The site of a kernel that `file` declares. In an editor's analyser, `file` may be `None`; the folder of the
    /// package's manifest is then used instead of the file's folder.
    pub(crate) fn new(
        file: Option<&Path>,
        manifest_dir: &Path,
        package: String,
    ) -> DeclarationSite {
        let absolute = file.and_then(|file| fs::canonicalize(file).ok());
        let folder = absolute.as_deref().and_then(Path::parent);
        let root = folder.and_then(|folder| {
            folder
                .ancestors()
                .find(|folder| folder.join("Cargo.toml").is_file())
        });
        let manifest_dir = fs::canonicalize(manifest_dir).unwrap_or(manifest_dir.into());
        let root = root.map_or_else(|| manifest_dir.clone(), Path::to_path_buf);
        DeclarationSite {
            tuned: root.join("tuned"),
            local: None,
            root,
            folder: folder.map_or(manifest_dir, Path::to_path_buf),
            package,
            strict: Ok(false),
        }
    }

    /// The text of a `help:` line that says how to bake the first row of a kernel that is declared here.
    pub(crate) fn how_to_tune(&self, spec: &KernelSpec) -> String {
        let below = self.folder.strip_prefix(&self.root).ok();
        let first = below.and_then(|below| below.iter().next()?.to_str());
        match first {
            Some(folder @ ("benches" | "examples" | "tests")) => format!(
                "`tune` does not look for kernels in `{folder}/`: declare the kernel in the library or in a program; \
                 if it is meant to be untuned, add `untuned = allow`"
            ),
            _ => spec.how_to_tune(),
        }
    }

    /// A path for messages. It is relative to the package, so that messages are the same on every machine.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        below.display().to_string()
    }

    /// Reads and expands a kernel's source. The names of its files are relative to the package.
    pub(crate) fn load_source(&self, source: &str) -> Result<Loaded, SourceError> {
        let below = self.folder.strip_prefix(&self.root).unwrap_or(&self.folder);
        let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
        let mut parts = parts.unwrap_or_default();
        parts.push(source);
        let mut paths = Vec::new();
        let text = SourceText::load(&parts.join("/"), &mut |name| {
            let path = self.inside(name)?;
            let text = read(&path)?;
            paths.push(path);
            Ok(text)
        })?;
        paths.sort();
        paths.dedup();
        Ok(Loaded { text, paths })
    }

    /// The path of the file with this name. It must be inside the package after all links are resolved.
    fn inside(&self, name: &str) -> Result<PathBuf, ReadError> {
        let path = self.root.join(name);
        let real = fs::canonicalize(&path).map_err(|error| ReadError::unresolved(&path, &error))?;
        let root = fs::canonicalize(&self.root)?;
        if real.starts_with(&root) {
            Ok(path)
        } else {
            Err(ReadError::LinkOutside)
        }
    }
}

/// Whether the package in the folder `root` belongs to the workspace that is built. The tables of other packages cannot
/// be changed by the user. Cargo starts the compiler in the folder of the workspace for its members, and in the package's
/// own folder for other packages. It marks the packages that the user asked for as primary.
fn is_own(is_primary: bool, compiler_folder: Option<&Path>, root: &Path) -> bool {
    is_primary || compiler_folder.is_none_or(|folder| folder != root)
}

/// An expanded source, and the files from which it was read.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// The expanded source.
    pub(crate) text: SourceText,
    /// The files that were read. The build must be repeated if one of them changes.
    pub(crate) paths: Vec<PathBuf>,
}

/// Reads a source file as UTF-8 text.
fn read(path: &Path) -> Result<String, ReadError> {
    let bytes = read_bytes(path, MAX_FILE_BYTES)?;
    String::from_utf8(bytes).map_err(|_| ReadError::NotText)
}

/// Reads a regular file that has at most `limit_bytes` bytes.
pub(crate) fn read_bytes(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(ReadError::NotAFile);
    }
    if meta.len() > limit_bytes {
        return Err(ReadError::TooLarge { limit_bytes });
    }
    Ok(fs::read(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strictness_concerns_the_packages_of_the_workspace_that_is_built() {
        let [workspace, member, other] = ["/w", "/w/member", "/other"].map(Path::new);
        assert!(is_own(true, Some(workspace), workspace), "the root package");
        assert!(is_own(true, Some(workspace), member), "a member by name");
        assert!(
            is_own(false, Some(workspace), member),
            "a member that another one needs"
        );
        assert!(!is_own(false, Some(other), other), "a path dependency");
        assert!(
            is_own(false, None, member),
            "a compiler in an unknown folder"
        );
    }
}
