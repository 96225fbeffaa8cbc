//! What the host provides to the fresh machine (a minimal Debian in a folder): the tool that creates the machine,
//! package mirrors, network settings, and Rust.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step;

/// A program that unpacks a minimal Debian into a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `mmdebstrap`, which is faster.
    Mmdebstrap,
    /// `debootstrap`, which is older.
    Debootstrap,
}

/// The program with which this host can unpack Debian. `mmdebstrap` is preferred.
///
/// # Errors
/// If this host is not Linux, if the user is not root, or if a required program is missing.
pub fn bootstrap_tool() -> Result<Tool, String> {
    if !cfg!(target_os = "linux") {
        return Err("fresh: a Debian in a folder needs Linux\nhelp: run it in a container".into());
    }
    if said(Command::new("id").arg("-u")).as_deref() != Some("0") {
        return Err(
            "fresh: only root may mount and chroot\nhelp: sudo -E cargo xtask fresh".into(),
        );
    }
    for program in ["unshare", "git"] {
        if !step::there(program) {
            return Err(format!(
                "fresh: {program} is missing\nhelp: apt-get install util-linux git"
            ));
        }
    }
    if step::there("mmdebstrap") {
        Ok(Tool::Mmdebstrap)
    } else if step::there("debootstrap") {
        Ok(Tool::Debootstrap)
    } else {
        Err(
            "fresh: neither mmdebstrap nor debootstrap is here\nhelp: apt-get install mmdebstrap"
                .into(),
        )
    }
}

/// The address from which this host downloads Debian packages. If no address is found, Debian's own address.
pub fn mirror() -> String {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let more = std::fs::read_dir("/etc/apt/sources.list.d")
        .into_iter()
        .flatten()
        .flatten();
    files.extend(more.map(|entry| entry.path()));
    let texts = files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok());
    let found = texts.filter_map(|text| mirror_in(&text)).next();
    found.unwrap_or_else(|| "http://deb.debian.org/debian".into())
}

/// The first address in a list of sources whose path ends with `/debian`.
fn mirror_in(text: &str) -> Option<String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let mut words = lines.flat_map(str::split_whitespace);
    let mirror = words
        .find(|word| word.starts_with("http") && word.trim_end_matches('/').ends_with("/debian"));
    mirror.map(str::to_owned)
}

/// The host's files with network settings: name resolution, certificates, pip and apt. Each is copied to the same path
/// in the machine.
pub fn network_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = [
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pip.conf",
    ]
    .iter()
    .map(PathBuf::from)
    .collect();
    let settings = std::fs::read_dir("/etc/apt/apt.conf.d")
        .into_iter()
        .flatten()
        .flatten();
    let proxies = settings.map(|entry| entry.path()).filter(|path| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines()
            .any(|line| line.trim_start().starts_with("Acquire::"))
    });
    files.extend(proxies);
    files.retain(|file| file.is_file());
    files
}

/// The host's `config.toml` of cargo, which may name a mirror of the registry. `None` if there is no such file.
pub fn cargo_config() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")))?;
    Some(home.join("config.toml")).filter(|file| file.is_file())
}

/// The environment variables with network settings, as `NAME=value`.
pub fn network_variables() -> Vec<String> {
    let of_network = |name: &str| {
        let lower = name.to_lowercase();
        lower.ends_with("_proxy")
            || lower.ends_with("ca_bundle")
            || lower.starts_with("pip_")
            || ["ssl_cert_file", "git_ssl_cainfo", "cargo_http_cainfo"].contains(&&*lower)
    };
    let variables = std::env::vars().filter(|(name, _)| of_network(name));
    variables
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

/// The folder of the Rust toolchain with which this program runs.
///
/// # Errors
/// If `rustc` does not report the folder.
pub fn rust() -> Result<PathBuf, String> {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    said(rustc.args(["--print", "sysroot"]).current_dir(step::root()))
        .map(PathBuf::from)
        .ok_or_else(|| "fresh: `rustc --print sysroot` fails".into())
}

/// The first line of a command's output; `None` if the command fails.
pub fn said(command: &mut Command) -> Option<String> {
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_read_from_both_forms_of_a_list() {
        let old = "# deb http://old/debian x\ndeb [signed-by=/k] http://near/debian bookworm main";
        assert_eq!(mirror_in(old).as_deref(), Some("http://near/debian"));
        let new = "Types: deb\nURIs: https://deb.debian.org/debian/\nSuites: bookworm";
        assert_eq!(
            mirror_in(new).as_deref(),
            Some("https://deb.debian.org/debian/")
        );
        assert_eq!(
            mirror_in("deb https://packages.example/apt stable main"),
            None
        );
    }
}
