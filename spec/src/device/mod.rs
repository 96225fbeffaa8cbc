//! The identity of devices. Baked rows and trials belong to a device.

#[doc(hidden)]
pub mod limits;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The kinds of devices on which Kiln launches kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// NVIDIA GPUs through the CUDA driver.
    Cuda,
    /// AMD GPUs through the HIP runtime.
    Hip,
    /// The host processor. It is the default, and it is always available.
    Cpu,
    /// A scripted device for tests.
    Fake,
}

impl Backend {
    /// Every backend, in the order in which lists show them.
    pub const ALL: [Backend; 4] = [Backend::Cuda, Backend::Hip, Backend::Cpu, Backend::Fake];

    /// The backend's name, as in `--device cpu`.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Cuda => "cuda",
            Backend::Hip => "hip",
            Backend::Cpu => "cpu",
            Backend::Fake => "fake",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no backend with this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown backend `{name}` (known: cuda, hip, cpu, fake)")]
pub struct UnknownBackend {
    /// The unknown name.
    pub name: String,
}

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|backend| backend.name() == text)
            .ok_or_else(|| UnknownBackend { name: text.into() })
    }
}

/// The identity of a device: backend, architecture and product name. A launch uses it to select a baked row.
///
/// The identity does not contain the versions of the driver and the compiler. These versions are part of the key under
/// which a trial is stored, but a baked row does not contain them. The text of an identity is `backend/arch/name`, for
/// example `cuda/sm_89/NVIDIA L4`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceKey {
    /// The backend that launches on the device.
    pub backend: Backend,
    /// The device's architecture: `sm_89`, `gfx1151`, `x86-64-v4`, …
    pub arch: String,
    /// The device's product name, as the driver reports it.
    pub name: String,
}

impl fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.backend, self.arch, self.name)
    }
}

/// The reason why a text is not the identity of a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceKeyError {
    /// The text has fewer than three parts.
    #[error("device `{text}` is not of the form backend/arch/name")]
    Form {
        /// The rejected text.
        text: String,
    },
    /// The architecture or the name is empty, or it contains unprintable characters.
    #[error("device `{text}` has an empty or unprintable part")]
    Part {
        /// The rejected text.
        text: String,
    },
    /// The first part is not the name of a backend.
    #[error(transparent)]
    Backend(#[from] UnknownBackend),
}

impl FromStr for DeviceKey {
    type Err = DeviceKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, '/');
        let (Some(backend), Some(arch), Some(name)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(DeviceKeyError::Form { text: text.into() });
        };
        let plain = |part: &str| !part.is_empty() && !part.chars().any(char::is_control);
        if !plain(arch) || !plain(name) {
            return Err(DeviceKeyError::Part { text: text.into() });
        }
        Ok(DeviceKey {
            backend: backend.parse()?,
            arch: arch.into(),
            name: name.into(),
        })
    }
}
