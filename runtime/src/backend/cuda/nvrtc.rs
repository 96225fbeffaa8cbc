//! Finds NVRTC, NVIDIA's run-time compiler. NVRTC is a library that needs neither a GPU nor a driver.
//!
//! These places are searched in order:
//!
//! 1. `KILN_NVRTC`, which is a file or a folder that contains NVRTC at some depth. The folder can be a toolkit, a
//!    virtual environment, or the folder of a wheel. If the variable is set, no other place is searched.
//! 2. The wheel that `cargo xtask setup` installs into `target/nvrtc`.
//! 3. `CUDA_PATH` and `CUDA_HOME`.
//! 4. The active Python or conda environment: `VIRTUAL_ENV` and `CONDA_PREFIX`.
//! 5. The system's loader.
//! 6. `/usr/local/cuda`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kiln_spec::Hash;

use crate::backend::python;
use crate::backend::shared_library::{self, LibraryError};
use crate::compiler::{CompileError, in_workspace};

use super::ffi::Nvrtc;
use super::library_error::NvrtcLibraryError;

/// The names by which the system's loader is asked for NVRTC, newest version first.
const LOADER_NAMES: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

/// The help that explains how to install an NVRTC whose images the driver can load. `newest_major` is the newest major
/// version of CUDA that the driver supports; if it is not known, the help recommends the newest NVRTC. NVRTC before 13.3
/// does not contain the CUDA headers, so they are installed with it.
fn help(newest_major: Option<u32>) -> String {
    let wheels = match newest_major {
        Some(12) => {
            "nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-cccl-cu12==12.9.27 \
             nvidia-cuda-nvcc-cu12==12.9.86"
        }
        _ => "nvidia-cuda-nvrtc==13.5.37",
    };
    format!(
        "python3 -m venv nvrtc && nvrtc/bin/pip install --no-deps {wheels}, then set KILN_NVRTC to that folder (`cargo \
         xtask setup` does both in Kiln's own workspace)"
    )
}

/// The help if `KILN_NVRTC` is set but no NVRTC is found with it.
const CORRECT: &str = "set KILN_NVRTC to the file of an NVRTC or a folder that holds one, or unset it to search the \
                       other places";

/// A loaded NVRTC, and its properties.
pub(super) struct NvrtcLibrary {
    /// The functions of the library.
    pub nvrtc: Nvrtc,
    /// The path of the library.
    pub file: PathBuf,
    /// The major and minor version.
    pub version: (u32, u32),
    /// Distinguishes this build from other builds of the same version.
    pub build: String,
}

/// The versions of NVRTC that the caller can use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WantedVersions {
    /// The newest major version whose images the driver can load. `None` if there is no driver, so any version can be
    /// used.
    pub newest_major: Option<u32>,
}

/// Finds and loads the first NVRTC of a wanted version. Each file is loaded once per process.
///
/// # Errors
/// [`CompileError::NotFound`], with every place that was searched and the reason why it has no usable NVRTC.
pub(super) fn find(wanted: WantedVersions) -> Result<Arc<NvrtcLibrary>, CompileError> {
    let mut looked = Vec::new();
    for (place, files) in places() {
        if files.is_empty() {
            looked.push(format!("{place}: no libnvrtc.so"));
        }
        for file in files {
            match load(&file, wanted) {
                Ok(library) => return Ok(library),
                Err(reason) => looked.push(format!("{place}: {reason}")),
            }
        }
    }
    match not_found(&looked, wanted) {
        CompileError::NotFound { what, looked, .. } if given().is_some() => {
            let help = CORRECT.into();
            Err(CompileError::NotFound { what, looked, help })
        }
        error => Err(error),
    }
}

/// The value of `KILN_NVRTC`; `None` if it is unset or empty.
fn given() -> Option<PathBuf> {
    let given = std::env::var_os("KILN_NVRTC").filter(|value| !value.is_empty());
    given.map(PathBuf::from)
}

/// Loads the NVRTC at a path. If the path is a folder, loads the newest NVRTC below it.
///
/// # Errors
/// [`CompileError::NotFound`] with the reason.
pub(super) fn at(place: &Path) -> Result<Arc<NvrtcLibrary>, CompileError> {
    let files = files_in(place);
    if files.is_empty() {
        return Err(not_found(
            &[format!("{}: no libnvrtc.so", place.display())],
            WantedVersions::default(),
        ));
    }
    let mut looked = Vec::new();
    for file in files {
        match load(&file, WantedVersions::default()) {
            Ok(library) => return Ok(library),
            Err(reason) => looked.push(reason.to_string()),
        }
    }
    Err(not_found(&looked, WantedVersions::default()))
}

fn not_found(looked: &[String], wanted: WantedVersions) -> CompileError {
    CompileError::NotFound {
        what: "NVRTC".into(),
        looked: looked.join("; "),
        help: help(wanted.newest_major),
    }
}

