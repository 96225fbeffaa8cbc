//! Determines the length of an image, because `hipModuleLoadData` receives only a pointer.

use object::LittleEndian;
use object::elf::{FileHeader64, SectionHeader64};
use object::read::elf::{FileHeader as _, SectionHeader as _};

/// Size of a 64-bit ELF header.
const HEADER_BYTES: usize = size_of::<FileHeader64<LittleEndian>>();

/// The bytes of an image at an address. The length follows from the image's headers.
///
/// # Safety
/// The address must point to an ELF header, and to everything that this header describes.
pub unsafe fn image_at(start: *const u8) -> Option<&'static [u8]> {
    let endian = LittleEndian;
    // SAFETY: the caller promises an ELF header at this address.
    let head = unsafe { std::slice::from_raw_parts(start, HEADER_BYTES) };
    let header = FileHeader64::<LittleEndian>::parse(head).ok()?;
    let table = usize::try_from(header.e_shoff(endian)).ok()?;
    let count = usize::from(header.e_shnum(endian));
    let end = table.checked_add(count.checked_mul(size_of::<SectionHeader64<LittleEndian>>())?)?;
    // SAFETY: the caller promises all bytes that the header describes. Linkers write the section table last.
    let image = unsafe { std::slice::from_raw_parts(start, end) };
    let sections = header.section_headers(endian, image).ok()?;
    let reach = sections
        .iter()
        .filter_map(|section| section.file_range(endian));
    let longest = reach.map(|(offset, size)| offset + size).max()?;
    (longest <= end as u64).then_some(image)
}
