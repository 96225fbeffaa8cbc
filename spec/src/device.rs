//! Which device a baked row or a trial belongs to.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The kinds of device Kiln launches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// NVIDIA GPUs through the CUDA driver.
    Cuda,
    /// AMD GPUs through the HIP runtime.
    Hip,
    /// The host processor: the embedded default.
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

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|backend| backend.name() == text)
            .ok_or_else(|| format!("unknown backend `{text}` (known: cuda, hip, cpu, fake)"))
    }
}

/// The identity a baked row is selected by: backend, architecture and product name.
///
/// It says nothing of drivers or compilers: those are part of the tuning key, never of a baked row.
/// Its text is `backend/arch/name`, for example `cuda/sm_89/NVIDIA L4`.
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

impl FromStr for DeviceKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, '/');
        let (Some(backend), Some(arch), Some(name)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(format!(
                "device `{text}` is not of the form backend/arch/name"
            ));
        };
        let plain = |part: &str| !part.is_empty() && !part.chars().any(char::is_control);
        if !plain(arch) || !plain(name) {
            return Err(format!("device `{text}` has an empty or unprintable part"));
        }
        Ok(DeviceKey {
            backend: backend.parse()?,
            arch: arch.into(),
            name: name.into(),
        })
    }
}
