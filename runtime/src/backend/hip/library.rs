//! Finds the HIP runtime.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::backend::shared_library::{self, LibraryError};
use crate::device::error::DeviceError;

use super::ffi::Hip;
use super::rocm;

/// The file names of the library in ROCm 7, 6 and 5, and in the development package.
const NAMES: [&str; 4] = [
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "libamdhip64.so",
];

/// The HIP runtime of this process, and its number of devices.
#[derive(Clone, Debug)]
pub(super) struct Runtime {
    /// The loaded library.
    pub hip: Arc<Hip>,
    /// The number of devices that the runtime reports.
    pub devices: u32,
    /// The file or name with which it was loaded.
    pub name: PathBuf,
}

/// The HIP runtime of this process. The first call loads and initialises it.
///
/// # Errors
/// [`DeviceError::NotFound`] if there is no library, if none can be loaded, or if the runtime has no device.
pub(super) fn runtime() -> Result<Runtime, DeviceError> {
    static RUNTIME: OnceLock<Result<Runtime, DeviceError>> = OnceLock::new();
    RUNTIME.get_or_init(find).clone()
}

impl Runtime {
    /// Loads and initialises the runtime at a path.
    ///
    /// # Errors
    /// The errors of [`runtime`].
    pub fn of(file: &Path) -> Result<Runtime, DeviceError> {
        let named = |error| format!("{}: {error}", file.display());
        let hip = load_file(file).map_err(|error| no_runtime(named(error)))?;
        start(hip, file.into())
    }
}

/// Loads `$KILN_HIP_LIBRARY` if it is set, otherwise the installed library.
fn find() -> Result<Runtime, DeviceError> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(given) = set("KILN_HIP_LIBRARY") {
        return Runtime::of(Path::new(&given));
    }
    let folders = rocm::roots();
    let mut unfit = Vec::new();
    let mut refused = None;
    for file in installed(&folders) {
        match load_file(&file) {
            // A runtime that finds no device may be of another version than the kernel's module.
            Ok(hip) => match start(hip, file) {
                Ok(runtime) => return Ok(runtime),
                Err(error) => refused = refused.or(Some(error)),
            },
            Err(text) => unfit.push(format!("{}: {text}", file.display())),
        }
    }
    if let Some(error) = refused {
        return Err(error);
    }
    if unfit.is_empty() {
        let [newest, .., plain] = NAMES;
        unfit.push(format!(
            "no {newest} to {plain} on the loader's path, in {}",
            rocm::PLACES
        ));
    }
    Err(no_runtime(unfit.join("; ")))
}

/// The files of the library, with the newest version first. For each name, the files that the loader would use come
/// before those in ROCm's folders.
fn installed(folders: &[PathBuf]) -> Vec<PathBuf> {
    let of_name = |name| {
        let by_loader = shared_library::candidates(name).into_iter();
        let in_folders = folders.iter().map(|folder| folder.join("lib").join(name));
        let in_folders: Vec<PathBuf> = in_folders.filter(|file| file.exists()).collect();
        by_loader.chain(in_folders)
    };
    shared_library::different_files(NAMES.into_iter().flat_map(of_name))
}

/// Loads a file after checking that it is complete. Without the check, the loader would map a truncated file, and the
/// process would crash later.
fn load_file(path: &Path) -> Result<Arc<Hip>, LibraryError> {
    shared_library::check(path)?;
    Ok(Arc::new(Hip::load(path)?))
}

/// Initialises the runtime. Returns an error if it has no device.
fn start(hip: Arc<Hip>, name: PathBuf) -> Result<Runtime, DeviceError> {
    let none = |text: String| DeviceError::NotFound {
        what: "an AMD GPU".into(),
        text: format!("{}: {text}", name.display()),
    };
    match hip.device_count() {
        Ok(0) => Err(none("the runtime counts 0 devices".into())),
        Ok(devices) => Ok(Runtime { hip, devices, name }),
        Err(failure) if failure.means_no_device() => Err(none(failure.to_string())),
        Err(failure) => {
            let text = format!("{}: {failure}", name.display());
            Err(no_runtime(text))
        }
    }
}

fn no_runtime(text: String) -> DeviceError {
    DeviceError::NotFound {
        what: "the HIP runtime".into(),
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_rocm_is_looked_into_for_every_name_newest_first() {
        let rocm = tempfile::tempdir().unwrap();
        let lib = rocm.path().join("lib");
        std::fs::create_dir(&lib).unwrap();
        for name in ["libamdhip64.so", "libamdhip64.so.6"] {
            std::fs::write(lib.join(name), "").unwrap();
        }
        let found = installed(&[rocm.path().to_owned()]);
        let here: Vec<_> = found.iter().filter(|file| file.starts_with(&lib)).collect();
        assert_eq!(
            here,
            [&lib.join("libamdhip64.so.6"), &lib.join("libamdhip64.so")]
        );
    }

    #[test]
    fn a_file_that_is_no_library_is_never_given_to_the_loader() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libamdhip64.so.6");
        std::fs::write(&path, "INPUT(libamdhip64.so.6.2)").unwrap();
        let error = load_file(&path).unwrap_err().to_string();
        assert!(error.contains("not a shared library"), "{error}");
    }
}
