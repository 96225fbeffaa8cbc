//! The source lines of instructions, from the line tables of a code object.

use std::collections::BTreeMap;

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, Error, LittleEndian, SectionId};
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _};

/// The debug sections of a code object. They are parsed each time a line is requested.
#[derive(Debug)]
pub(super) struct Lines(BTreeMap<String, Vec<u8>>);

impl Lines {
    /// Copies the debug sections of a file. `None` if the file has no line tables.
    pub fn read<'a>(elf: &ElfFile64<'a, object::LittleEndian, &'a [u8]>) -> Option<Lines> {
        elf.section_by_name(SectionId::DebugLine.name())?;
        let debug = elf.sections().filter_map(|section| {
            let name = section.name().ok()?;
            name.starts_with(".debug_")
                .then(|| Some((name.to_owned(), section.data().ok()?.to_vec())))?
        });
        Some(Lines(debug.collect()))
    }

    /// The file and the line of an address.
    pub fn of(&self, address: u64) -> Option<(String, u32)> {
        let load = |id: SectionId| -> Result<_, Error> {
            let bytes = self.0.get(id.name()).map_or(&[][..], Vec::as_slice);
            Ok(EndianSlice::new(bytes, LittleEndian))
        };
        let context = Context::from_dwarf(Dwarf::load(load).ok()?).ok()?;
        let location = context.find_location(address).ok()??;
        Some((location.file?.to_owned(), location.line?))
    }
}
