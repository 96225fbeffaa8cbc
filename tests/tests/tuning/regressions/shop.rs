//! A package whose kernels change, and runs of `tune` on it.

use std::path::{Path, PathBuf};
use std::process::Output;

use kiln_tests::command::{expect_code, stdout, tune, workspace};
use serde_json::{Value, json};

/// A package in its own folder, with copies of kernels.
pub struct Shop {
    directory: tempfile::TempDir,
}

impl Shop {
    /// A package with these kernels of the library, each with one problem.
    pub fn of_library(kernels: &[(&str, &str)]) -> Shop {
        let shop = Shop::empty();
        let library = workspace().join("kernels/src");
        copy(&library.join("common"), &shop.path("src/common"));
        let mut root = String::new();
        for (kernel, problem) in kernels {
            copy(&library.join(kernel), &shop.path(&format!("src/{kernel}")));
            shop.edit(&format!("src/{kernel}/mod.rs"), |text| {
                with_problems(text, problem)
            });
            root += &format!("pub mod {kernel};\n");
        }
        shop.write("src/lib.rs", &root);
        shop
    }

    /// An empty package.
    pub fn empty() -> Shop {
        let directory = tempfile::tempdir().expect("a temporary directory should be had");
        let shop = Shop { directory };
        shop.write(
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        );
        shop
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let folder = path.parent().expect("a file should be in a folder");
        std::fs::create_dir_all(folder).expect("a folder should be made");
        std::fs::write(path, text).expect("a file should be written");
    }

    pub fn edit(&self, name: &str, edit: impl Fn(&str) -> String) {
        let text = std::fs::read_to_string(self.path(name)).expect("the file should be there");
        let edited = edit(&text);
        assert_ne!(edited, text, "{name} should change");
        self.write(name, &edited);
    }

    /// Adds tokens to a kernel's source that do not change the compiled kernel.
    pub fn remark(&self, kernel: &str) {
        self.edit(&format!("src/{kernel}/{kernel}.cu"), |text| {
            format!("static_assert(true, \"It changes nothing.\");\n{text}")
        });
    }

    /// Runs `tune` with these arguments, which are separated by spaces.
    pub fn tune(&self, words: &str, code: i32) -> Output {
        let mut command = tune(self.directory.path(), &self.path("cache"));
        expect_code(command.args(words.split(' ')), code)
    }

    /// Runs `tune` with `--json`, and returns its output.
    pub fn json(&self, words: &str, code: i32) -> Value {
        let text = stdout(&self.tune(&format!("{words} --json"), code));
        serde_json::from_str(&text).expect("it should be JSON")
    }

    /// Writes the script of a fake device with the noise of a real machine. The entries with these symbols are slower
    /// by these factors. Returns the name of the device.
    pub fn fake(&self, name: &str, slower: &[(String, f64)]) -> String {
        const BASE_NS: f64 = 100_000.0;
        let rule = |(symbol, factor): &(String, f64)| json!({"when": {"symbol": symbol}, "time": {"base_ns": BASE_NS * factor}});
        let mut rules =
            vec![json!({"when": {"entry": "kiln_least_launch"}, "time": {"base_ns": 2_000.0}})];
        rules.extend(slower.iter().map(rule));
        let script = json!({
            "time": {"base_ns": BASE_NS},
            "noise": {
                "sigma": 0.006,
                "placement_sigma": 0.007,
                "spike_probability": 0.01,
                "spike_factor": 1.2,
                "drift": -0.0001,
            },
            "rules": rules,
        });
        self.write(name, &script.to_string());
        format!("fake:{}", self.path(name).display())
    }
}

/// A declaration in which the problems are replaced.
fn with_problems(text: &str, problem: &str) -> String {
    let lines = text.lines().map(|line| {
        if line.trim_start().starts_with("problems(") {
            format!("    problems({problem}),\n")
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder should be made");
    let entries = std::fs::read_dir(from).expect("the library should be there");
    for entry in entries.flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a file should be copied");
        }
    }
}

/// The row of a kernel in a report.
pub fn row<'a>(report: &'a Value, kernel: &str) -> &'a Value {
    let rows = report["rows"]
        .as_array()
        .expect("the report should have rows");
    let found = rows.iter().find(|row| row["kernel"] == kernel);
    found.unwrap_or_else(|| panic!("no row of {kernel}: {report:#}"))
}

/// The symbol of the timed kernel, from a report of `tune bench`.
pub fn symbol(report: &Value, kernel: &str) -> String {
    let rows = report[0]["kernels"]
        .as_array()
        .expect("the report should have kernels");
    let found = rows.iter().find(|row| row["kernel"] == kernel);
    let row = found.unwrap_or_else(|| panic!("no row of {kernel}: {report:#}"));
    let symbol = row["outcome"]["symbol"].as_str();
    symbol.unwrap_or_else(|| panic!("{row:#}")).to_owned()
}
