//! Creates the scratch folder for an element's cache: a new folder per attempt, on a local disk of the node.
//!
//! The cache locks its folder and syncs every record. On a network file system, locks may have no effect, and every
//! sync is a round trip. A cache there could be damaged, or could make all elements of a plan wait for each other.

use std::path::{Path, PathBuf};

use rustix::fs::statfs;
use tempfile::TempDir;

use super::FleetError;

/// The environment variables that contain the path of a scratch folder, the most specific first.
const VARIABLES: [&str; 2] = ["SLURM_TMPDIR", "TMPDIR"];

/// The `statfs(2)` numbers of network file systems, from `linux/magic.h` and the sources of the file systems.
const NETWORK: [(u64, &str); 11] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0102_1997, "9P"),
];

/// Creates a folder for one attempt at an element. The folder is removed when the returned value is dropped.
///
/// # Errors
/// If the scratch folder is on a network file system, or cannot be written to.
pub fn make(given: Option<&Path>, element: u32) -> Result<TempDir, FleetError> {
    let parent = parent(given, &|name| std::env::var_os(name).map(PathBuf::from));
    let failed = |error| FleetError::Scratch {
        folder: parent.clone(),
        error,
    };
    let kind = statfs(&parent).map_err(|error| failed(error.into()))?;
    if let Some(name) = network(kind.f_type as u64) {
        return Err(FleetError::NetworkScratch {
            folder: parent,
            name,
        });
    }
    tempfile::Builder::new()
        .prefix(&format!("kiln-fleet-{element}-"))
        .tempdir_in(&parent)
        .map_err(failed)
}

fn parent(given: Option<&Path>, variable: &dyn Fn(&str) -> Option<PathBuf>) -> PathBuf {
    let named = || VARIABLES.iter().find_map(|name| variable(name));
    let named = || named().filter(|folder| folder.is_absolute());
    let given = given.map(Path::to_owned).or_else(named);
    given.unwrap_or_else(|| PathBuf::from("/tmp"))
}

/// The name of the network file system that has this `statfs(2)` number; `None` for other file systems.
fn network(kind: u64) -> Option<&'static str> {
    // On some systems the field is a signed 32-bit integer, so a large number is sign-extended.
    let kind = kind & 0xffff_ffff;
    let found = NETWORK.iter().find(|(number, _)| *number == kind);
    found.map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_is_where_the_scheduler_puts_it() {
        let set = |names: &'static [&'static str]| {
            move |name: &str| {
                names
                    .contains(&name)
                    .then(|| PathBuf::from(format!("/{name}")))
            }
        };
        let both = set(&["SLURM_TMPDIR", "TMPDIR"]);
        assert_eq!(parent(None, &both), Path::new("/SLURM_TMPDIR"));
        assert_eq!(parent(None, &set(&["TMPDIR"])), Path::new("/TMPDIR"));
        assert_eq!(parent(None, &set(&[])), Path::new("/tmp"));
        assert_eq!(parent(Some(Path::new("/x")), &both), Path::new("/x"));
    }

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        assert_eq!(network(0x6969), Some("NFS"));
        // The number of CIFS, sign-extended.
        assert_eq!(network(0xffff_ffff_ff53_4d42), Some("CIFS"));
        // The numbers of ext4 and tmpfs.
        assert_eq!([network(0xef53), network(0x0102_1994)], [None, None]);
    }
}
