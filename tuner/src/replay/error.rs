//! Errors of searching and baking recorded spaces.

use thiserror::Error;

/// Why recorded spaces cannot be searched or baked.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A source does not belong to a kernel that is searched.
    #[error(
        "`{name}` is of the kernel of no space that is searched, or that space itself\nhelp: a source is named KERNEL@DEVICE, with the kernel of a `--space`"
    )]
    ForeignSource {
        /// The source.
        name: String,
    },
    /// The recording is from another device than the target.
    #[error(
        "the recording is of `{name}`, which is not a device of {arch}\nhelp: name the architecture of the recorded device with `--target`"
    )]
    OtherDevice {
        /// The recorded device.
        name: String,
        /// The requested architecture.
        arch: &'static str,
    },
    /// The recording has other parameters than the kernel.
    #[error(
        "`{kernel}` cannot take configs of `{recording}`: {difference} (recorded: {})\nhelp: a kernel can whose parameters have the recorded names",
        .recorded.join(", ")
    )]
    OtherParams {
        /// The kernel.
        kernel: String,
        /// The recording.
        recording: String,
        /// The first difference.
        difference: ParamDifference,
        /// The recorded parameters.
        recorded: Vec<String>,
    },
    /// No config found is a config of the kernel.
    #[error(
        "none of the {found} valid configs that were found in `{recording}` is one that `{kernel}` ({problem}) has on {arch}\nhelp: `tune space -k {kernel}` says what its configs are; a larger `--budget` finds more of the recording"
    )]
    NothingFits {
        /// The number of configs found.
        found: usize,
        /// The recording.
        recording: String,
        /// The kernel.
        kernel: String,
        /// The problem.
        problem: String,
        /// The architecture.
        arch: &'static str,
    },
}

/// How the parameters of a kernel and of a recording differ.
#[derive(Clone, Debug, Error)]
pub enum ParamDifference {
    /// A parameter of the kernel was not recorded.
    #[error("the recording says nothing of its parameter `{0}`")]
    NotRecorded(String),
    /// The kernel lacks a recorded parameter.
    #[error("it has no parameter `{0}`, which was recorded")]
    Unknown(String),
}
