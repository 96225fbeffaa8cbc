//! Reads the files of the macro: the kernel's source with its includes, only from inside the package.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use kiln_spec::source::{ReadError, SourceError, SourceText};

/// Maximum size of a file, in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 1 << 20;

/// The folder of baked tables, instead of the package's `tuned/`.
pub(crate) const TUNED_VARIABLE: &str = "KILN_TUNED";
/// If `1`, a missing or stale row is an error.
pub(crate) const STRICT_VARIABLE: &str = "KILN_STRICT";

/// The place where a kernel is declared, and how strict its build is.
#[derive(Clone, Debug)]
pub(crate) struct DeclarationSite {
    /// The package's folder: the nearest one with a `Cargo.toml` above the file that declares the kernel.
    pub(crate) root: PathBuf,
    /// That file's folder, relative to `root`.
    pub(crate) folder: PathBuf,
    /// The package's name.
    pub(crate) package: String,
    /// The folder of baked tables.
    pub(crate) tuned: PathBuf,
    /// Whether a kernel without rows, or with stale rows, is an error.
    pub(crate) strict: bool,
}

impl DeclarationSite {
    /// The place of the attribute that is being expanded.
    pub(crate) fn of_call() -> DeclarationSite {
        let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let file = proc_macro::Span::call_site().local_file();
        let mut site = DeclarationSite::new(
            file.as_deref(),
            manifest_dir.as_deref().unwrap_or(Path::new(".")),
            env::var("CARGO_PKG_NAME").unwrap_or_default(),
        );
        if let Some(tuned) = env::var_os(TUNED_VARIABLE).filter(|value| !value.is_empty()) {
            site.tuned = site.root.join(tuned);
        }
        site.strict = env::var(STRICT_VARIABLE).is_ok_and(|value| value == "1");
        site
    }

    /// The place of a file. An editor's analyser may not know the file; then it is searched from the package.
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
            root,
            folder: folder.map_or(manifest_dir, Path::to_path_buf),
            package,
            strict: false,
        }
    }

    /// A path in the form of messages: relative to the package, so that they are the same everywhere.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        below.display().to_string()
    }

    /// Reads and expands a kernel's source; its files are named relative to the package.
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

    /// The file with this name, which must be in the package after all links are resolved.
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

/// An expanded source and its files.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// The expanded source.
    pub(crate) text: SourceText,
    /// Its files; a change of one must cause a rebuild.
    pub(crate) paths: Vec<PathBuf>,
}

/// Reads a source file.
fn read(path: &Path) -> Result<String, ReadError> {
    let bytes = read_bytes(path, MAX_FILE_BYTES)?;
    String::from_utf8(bytes).map_err(|_| ReadError::NotText)
}

/// Reads a regular file of modest size.
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
