//! Finds `libhiprtc`, AMD's run-time compiler. Machines with ROCm's runtime, or with PyTorch's wheels for AMD GPUs,
//! have this library even if they have no clang.
//!
//! These places are searched in order:
//!
//! 1. `KILN_HIPRTC`, which is the file of the library or a folder that contains it (ROCm, a virtual environment, or
//!    the folder of a wheel). If the variable is set, no other place is searched.
//! 2. The folders of ROCm (see `rocm.rs`).
//! 3. The system's loader.
//!
//! The result of `hiprtcVersion` is not usable, because it is 9.0 in every version that was examined. Instead, Kiln
//! compiles a first source text, whose image contains the version of HIP and of the clang inside the library. Kiln
//! never calls a library of ROCm 5, because some of these libraries end the process if the machine has no GPU.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kiln_spec::Hash;

use crate::backend::python;
use crate::backend::shared_library::{self, LibraryError};
use crate::compiler::CompileError;

use super::clang::OLDEST;
use super::ffi::{Hiprtc, HiprtcUnit};
use super::library_error::{HiprtcLibraryError, NEEDED};
use super::rocm;

/// The file names of the library in ROCm 7, in ROCm 6, and in wheels and development packages. The last name is the HIP
/// runtime of ROCm 6, which still contains the compiler's functions, because the compiler was originally a part of the
/// runtime.
const NAMES: [&str; 4] = [
    "libhiprtc.so.7",
    "libhiprtc.so.6",
    "libhiprtc.so",
    "libamdhip64.so.6",
];

/// The option that prevents the library from adding AMD's own headers to every source. Kiln's prelude declares the
/// same names.
pub(super) const NO_BUILTIN_HEADER: &str = "--hiprtc-no-builtin-header";

/// Environment variables from which the library reads additional options.
const MEDDLING: [&str; 2] = [
    "HIPRTC_COMPILE_OPTIONS_APPEND",
    "HIPRTC_LINK_OPTIONS_APPEND",
];

/// The first source text that is compiled. Its image contains [`MARK`], three fields and a bracket.
const FIRST: &str = "#define KILN_TEXT_OF(x) #x\n#define KILN_TEXT(x) KILN_TEXT_OF(x)\n\
    extern \"C\" __attribute__((device, used)) const char kiln_compiler[] = \"kiln-hiprtc[\" \
    KILN_TEXT(HIP_VERSION_MAJOR) \".\" KILN_TEXT(HIP_VERSION_MINOR) \".\" KILN_TEXT(HIP_VERSION_PATCH) \"|\" \
    KILN_TEXT(__clang_major__) \"|\" __clang_version__ \"]\";\n\
    extern \"C\" __attribute__((global)) void kiln_first() {}\n";
const MARK: &[u8] = b"kiln-hiprtc[";

/// A loaded library, and its properties.
pub(super) struct HiprtcLibrary {
    /// The functions of the library.
    pub hiprtc: Hiprtc,
    /// The path of the library.
    pub file: PathBuf,
    /// The version of HIP that the library belongs to.
    pub version: String,
    /// Distinguishes the build of the library, and of the compiler in it, from other builds.
    pub build: String,
}

/// Finds and loads the first suitable library. Each file is loaded once per process.
///
/// # Errors
/// [`CompileError::NotFound`], with every place that was searched and the reason why it has no suitable library.
pub(super) fn find() -> Result<Arc<HiprtcLibrary>, CompileError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(given) = set("KILN_HIPRTC") {
        return at(Path::new(&given));
    }
    let roots = rocm::roots();
    let in_folders = roots.iter().flat_map(|folder| files_in(folder));
    let by_loader = NAMES
        .iter()
        .flat_map(|name| shared_library::candidates(name));
    first_fit(in_folders.chain(by_loader)).map_err(|mut looked| {
        if looked.is_empty() {
            let [newest, .., last] = NAMES;
            looked.push(format!(
                "no {newest} to {last} in {}, or on the loader's path",
                rocm::PLACES
            ));
        }
        not_found(&looked)
    })
}

