//! The headers outside Kiln that a source includes. They are installed, updated and removed without the compiler, so
//! the identity of the compiler does not cover them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use kiln_spec::Hash;
use kiln_spec::hash::Hasher;

/// A header file, or the part of it that decides what a compiler reads.
#[derive(Debug)]
struct Header {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Hash of the text.
    hash: Hash,
    /// Names that the text includes, whatever conditions surround them.
    includes: Vec<Included>,
}

/// The name in an `#include` directive.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Included {
    name: String,
    /// Whether the name is in quotation marks, so the folder of the including file is searched first.
    quoted: bool,
}

/// A file in which an `#include` directive is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Includer {
    /// The source.
    Source,
    /// The header of the prelude with this name.
    Prelude(String),
    /// The header at this path outside Kiln.
    File(PathBuf),
}

/// The hash of all headers in `folders` that a source includes, directly, through headers of the `prelude` or through
/// other headers. `None` if it includes none of them. Like compilers, it searches the prelude before the folders.
///
/// The hash covers names and texts but no folders, so it is the same on machines with the same headers. It covers
/// headers under conditions that do not hold too. A header that is missing today changes the hash when it is installed.
pub fn hash(source: &str, prelude: &[(&str, &str)], folders: &[PathBuf]) -> Option<Hash> {
    if folders.is_empty() {
        return None;
    }
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<(Includer, Included)> = Vec::new();
    open.extend(includes(source).map(|included| (Includer::Source, included)));
    while let Some((from, included)) = open.pop() {
        let Some(includer) = find(&from, &included, prelude, folders) else {
            continue;
        };
        if !seen.insert(includer.clone()) {
            continue;
        }
        let nested = match &includer {
            Includer::Source => Vec::new(),
            Includer::Prelude(name) => {
                of_prelude(prelude, name).map_or_else(Vec::new, |text| includes(text).collect())
            }
            Includer::File(path) => {
                let Some(header) = read(path) else { continue };
                found.insert((included.name, header.hash.to_string()));
                header.includes.clone()
            }
        };
        open.extend(nested.into_iter().map(|one| (includer.clone(), one)));
    }
    if found.is_empty() {
        return None;
    }
    let mut hasher = Hasher::new("kiln headers 1");
    for (name, hash) in &found {
        hasher.field(name.as_bytes()).field(hash.as_bytes());
    }
    Some(hasher.finish())
}

/// The text of a header of the prelude.
fn of_prelude<'p>(prelude: &[(&str, &'p str)], name: &str) -> Option<&'p str> {
    let row = prelude.iter().find(|(own, _)| *own == name);
    row.map(|(_, text)| *text)
}

/// The included header. The order of search is that of compilers.
fn find(
    from: &Includer,
    included: &Included,
    prelude: &[(&str, &str)],
    folders: &[PathBuf],
) -> Option<Includer> {
    let in_prelude = |name: &Path| {
        let name = name.to_str()?;
        of_prelude(prelude, name).map(|_| Includer::Prelude(name.to_owned()))
    };
    let in_folder = |folder: &Path| {
        let path = folder.join(&included.name);
        path.is_file().then_some(Includer::File(path))
    };
    let in_own_folder = || match from {
        _ if !included.quoted => None,
        Includer::Source => None,
        Includer::Prelude(name) => in_prelude(&Path::new(name).with_file_name(&included.name)),
        Includer::File(path) => in_folder(path.parent()?),
    };
    let in_folders = || folders.iter().find_map(|folder| in_folder(folder));
    in_own_folder()
        .or_else(|| in_prelude(Path::new(&included.name)))
        .or_else(in_folders)
}

/// Reads a header. A file that has not changed is read once in a process: the headers of CUB are more than a thousand.
fn read(path: &Path) -> Option<Arc<Header>> {
    static READ: Mutex<Option<HashMap<PathBuf, Arc<Header>>>> = Mutex::new(None);
    let metadata = fs::metadata(path).ok()?;
    let (bytes, modified) = (metadata.len(), metadata.modified().ok());
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let read = read.get_or_insert_default();
    let known = read.get(path);
    if let Some(known) = known.filter(|known| known.bytes == bytes && known.modified == modified) {
        return Some(known.clone());
    }
    let text = fs::read(path).ok()?;
    let header = Arc::new(Header {
        bytes,
        modified,
        hash: Hash::of("header", &text),
        includes: includes(&String::from_utf8_lossy(&text)).collect(),
    });
    read.insert(path.to_owned(), header.clone());
    Some(header)
}

