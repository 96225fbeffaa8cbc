//! Where loaded entries come from: the image embedded in the program, or else a compiler.

use kiln_spec::codegen::TranslationUnit;
use kiln_spec::{Hash, NotAHash};
use thiserror::Error;

use super::{PrepareError, Prepared, load};
use crate::compiler::{Artifact, BuildKind, CompileError};
use crate::device::{DeviceBackend, DeviceError};
use crate::image;
use crate::kernel::Kernel;
use crate::select::Choice;

/// Where loaded entries came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The image that was embedded when the program was built.
    Image,
    /// The compiler on this machine, or the cache of what it compiled before.
    Compiler {
        /// Why not an image.
        instead_of: NoImage,
    },
}

/// Why no image is used for a choice on a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoImage {
    /// None is embedded.
    #[error("no embedded image")]
    Missing,
    /// The one embedded is for devices of another architecture.
    #[error("only an image for {target} embedded")]
    OtherArchitecture {
        /// What it is for.
        target: &'static str,
    },
    /// The device must not load it, or could not.
    #[error("an embedded image that is refused ({why})")]
    Refused {
        /// What was found and what was needed.
        why: String,
    },
}

/// Loads the image that was compiled ahead for a choice.
///
/// # Errors
/// Why there is none, or why it is refused.
pub(super) fn from_image(
    kernel: &'static Kernel,
    device: &dyn DeviceBackend,
    choice: Choice,
    unit: &TranslationUnit,
) -> Result<Prepared, NoImage> {
    let (artifact, baked) = embedded(kernel, device, choice)?;
    let loaded = image::check_hash(&artifact, baked)
        .map_err(DeviceError::from)
        .and_then(|()| load(device, unit, &artifact));
    match loaded {
        Ok(prepared) => Ok(Prepared {
            origin: Origin::Image,
            ..prepared
        }),
        Err(error) => Err(refused(&error.to_string())),
    }
}

/// The image of a row and its baked hash, if the row is one of this device's architecture.
fn embedded(
    kernel: &'static Kernel,
    device: &dyn DeviceBackend,
    choice: Choice,
) -> Result<(Artifact, Hash), NoImage> {
    let Choice::Row(row) = choice else {
        return Err(NoImage::Missing);
    };
    let row = &kernel.rows()[row];
    let image = row.image.ok_or(NoImage::Missing)?;
    let key = &device.info().key;
    if row.device.backend != key.backend || row.device.arch != key.arch {
        let target = image.target;
        return Err(NoImage::OtherArchitecture { target });
    }
    let hash = image
        .hash
        .parse()
        .map_err(|why: NotAHash| refused(&why.to_string()))?;
    let artifact = Artifact::new(
        key.backend,
        image.target,
        BuildKind::Release,
        image.bytes,
        String::new(),
    );
    Ok((artifact, hash))
}

/// The help in an error is about baking again, which is said once, where there is no compiler either.
fn refused(error: &str) -> NoImage {
    let why = error.split("\nhelp: ").next().unwrap_or(error);
    NoImage::Refused {
        why: why.to_owned(),
    }
}

/// The error of a compile. Where there is no compiler it says why one is needed: a deployed program is meant to need
/// none.
pub(super) fn not_compiled(
    device: &dyn DeviceBackend,
    choice: Choice,
    image: NoImage,
    error: CompileError,
) -> PrepareError {
    let CompileError::NotFound { what, looked, help } = error else {
        return error.into();
    };
    let embed = "run `tune bake --images` and build the program again";
    let help = match choice {
        Choice::Row(_) => format!("{embed}, or {help}"),
        Choice::Baseline => {
            let device = &device.info().key;
            format!("only baked rows have images: tune for `{device}`, {embed}; or {help}")
        }
    };
    PrepareError::NoImageNoCompiler {
        choice,
        image,
        missing: format!("{what} was not found ({looked})"),
        help,
    }
}
