//! NVRTC of earlier toolkits, which the drivers of most GPUs ask for: kernels must compile with them, too. Each comes with
//! the headers of its toolkit, which these versions do not bundle.

use crate::setup::has_nvrtc;
use crate::wheels;

/// The folder, and the wheels that go there; `tests/src/capability.rs` looks for the same folders.
const VERSIONS: [(&str, [&str; 2]); 3] = [
    (
        "target/nvrtc-12.1",
        [
            "nvidia-cuda-nvrtc-cu12==12.1.105",
            "nvidia-cuda-runtime-cu12==12.1.105",
        ],
    ),
    (
        "target/nvrtc-12.9",
        [
            "nvidia-cuda-nvrtc-cu12==12.9.86",
            "nvidia-cuda-runtime-cu12==12.9.79",
        ],
    ),
    (
        "target/nvrtc-13.0",
        ["nvidia-cuda-nvrtc==13.0.88", "nvidia-cuda-runtime==13.0.96"],
    ),
];

/// Unpacks them unless they are there.
///
/// # Errors
/// As [`wheels::install`].
pub fn install() -> Result<(), String> {
    VERSIONS
        .iter()
        .try_for_each(|(folder, wheels)| wheels::install(folder, wheels, has_nvrtc))
}
