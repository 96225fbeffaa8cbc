//! Checks that the image files next to a table match the images in its rows.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kiln::image::{self, Wanted};
use kiln_spec::baked::{BakedTable, Image, Row};

use super::error::ImageFault;
use crate::error::Failure;

/// The image files of a kernel in a folder to which no row of the kernel's table refers, sorted.
///
/// # Errors
/// If the folder cannot be read.
pub fn left_over(kernel: &str, folder: &Path, table: &BakedTable) -> Result<Vec<PathBuf>, Failure> {
    let named: BTreeSet<&str> = table
        .rows()
        .filter_map(|row| row.image.as_ref())
        .map(|image| image.file.as_str())
        .collect();
    let entries = fs::read_dir(folder).map_err(Failure::file("read the folder", folder))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Failure::file("read the folder", folder))?;
        let name = entry.file_name();
        let is_image = |name: &str| Image::is_named(kernel, name) && !named.contains(name);
        if name.to_str().is_some_and(is_image) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

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
