//! `tune devices`: what this machine has, and what is missing for the rest.

use std::process::ExitCode;

use kiln::Device;
use kiln::compiler::BuildKind;
use serde::Serialize;

use super::{checked, print, print_json};
use crate::cli::OutputArgs;
use crate::exit::Failure;

#[derive(Serialize)]
struct Listed {
    name: String,
    key: String,
    compiler: Result<String, String>,
    flags: Vec<String>,
    max_threads_per_block: u32,
    shared_bytes_per_block: u32,
    multiprocessors: u32,
    fingerprint: std::collections::BTreeMap<String, String>,
}

pub(super) fn run(args: &OutputArgs) -> Result<ExitCode, Failure> {
    let devices = kiln::devices();
    let listed: Vec<_> = devices.iter().map(|device| Listed::of(&**device)).collect();
    if args.json {
        print_json(&listed)?;
        return Ok(checked(true));
    }
    print(&listed.iter().map(Listed::to_text).collect::<String>());
    for (name, error) in kiln::devices::missing() {
        print(&format!("{name}: none here: {error}\n"));
    }
    for backend in kiln::devices::backends_not_built() {
        print(&format!("{backend}: not built into this version\n"));
    }
    Ok(checked(true))
}

impl Listed {
    fn of(device: &dyn Device) -> Listed {
        let info = device.info();
        let compiler = device.compiler();
        Listed {
            name: kiln::devices::name_of(device),
            key: info.key.to_string(),
            flags: compiler
                .as_ref()
                .map(|compiler| compiler.flags(BuildKind::Release))
                .unwrap_or_default(),
            compiler: compiler
                .map(|compiler| compiler.identity().to_string())
                .map_err(|error| error.to_string()),
            max_threads_per_block: info.limits.max_threads_per_block,
            shared_bytes_per_block: info.limits.shared_bytes_per_block,
            multiprocessors: info.limits.multiprocessors,
            fingerprint: info.fingerprint.clone(),
        }
    }

    fn to_text(&self) -> String {
        let compiler = match &self.compiler {
            Ok(identity) => identity.clone(),
            Err(error) => format!("none: {error}"),
        };
        format!(
            "{}\n  identity   {}\n  compiler   {compiler}\n  limits     {} threads and {} bytes of shared memory a block, {} cores\n",
            self.name,
            self.key,
            self.max_threads_per_block,
            self.shared_bytes_per_block,
            self.multiprocessors
        )
    }
}
