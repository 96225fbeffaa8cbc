//! Reads the header of an ELF file, and checks that the file is complete.
//!
//! The crate `object` reads the layout. It does not check that every section and segment ends inside the file, and it
//! does not report which part is missing, so this module does both.

use object::elf::{self, FileHeader64, ProgramHeader64, SectionHeader64};
use object::pod::{self, Pod};
use object::read::elf::{SectionHeader as _, SectionTable, Sym as _, SymbolTable};
use object::{LittleEndian, StringTable};

use super::ImageError;

const LE: LittleEndian = LittleEndian;
const HEADER_BYTES: u64 = size_of::<Header>() as u64;

type Header = FileHeader64<LittleEndian>;
type Segment = ProgramHeader64<LittleEndian>;
type Section = SectionHeader64<LittleEndian>;

/// A complete 64-bit little-endian ELF file.
#[derive(Clone, Debug)]
pub(super) struct Elf<'a> {
    bytes: &'a [u8],
    sections: SectionTable<'a, Header>,
    /// The field `EI_OSABI`, the operating system ABI.
    pub os_abi: u8,
    /// The field `EI_ABIVERSION`, the version of that ABI.
    pub abi_version: u8,
    /// The field `e_machine`, the kind of processor.
    pub machine: u16,
    /// The field `e_version`.
    pub version: u32,
    /// The field `e_flags`, whose meaning depends on the processor.
    pub flags: u32,
}

impl<'a> Elf<'a> {
    /// Reads the header, the section table and the segment table, and checks that every section and segment ends
    /// inside the file.
    ///
    /// # Errors
    /// The first part that is missing or invalid.
    pub fn read(bytes: &'a [u8]) -> Result<Elf<'a>, ImageError> {
        check_magic(bytes)?;
        let header = pod::from_bytes::<Header>(bytes);
        let (header, _) = header.map_err(|()| truncated("header", HEADER_BYTES, bytes))?;
        check_segments(bytes, header)?;
        Ok(Elf {
            bytes,
            sections: sections(bytes, header)?,
            os_abi: header.e_ident.os_abi,
            abi_version: header.e_ident.abi_version,
            machine: header.e_machine.get(LE),
            version: header.e_version.get(LE),
            flags: header.e_flags.get(LE),
        })
    }

    /// The content of the first section with this name; `None` if there is none or if it has no content in the file.
    pub fn section(&self, name: &str) -> Option<&'a [u8]> {
        let (_, found) = self.sections.section_by_name(LE, name.as_bytes())?;
        let is_there = found.sh_type(LE) != elf::SHT_NOBITS;
        is_there.then(|| found.data(LE, self.bytes).ok()).flatten()
    }

    /// Whether the file defines a symbol with this name.
    pub fn defines(&self, name: &str) -> bool {
        let is_table =
            |section: &Section| [elf::SHT_SYMTAB, elf::SHT_DYNSYM].contains(&section.sh_type(LE));
        let numbered = self.sections.enumerate();
        let mut tables = numbered.filter(|(_, section)| is_table(section));
        tables.any(|(index, section)| {
            SymbolTable::parse(LE, self.bytes, &self.sections, index, section)
                .is_ok_and(|table| defines(&table, name))
        })
    }
}

fn defines(table: &SymbolTable<'_, Header>, name: &str) -> bool {
    table.iter().any(|symbol| {
        let defined = symbol.st_shndx(LE) != elf::SHN_UNDEF;
        defined && symbol.name(LE, table.strings()) == Ok(name.as_bytes())
    })
}

/// Compares the first bytes with the magic bytes of ELF. If the file is shorter than the magic bytes, only the bytes
/// that it has are compared.
fn check_magic(bytes: &[u8]) -> Result<(), ImageError> {
    const MAGIC: [u8; 6] = [0x7f, b'E', b'L', b'F', elf::ELFCLASS64, elf::ELFDATA2LSB];
    let start = &bytes[..bytes.len().min(MAGIC.len())];
    if MAGIC.starts_with(start) && !start.is_empty() {
        return Ok(());
    }
    let found: Vec<String> = start.iter().map(|byte| format!("{byte:02x}")).collect();
    let found = match found.is_empty() {
        true => "nothing".to_owned(),
        false => found.join(" "),
    };
    Err(ImageError::NotElf { found })
}

fn check_segments(bytes: &[u8], header: &Header) -> Result<(), ImageError> {
    let table: &[Segment] = table(
        bytes,
        "segment table",
        header.e_phoff.get(LE),
        header.e_phnum.get(LE),
        header.e_phentsize.get(LE),
    )?;
    for (number, segment) in table.iter().enumerate() {
        let (offset, length) = (segment.p_offset.get(LE), segment.p_filesz.get(LE));
        // A segment without bytes in the file, such as one that contains only `.bss`, may have an offset behind the end.
        if length > 0 {
            inside(bytes, &format!("segment {number}"), offset, length)?;
        }
    }
    Ok(())
}

fn sections<'a>(bytes: &'a [u8], header: &Header) -> Result<SectionTable<'a, Header>, ImageError> {
    let count = header.e_shnum.get(LE);
    let table: &[Section] = table(
        bytes,
        "section table",
        header.e_shoff.get(LE),
        count,
        header.e_shentsize.get(LE),
    )?;
    for (number, section) in table.iter().enumerate() {
        let (offset, length) = (section.sh_offset.get(LE), section.sh_size.get(LE));
        if section.sh_type(LE) != elf::SHT_NOBITS && length > 0 {
            inside(bytes, &format!("section {number}"), offset, length)?;
        }
    }
    let names = header.e_shstrndx.get(LE);
    let strings = match table.get(usize::from(names)) {
        Some(section) => match section.file_range(LE) {
            Some((offset, length)) => StringTable::new(bytes, offset, offset + length),
            None => StringTable::default(),
        },
        None if count > 0 => {
            let what = format!("its section names are section {names} of {count}");
            return Err(ImageError::Damaged { what });
        }
        None => StringTable::default(),
    };
    Ok(SectionTable::new(table, strings))
}

/// The entries of a table in the file. `part` describes the table in errors.
fn table<'a, T: Pod>(
    bytes: &'a [u8],
    part: &str,
    offset: u64,
    count: u16,
    entry_bytes: u16,
) -> Result<&'a [T], ImageError> {
    if count == 0 {
        return Ok(&[]);
    }
    let wanted_bytes = size_of::<T>();
    if usize::from(entry_bytes) != wanted_bytes {
        let what =
            format!("the entries of its {part} have {entry_bytes} bytes, not {wanted_bytes}");
        return Err(ImageError::Damaged { what });
    }
    let length = u64::from(count) * wanted_bytes as u64;
    let entries = inside(bytes, part, offset, length)?;
    let entries = pod::slice_from_all_bytes(entries);
    entries.map_err(|()| truncated(part, offset.saturating_add(length), bytes))
}

/// A range of the file, or an error if the range is not completely inside the file.
fn inside<'a>(
    bytes: &'a [u8],
    part: &str,
    offset: u64,
    length: u64,
) -> Result<&'a [u8], ImageError> {
    let end = offset.saturating_add(length);
    let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
    range
        .and_then(|(from, to)| bytes.get(from..to))
        .ok_or_else(|| truncated(part, end, bytes))
}

fn truncated(part: &str, needs: u64, bytes: &[u8]) -> ImageError {
    ImageError::Truncated {
        part: part.to_owned(),
        needs,
        has: bytes.len() as u64,
    }
}
