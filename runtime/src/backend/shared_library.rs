//! Inspects a vendor's shared library before it is loaded: where the loader would find it, and whether it is
//! complete.
//!
//! The system's loader maps a truncated file without an error, and then the process crashes when it accesses the
//! first missing page. The check in this module returns an error that names the file instead.

use std::fs::File;
use std::path::{Path, PathBuf};

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::read::{ReadCache, ReadRef as _};
use thiserror::Error;

/// The folders that the loader searches last, and the folders in which containers, WSL and NixOS install a driver
/// without adding it to the loader's cache.
const STANDARD: [&str; 10] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
];

/// The files that the loader could use for a library with this name, in the order in which the loader searches:
/// `LD_LIBRARY_PATH`, the loader's cache, the standard folders.
pub(crate) fn candidates(name: &str) -> Vec<PathBuf> {
    let set = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let given = std::env::split_paths(&set)
        .filter(|folder| !folder.as_os_str().is_empty())
        .map(|folder| folder.join(name));
    let cached = std::fs::read("/etc/ld.so.cache").map(|cache| in_loader_cache(&cache, name));
    let standard = STANDARD.iter().map(|folder| Path::new(folder).join(name));
    let mut found: Vec<PathBuf> = Vec::new();
    for path in given.chain(cached.unwrap_or_default()).chain(standard) {
        if path.exists() && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// The paths that lead to different files. Several names of a library are often links to one file, and a file that
/// cannot be used need not be tried again.
pub(crate) fn different_files(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut different = Vec::new();
    for path in paths {
        let file = path.canonicalize().unwrap_or_else(|_| path.clone());
        if !seen.contains(&file) {
            seen.push(file);
            different.push(path);
        }
    }
    different
}

/// The paths that the loader's cache lists for a name. The cache has a header of 48 bytes, then entries of 24 bytes.
/// The second and third word of an entry are the offsets of a name and a path (glibc, `sysdeps/generic/dl-cache.h`).
fn in_loader_cache(cache: &[u8], name: &str) -> Vec<PathBuf> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    let Some(start) = cache.windows(MAGIC.len()).position(|part| part == MAGIC) else {
        return Vec::new();
    };
    let cache = &cache[start..];
    let word = |at: usize| {
        let bytes = cache.get(at..at.checked_add(4)?)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?) as usize)
    };
    let text = |at: usize| {
        let rest = cache.get(at..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(&rest[..end]).ok()
    };
    let count = word(MAGIC.len()).unwrap_or(0).min(cache.len() / 24);
    let entry = |index: usize| {
        let at = 48 + 24 * index;
        (text(word(at + 4)?)? == name).then_some(())?;
        Some(PathBuf::from(text(word(at + 8)?)?))
    };
    (0..count).filter_map(entry).collect()
}

/// The reason why a file is not a shared library that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum FileFault {
    /// The file cannot be opened.
    #[error("{text}")]
    Open {
        /// The system's error message.
        text: String,
    },
    /// The file can be opened, but reading it fails.
    #[error("it cannot be read")]
    Unreadable,
    /// The path is a folder.
    #[error("it is a folder")]
    Folder,
    /// The file is empty.
    #[error("it is empty")]
    Empty,
    /// The library is for 32-bit programs.
    #[error("it is a 32-bit library")]
    ThirtyTwoBits,
    /// The file is not a shared library.
    #[error("it is not a shared library")]
    NotShared,
    /// The library is for another processor.
    #[error("it is for another processor (its ELF machine is {found}, but {MACHINE} is needed)")]
    Processor {
        /// The ELF machine number in the file.
        found: u16,
    },
    /// The ELF header is inconsistent.
    #[error("{error}")]
    Header {
        /// The error of the ELF reader.
        error: object::Error,
    },
    /// The file is truncated before the tables that describe its content.
    #[error("it is cut off: it has only {bytes} bytes")]
    NoTables {
        /// The size of the file in bytes.
        bytes: u64,
    },
    /// The file is truncated inside its content.
    #[error("it is cut off: it has {bytes} bytes, but its {part} to {end}")]
    CutOff {
        /// The size of the file in bytes.
        bytes: u64,
        /// The part that is incomplete.
        part: &'static str,
        /// The offset at which that part ends, in bytes.
        end: u64,
    },
    /// The file has no segment to load.
    #[error("it has nothing to load")]
    Nothing,
}

