//! Errors of searching recorded spaces and baking their configs.

use thiserror::Error;

/// Why a recorded space cannot be searched or baked.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A recording from which searches should start is not from a searched kernel on another device.
    #[error(
        "`{name}` is not a source for these searches: no searched space has its kernel, or it is the searched space \
         itself\n\
         help: a source is named KERNEL@DEVICE, with the kernel of a `--space`"
    )]
    ForeignSource {
        /// The name of the source.
        name: String,
    },
    /// The recorded device is from another vendor than the target.
    #[error(
        "the recording was made on `{name}`, which is not a device of architecture {arch}\n\
         help: name the architecture of the recorded device with `--target`"
    )]
    OtherDevice {
        /// The name of the recorded device.
        name: String,
        /// The requested architecture.
        arch: &'static str,
    },
    /// The recording and the kernel have different parameters.
    #[error(
        "`{kernel}` cannot use the configs of `{recording}`: {difference} (recorded parameters: {})\n\
         help: name a kernel whose parameters have the recorded names",
        .recorded.join(", ")
    )]
    OtherParams {
        /// The name of the kernel.
        kernel: String,
        /// The name of the recording.
        recording: String,
        /// The first difference.
        difference: ParamDifference,
        /// The names of the recorded parameters.
        recorded: Vec<String>,
    },
    /// None of the configs that were found is a config of the kernel on the target.
    #[error(
        "none of the {found} valid configs that were found in `{recording}` is a config of `{kernel}` ({problem}) on \
         {arch}\n\
         help: `tune space -k {kernel}` describes the kernel's configs; a larger `--budget` finds more of the \
         recorded configs"
    )]
    NothingFits {
        /// The number of configs that were found.
        found: usize,
        /// The name of the recording.
        recording: String,
        /// The name of the kernel.
        kernel: String,
        /// The problem, as text.
        problem: String,
        /// The architecture of the target.
        arch: &'static str,
    },
}

/// How the parameters of a kernel and of a recording differ.
#[derive(Clone, Debug, Error)]
pub enum ParamDifference {
    /// The recording does not have this parameter of the kernel.
    #[error("the recording does not contain its parameter `{0}`")]
    NotRecorded(String),
    /// The kernel does not have this recorded parameter.
    #[error("it has no parameter `{0}`, which was recorded")]
    Unknown(String),
}
