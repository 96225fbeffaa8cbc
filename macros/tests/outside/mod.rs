//! Throw-away packages outside the workspace, which use Kiln as users get it: packaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kiln_spec::DeviceKey;
use kiln_spec::baked::{BakedTable, Evidence, Hashes, Index, Row, Speedup};
use kiln_spec::codegen::{Symbol, symbol_hash};
use kiln_spec::source::SourceText;

pub const ATTRIBUTE: &str = r#"
    source = "cu/fill.cu",
    params(THREADS in [64, 128, 384]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    reference = filled,
"#;
pub const ITEM: &str = r#"
unsafe extern "C" {
    pub fn fill_squares(n: u32, #[len(n)] out: &mut [f32]);
}
"#;
pub const SOURCE: &str = r#"#include "square.cuh"
extern "C" __global__ void fill_squares(unsigned int n, float* out) {
    unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = square(i % 100);
}
"#;
pub const HEADER: &str =
    "#pragma once\n__device__ float square(unsigned int i) { return (float)(i * i); }\n";

/// A folder with the packaged crates, a package of a kernel, and a program that uses it.
pub struct Outside {
    folder: PathBuf,
    target: PathBuf,
}

impl Outside {
    pub fn new() -> Outside {
        // The same from run to run, as is the target folder: what is not packaged here is not compiled again.
        let folder = std::env::temp_dir().join("kiln-outside");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let target = workspace.join("target/outside");
        let outside = Outside { folder, target };
        outside.package(workspace);
        outside.write_library();
        outside.write_program();
        outside
    }

    /// `cargo package` and unpack, as a registry would hand the crates out.
    fn package(&self, workspace: &Path) {
        let packaged = self.folder.join("packaged");
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args([
                "package",
                "--no-verify",
                "--allow-dirty",
                "--offline",
                "--quiet",
            ])
            .args([
                "-p",
                "kiln-spec",
                "-p",
                "kiln-macros",
                "-p",
                "kiln",
                "--target-dir",
            ])
            .arg(&packaged)
            .current_dir(workspace);
        succeed(cargo.output().unwrap());
        for name in ["kiln-spec", "kiln-macros", "kiln"] {
            let file = format!("package/{name}-{}.crate", env!("CARGO_PKG_VERSION"));
            let mut tar = Command::new("tar");
            // With the time of now: packages carry one fixed time, by which cargo would take changed sources for built.
            tar.arg("xzmf")
                .arg(packaged.join(file))
                .arg("-C")
                .arg(&self.folder);
            succeed(tar.output().unwrap());
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.folder.join(name)).unwrap();
    }

    fn manifest(&self, name: &str, dependencies: &str) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let patches: String = ["kiln-spec", "kiln-macros", "kiln"]
            .iter()
            .map(|name| {
                let path = self.folder.join(format!("{name}-{version}"));
                format!("{name} = {{ path = \"{}\" }}\n", path.display())
            })
            .collect();
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             kiln = \"{version}\"\n{dependencies}\n[workspace]\n\n[patch.crates-io]\n{patches}"
        )
    }

    fn write_library(&self) {
        self.write("squares/Cargo.toml", &self.manifest("squares", ""));
        self.write(
            "squares/src/lib.rs",
            &format!(
                "#![forbid(unsafe_code)]\n\
                 #![deny(warnings)]\n\
                 pub fn filled(n: u32, out: &mut [f64]) {{\n\
                     for i in 0..n {{ out[i as usize] = f64::from((i % 100) * (i % 100)); }}\n\
                 }}\n\
                 #[kiln::tuned_kernel({ATTRIBUTE})]\n{ITEM}"
            ),
        );
        self.write("squares/src/cu/fill.cu", SOURCE);
        self.write("squares/src/cu/square.cuh", HEADER);
        self.write("squares/README.md", "A kernel.\n");
        self.bake(&["cuda/sm_89/NVIDIA L4"]);
    }

    fn write_program(&self) {
        let squares = "squares = { path = \"../squares\" }\n";
        self.write("program/Cargo.toml", &self.manifest("program", squares));
        self.write(
            "program/src/main.rs",
            "#![forbid(unsafe_code)]\n\
             use squares::fill_squares;\n\
             fn main() -> Result<(), Box<dyn std::error::Error>> {\n\
                 let stream = kiln::Stream::default_of(kiln::open(\"cpu\")?);\n\
                 let mut out = kiln::Buffer::zeros(&stream, 1000)?;\n\
                 fill_squares(&stream, 1000, &mut out)?;\n\
                 let sum: f32 = out.to_vec(&stream)?.iter().sum();\n\
                 println!(\"sum {sum}, {} rows\", fill_squares::KERNEL.rows().len());\n\
                 Ok(())\n\
             }\n",
        );
    }

    /// Writes index and table, with a row of each device.
    pub fn bake(&self, devices: &[&str]) {
        let parsed =
            kiln_spec::parse::kernel(ATTRIBUTE.parse().unwrap(), ITEM.parse().unwrap()).unwrap();
        let spec = parsed.spec;
        let root = self.folder.join("squares");
        let source = SourceText::load("src/cu/fill.cu", &mut |name| {
            fs::read_to_string(root.join(name)).map_err(|error| error.to_string())
        });
        let source = source.unwrap().hash();
        let config = spec.parse_config("THREADS=384").unwrap();
        let problem = spec.parse_problem("n=1000").unwrap();
        let mut table = BakedTable::new("fill_squares");
        for device in devices {
            let device: DeviceKey = device.parse().unwrap();
            let target = match device.backend.name() {
                "cuda" => kiln_spec::codegen::Target::Cuda,
                _ => kiln_spec::codegen::Target::Cpu,
            };
            let hash = symbol_hash(source, &spec, "fill_squares", &config, &problem, target);
            let row = Row {
                hashes: Hashes::now(&spec, source, device.backend),
                problem: "n=1000".into(),
                entry: "fill_squares".into(),
                config: "THREADS=384".into(),
                evidence: Evidence::Proven,
                speedup: Some(Speedup {
                    low_ppm: 1_200_000,
                    speedup_ppm: 1_300_000,
                    high_ppm: 1_400_000,
                }),
                baseline: spec.baseline_text(),
                symbol: Symbol::release("fill_squares", hash.unwrap()).to_string(),
                plan: spec.plan(&config, &problem, None).unwrap(),
                image: None,
                device: device.clone(),
            };
            table.replace_device(&device, [row]).unwrap();
        }
        let mut index = Index::new();
        index.insert("fill_squares").unwrap();
        self.write("squares/tuned/index.toml", &index.to_text());
        self.write("squares/tuned/fill_squares.toml", &table.to_text());
    }

    /// Runs cargo in a package.
    pub fn cargo(&self, package: &str, args: &[&str], env: &[(&str, &str)]) -> Output {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(args)
            .env("CARGO_NET_OFFLINE", "true")
            .current_dir(self.folder.join(package))
            .env("CARGO_TARGET_DIR", &self.target)
            .env_remove("KILN_STRICT")
            .env_remove("KILN_TUNED")
            .env_remove("RUSTFLAGS")
            .envs(env.iter().copied());
        cargo.output().unwrap()
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The output of a command that must succeed.
#[track_caller]
pub fn succeed(output: Output) -> Output {
    assert!(
        output.status.success(),
        "{}\n{}",
        stdout(&output),
        stderr(&output)
    );
    output
}