/// The reason why a vendor's library cannot be loaded.
#[derive(Debug, Error)]
pub(crate) enum LibraryError {
    /// The file is not a complete shared library for this machine.
    #[error(transparent)]
    File(#[from] FileFault),
    /// The dynamic loader cannot load the library.
    #[error("{}", with_causes(.error))]
    Refused {
        /// The error of the loader.
        error: libloading::Error,
    },
    /// The library has no function with this name.
    #[error("it has no symbol `{name}`")]
    NoSymbol {
        /// The name of the function.
        name: String,
    },
}

/// The text of an error with its causes, because the loader's own message is the cause of an error of `libloading`.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

/// Checks that a file is a shared library for this machine and that it is complete.
///
/// # Errors
/// The first fault that is found.
pub(crate) fn check(path: &Path) -> Result<(), FileFault> {
    let file = File::open(path).map_err(|error| FileFault::Open {
        text: error.to_string(),
    })?;
    if file.metadata().is_ok_and(|meta| meta.is_dir()) {
        return Err(FileFault::Folder);
    }
    let data = ReadCache::new(file);
    let bytes = (&data).len().map_err(|()| FileFault::Unreadable)?;
    let identity: &[u8] = (&data).read_bytes_at(0, bytes.min(5)).unwrap_or_default();
    match identity {
        [0x7f, b'E', b'L', b'F', elf::ELFCLASS64] => {}
        [0x7f, b'E', b'L', b'F', elf::ELFCLASS32] => return Err(FileFault::ThirtyTwoBits),
        _ if bytes == 0 => return Err(FileFault::Empty),
        _ => return Err(FileFault::NotShared),
    }
    let cut = |_| FileFault::NoTables { bytes };
    let header = FileHeader64::<object::Endianness>::parse(&data).map_err(cut)?;
    let endian = header.endian();
    let endian = endian.map_err(|error| FileFault::Header { error })?;
    let machine = header.e_machine(endian);
    if machine != MACHINE {
        return Err(FileFault::Processor { found: machine });
    }
    if header.e_type(endian) != elf::ET_DYN {
        return Err(FileFault::NotShared);
    }
    let segments = header.program_headers(endian, &data).map_err(cut)?;
    let end = segments
        .iter()
        .filter(|segment| segment.p_type(endian) == elf::PT_LOAD)
        .map(|segment| {
            segment
                .p_offset(endian)
                .saturating_add(segment.p_filesz(endian))
        })
        .max();
    match end {
        None => Err(FileFault::Nothing),
        Some(end) if end > bytes => Err(FileFault::CutOff {
            bytes,
            part: "segments reach",
            end,
        }),
        Some(_) => has_sections(header, endian, bytes),
    }
}

/// Checks that the file contains the section table. The loader does not need it, but linkers write it last, so a file
/// without it is truncated.
fn has_sections(
    header: &FileHeader64<object::Endianness>,
    endian: object::Endianness,
    bytes: u64,
) -> Result<(), FileFault> {
    let size = u64::from(header.e_shnum(endian)) * u64::from(header.e_shentsize(endian));
    let end = header.e_shoff(endian).saturating_add(size);
    if end > bytes {
        let part = "table of sections reaches";
        return Err(FileFault::CutOff { bytes, part, end });
    }
    Ok(())
}

/// The ELF machine number of this processor.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") {
    elf::EM_AARCH64
} else {
    elf::EM_X86_64
};

