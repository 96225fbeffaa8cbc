//! Checks that the image files next to a table match the images in its rows.

use std::fs;
use std::path::Path;

use kiln::image::{self, Wanted};
use kiln_spec::baked::{Image, Row};

use super::error::ImageFault;

/// The fault of a row's image; `None` if the image has no fault or the row has no image. The file must have the hash in
/// the row, be for the row's device, and contain the row's kernel.
pub fn fault(folder: &Path, row: &Row) -> Option<String> {
    let image = row.image.as_ref()?;
    let fault = find_fault(folder, row, image).err()?;
    Some(format!(
        "row of `{}`: image {}: {fault}",
        row.device, image.file
    ))
}

fn find_fault(folder: &Path, row: &Row, image: &Image) -> Result<(), ImageFault> {
    if Image::target_of(&row.device).as_deref() != Some(&*image.target) {
        return Err(ImageFault::OtherTarget {
            target: image.target.to_string(),
        });
    }
    let bytes = fs::read(folder.join(&image.file)).map_err(ImageFault::Unreadable)?;
    let found = Image::hash_of(&bytes);
    if found != image.hash {
        return Err(ImageFault::OtherHash {
            found,
            baked: image.hash,
        });
    }
    check(&bytes, row)
}

/// Checks that an image is for the row's device and contains the row's release and receipt entries.
pub(super) fn check(bytes: &[u8], row: &Row) -> Result<(), ImageFault> {
    let (backend, arch) = (row.device.backend, &row.device.arch);
    image::check_bytes(bytes, &Wanted::of_target(backend, arch))?;
    for symbol in [row.symbol.clone(), format!("{}_receipt", row.symbol)] {
        if !image::has_kernel(bytes, backend, &symbol)? {
            return Err(ImageFault::NoKernel { symbol });
        }
    }
    Ok(())
}