/// Loads the library at a path. If the path is a folder, loads the newest library in it.
///
/// # Errors
/// [`CompileError::NotFound`] with the reason.
pub(super) fn at(place: &Path) -> Result<Arc<HiprtcLibrary>, CompileError> {
    let files = match place.is_dir() {
        true => files_in(place),
        false => vec![place.to_owned()],
    };
    if files.is_empty() {
        return Err(not_found(&[format!(
            "{}: no libhiprtc.so",
            place.display()
        )]));
    }
    first_fit(files.into_iter()).map_err(|looked| not_found(&looked))
}

/// The first of these libraries that can be loaded and can compile. The error is the reason for each library.
fn first_fit(files: impl Iterator<Item = PathBuf>) -> Result<Arc<HiprtcLibrary>, Vec<String>> {
    let mut looked: Vec<String> = Vec::new();
    for file in files {
        match load(&file) {
            Ok(library) => return Ok(library),
            Err(reason) => {
                let reason = format!("{}: {reason}", file.display());
                if !looked.contains(&reason) {
                    looked.push(reason);
                }
            }
        }
    }
    Err(looked)
}

fn not_found(looked: &[String]) -> CompileError {
    CompileError::NotFound {
        what: "hiprtc".into(),
        looked: looked.join("; "),
        help: format!("install {NEEDED}, or set KILN_HIPRTC to its libhiprtc.so"),
    }
}

/// The library files in a folder of ROCm, in a virtual environment, or in the folder of a wheel, newest first.
fn files_in(root: &Path) -> Vec<PathBuf> {
    let packages = std::iter::once(root.to_owned()).chain(python::site_packages(root));
    let mut folders = vec![root.to_owned(), root.join("lib")];
    for package in packages {
        folders.extend(["torch/lib", "_rocm_sdk_core/lib"].map(|part| package.join(part)));
    }
    let named = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named.filter(|file| file.exists()).collect()
}

/// Loads a file. If the file is already loaded, returns the loaded library.
fn load(file: &Path) -> Result<Arc<HiprtcLibrary>, HiprtcLibraryError> {
    static LOADED: Mutex<Vec<Arc<HiprtcLibrary>>> = Mutex::new(Vec::new());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    if let Some(known) = loaded.iter().find(|library| library.file == file) {
        return Ok(known.clone());
    }
    let library = Arc::new(HiprtcLibrary::load(&file)?);
    loaded.push(library.clone());
    Ok(library)
}

