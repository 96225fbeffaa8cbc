//! Opens the device that a command works with, together with its compiler, its artifact cache and the limits of its
//! worker processes.

use std::path::Path;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::Compiler;
use kiln::device::DeviceBackend;
use kiln::device::DeviceInfo;

use crate::candidate::Workshop;
use crate::error::LabError;
use crate::machine;
use crate::worker::{ProcessCompiler, WorkerLimits};
use kiln_project::atomic_file::FileError;

/// A device that a command uses: the command compiles for it and starts worker processes that launch kernels on it. The
/// command's own process launches nothing.
pub struct DeviceSession<'d> {
    /// The name of the device on the command line.
    pub name: &'d str,
    /// The device.
    pub device: &'d dyn DeviceBackend,
    /// The limits of worker processes.
    pub worker: WorkerLimits,
    /// A wrapper that runs the device's compiler in separate processes; `None` if the compiler already runs in its own
    /// processes.
    isolated: Option<ProcessCompiler>,
    own: &'d dyn Compiler,
    artifacts: ArtifactCache,
}

impl<'d> DeviceSession<'d> {
    /// Opens a session on a device. The artifact cache is in the folder `cache`.
    ///
    /// # Errors
    /// If the device's compiler is missing, the artifact cache cannot be opened, or the path of the running program
    /// (which workers execute) cannot be found.
    pub fn open(
        name: &'d str,
        device: &'d dyn DeviceBackend,
        cache: &Path,
    ) -> Result<DeviceSession<'d>, LabError> {
        let own = machine::compiler(device)?;
        Ok(DeviceSession {
            name,
            device,
            isolated: machine::isolated(own)?,
            own,
            artifacts: ArtifactCache::in_cache(cache).map_err(LabError::Device)?,
            worker: WorkerLimits::current()
                .map_err(FileError::of("find", "the running program".as_ref()))?,
        })
    }

    /// Like [`DeviceSession::open`], for commands that time launches.
    ///
    /// # Errors
    /// The errors of [`DeviceSession::open`], and [`LabError::NoClock`] if the device is simulated and has no clock.
    pub fn open_for_timing(
        name: &'d str,
        device: &'d dyn DeviceBackend,
        cache: &Path,
    ) -> Result<DeviceSession<'d>, LabError> {
        if device.info().is_simulated {
            return Err(LabError::NoClock(name.into()));
        }
        DeviceSession::open(name, device, cache)
    }

    /// The description of the device.
    pub fn info(&self) -> &'d DeviceInfo {
        self.device.info()
    }

    /// The compiler. If it is a library, it is wrapped so that it runs in separate processes with limits of time and
    /// memory.
    pub fn compiler(&self) -> &dyn Compiler {
        self.isolated.as_ref().map_or(self.own, |isolated| isolated)
    }

    /// The artifact cache, which all commands share.
    pub fn artifacts(&self) -> &ArtifactCache {
        &self.artifacts
    }

    /// Creates a workshop that compiles candidates for the device. The workshop writes images to `folder`, which only
    /// this command may use.
    pub fn workshop<'a>(&'a self, folder: &'a Path) -> Workshop<'a> {
        Workshop::new(self.compiler(), self.info(), &self.artifacts, folder)
    }
}