/// The names in the `#include` directives of a text.
fn includes(text: &str) -> impl Iterator<Item = Included> {
    text.lines().filter_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start();
        let operand = directive.strip_prefix("include")?.trim_start();
        let (quoted, close) = match operand.chars().next()? {
            '"' => (true, '"'),
            '<' => (false, '>'),
            _ => return None,
        };
        let (name, _) = operand[1..].split_once(close)?;
        let name = name.trim().to_owned();
        (!name.is_empty()).then_some(Included { name, quoted })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const SOURCE: &str = "#include <mma.h>\n  # include \"kiln.cuh\"\n";

    #[test]
    fn the_hash_follows_every_header_that_is_read_and_no_other() {
        let files = [
            ("mma.h", "#if 0\n#include \"crt/mma.h\"\n#endif\n"),
            ("crt/mma.h", "#include \"mma.hpp\"\n"),
            ("crt/mma.hpp", "1\n"),
            ("cuda_fp16.h", "1\n"),
        ];
        let of = |changed: usize, text: &str| {
            let mut files = files;
            files[changed].1 = text;
            let root = folder(&files);
            hash(SOURCE, &[], &[root.path().to_owned()]).unwrap()
        };
        let own = of(0, files[0].1);
        assert_eq!(own, of(2, "1\n"), "another folder is not another header");
        for (changed, (name, _)) in files.iter().enumerate().take(3) {
            assert_ne!(own, of(changed, "2\n"), "{name}");
        }
        assert_eq!(own, of(3, "2\n"), "a header that is not included");
    }

    #[test]
    fn a_header_that_was_missing_changes_the_hash_once_it_is_there() {
        let alone = folder(&[("mma.h", "#include \"crt/mma.h\"\n")]);
        let folders = [alone.path().to_owned()];
        let before = hash(SOURCE, &[], &folders);
        fs::create_dir(alone.path().join("crt")).unwrap();
        fs::write(alone.path().join("crt/mma.h"), "").unwrap();
        assert_ne!(before, hash(SOURCE, &[], &folders));
        fs::remove_file(alone.path().join("crt/mma.h")).unwrap();
        assert_eq!(before, hash(SOURCE, &[], &folders));
        assert_eq!(hash("int x;\n#include NAME\n", &[], &folders), None);
        assert_eq!(hash(SOURCE, &[], &[]), None);
    }

    #[test]
    fn headers_that_include_each_other_are_read_once() {
        let root = folder(&[("mma.h", "#include <b.h>\n"), ("b.h", "#include <mma.h>\n")]);
        assert!(hash(SOURCE, &[], &[root.path().to_owned()]).is_some());
    }

    #[test]
    fn headers_of_the_prelude_replace_others_and_lead_to_others() {
        let root = folder(&[
            ("mma.h", "1\n"),
            ("wrapped.h", "2\n"),
            ("std/inner.h", "3\n"),
        ]);
        let folders = [root.path().to_owned()];
        let of = |prelude: &[(&str, &str)]| hash(SOURCE, prelude, &folders);
        assert!(of(&[]).is_some());
        let own = ("mma.h", "int x;\n");
        assert_eq!(of(&[own]), None, "the prelude has a header of this name");
        let through = of(&[own, ("kiln.cuh", "#include <wrapped.h>\n")]);
        assert_eq!(through, hash("#include <wrapped.h>\n", &[], &folders));
        // A name in quotation marks is first searched in the folder of the header.
        let nested = [
            own,
            ("kiln.cuh", "#include \"std/outer.h\"\n"),
            ("std/outer.h", "#include \"inner.h\"\n"),
        ];
        assert_eq!(of(&[&nested[..], &[("std/inner.h", "")]].concat()), None);
        assert_eq!(
            of(&nested),
            None,
            "the folder `std` is not searched outside the prelude"
        );
    }
}
