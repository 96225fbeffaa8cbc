//! A device as a command works with it: its compiler, the artifact cache, and the limits of worker processes.

use std::path::Path;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::Compiler;
use kiln::device::DeviceBackend;
use kiln::device::DeviceInfo;

use crate::candidate::Workshop;
use crate::error::Failure;
use crate::lab::machine;
use crate::lab::worker::{ProcessCompiler, WorkerLimits};

/// A device that a command compiles for and starts workers on. Nothing is launched on it in this process.
pub struct DeviceSession<'d> {
    /// Its name on the command line.
    pub name: &'d str,
    /// The device.
    pub device: &'d dyn DeviceBackend,
    /// What worker processes may take.
    pub worker: WorkerLimits,
    /// A compiler in processes of its own, if compiles can be isolated.
    isolated: Option<ProcessCompiler>,
    own: &'d dyn Compiler,
    artifacts: ArtifactCache,
}

impl<'d> DeviceSession<'d> {
    /// Opens a session on a device, with the artifacts of a cache folder.
    ///
    /// # Errors
    /// When the device's compiler is missing, or the running program, which workers are processes of, cannot be found.
    pub fn open(
        name: &'d str,
        device: &'d dyn DeviceBackend,
        cache: &Path,
    ) -> Result<DeviceSession<'d>, Failure> {
        let own = machine::compiler(device)?;
        Ok(DeviceSession {
            name,
            device,
            isolated: machine::isolated(own)?,
            own,
            artifacts: ArtifactCache::in_cache(cache).map_err(Failure::Device)?,
            worker: WorkerLimits::current()
                .map_err(Failure::file("find", "the running program".as_ref()))?,
        })
    }

    /// What the device is.
    pub fn info(&self) -> &'d DeviceInfo {
        self.device.info()
    }

    /// The compiler, with limits of time and memory if it can have them.
    pub fn compiler(&self) -> &dyn Compiler {
        self.isolated.as_ref().map_or(self.own, |isolated| isolated)
    }

    /// The compiled artifacts of earlier commands.
    pub fn artifacts(&self) -> &ArtifactCache {
        &self.artifacts
    }

    /// Where candidates are compiled; images are placed in a folder of the command's own.
    pub fn workshop<'a>(&'a self, folder: &'a Path) -> Workshop<'a> {
        Workshop::new(self.compiler(), self.info(), &self.artifacts, folder)
    }
}
