//! The identity of devices, to which baked rows and trials belong.

#[doc(hidden)]
pub mod limits;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The kinds of device Kiln launches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// NVIDIA GPUs through the CUDA driver.
    Cuda,
    /// AMD GPUs through the HIP runtime.
    Hip,
    /// The host processor: the default, always available.
    Cpu,
    /// A scripted device for tests.
    Fake,
}

impl Backend {
    /// Every backend, in the order listings use.
    pub const ALL: [Backend; 4] = [Backend::Cuda, Backend::Hip, Backend::Cpu, Backend::Fake];

    /// Its name, as in `--device cpu`.
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

/// No backend has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown backend `{name}` (known: cuda, hip, cpu, fake)")]
pub struct UnknownBackend {
    /// The name.
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

/// The identity by which a baked row is selected: backend, architecture and product name.
///
/// It contains no driver or compiler: those are part of the tuning key, never of a baked row. Its text is
/// `backend/arch/name`, for example `cuda/sm_89/NVIDIA L4`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceKey {
    /// The backend.
    pub backend: Backend,
    /// The architecture: `sm_89`, `gfx1151`, `x86-64-v4`, …
    pub arch: String,
    /// The product name, as the driver reports it.
    pub name: String,
}

impl fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.backend, self.arch, self.name)
    }
}

/// Why a text is not the identity of a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceKeyError {
    /// It has fewer than three parts.
    #[error("device `{text}` is not of the form backend/arch/name")]
    Form {
        /// The text.
        text: String,
    },
    /// The architecture or the name is empty or unprintable.
    #[error("device `{text}` has an empty or unprintable part")]
    Part {
        /// The text.
        text: String,
    },
    /// The first part is not a backend.
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
