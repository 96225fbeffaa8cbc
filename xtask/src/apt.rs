//! Debian's packages.

use std::process::Command;

use crate::step;

/// Installs Debian packages, if this is a Debian machine and we may.
pub(crate) fn apt(packages: &[&str]) -> bool {
    if !step::there("apt-get") {
        return false;
    }
    let quiet = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive");
        command.output().is_ok_and(|output| output.status.success())
    };
    let mut install = vec!["install", "-y", "-qq", "--no-install-recommends"];
    install.extend(packages);
    let installed = quiet(&install) || (quiet(&["update", "-qq"]) && quiet(&install));
    if installed {
        eprintln!("xtask: setup: installed {} by apt-get", packages.join(", "));
    }
    installed
}