/// The places to search, in order. Each has a description and the NVRTC files that are there.
fn places() -> Vec<(String, Vec<PathBuf>)> {
    if let Some(given) = given() {
        return vec![(format!("KILN_NVRTC={}", given.display()), files_in(&given))];
    }
    let mut places = Vec::new();
    if let Some(installed) = in_workspace("nvrtc") {
        places.push((installed.display().to_string(), files_in(&installed)));
    }
    places.extend(named_by(|name| std::env::var_os(name)));
    let named = LOADER_NAMES
        .iter()
        .flat_map(|name| shared_library::candidates(name));
    places.push(("the loader's folders".into(), named.collect()));
    // NVIDIA's installer does not tell the loader about this folder.
    let toolkit = Path::new("/usr/local/cuda");
    if toolkit.is_dir() {
        places.push((toolkit.display().to_string(), files_in(toolkit)));
    }
    places
}

/// The toolkits and the active Python environments that variables name.
fn named_by(variable: impl Fn(&str) -> Option<OsString>) -> Vec<(String, Vec<PathBuf>)> {
    let names = ["CUDA_PATH", "CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX"];
    let named = names.into_iter().filter_map(|name| {
        let root = variable(name).filter(|value| !value.is_empty())?;
        let files = files_in(Path::new(&root));
        // A toolkit has NVRTC. An environment need not have it.
        let counts = name.starts_with("CUDA") || !files.is_empty();
        counts.then(|| (format!("{name}={}", root.display()), files))
    });
    named.collect()
}

/// The NVRTC files in a folder, newest first. If `place` is a file, only that file.
fn files_in(place: &Path) -> Vec<PathBuf> {
    if !place.is_dir() {
        return place
            .exists()
            .then(|| place.to_owned())
            .into_iter()
            .collect();
    }
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in library_folders(place) {
        let mut here: Vec<PathBuf> = entries(&folder)
            .into_iter()
            .filter(|path| version_in_name(path).is_some())
            .collect();
        here.sort_by_key(|path| std::cmp::Reverse(version_in_name(path)));
        for path in here {
            // A toolkit contains the same file under several names.
            let same = |other: &PathBuf| other.canonicalize().ok() == path.canonicalize().ok();
            if !found.iter().any(same) {
                found.push(path);
            }
        }
    }
    found
}

/// The folders below `root` that may contain libraries. `root` is a toolkit, NVIDIA's HPC SDK, a system's `/usr`, a
/// virtual environment, or the folder of a wheel.
fn library_folders(root: &Path) -> Vec<PathBuf> {
    let in_environment = python::site_packages(root);
    let packages = std::iter::once(root.to_owned()).chain(in_environment);
    let packages = packages.map(|folder| folder.join("nvidia"));
    let mut folders = vec![root.to_owned(), root.join("lib64"), root.join("lib")];
    folders.extend(
        entries(&root.join("targets"))
            .into_iter()
            .map(|target| target.join("lib")),
    );
    let of_system = |folder: &PathBuf| folder.to_string_lossy().ends_with("-linux-gnu");
    folders.extend(entries(&root.join("lib")).into_iter().filter(of_system));
    // The HPC SDK has a folder for each version of CUDA.
    folders.extend(
        entries(&root.join("cuda"))
            .into_iter()
            .map(|version| version.join("lib64")),
    );
    for package in packages {
        folders.extend(entries(&package).into_iter().map(|part| part.join("lib")));
    }
    folders
}

/// The entries of a folder, sorted by name; none if it cannot be read.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The version numbers after `libnvrtc.so` in a file's name. `None` if the file has another name.
fn version_in_name(path: &Path) -> Option<Vec<u32>> {
    let rest = path.file_name()?.to_str()?.strip_prefix("libnvrtc.so")?;
    if rest.is_empty() {
        return Some(Vec::new());
    }
    let numbers = rest.strip_prefix('.')?.split('.');
    numbers.map(|number| number.parse().ok()).collect()
}

/// Loads a file. If the file is already loaded, returns the loaded library.
fn load(file: &Path, wanted: WantedVersions) -> Result<Arc<NvrtcLibrary>, NvrtcLibraryError> {
    // Libraries are never closed, because the compiler has threads and registrations for which the library must stay
    // loaded.
    static LOADED: Mutex<Vec<Arc<NvrtcLibrary>>> = Mutex::new(Vec::new());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let known = loaded.iter().find(|library| library.file == file).cloned();
    let library = match known {
        Some(library) => library,
        None => {
            let library = Arc::new(NvrtcLibrary::load(&file)?);
            loaded.push(library.clone());
            library
        }
    };
    let (major, minor) = library.version;
    match wanted.newest_major {
        Some(newest) if major > newest => {
            let newer = NvrtcLibraryError::NewerThanDriver {
                major,
                minor,
                newest,
            };
            Err(NvrtcLibraryError::of_file(&file, newer))
        }
        _ => Ok(library),
    }
}