impl HiprtcLibrary {
    fn load(file: &Path) -> Result<HiprtcLibrary, HiprtcLibraryError> {
        shared_library::check(file).map_err(LibraryError::from)?;
        let soname = shared_library::soname(file).unwrap_or_default();
        if soname.ends_with(".so.5") {
            return Err(HiprtcLibraryError::Rocm5 { soname });
        }
        if let Some(variable) = MEDDLING.into_iter().find(|name| is_set(name)) {
            return Err(HiprtcLibraryError::Options { variable });
        }
        let hiprtc = Hiprtc::load(file)?;
        let (version, clang) = first_unit(&hiprtc)?;
        Ok(HiprtcLibrary {
            build: build_of(file, &clang),
            hiprtc,
            file: file.to_owned(),
            version,
        })
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Compiles the first source text. Returns the version of HIP, and clang's own version text.
fn first_unit(hiprtc: &Hiprtc) -> Result<(String, String), HiprtcLibraryError> {
    let options = [
        NO_BUILTIN_HEADER,
        "-nogpuinc",
        "-nogpulib",
        "--offload-arch=gfx1100",
    ];
    let options = options.map(|option| CString::new(option).unwrap_or_default());
    let source = CString::new(FIRST).unwrap_or_default();
    let compiled = hiprtc.compile(&HiprtcUnit {
        source: &source,
        headers: &[],
        options: &options,
    });
    if compiled.code != 0 {
        let said = compiled.log.lines().find(|line| line.contains("error"));
        let said = said.map_or_else(|| hiprtc.error_text(compiled.code), str::to_owned);
        let said = said.trim().to_owned();
        return Err(HiprtcLibraryError::DoesNotCompile { said });
    }
    let (version, major, clang) = told(&compiled.image).ok_or(HiprtcLibraryError::TellsNothing)?;
    if major < OLDEST {
        let clang = major;
        return Err(HiprtcLibraryError::TooOld { version, clang });
    }
    Ok((version, clang))
}

/// The versions in the image of the first source text: the version of HIP, the major version of clang, and the
/// complete version of clang. `None` if the image does not contain them.
fn told(image: &[u8]) -> Option<(String, u32, String)> {
    let start = image.windows(MARK.len()).position(|part| part == MARK)? + MARK.len();
    let rest = &image[start..];
    let end = rest.iter().position(|&byte| byte == 0)?;
    let text = std::str::from_utf8(&rest[..end]).ok()?.strip_suffix(']')?;
    let mut fields = text.splitn(3, '|');
    let (version, major, clang) = (fields.next()?, fields.next()?, fields.next()?);
    Some((version.to_owned(), major.parse().ok()?, clang.to_owned()))
}

/// A hash of the library's build, of the build of the compiler library that it has loaded, and of clang's version
/// text.
fn build_of(file: &Path, clang: &str) -> String {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let behind: BTreeSet<&str> = maps
        .lines()
        .filter_map(|line| Some(&line[line.find('/')?..]))
        .filter(|path| path.contains("libamd_comgr"))
        .collect();
    let mut text = format!("{clang}\n{}\n", build_id(file));
    for path in behind {
        text += &build_id(Path::new(path));
        text.push('\n');
    }
    Hash::of("hiprtc", text.as_bytes()).to_string()
}

/// The build ID that the linker wrote, or else the hash of the file.
fn build_id(file: &Path) -> String {
    shared_library::build_id(file).unwrap_or_else(|| {
        let bytes = fs::read(file).unwrap_or_default();
        Hash::of("hiprtc", &bytes).to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rocm_a_virtual_environment_and_a_wheel_are_all_looked_through() {
        let layouts = [
            "lib/libhiprtc.so.6",
            "lib/python3.11/site-packages/torch/lib/libhiprtc.so",
            "torch/lib/libhiprtc.so",
            "lib/python3.12/site-packages/_rocm_sdk_core/lib/libhiprtc.so.7",
            "libhiprtc.so.7",
        ];
        for layout in layouts {
            let root = tempfile::tempdir().unwrap();
            let file = root.path().join(layout);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            assert_eq!(files_in(root.path()), [file]);
        }
    }

    #[test]
    fn the_first_image_tells_versions_and_a_damaged_one_tells_nothing() {
        let image = b"\x7fELF..kiln-hiprtc[6.4.43484|19|19.0.0git (https://llvm [x] y)]\0..";
        let (version, major, clang) = told(image).unwrap();
        assert_eq!((&*version, major), ("6.4.43484", 19));
        assert_eq!(clang, "19.0.0git (https://llvm [x] y)");
        for len in 0..image.len() - 2 {
            assert_eq!(told(&image[..len]), None, "{len}");
        }
        assert_eq!(told(b"kiln-hiprtc[6.4|nineteen|x]\0"), None);
    }

    #[test]
    fn what_is_not_there_is_named_with_what_to_install() {
        let root = tempfile::tempdir().unwrap();
        for place in [root.path().to_owned(), root.path().join("libhiprtc.so.7")] {
            let error = at(&place).err().expect("there is none").to_string();
            assert!(error.contains(&place.display().to_string()), "{error}");
            assert!(error.contains("KILN_HIPRTC"), "{error}");
        }
    }
}
