//! Installs Python packages that tests run, each set in its own virtual environment below `target/`.

use std::path::Path;
use std::process::Command;

use super::apt::apt;
use super::wheels;
use crate::step;

/// A virtual environment.
#[derive(Clone, Copy)]
pub struct Environment {
    /// The folder of the environment, relative to the root of the workspace.
    pub folder: &'static str,
    /// The packages that pip installs into the environment, with their versions.
    pub packages: &'static [&'static str],
    /// The modules that the Python of the environment must be able to import.
    pub modules: &'static str,
}

/// Kernel Tuner, with which tests exchange files.
pub const KERNEL_TUNER: Environment = Environment {
    folder: "target/kernel-tuner",
    packages: &["kernel-tuner==1.5.0"],
    modules: "kernel_tuner, jsonschema",
};

/// The schemas of Kubernetes and of GitHub's workflows. Tests check the job files of fleets against these schemas.
pub const SCHEMAS: Environment = Environment {
    folder: "target/schemas",
    packages: &["kubernetes-validate==1.37.0", "check-jsonschema==0.39.0"],
    modules: "kubernetes_validate, check_jsonschema",
};

/// The moto server, which implements the protocol of S3. Only `cargo xtask bars` installs it.
pub const MOTO: Environment = Environment {
    folder: "target/s3/moto",
    packages: &["moto[server,s3]==5.2.5"],
    modules: "moto.server",
};

impl Environment {
    /// Creates the environment.
    ///
    /// # Errors
    /// If the environment cannot be created. The text of the error is the command that creates it by hand.
    pub fn install(&self) -> Result<(), String> {
        let folder = step::root().join(self.folder);
        let made = self.make(&folder).or_else(|why| {
            if apt(&["python3-venv"]) {
                self.make(&folder)
            } else {
                Err(why)
            }
        });
        if let Err(why) = &made {
            eprintln!("xtask: setup: {why}");
        }
        if made.is_ok() && self.is_there() {
            return Ok(());
        }
        // Remove an incomplete environment, because a later run would mistake it for a complete one.
        let _ = std::fs::remove_dir_all(&folder);
        let (folder, packages) = (self.folder, self.packages.join(" "));
        Err(format!(
            "python3 -m venv {folder} && {folder}/bin/pip install {packages}"
        ))
    }

    /// Whether the environment's Python can import the modules.
    pub fn is_there(&self) -> bool {
        let mut python = Command::new(step::root().join(self.folder).join("bin/python"));
        python.args(["-c", &format!("import {}", self.modules)]);
        python.output().is_ok_and(|output| output.status.success())
    }

    fn make(&self, folder: &Path) -> Result<(), String> {
        let mut environment = Command::new("python3");
        wheels::run(environment.args(["-m", "venv"]).arg(folder))?;
        let mut pip = Command::new(folder.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"]);
        wheels::run(pip.args(["--only-binary", ":all:"]).args(self.packages))
    }
}
