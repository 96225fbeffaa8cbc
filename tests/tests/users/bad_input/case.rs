//! A case of bad input: a small crate, a mistake in it, the command, and the expected message.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use kiln_tests::command::{expect_code, stderr, stdout, tune_alone, tune_program};

pub const LIB: &str = "src/lib.rs";
pub const SOURCE: &str = "src/scale.cu";
pub const INDEX: &str = "tuned/index.toml";
pub const TABLE: &str = "tuned/scale.toml";

const FILES: [(&str, &str); 3] = [
    (
        "Cargo.toml",
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    ),
    (
        LIB,
        r#"use kiln::tuned_kernel;

#[tuned_kernel(
    source = "scale.cu",
    params(THREADS in [32, 64, 128], ITEMS in [1, 2]),
    where(THREADS <= device.max_threads_per_block),
    baseline(THREADS = 32, ITEMS = 1),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 10000)),
    tolerance(relative = 1e-6),
)]
unsafe extern "C" {
    pub fn scale(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#,
    ),
    (
        SOURCE,
        r#"extern "C" __global__ void scale(unsigned n, const float* x, float* y) {
    unsigned first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (unsigned i = first; i < first + ITEMS && i < n; ++i) y[i] = 2.0f * x[i];
}
"#,
    ),
];

/// A case of bad input. Its methods describe the parts of the case.
pub struct Case {
    name: &'static str,
    baked: bool,
    edits: Vec<(&'static str, String, String)>,
    prepare: &'static str,
    runs: &'static str,
    code: i32,
    says: &'static str,
}

/// A new case, whose crate has no mistake yet. By default it runs `$TUNE list`, which must fail.
pub fn case(name: &'static str) -> Case {
    Case {
        name,
        baked: false,
        edits: Vec::new(),
        prepare: "",
        runs: "$TUNE list",
        code: 1,
        says: "",
    }
}

impl Case {
    /// Replaces a part of a file.
    pub fn edit(mut self, file: &'static str, old: &str, new: impl Into<String>) -> Case {
        self.edits.push((file, old.into(), new.into()));
        self
    }

    /// Adds an index and a table like those that `tune run --write` writes.
    pub fn baked(mut self) -> Case {
        self.baked = true;
        self
    }

    /// Adds shell commands that run first. They must succeed, and their output is not checked.
    pub fn prepare(mut self, script: &'static str) -> Case {
        self.prepare = script;
        self
    }

    /// Sets the shell commands to test. `$TUNE` stands for the program.
    pub fn runs(mut self, script: &'static str) -> Case {
        self.runs = script;
        self
    }

    /// Sets the expected exit code, and the expected line (or lines) of the message.
    pub fn fails(mut self, code: i32, says: &'static str) -> Case {
        self.code = code;
        self.says = says;
        self
    }

    /// Expects success, and this line (or these lines) in the output.
    pub fn prints(self, says: &'static str) -> Case {
        self.fails(0, says)
    }

    /// The same as [`Self::fails`] with exit code 1.
    pub fn says(self, says: &'static str) -> Case {
        self.fails(1, says)
    }

    /// Runs the case. The error is the first difference from the expectation.
    pub fn run(&self) -> Result<(), String> {
        let folder = tempfile::tempdir().expect("a temporary directory should be had");
        // The path of the system's temporary directory may contain a symbolic link.
        let root = folder
            .path()
            .canonicalize()
            .expect("a temporary directory has a path");
        self.write(&root);
        let prepared = shell(&root, self.prepare);
        if !prepared.status.success() {
            return Err(format!(
                "{}: not prepared: {}",
                self.name,
                shown(&root, &prepared)
            ));
        }
        let before = snapshot(&root);
        let output = shell(&root, self.runs);
        let text = shown(&root, &output);
        let complain = |what: String| Err(format!("{}: {what}\n{text}", self.name));
        if output.status.code() != Some(self.code) {
            return complain(format!(
                "ended with {}, not with {}",
                output.status, self.code
            ));
        }
        if !format!("\n{text}").contains(&format!("\n{}\n", self.says)) {
            return complain(format!("does not say `{}`", self.says));
        }
        if self.code != 0 && !text.contains("help: ") && !text.contains("try '--help'") {
            return complain("does not say what to do".into());
        }
        if text.contains("panicked") {
            return complain("panicked".into());
        }
        if snapshot(&root) != before {
            return complain("files are not what they were".into());
        }
        Ok(())
    }

