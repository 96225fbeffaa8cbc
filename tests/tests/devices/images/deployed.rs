//! A crate whose table has rows for four devices, and the program that cargo builds from it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use kiln_spec::DeviceKey;
use kiln_spec::baked::{BakedTable, Image, Index, Row};
use kiln_tests::command::{expect_code, stderr, stdout, target_dir};
use kiln_tests::tables;
use kiln_tests::throwaway::Throwaway;

pub const TABLE: &str = "tuned/shift.toml";

const FILES: [(&str, &str); 2] = [
    (
        "src/main.rs",
        include_str!("../../../fixtures/deployed/src/main.rs"),
    ),
    (
        "src/shift.cu",
        include_str!("../../../fixtures/deployed/src/shift.cu"),
    ),
];

/// The crate.
pub struct Deployed {
    pub crate_: Throwaway,
    name: String,
}

/// The result of a run of the program.
#[derive(Debug)]
pub struct Ran {
    pub succeeded: bool,
    pub out: String,
    pub err: String,
}

impl Deployed {
    /// A crate with rows for an L4, a 3090, a Strix Halo and this machine's cpu, without images.
    pub fn new() -> Deployed {
        // Tests build into one folder at the same time, where programs with the same name would collide.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("deployed-{}-{number}", std::process::id());
        let crate_ = Throwaway::new(&name, &FILES);
        expect_code(&mut crate_.tune("init"), 0);
        let mut index = Index::new();
        index.insert("shift").expect("the kernel should be listed");
        crate_.write("tuned/index.toml", &index.to_text());
        let kernel = tables::kernel(&crate_.path().join("Cargo.toml"), "shift", &[]);
        let rows = devices().map(|device| (device, "THREADS=384"));
        crate_.write(TABLE, &tables::unmeasured(&kernel, &rows).to_text());
        Deployed { crate_, name }
    }

    /// Runs `tune`, which must end with this exit code, and returns its complete output.
    pub fn tune(&self, words: &str, code: i32) -> String {
        let output = expect_code(&mut self.crate_.tune(words), code);
        stdout(&output) + &stderr(&output)
    }

    /// Bakes images for all rows.
    pub fn with_images(self) -> Deployed {
        let said = self.tune("bake --images", 0);
        assert!(said.contains("4 of 4 rows have an image"), "{said}");
        self
    }

    /// The table of the crate.
    pub fn table(&self) -> BakedTable {
        BakedTable::parse(self.crate_.read(TABLE).as_bytes()).expect("the table should be read")
    }

    /// The image in the row of a device.
    pub fn image_of(&self, device: &DeviceKey) -> Image {
        let table = self.table();
        let row = table
            .device_rows(device)
            .next()
            .expect("the device should have a row");
        row.image.clone().expect("the row should have an image")
    }

    /// The path of an image file.
    pub fn path_of(&self, image: &Image) -> PathBuf {
        self.crate_.path().join("tuned").join(&image.file)
    }

    /// Replaces the image for this machine, and updates its row as if these bytes had been baked.
    pub fn pretend_baked(&self, bytes: &[u8]) {
        let device = here();
        let target = Image::target_of(&device).expect("cpu devices should have images");
        let image = Image::of("shift", &device, &target, bytes);
        fs::write(self.path_of(&image), bytes).expect("an image should be written");
        self.name_image(&device, image);
    }

    /// Sets or removes the image in the row of a device.
    pub fn name_image(&self, device: &DeviceKey, image: impl Into<Option<Image>>) {
        let mut table = self.table();
        let row = table.device_rows(device).next();
        let mut row: Row = row.cloned().expect("the device should have a row");
        row.image = image.into();
        table
            .replace_device(device, vec![row])
            .expect("the row should be one that tables hold");
        self.crate_.write(TABLE, &table.to_text());
    }

    /// Every file in the folder of tables, and its contents.
    pub fn folder(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.crate_.path().join("tuned"));
        let entries = entries.expect("the folder should be read").flatten();
        let file = |path: PathBuf| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            (name, fs::read(&path).expect("a file should be read"))
        };
        entries.map(|entry| file(entry.path())).collect()
    }

    /// Builds the program, and moves it to an otherwise empty folder.
    pub fn build(&self) -> Program {
        expect_code(self.crate_.cargo().args(["build", "--quiet"]), 0);
        let built = target_dir().join("throwaway/target/debug").join(&self.name);
        let folder = tempfile::tempdir().expect("a temporary folder should be made");
        let path = folder.path().join("deployed");
        fs::copy(&built, &path).expect("the program should be copied");
        fs::remove_file(&built).expect("the program should be removed where it was built");
        Program { folder }
    }

    /// The error messages of a build, which must fail.
    pub fn build_error(&self) -> String {
        stderr(&expect_code(
            self.crate_.cargo().args(["build", "--quiet"]),
            101,
        ))
    }
}

/// The built program, alone in a folder.
pub struct Program {
    folder: tempfile::TempDir,
}

impl Program {
    /// The path of the program.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("deployed")
    }

    /// Runs the program with an empty environment: no path to a compiler, no library path, no home folder.
    pub fn run_bare(&self) -> Ran {
        ran(self.bare().output().expect("the program should start"))
    }

    /// A command like [`Self::run_bare`], with the environment that compiling needs.
    pub fn with_compiler(&self, cache: &Path) -> Command {
        let mut command = self.bare();
        command.env("KILN_CACHE", cache);
        for name in ["PATH", "KILN_CXX"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
    }

    fn bare(&self) -> Command {
        let mut command = Command::new(self.path());
        command.env_clear().current_dir(self.folder.path());
        command
    }
}

/// The result of a run from its output.
pub fn ran(output: Output) -> Ran {
    Ran {
        succeeded: output.status.success(),
        out: stdout(&output),
        err: stderr(&output),
    }
}

/// The key of this machine's cpu.
pub fn here() -> DeviceKey {
    let device = kiln::open("cpu").expect("the cpu device should open");
    device.info().key.clone()
}

/// The devices that have rows.
pub fn devices() -> [DeviceKey; 4] {
    let named = |name: &str| name.parse().expect("the device should be named right");
    [
        named("cuda/sm_89/NVIDIA L4"),
        named("cuda/sm_86/NVIDIA GeForce RTX 3090"),
        named("hip/gfx1151/Radeon 8060S Graphics"),
        here(),
    ]
}
