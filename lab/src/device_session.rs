//! The devices that commands work with: compiler, artifact cache, and limits of worker processes.

use std::path::Path;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::Compiler;
use kiln::device::DeviceBackend;
use kiln::device::DeviceInfo;

use crate::atomic_file::FileError;
use crate::candidate::Workshop;
use crate::error::LabError;
use crate::machine;
use crate::worker::{ProcessCompiler, WorkerLimits};

/// A device that a command compiles for and on which it starts workers. This process itself launches nothing.
pub struct DeviceSession<'d> {
    /// Its name on the command line.
    pub name: &'d str,
    /// The device.
    pub device: &'d dyn DeviceBackend,
    /// The limits of worker processes.
    pub worker: WorkerLimits,
    /// The compiler in its own processes, if compiles can be isolated.
    isolated: Option<ProcessCompiler>,
    own: &'d dyn Compiler,
    artifacts: ArtifactCache,
}

impl<'d> DeviceSession<'d> {
    /// Opens a session on a device, with the artifact cache of a cache folder.
    ///
    /// # Errors
    /// If the device's compiler is missing, or the path of the running program, which starts the workers, cannot be
    /// found.
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

    /// The same, for commands that time launches.
    ///
    /// # Errors
    /// Those of [`DeviceSession::open`], and if the device has no clock because it is simulated.
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

    /// Describes the device.
    pub fn info(&self) -> &'d DeviceInfo {
        self.device.info()
    }

    /// The compiler, with limits of time and memory if possible.
    pub fn compiler(&self) -> &dyn Compiler {
        self.isolated.as_ref().map_or(self.own, |isolated| isolated)
    }

    /// The artifact cache, shared with earlier commands.
    pub fn artifacts(&self) -> &ArtifactCache {
        &self.artifacts
    }

    /// A workshop that compiles candidates; images are written to `folder`, which belongs to the command.
    pub fn workshop<'a>(&'a self, folder: &'a Path) -> Workshop<'a> {
        Workshop::new(self.compiler(), self.info(), &self.artifacts, folder)
    }
}