/// The build ID that the linker wrote, in hexadecimal; `None` if the file has none.
pub(crate) fn build_id(path: &Path) -> Option<String> {
    let data = ReadCache::new(File::open(path).ok()?);
    let header = FileHeader64::<object::Endianness>::parse(&data).ok()?;
    let endian = header.endian().ok()?;
    for segment in header.program_headers(endian, &data).ok()? {
        let Ok(Some(mut notes)) = segment.notes(endian, &data) else {
            continue;
        };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                return Some(
                    note.desc()
                        .iter()
                        .map(|byte| format!("{byte:02x}"))
                        .collect(),
                );
            }
        }
    }
    None
}

/// The name that a library states for itself (`DT_SONAME`), such as `libhiprtc.so.6`. It does not depend on the name
/// of the file.
pub(crate) fn soname(path: &Path) -> Option<String> {
    let data = ReadCache::new(File::open(path).ok()?);
    let header = FileHeader64::<object::Endianness>::parse(&data).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, &data).ok()?;
    let (entries, strings) = sections.dynamic(endian, &data).ok()??;
    let strings = sections.strings(endian, &data, strings).ok()?;
    let named = entries
        .iter()
        .find(|entry| entry.d_tag(endian) == elf::DT_SONAME)?;
    let name = strings.get(u32::try_from(named.d_val(endian)).ok()?).ok()?;
    String::from_utf8(name.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_under_two_names_is_one_and_a_path_without_a_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.so.1"), folder.path().join("a.so"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let none = folder.path().join("none");
        let found = different_files([link.clone(), file, none.clone(), link.clone()]);
        assert_eq!(found, [link, none]);
    }

    /// The path of a library that every process with a C library has loaded.
    fn libc() -> PathBuf {
        let found = candidates("libc.so.6");
        found.first().expect("libc should be found").clone()
    }

    #[test]
    fn the_c_library_is_found_by_name_is_whole_and_has_a_build_id() {
        let path = libc();
        assert_eq!(check(&path), Ok(()), "{}", path.display());
        assert!(build_id(&path).is_some_and(|id| id.len() == 40));
        assert_eq!(soname(&path).as_deref(), Some("libc.so.6"));
        assert_eq!(
            candidates("libkiln-is-not-here.so.1"),
            Vec::<PathBuf>::new()
        );
    }

    #[test]
    fn a_library_that_is_cut_off_at_any_length_is_refused() {
        let whole = std::fs::read(libc()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libc.so.6");
        for kept in [0, 3, 10, 63, 64, 200, 5000, whole.len() / 2] {
            std::fs::write(&path, &whole[..kept]).unwrap();
            assert!(check(&path).is_err(), "{kept} bytes");
        }
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(check(&path), Ok(()));
    }

    #[test]
    fn another_processor_another_class_and_other_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library.so");
        let mut other = std::fs::read(libc()).unwrap();
        other[18] ^= 0xff;
        std::fs::write(&path, &other).unwrap();
        let error = check(&path).unwrap_err().to_string();
        assert!(error.contains("another processor"), "{error}");
        other[4] = 1;
        std::fs::write(&path, &other).unwrap();
        assert_eq!(check(&path), Err(FileFault::ThirtyTwoBits));
        std::fs::write(&path, "INPUT(libc.so.6)").unwrap();
        assert_eq!(check(&path), Err(FileFault::NotShared));
        assert_eq!(check(folder.path()), Err(FileFault::Folder));
        assert!(check(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_damaged_loader_cache_names_nothing_and_breaks_nothing() {
        let mut cache = b"glibc-ld.so.cache1.1".to_vec();
        cache.extend(1u32.to_ne_bytes());
        cache.resize(48, 0);
        let strings = 48 + 24u32;
        for word in [3, strings, strings + 7, 0, 0, 0] {
            cache.extend(u32::to_ne_bytes(word));
        }
        cache.extend(b"lib.so\0/opt/lib.so\0");
        assert_eq!(
            in_loader_cache(&cache, "lib.so"),
            [Path::new("/opt/lib.so")]
        );
        for len in 0..cache.len() {
            assert!(in_loader_cache(&cache[..len], "lib.so").is_empty(), "{len}");
        }
        cache[20] = 0xff;
        assert_eq!(in_loader_cache(&cache, "lib.so").len(), 1);
    }
}
