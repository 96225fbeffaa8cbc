//! The other processes that compute on AMD GPUs. Linux's compute driver (KFD) lists them: it has one folder per
//! process, which contains the process's queues.
//!
//! The list is not restricted to one GPU, so on a machine with several GPUs the processes on all of them are listed.

use std::fs;
use std::path::Path;

use crate::device::error::DeviceError;

/// The folder that contains the driver's list.
pub(super) const LISTED: &str = "/sys/class/kfd/kfd/proc";

/// The IDs of the processes that have a queue, except this process.
///
/// # Errors
/// [`DeviceError::Unsupported`] if the list cannot be read.
pub(super) fn others(listed: &Path) -> Result<Vec<u32>, DeviceError> {
    let folders = fs::read_dir(listed).map_err(|error| DeviceError::Unsupported {
        what: format!(
            "asking for the processes of AMD GPUs ({}: {error})",
            listed.display()
        ),
    })?;
    let mut processes: Vec<u32> = folders
        .flatten()
        .filter(|folder| has_queue(&folder.path()))
        .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
        .filter(|&process| process != std::process::id())
        .collect();
    processes.sort_unstable();
    Ok(processes)
}

/// Whether a process has a queue. A process that has only opened the driver, for example to list devices, has none.
fn has_queue(process: &Path) -> bool {
    let queues = fs::read_dir(process.join("queues"));
    queues.is_ok_and(|mut queues| queues.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_with_queues_are_listed_and_no_others() {
        let root = tempfile::tempdir().unwrap();
        let own = std::process::id().to_string();
        for folder in [
            "4711/queues/0",
            "12/queues/3",
            "13/queues",
            "14",
            "x/queues/0",
        ] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        fs::create_dir_all(root.path().join(own).join("queues/0")).unwrap();
        assert_eq!(others(root.path()), Ok(vec![12, 4711]));
        let error = others(&root.path().join("none")).unwrap_err();
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
    }
}