    fn write(&self, root: &Path) {
        let mut files: BTreeMap<&str, String> = FILES
            .iter()
            .map(|(path, text)| (*path, (*text).to_owned()))
            .collect();
        if self.baked {
            let (index, table) = baked();
            files.insert(INDEX, index.clone());
            files.insert(TABLE, table.clone());
        }
        for (path, old, new) in &self.edits {
            let text = files.get_mut(path).expect("an edited file should be there");
            assert!(text.contains(old), "{}: {path} has no `{old}`", self.name);
            *text = text.replace(old, new);
        }
        for (path, text) in files {
            write(root, path, &text);
        }
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().expect("a file has a folder"))
        .expect("a folder should be made");
    std::fs::write(path, text).expect("a file should be written");
}

/// An index and a table like those that `tune run --write` writes.
fn baked() -> &'static (String, String) {
    static BAKED: OnceLock<(String, String)> = OnceLock::new();
    BAKED.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary directory should be had");
        let root = folder.path();
        FILES
            .iter()
            .for_each(|(path, text)| write(root, path, text));
        let mut run = tune_alone(root, &root.join("cache"));
        run.args(["run", "--write", "--device", "cpu", "--trials", "1"]);
        expect_code(&mut run, 0);
        let read = |path: &str| {
            std::fs::read_to_string(root.join(path)).expect("a table should be written")
        };
        (read(INDEX), read(TABLE))
    })
}

/// Runs shell commands in a crate. `$TUNE` is the program, and the crate contains its cache.
fn shell(root: &Path, script: &str) -> Output {
    // Only the environment of this command is used. The script starts the program itself.
    let environment = tune_alone(root, &root.join("cache"));
    let mut command = Command::new("sh");
    command.current_dir(root).arg("-c").arg(script);
    for (name, value) in environment.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("TUNE", tune_program()).env("ROOT", root);
    // Messages mention folders at their default locations, so variables that move them are removed.
    for name in ["XDG_CACHE_HOME", "CARGO_TARGET_DIR"] {
        command.env_remove(name);
    }
    command.output().expect("sh should start")
}

/// The output without the parts that differ between machines.
fn shown(root: &Path, output: &Output) -> String {
    let text = stderr(output) + &stdout(output);
    let mut text = text.replace(&*root.to_string_lossy(), "<root>");
    if let Some(device) = baked()
        .1
        .lines()
        .find_map(|line| line.strip_suffix("\" = ["))
    {
        text = text.replace(device.trim_start_matches('"'), "<device>");
    }
    without_hashes(&text)
}

/// Replaces hashes of 16 or 32 hexadecimal digits by `<hash>`, because hashes change with the device prelude.
fn without_hashes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let hex = rest
            .bytes()
            .take_while(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            .count();
        let taken = hex.max(rest.chars().next().map_or(0, char::len_utf8));
        out += if hex == 16 || hex == 32 {
            "<hash>"
        } else {
            &rest[..taken]
        };
        rest = &rest[taken..];
    }
    out
}

/// All files of the crate and their contents, except the cache, the build directory and temporary files.
fn snapshot(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).expect("a folder should be read");
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.strip_prefix(root).expect("a file is in the crate");
            let passing = ["cache", "target"]
                .iter()
                .any(|skipped| name == Path::new(skipped));
            if path.is_dir() && !passing {
                open.push(path);
            } else if !passing {
                found.insert(
                    name.to_string_lossy().into_owned(),
                    std::fs::read(&path).unwrap_or_default(),
                );
            }
        }
    }
    found
}
