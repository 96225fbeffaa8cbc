//! Adds files and line numbers to the faults of check builds. The lines come from the debug information of the object.

use addr2line::gimli::{Dwarf, EndianSlice, Error, NativeEndian, SectionId};
use addr2line::{Context, Location};
use kiln_spec::prelude::CPU_PRELUDE;
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _};

/// The characters that the prelude puts before and after a return address.
const BEGIN: char = '\u{1}';
const END: char = '\u{2}';

/// Replaces every return address in the text of a fault with `file:line`. The prelude prints addresses relative to
/// `kiln_cpu_abi`; `address_of` converts them to addresses in the object.
pub(super) fn with_lines(text: &str, image: &[u8], address_of: impl Fn(i64) -> u64) -> String {
    let Some((before, _)) = text.split_once(BEGIN) else {
        return text.into();
    };
    let lines = LineTable::read(image);
    let mut told = String::from(before);
    for part in text.split(BEGIN).skip(1) {
        let (place, rest) = part.split_once(END).unwrap_or((part, ""));
        let offset = place.parse::<u32>().unwrap_or(0).cast_signed();
        // The call is directly before the address to which it returns.
        let address = address_of(i64::from(offset)).wrapping_sub(1);
        let line = lines.as_ref().and_then(|lines| lines.of(address));
        told += &line.unwrap_or_else(|| format!("address {address:#x} of the object"));
        told += rest;
    }
    told
}

type Bytes<'a> = EndianSlice<'a, NativeEndian>;

struct LineTable<'a>(Context<Bytes<'a>>);

impl<'a> LineTable<'a> {
    fn read(image: &'a [u8]) -> Option<LineTable<'a>> {
        let file: ElfFile64 = ElfFile64::parse(image).ok()?;
        let load = |id: SectionId| -> Result<Bytes<'a>, Error> {
            let section = file.section_by_name(id.name());
            let data = section.and_then(|section| section.data().ok());
            Ok(EndianSlice::new(data.unwrap_or_default(), NativeEndian))
        };
        let dwarf = Dwarf::load(load).ok()?;
        Context::from_dwarf(dwarf).ok().map(LineTable)
    }

    /// The source location of an address, as `file:line`. Of the functions that were inlined there, the innermost one
    /// outside the prelude is used, or the outermost one if all are in the prelude. `None` if the location is unknown.
    fn of(&self, address: u64) -> Option<String> {
        let mut frames = self.0.find_frames(address).skip_all_loads().ok()?;
        let mut outermost = None;
        while let Ok(Some(frame)) = frames.next() {
            let Some(place) = frame.location.as_ref().and_then(place_of) else {
                continue;
            };
            if !is_of_prelude(&place.0) {
                return Some(format!("{}:{}", place.0, place.1));
            }
            outermost = Some(place);
        }
        outermost.map(|(file, line)| format!("{file}:{line}"))
    }
}

fn place_of(location: &Location<'_>) -> Option<(String, u32)> {
    let file = location.file?;
    // The compiler writes the compile folder as `.`.
    Some((file.trim_start_matches("./").into(), location.line?))
}

/// Whether a file is generated or is a header of the prelude. Such headers are recognised by the folder, which belongs
/// to Kiln.
fn is_of_prelude(file: &str) -> bool {
    let is_header = |name: &str| {
        file.strip_suffix(name)
            .is_some_and(|folder| folder.ends_with('/'))
    };
    file == "kiln generated"
        || file.starts_with('/') && CPU_PRELUDE.iter().any(|(name, _)| is_header(name))
}
