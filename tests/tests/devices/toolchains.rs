//! Ways in which NVRTC is installed: with all headers, with some, in wheels, in a toolkit, and as Debian has it. A kernel
//! compiles, or the message names the package that is missing. Nothing is stored about a config for a missing header.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use kiln_tests::capability::{Need, have, older_nvrtc};
use kiln_tests::command::{expect_code, stdout, tune_alone, workspace};
use kiln_tests::plain_package::write_package;
use serde_json::Value;
use tempfile::TempDir;

/// The parts of an installation besides NVRTC: the headers of the runtime, of the compiler, and of CCCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Runtime,
    Crt,
    Cccl,
}

const ALL: &[Part] = &[Part::Runtime, Part::Crt, Part::Cccl];

/// How an installation is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Wheels,
    Toolkit,
    Debian,
}

/// The installations of the matrix, with their names.
const INSTALLATIONS: [(&str, Layout, &[Part]); 5] = [
    ("alone", Layout::Wheels, &[]),
    ("with runtime", Layout::Wheels, &[Part::Runtime]),
    ("with runtime, crt, cccl", Layout::Wheels, ALL),
    ("toolkit", Layout::Toolkit, ALL),
    ("Debian", Layout::Debian, ALL),
];

/// A folder with all wheels of a version, from which installations are made.
struct Wheels {
    folder: PathBuf,
    is_13: bool,
}

impl Wheels {
    fn of(version: &str, folder: &Path) -> Wheels {
        Wheels {
            folder: folder.join("nvidia"),
            is_13: version.starts_with("13"),
        }
    }

    /// The version of which the suite has all wheels.
    fn of_suite() -> Wheels {
        Wheels::of("13.0", &older_nvrtc("13.0"))
    }

    /// Installs NVRTC and some parts below `root`.
    fn install_all(&self, root: &Path, layout: Layout, parts: &[Part]) {
        self.install_nvrtc(root, layout);
        for part in parts {
            self.install(root, layout, *part);
        }
    }

    /// The entries of the include folder that belong to a part.
    fn headers(&self, part: Part) -> Vec<PathBuf> {
        let folder = match (self.is_13, part) {
            (true, _) => "cu13",
            (false, Part::Runtime) => "cuda_runtime",
            (false, Part::Crt) => "cuda_nvcc",
            (false, Part::Cccl) => "cuda_cccl",
        };
        let of = |name: &str| match name {
            "crt" => Part::Crt,
            "cccl" | "nv" => Part::Cccl,
            _ => Part::Runtime,
        };
        let entries = fs::read_dir(self.folder.join(folder).join("include"));
        let entries = entries.into_iter().flatten().flatten();
        let is_of_part = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Since CUDA 13, all parts share a folder.
            !name.starts_with("__") && (!self.is_13 || of(&name) == part)
        };
        entries
            .map(|entry| entry.path())
            .filter(is_of_part)
            .collect()
    }

    /// The include folder of a part in an installation below `root`.
    fn include(&self, root: &Path, layout: Layout, part: Part) -> PathBuf {
        root.join(match (layout, self.is_13, part) {
            (Layout::Toolkit, ..) => "targets/x86_64-linux/include",
            (Layout::Debian, ..) => "include",
            (Layout::Wheels, true, _) => "nvidia/cu13/include",
            (Layout::Wheels, false, Part::Runtime) => "nvidia/cuda_runtime/include",
            (Layout::Wheels, false, Part::Crt) => "nvidia/cuda_nvcc/include",
            (Layout::Wheels, false, Part::Cccl) => "nvidia/cuda_cccl/include",
        })
    }

    /// Installs NVRTC below `root`.
    fn install_nvrtc(&self, root: &Path, layout: Layout) {
        let own = if self.is_13 {
            "cu13/lib"
        } else {
            "cuda_nvrtc/lib"
        };
        let folder = root.join(match layout {
            Layout::Wheels => format!("nvidia/{own}"),
            Layout::Toolkit => "targets/x86_64-linux/lib".into(),
            Layout::Debian => "lib/x86_64-linux-gnu".into(),
        });
        fs::create_dir_all(&folder).expect("a folder should be made");
        let libraries = fs::read_dir(self.folder.join(own)).expect("NVRTC should be there");
        for library in libraries.flatten().filter(|file| file.path().is_file()) {
            // A link would lead to the headers of the original.
            let copy = folder.join(library.file_name());
            fs::hard_link(library.path(), &copy)
                .or_else(|_| fs::copy(library.path(), &copy).map(drop))
                .expect("a library should be copied");
        }
    }

    /// The headers of a part, with their places in an installation below `root`.
    fn places(&self, root: &Path, layout: Layout, part: Part) -> Vec<(PathBuf, PathBuf)> {
        let folder = self.include(root, layout, part);
        let headers = self.headers(part).into_iter().flat_map(|header| {
            // Debian has the headers of CCCL in `/usr/include`.
            match layout == Layout::Debian && header.ends_with("cccl") {
                true => fs::read_dir(&header)
                    .expect("it should be a folder")
                    .flatten()
                    .map(|one| one.path())
                    .collect(),
                false => vec![header],
            }
        });
        let place = |header: PathBuf| {
            let name = header.file_name().expect("it should have a name");
            let place = folder.join(name);
            (header, place)
        };
        headers.map(place).collect()
    }

    /// Installs the headers of a part below `root`.
    fn install(&self, root: &Path, layout: Layout, part: Part) {
        fs::create_dir_all(self.include(root, layout, part)).expect("a folder should be made");
        for (header, place) in self.places(root, layout, part) {
            // `nv/` is both in `include` and in `include/cccl`.
            let _ = symlink(header, place);
        }
    }

    /// Removes the headers of a part below `root`.
    fn remove(&self, root: &Path, layout: Layout, part: Part) {
        for (_, place) in self.places(root, layout, part) {
            let _ = fs::remove_file(place);
        }
    }
}

