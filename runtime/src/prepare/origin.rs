//! Where loaded entries come from: the image that is embedded in the program, or else a compiler.

use kiln_spec::codegen::TranslationUnit;
use kiln_spec::{Hash, NotAHash};

use super::load;
use crate::compiler::error::CompileError;
use crate::compiler::{Artifact, BuildKind};
use crate::device::{DeviceBackend, DeviceError};
use crate::image;
use crate::kernel::Kernel;
use crate::prepare::error::PrepareError;
use crate::prepare::prepared::{NoImage, Origin, Prepared};
use crate::selection::Choice;

/// Loads the precompiled image of a choice.
///
/// # Errors
/// The reason why there is no image, or why the image cannot be used.
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

/// The image of a row as an artifact, and its hash in the baked table. Returns an error if the row has no image for
/// this device's architecture.
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

/// Removes the advice to bake again from an error. That advice is printed only if no compiler is found either.
fn refused(error: &str) -> NoImage {
    let why = error.split("\nhelp: ").next().unwrap_or(error);
    NoImage::Refused {
        why: why.to_owned(),
    }
}

/// The error of a failed compile. If no compiler was found, the error also explains why one is needed, because a
/// deployed program normally needs none.
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