impl NvrtcLibrary {
    fn load(file: &Path) -> Result<NvrtcLibrary, NvrtcLibraryError> {
        let checked = |path: &Path| {
            let checked = shared_library::check(path).map_err(LibraryError::from);
            checked.map_err(|error| NvrtcLibraryError::of_file(path, error))
        };
        checked(file)?;
        let folder = file.parent().unwrap_or(Path::new("."));
        let is_builtins = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("libnvrtc-builtins.so")
        };
        let builtins: Vec<PathBuf> = entries(folder).into_iter().filter(is_builtins).collect();
        for path in &builtins {
            checked(path)?;
        }
        let nvrtc = Nvrtc::load(file, &builtins)?;
        let version = nvrtc.version();
        let version = version.map_err(|error| NvrtcLibraryError::of_file(file, error))?;
        let needed = format!("libnvrtc-builtins.so.{}.{}", version.0, version.1);
        let beside = builtins.iter().any(|path| path.ends_with(&needed));
        if !beside && shared_library::candidates(&needed).is_empty() {
            let missing = NvrtcLibraryError::Missing;
            return Err(NvrtcLibraryError::of_file(&folder.join(&needed), missing));
        }
        Ok(NvrtcLibrary {
            nvrtc,
            file: file.to_owned(),
            version,
            build: build_of(file),
        })
    }
}

/// The build ID that the linker wrote, or else the hash of the file.
fn build_of(file: &Path) -> String {
    shared_library::build_id(file).unwrap_or_else(|| {
        let bytes = fs::read(file).unwrap_or_default();
        Hash::of("nvrtc", &bytes).to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn what_is_to_be_installed_is_of_a_version_that_the_driver_takes() {
        let driver_of_12 = WantedVersions {
            newest_major: Some(12),
        };
        let error = not_found(&[], driver_of_12).to_string();
        assert!(error.contains("nvidia-cuda-nvrtc-cu12==12."), "{error}");
        let error = not_found(&[], WantedVersions::default()).to_string();
        assert!(error.contains("nvidia-cuda-nvrtc==13."), "{error}");
    }

    #[test]
    fn a_virtual_environment_a_toolkit_and_a_bare_folder_are_all_looked_through() {
        let layouts = [
            "lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "lib64/libnvrtc.so.12",
            "targets/x86_64-linux/lib/libnvrtc.so.12.9.86",
            "lib/x86_64-linux-gnu/libnvrtc.so.12",
            "cuda/12.6/lib64/libnvrtc.so.12",
            "libnvrtc.so",
        ];
        for layout in layouts {
            let root = tempfile::tempdir().unwrap();
            touch(&root.path().join(layout));
            assert_eq!(files_in(root.path()), [root.path().join(layout)]);
        }
    }

    #[test]
    fn an_active_environment_counts_if_it_has_nvrtc_and_a_toolkit_always() {
        let root = tempfile::tempdir().unwrap();
        let file = root
            .path()
            .join("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
        touch(&file);
        let found = named_by(|name| match name {
            "CUDA_PATH" => Some("/no/toolkit".into()),
            "CUDA_HOME" => Some(OsString::new()),
            "VIRTUAL_ENV" => Some(root.path().join("venv").into()),
            _ => Some(root.path().join("conda").into()),
        });
        let [toolkit, environment] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(toolkit, &("CUDA_PATH=/no/toolkit".into(), Vec::new()));
        assert!(environment.0.starts_with("VIRTUAL_ENV="), "{environment:?}");
        assert_eq!(environment.1, [file]);
    }

    #[test]
    fn the_newest_of_a_folder_comes_first_and_other_libraries_do_not_count() {
        let root = tempfile::tempdir().unwrap();
        for name in [
            "libnvrtc.so.12",
            "libnvrtc.so.13",
            "libnvrtc.so.9",
            "libnvrtc-builtins.so.13.5",
            "libnvrtc.alt.so.13",
            "libnvrtc.so.13.sig",
        ] {
            touch(&root.path().join(name));
        }
        let names: Vec<_> = files_in(root.path())
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.9"]);
    }

    #[test]
    fn one_file_under_two_names_is_tried_once() {
        let root = tempfile::tempdir().unwrap();
        touch(&root.path().join("libnvrtc.so.12.9.86"));
        let link = root.path().join("libnvrtc.so.12");
        std::os::unix::fs::symlink("libnvrtc.so.12.9.86", link).unwrap();
        assert_eq!(files_in(root.path()).len(), 1);
    }

    #[test]
    fn a_place_without_nvrtc_is_named_with_what_to_install() {
        let root = tempfile::tempdir().unwrap();
        for place in [root.path().to_owned(), root.path().join("none")] {
            let error = at(&place).err().expect("there is no library").to_string();
            assert!(error.contains(&place.display().to_string()), "{error}");
            assert!(error.contains("help: "), "{error}");
        }
        touch(&root.path().join("libnvrtc.so.13"));
        let error = at(root.path()).err().expect("it is empty").to_string();
        assert!(error.contains("libnvrtc.so.13: it is empty"), "{error}");
    }
}