/// The declaration of a header kernel.
const DECLARATION: &str = r#"
#[kiln::tuned_kernel(
    source = "NAME.cu",
    params(THREADS in [32, 64]),
    baseline(THREADS = 32),
    where(n % THREADS == 0),
    grid(n / THREADS),
    block(THREADS),
    problems((n = 4096)),
    untuned = allow,
    only(cuda),
)]
unsafe extern "C" {
    /// y = f(x)
    pub fn NAME(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#;

/// A package of kernels that include one header each.
fn kernels() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder should be made");
    let sources = fs::read_dir(workspace().join("tests/fixtures/header_kernels"));
    let mut library = String::from("//! Kernels that include one header each.\n");
    let mut files = Vec::new();
    for source in sources.expect("the kernels should be there").flatten() {
        let text = fs::read_to_string(source.path()).expect("a kernel should be readable");
        let file = source.file_name().to_string_lossy().into_owned();
        library += &DECLARATION.replace("NAME", file.trim_end_matches(".cu"));
        files.push((format!("src/{file}"), text));
    }
    files.push(("src/lib.rs".into(), library));
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect();
    write_package(folder.path(), "header-kernels", &files);
    folder
}

/// The baselines that were compiled, and those of them that do not compile, with the reason.
struct Compiled {
    count: usize,
    failed: Vec<(String, String)>,
}

impl Compiled {
    /// Compiles the baselines of a package with the NVRTC below a folder.
    fn of(package: &Path, cache: &Path, nvrtc: &Path, target: &str, more: &[&str]) -> Compiled {
        let mut inspect = tune_alone(package, cache);
        inspect.args(["inspect", "--target", target, "--baseline", "--json"]);
        inspect.args(more).env("KILN_NVRTC", nvrtc);
        let output = inspect.output().expect("tune should run");
        let rows: Vec<Value> = serde_json::from_str(&stdout(&output)).expect("it should be JSON");
        assert!(!rows.is_empty());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let failed = rows.iter().filter(|row| !row["error"].is_null());
        let failed = failed.map(|row| (text(&row["kernel"]), text(&row["error"])));
        Compiled {
            count: rows.len(),
            failed: failed.collect(),
        }
    }

    /// The failures that do not say what to install.
    fn untold(&self) -> Vec<&(String, String)> {
        let says = |why: &str| {
            let what = [
                "` is not installed",
                "of this version includes a header for host code",
            ];
            let help = [
                "nvidia-cuda-",
                "help: `apt install ",
                "help: set KILN_NVRTC",
            ];
            let contains = |words: &[&str]| words.iter().any(|words| why.contains(words));
            contains(&what) && contains(&help)
        };
        self.failed.iter().filter(|(_, why)| !says(why)).collect()
    }
}

/// A folder for installations, on the disk of the wheels, so that libraries need not be copied.
fn folder() -> TempDir {
    let parent = workspace().join("target/tmp");
    fs::create_dir_all(&parent).expect("a folder should be made");
    tempfile::tempdir_in(parent).expect("a folder should be made")
}

#[test]
fn a_kernel_compiles_with_every_installation_or_the_missing_package_is_named() {
    let test = "a_kernel_compiles_with_every_installation_or_the_missing_package_is_named";
    if !have(test, &[Need::OlderNvrtc]) {
        return;
    }
    let (wheels, crate_) = (Wheels::of_suite(), kernels());
    for (name, layout, parts) in INSTALLATIONS {
        let root = folder();
        wheels.install_all(root.path(), layout, parts);
        let cache = root.path().join("cache");
        let few = ["-k", "matrix_product,warp_group,standard_limits"];
        let compiled = Compiled::of(crate_.path(), &cache, root.path(), "sm_86", &few);
        assert!(
            compiled.untold().is_empty(),
            "{name}: {:#?}",
            compiled.untold()
        );
        let failed = compiled.failed;
        assert_eq!(failed.is_empty(), parts == ALL, "{name}: {failed:#?}");
    }
}

/// The first version whose headers of all packages NVRTC compiles.
const FIRST_WHOLE: &str = "12.6";

/// Prints the table of docs/targets.md: the header kernels, and the baselines of the library, that compile. Packages are
/// added to each installation and removed again, with one cache for all.
#[test]
fn every_version_of_nvrtc_compiles_with_every_installation_or_says_what_is_missing() {
    let test = "every_version_of_nvrtc_compiles_with_every_installation_or_says_what_is_missing";
    if !have(test, &[Need::Bars]) {
        return;
    }
    let all = workspace().join("target/toolchains");
    let versions = fs::read_dir(&all).expect("`cargo xtask bars 56` installs them");
    let mut versions: Vec<PathBuf> = versions.flatten().map(|version| version.path()).collect();
    versions.sort();
    let crate_ = kernels();
    println!(
        "| NVRTC | target | {} |",
        INSTALLATIONS.map(|(name, ..)| name).join(" | ")
    );
    for path in versions {
        let version = path.file_name().unwrap_or_default().to_string_lossy();
        let (wheels, cache) = (Wheels::of(&version, &path), folder());
        for target in ["sm_86", "sm_89", "sm_90"] {
            let compiled = |root: &Path, is_whole: bool| {
                let of = |package: &Path, more: &[&str]| {
                    let compiled = Compiled::of(package, cache.path(), root, target, more);
                    let (untold, failed) = (compiled.untold(), &compiled.failed);
                    let at = format!("{version}, {target}, {}", root.display());
                    assert!(untold.is_empty(), "{at}: {untold:#?}");
                    let must_compile = is_whole && *version >= *FIRST_WHOLE;
                    assert!(!must_compile || failed.is_empty(), "{at}: {failed:#?}");
                    compiled.count - failed.len()
                };
                let own = of(crate_.path(), &[]);
                format!("{own} + {}", of(&workspace(), &["-p", "kiln-kernels"]))
            };
            let cells = [Layout::Wheels, Layout::Toolkit, Layout::Debian]
                .map(|layout| added_and_removed(&wheels, layout, &compiled));
            let [wheels, toolkit, debian] = &cells;
            let row = [&wheels[..], &toolkit[2..], &debian[2..]].concat();
            println!("| {version} | {target} | {} |", row.join(" | "));
        }
    }
}

/// Installs NVRTC alone, then the headers of the runtime, then all others, and removes all of them. Returns what
/// `compiled` gives for each of the three installations. It must give the same for NVRTC alone at the end.
fn added_and_removed(
    wheels: &Wheels,
    layout: Layout,
    compiled: &dyn Fn(&Path, bool) -> String,
) -> [String; 3] {
    let root = folder();
    wheels.install_nvrtc(root.path(), layout);
    let alone = compiled(root.path(), false);
    wheels.install(root.path(), layout, Part::Runtime);
    let with_runtime = compiled(root.path(), false);
    wheels.install(root.path(), layout, Part::Crt);
    wheels.install(root.path(), layout, Part::Cccl);
    let whole = compiled(root.path(), true);
    for part in ALL {
        wheels.remove(root.path(), layout, *part);
    }
    assert_eq!(compiled(root.path(), false), alone, "{layout:?}");
    [alone, with_runtime, whole]
}

#[test]
fn a_header_that_is_installed_or_removed_counts_at_once() {
    let test = "a_header_that_is_installed_or_removed_counts_at_once";
    if !have(test, &[Need::OlderNvrtc]) {
        return;
    }
    let (wheels, crate_, root) = (Wheels::of_suite(), kernels(), folder());
    let check = |code: i32| {
        let mut run = tune_alone(crate_.path(), &root.path().join("cache"));
        run.args([
            "run",
            "--compile-only",
            "--target",
            "sm_86",
            "-k",
            "matrix_product",
        ]);
        stdout(&expect_code(run.env("KILN_NVRTC", root.path()), code))
    };
    wheels.install_nvrtc(root.path(), Layout::Wheels);
    wheels.install(root.path(), Layout::Wheels, Part::Runtime);
    wheels.install(root.path(), Layout::Wheels, Part::Cccl);
    for _ in 0..2 {
        let said = check(1);
        assert!(said.contains("`crt/mma.h` is not installed"), "{said}");
        assert!(said.contains("'nvidia-cuda-crt==13.0.*'"), "{said}");
        wheels.install(root.path(), Layout::Wheels, Part::Crt);
        let said = check(0);
        assert!(said.contains("2 can be launched"), "{said}");
        wheels.remove(root.path(), Layout::Wheels, Part::Crt);
    }
}

#[test]
fn the_list_of_devices_says_which_headers_are_missing_and_what_installs_all_of_them() {
    let test = "the_list_of_devices_says_which_headers_are_missing_and_what_installs_all_of_them";
    if !have(test, &[Need::OlderNvrtc]) {
        return;
    }
    let (wheels, root) = (Wheels::of_suite(), folder());
    let cache = root.path().join("cache");
    let list = || {
        let mut devices = tune_alone(root.path(), &cache);
        devices.args(["devices", "--json"]);
        devices.env("KILN_NVRTC", root.path());
        let listing = stdout(&expect_code(&mut devices, 0));
        let listing: Value = serde_json::from_str(&listing).expect("it should be JSON");
        listing["headers"]["nvrtc 13.0"].clone()
    };
    wheels.install_nvrtc(root.path(), Layout::Wheels);
    let without = list();
    assert_eq!(
        without["headers"]["mma.h"], "`mma.h` is not installed",
        "{without}"
    );
    let command = without["help"].as_str().unwrap_or_default();
    for wheel in ["runtime", "crt", "cccl"] {
        let wheel = format!("'nvidia-cuda-{wheel}==13.0.*'");
        assert!(command.contains(&wheel), "{wheel}: {command}");
    }
    for part in ALL {
        wheels.install(root.path(), Layout::Wheels, *part);
    }
    let with = list();
    let headers = with["headers"].as_object().expect("it should list headers");
    assert!(headers.len() >= 7, "{with}");
    assert!(headers.values().all(Value::is_null), "{with}");
    assert!(with["help"].is_null(), "{with}");
    wheels.remove(root.path(), Layout::Wheels, Part::Crt);
    let again = list();
    assert_eq!(
        again["headers"]["mma.h"], "`crt/mma.h` is not installed",
        "{again}"
    );
    assert!(again["headers"]["cuda_fp16.h"].is_null(), "{again}");
}
