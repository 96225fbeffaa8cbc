//! The header of an ELF file, and whether everything that it announces is there.
//!
//! Layout: the System V ABI (gabi 4.1), chapter 4. Nothing here trusts a number in the file: every access is checked.

use super::ImageError;

const HEADER_BYTES: usize = 64;
const SECTION_BYTES: u64 = 64;
const SEGMENT_BYTES: u64 = 56;
const SYMBOL_BYTES: usize = 24;

/// `SHT_SYMTAB`, `SHT_NOBITS`, `SHT_DYNSYM`.
const SYMTAB: u32 = 2;
const NOBITS: u32 = 8;
const DYNSYM: u32 = 11;

/// A 64-bit little-endian ELF file that is wholly there.
#[derive(Clone, Debug)]
pub(super) struct Elf<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
    /// The number of the section that holds the names of sections.
    names: usize,
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// `e_machine`.
    pub machine: u16,
    /// `e_version`.
    pub version: u32,
    /// `e_flags`.
    pub flags: u32,
}

#[derive(Clone, Debug)]
struct Section {
    name: u32,
    kind: u32,
    offset: u64,
    bytes: u64,
    link: u32,
}

impl<'a> Elf<'a> {
    /// Reads the header and both tables, and checks that every section and segment ends inside the file.
    ///
    /// # Errors
    /// What is wrong first.
    pub fn read(bytes: &'a [u8]) -> Result<Elf<'a>, ImageError> {
        const MAGIC: [u8; 6] = [0x7f, b'E', b'L', b'F', 2, 1];
        let start = &bytes[..bytes.len().min(MAGIC.len())];
        if !MAGIC.starts_with(start) || start.is_empty() {
            let found: Vec<String> = start.iter().map(|byte| format!("{byte:02x}")).collect();
            let found = match found.is_empty() {
                true => "nothing".to_owned(),
                false => found.join(" "),
            };
            return Err(ImageError::NotElf { found });
        }
        let header = bytes.get(..HEADER_BYTES);
        let header = header.ok_or_else(|| truncated("header", HEADER_BYTES as u64, bytes))?;
        let mut elf = Elf {
            bytes,
            sections: Vec::new(),
            names: usize::from(u16_at(header, 62)),
            os_abi: header[7],
            abi_version: header[8],
            machine: u16_at(header, 18),
            version: u32_at(header, 20),
            flags: u32_at(header, 48),
        };
        elf.read_segments(header)?;
        elf.read_sections(header)?;
        Ok(elf)
    }

    fn read_segments(&self, header: &[u8]) -> Result<(), ImageError> {
        let (offset, count) = (u64_at(header, 32), u16_at(header, 56));
        let size = u16_at(header, 54);
        let table = self.table("segment table", offset, count, size, SEGMENT_BYTES)?;
        for (number, entry) in table.chunks_exact(SEGMENT_BYTES as usize).enumerate() {
            let (offset, bytes) = (u64_at(entry, 8), u64_at(entry, 32));
            self.inside(&format!("segment {number}"), offset, bytes)?;
        }
        Ok(())
    }

    fn read_sections(&mut self, header: &[u8]) -> Result<(), ImageError> {
        let (offset, count) = (u64_at(header, 40), u16_at(header, 60));
        let size = u16_at(header, 58);
        let table = self.table("section table", offset, count, size, SECTION_BYTES)?;
        for (number, entry) in table.chunks_exact(SECTION_BYTES as usize).enumerate() {
            let section = Section {
                name: u32_at(entry, 0),
                kind: u32_at(entry, 4),
                offset: u64_at(entry, 24),
                bytes: u64_at(entry, 32),
                link: u32_at(entry, 40),
            };
            if section.kind != NOBITS {
                self.inside(&format!("section {number}"), section.offset, section.bytes)?;
            }
            self.sections.push(section);
        }
        if count > 0 && self.names >= usize::from(count) {
            let what = format!("its section names are section {} of {count}", self.names);
            return Err(ImageError::Damaged { what });
        }
        Ok(())
    }

    /// The bytes of a table of entries.
    fn table(
        &self,
        part: &str,
        offset: u64,
        count: u16,
        entry_bytes: u16,
        wanted_bytes: u64,
    ) -> Result<&'a [u8], ImageError> {
        if count == 0 {
            return Ok(&[]);
        }
        if u64::from(entry_bytes) != wanted_bytes {
            let what =
                format!("the entries of its {part} have {entry_bytes} bytes, not {wanted_bytes}");
            return Err(ImageError::Damaged { what });
        }
        self.inside(part, offset, u64::from(count) * wanted_bytes)
    }

    /// A range of the file, which must be wholly there.
    fn inside(&self, part: &str, offset: u64, bytes: u64) -> Result<&'a [u8], ImageError> {
        let end = offset.saturating_add(bytes);
        let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
        range
            .and_then(|(from, to)| self.bytes.get(from..to))
            .ok_or_else(|| truncated(part, end, self.bytes))
    }

    fn contents(&self, section: &Section) -> Option<&'a [u8]> {
        if section.kind == NOBITS {
            return None;
        }
        self.inside("section", section.offset, section.bytes).ok()
    }

    /// The contents of the first section of a name.
    pub fn section(&self, name: &str) -> Option<&'a [u8]> {
        let names = self.contents(self.sections.get(self.names)?)?;
        let named = |section: &&Section| text_at(names, section.name) == Some(name.as_bytes());
        let found = self.sections.iter().find(named)?;
        self.contents(found)
    }

    /// Whether a symbol of that name is defined in it.
    pub fn defines(&self, name: &str) -> bool {
        let sections = self.sections.iter();
        let mut tables = sections.filter(|s| matches!(s.kind, SYMTAB | DYNSYM));
        tables.any(|table| {
            let names = self.sections.get(table.link as usize);
            let names = names.and_then(|names| self.contents(names));
            let (Some(symbols), Some(names)) = (self.contents(table), names) else {
                return false;
            };
            symbols.chunks_exact(SYMBOL_BYTES).any(|symbol| {
                let defined = u16_at(symbol, 6) != 0;
                defined && text_at(names, u32_at(symbol, 0)) == Some(name.as_bytes())
            })
        })
    }
}

/// The text that begins at an offset of a string table, without its zero byte.
fn text_at(table: &[u8], offset: u32) -> Option<&[u8]> {
    let rest = table.get(usize::try_from(offset).ok()?..)?;
    rest.split(|byte| *byte == 0).next()
}

fn truncated(part: &str, needs: u64, bytes: &[u8]) -> ImageError {
    ImageError::Truncated {
        part: part.to_owned(),
        needs,
        has: bytes.len() as u64,
    }
}

/// Little-endian numbers; a place outside is zero, which callers rule out by length.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found.map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk);
    found.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
