//! Reads the number of parameters of a kernel from its cubin, because drivers before CUDA 12.4 do not report it.
//!
//! The section `.nv.info.<kernel>` consists of records. A record has a format byte, an attribute byte and two more
//! bytes. In format 4, these two bytes are a length, and that many bytes follow. Attribute 0x17 describes one
//! parameter. NVIDIA does not document this layout, which was observed in the output of NVRTC 12.9 to 13.5.

use object::LittleEndian;
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _};

/// The format of records with a 16-bit length and a value of that length.
const SIZED: u8 = 4;
/// The attribute of a record that describes one parameter.
const PARAMETER: u8 = 0x17;

/// The number of parameters of a kernel; `None` if the image does not contain it.
pub(super) fn count(image: &[u8], symbol: &str) -> Option<usize> {
    let file = ElfFile64::<LittleEndian>::parse(image).ok()?;
    let section = file.section_by_name(&format!(".nv.info.{symbol}"))?;
    let mut bytes = section.data().ok()?;
    let mut parameters = 0;
    while let [format, attribute, low, high, rest @ ..] = bytes {
        let size = if *format == SIZED {
            usize::from(u16::from_le_bytes([*low, *high]))
        } else {
            0
        };
        parameters += usize::from(*attribute == PARAMETER);
        bytes = rest.get(size..)?;
    }
    Some(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUDA_12: &[u8] = include_bytes!("../../../tests/images/sm_89.cuda12.cubin");
    const CUDA_13: &[u8] = include_bytes!("../../../tests/images/sm_89.cuda13.cubin");

    #[test]
    fn both_layouts_say_how_many_parameters_a_kernel_takes() {
        for image in [CUDA_12, CUDA_13] {
            assert_eq!(count(image, "k"), Some(1));
            assert_eq!(count(image, "no_such_kernel"), None);
        }
    }

    #[test]
    fn a_cut_off_image_says_nothing_wrong() {
        for len in 0..CUDA_13.len() {
            let said = count(&CUDA_13[..len], "k");
            assert!(said.is_none_or(|parameters| parameters <= 1), "{len}");
        }
    }
}
