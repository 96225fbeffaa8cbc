//! The machine: a minimal Debian in a folder, entered with `chroot`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::host::{self, Tool};
use super::make;
use super::options::{Compiler, Options, Release};
use crate::step;

/// The Debian packages of the machine, in addition to a compiler: Python, which the README requires, and git and
/// certificates, which cloning requires.
const PACKAGES: &str = "python3,git,ca-certificates";
/// The path of the clone in the machine.
const CLONE: &str = "/root/kiln";
/// The path of the host's Rust in the machine.
const RUST: &str = "/opt/rust";

/// A script that mounts the file systems that every machine has, the host's Rust, and the folder in `KILN_DATA` if it
/// is set, and then runs a command in the clone. The script runs in separate namespaces, so the mounts end when the
/// script ends. `$1` is the folder of the machine, `$2` is the folder of Rust, and the other arguments are the command.
const ENTER: &str = r#"
set -eu
root=$1 rust=$2; shift 2
mount -t tmpfs -o mode=755 fresh "$root/dev"
for name in null zero full random urandom tty; do
    : > "$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 fresh "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 fresh "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t proc fresh "$root/proc"
mount -t sysfs -o ro fresh "$root/sys"
mount --bind "$rust" "$root/opt/rust"
mount -o remount,bind,ro "$root/opt/rust"
if [ -n "${KILN_DATA:-}" ]; then
    mkdir -p "$root/opt/data"
    mount --bind "$KILN_DATA" "$root/opt/data"
    mount -o remount,bind,ro "$root/opt/data"
fi
exec chroot "$root" "$@"
"#;

/// A machine: a minimal Debian in a folder.
#[derive(Debug)]
pub struct Machine {
    root: PathBuf,
    rust: PathBuf,
    compiler: Compiler,
    debian: Release,
}

impl Machine {
    /// A machine that will be created in the folder `root` below the folder of the options.
    ///
    /// # Errors
    /// If a machine already exists there, or if the host has no Rust.
    pub fn new(options: &Options) -> Result<Machine, String> {
        let root = options.folder.join("root");
        if root.exists() {
            return Err(format!(
                "fresh: {} is there already, of a run that was killed or kept\nhelp: rm -rf --one-file-system {}",
                root.display(),
                root.display()
            ));
        }
        make(&options.folder)?;
        let rust = host::rust()?;
        Ok(Machine {
            root,
            rust,
            compiler: options.compiler,
            debian: options.debian,
        })
    }

    /// The folder that is `/` in the machine.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The command that unpacks Debian into the folder.
    pub fn bootstrap(&self, tool: Tool) -> Command {
        let (clang, gcc) = (self.debian.clang(), self.debian.gcc());
        let compiler = match self.compiler {
            Compiler::Gcc => "g++".to_owned(),
            Compiler::Clang => {
                format!("clang-{clang},libclang-rt-{clang}-dev,libstdc++-{gcc}-dev,libc6-dev")
            }
        };
        let program = match tool {
            Tool::Mmdebstrap => "mmdebstrap",
            Tool::Debootstrap => "debootstrap",
        };
        let mut command = in_namespaces();
        command.arg(program);
        if tool == Tool::Mmdebstrap {
            // A mirror that is a snapshot of a release in testing is past the date until which its lists are valid.
            command.arg("--aptopt=Acquire::Check-Valid-Until \"false\"");
        }
        command.arg("--variant=minbase");
        command.arg(format!("--include={compiler},{PACKAGES}"));
        command
            .arg(self.debian.name())
            .arg(&self.root)
            .arg(host::mirror());
        command
    }

    /// Copies the host's network settings into the machine, and a clean clone of the repository.
    ///
    /// # Errors
    /// If a file cannot be copied, or if git fails.
    pub fn furnish(&self) -> Result<(), String> {
        let mut files: Vec<(PathBuf, PathBuf)> = Vec::new();
        for file in host::network_files() {
            files.push((file.clone(), file));
        }
        if let Some(file) = host::cargo_config() {
            files.push((file, "/root/.cargo/config.toml".into()));
        }
        for (from, to) in files {
            let to = self.inside(&to);
            make(to.parent().unwrap_or(&self.root))?;
            // Remove a link at the destination, because copying through it could write outside the machine.
            let _ = fs::remove_file(&to);
            fs::copy(&from, &to).map_err(|error| format!("fresh: {}: {error}", from.display()))?;
        }
        make(&self.inside(Path::new(RUST)))?;
        if self.compiler == Compiler::Clang {
            let linker = self.inside(Path::new("/usr/local/bin/cc"));
            let clang = format!("/usr/bin/clang-{}", self.debian.clang());
            std::os::unix::fs::symlink(clang, &linker)
                .map_err(|error| format!("fresh: {}: {error}", linker.display()))?;
        }
        self.clone_head()
    }

    /// Clones the commit HEAD. Changes in the working tree are not cloned.
    fn clone_head(&self) -> Result<(), String> {
        let head = host::said(git().args(["rev-parse", "HEAD"]).current_dir(step::root()));
        let head = head.ok_or("fresh: git does not know HEAD")?;
        let clone = self.inside(Path::new(CLONE));
        let mut copy = git();
        copy.args(["clone", "--quiet", "--no-hardlinks", "--no-checkout"]);
        step::run("fresh: clone", copy.arg(step::root()).arg(&clone))?;
        let mut check_out = git();
        check_out.args([
            "-c",
            "advice.detachedHead=false",
            "checkout",
            "--quiet",
            &head,
        ]);
        step::run("fresh: HEAD", check_out.current_dir(&clone))
    }

    /// The command that runs the shell command `words` in the clone, inside the machine.
    pub fn command(&self, words: &str) -> Command {
        let mut command = in_namespaces();
        command.args(["sh", "-c", ENTER, "enter"]);
        command.arg(&self.root).arg(&self.rust);
        // From the host's environment, the command gets only network settings and the variables listed below.
        command.args(["env", "-i", "HOME=/root", "TERM=dumb"]);
        command.arg(format!(
            "PATH={RUST}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        ));
        command.args(host::network_variables());
        let lent: Vec<OsString> = ["CI", "KILN_CXX", "KILN_BARS"]
            .into_iter()
            .filter_map(|name| {
                let mut variable = OsString::from(format!("{name}="));
                variable.push(std::env::var_os(name)?);
                Some(variable)
            })
            .collect();
        command.args(lent);
        if std::env::var_os("KILN_DATA").is_some() {
            command.arg("KILN_DATA=/opt/data");
        }
        command.args(["sh", "-c", &format!("cd {CLONE} && {words}")]);
        command
    }

    /// Removes the machine. The mounts below its folder have already ended together with its commands, so no file of
    /// the host is removed.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn remove(&self) -> Result<(), String> {
        if !self.root.exists() {
            return Ok(());
        }
        let mut remove = Command::new("rm");
        step::run(
            "fresh: clean up",
            remove.args(["-rf", "--one-file-system"]).arg(&self.root),
        )
    }

    /// A path in the machine, as the host sees it.
    fn inside(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

/// A command that runs its arguments in new mount and process namespaces. The mounts and processes end if the command
/// is killed.
fn in_namespaces() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "--pid", "--fork"]);
    command.arg("--kill-child");
    command
}

/// A git command that ignores the settings of this user and host.
fn git() -> Command {
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    // With sudo, the repository belongs to another user, which git would not trust.
    git.args(["-c", "safe.directory=*"]);
    git
}
