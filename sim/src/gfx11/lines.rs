//! The source lines of instructions, from the line tables of a code object.

use std::collections::BTreeMap;

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, Error, LittleEndian, SectionId};
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _};

use crate::source_line::SourceLine;

/// Maximum distance in bytes from an instruction without a line back to the instruction whose line it receives.
const MAX_DISTANCE: u64 = 4096;

/// The debug sections of a code object.
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

    /// Parses the sections. `None` if they are malformed.
    pub fn reader(&self) -> Option<LineReader<'_>> {
        let load = |id: SectionId| -> Result<_, Error> {
            let bytes = self.0.get(id.name()).map_or(&[][..], Vec::as_slice);
            Ok(EndianSlice::new(bytes, LittleEndian))
        };
        let context = Context::from_dwarf(Dwarf::load(load).ok()?).ok()?;
        Some(LineReader(context))
    }
}

/// The parsed line tables of a code object.
pub(super) struct LineReader<'a>(Context<EndianSlice<'a, LittleEndian>>);

impl LineReader<'_> {
    /// The source line of an address. If the compiler assigned the address to no line, the result is the line of the
    /// nearest instruction before it.
    pub fn of(&self, address: u64) -> Option<SourceLine> {
        let before = address.saturating_sub(MAX_DISTANCE);
        let ranges = self.0.find_location_range(before, address + 1).ok()?;
        let with_line =
            ranges.filter_map(|(start, _, location)| Some((start, location.file?, location.line?)));
        let (start, file, number) = with_line.last()?;
        Some(SourceLine {
            file: plain(file),
            number,
            called_at: self.call(start.max(before)),
        })
    }

    /// The file and the line in the kernel from which the inlined function at an address was called. `None` if the
    /// address is in the kernel's own code.
    fn call(&self, address: u64) -> Option<(String, u32)> {
        let mut frames = self.0.find_frames(address).skip_all_loads().ok()?;
        frames.next().ok()??;
        let mut outermost = None;
        while let Ok(Some(frame)) = frames.next() {
            outermost = frame.location;
        }
        let location = outermost?;
        Some((plain(location.file?), location.line?))
    }
}

/// The path of a file, without the compilation folder if that is `.`.
fn plain(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}
