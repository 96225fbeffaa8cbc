//! Reads the symbol table of a compiled object: its variables, the shared memory that its kernels declare, and whether
//! kernels can write to a variable that all copies of the object would have to share.

use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use thiserror::Error;

/// The section of `__shared__` variables outside functions.
const FILE_SHARED: &str = ".kiln_shared";

/// The reason why an object cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ObjectError {
    /// The file is not an ELF file.
    #[error("{error}")]
    Elf {
        /// The error of the ELF reader.
        error: object::Error,
    },
    /// The file lacks a symbol that every object with the prelude has.
    #[error("it has no symbol kiln_cpu_abi: not an object of Kiln's, or stripped")]
    NotOfKiln,
}

/// The information in the symbol table of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ObjectFacts {
    /// The variables and the read-only sections, ordered by address.
    variables: Vec<ObjectVariable>,
    /// The address of the prelude's `kiln_cpu_abi`.
    anchor: u64,
    /// The name of a `__device__` variable of the kernel's author, to which kernels could write; `None` if there is
    /// none.
    pub mutable_global: Option<String>,
    /// Whether the object can be loaded only if the runtime of the address sanitizer is in the process.
    pub needs_sanitizer: bool,
}

/// The kind of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A `__shared__` variable.
    Shared,
    /// A `__device__` variable.
    Device,
    /// A `__constant__` variable, or a read-only section.
    Constant,
    /// A variable of the prelude.
    Prelude,
}

/// A variable of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObjectVariable {
    /// The name in the source; empty for a section.
    pub name: String,
    /// The address in the object, before it is loaded.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
    /// The kind of the variable.
    pub usage: Use,
    /// The name of the symbol, which contains the name of the function for a variable in a function.
    mangled: String,
}

impl ObjectFacts {
    /// Reads an object in this machine's format.
    ///
    /// # Errors
    /// If the file is not an object, or if Kiln did not generate it.
    pub fn read(image: &[u8]) -> Result<ObjectFacts, ObjectError> {
        let file: ElfFile64 =
            ElfFile64::parse(image).map_err(|error| ObjectError::Elf { error })?;
        let mut facts = ObjectFacts::default();
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            facts.needs_sanitizer |= name == "__asan_init";
            if name == "kiln_cpu_abi" {
                facts.anchor = symbol.address();
            }
            let section = symbol
                .section_index()
                .and_then(|index| file.section_by_index(index).ok());
            let Some(section) = section.filter(|_| symbol.kind() == SymbolKind::Data) else {
                continue;
            };
            let section = section.name().unwrap_or_default();
            if section == FILE_SHARED {
                facts.push(name, symbol.address(), symbol.size(), Use::Shared);
            } else if is_writable(section) {
                facts.add(name, symbol.address(), symbol.size());
            } else if section.starts_with(".kiln_constant") {
                facts.push(name, symbol.address(), symbol.size(), Use::Constant);
            }
        }
        for section in file.sections() {
            let name = section.name().unwrap_or_default();
            if [".rodata", ".data.rel.ro"]
                .iter()
                .any(|only_read| is_within(name, only_read))
            {
                facts.push("", section.address(), section.size(), Use::Constant);
            }
        }
        facts.variables.sort_by_key(|variable| variable.address);
        facts.variables.dedup_by_key(|variable| variable.address);
        if facts.anchor == 0 {
            return Err(ObjectError::NotOfKiln);
        }
        Ok(facts)
    }

    /// Classifies one writable variable by its name and adds it.
    fn add(&mut self, name: &str, address: u64, bytes: u64) {
        if is_of_prelude(name) {
            self.push(name, address, bytes, Use::Prelude);
        } else if name.starts_with("_ZZ") {
            self.push(name, address, bytes, Use::Shared);
        } else if bytes > 0 {
            self.push(name, address, bytes, Use::Device);
            self.mutable_global.get_or_insert_with(|| name.into());
        }
    }

    fn push(&mut self, name: &str, address: u64, bytes: u64, usage: Use) {
        if bytes > 0 {
            self.variables.push(ObjectVariable {
                name: source_name(name).into(),
                address,
                bytes,
                usage,
                mangled: name.into(),
            });
        }
    }

    /// Static shared memory of an entry, in bytes. It is the sum of all shared variables except those in the body of the
    /// other entry, because the symbol table does not show which entry uses the arrays of a device function.
    pub fn static_shared_bytes(&self, symbol: &str) -> u32 {
        // The name of a variable in a function contains the name of the function, followed by `E`.
        let other = match symbol.strip_suffix("_receipt") {
            Some(release) => format!("{release}E"),
            None => format!("{symbol}_receiptE"),
        };
        let arrays = self
            .variables
            .iter()
            .filter(|variable| variable.usage == Use::Shared && !variable.mangled.contains(&other));
        u32::try_from(arrays.map(|array| array.bytes).sum::<u64>()).unwrap_or(u32::MAX)
    }

    /// The variables and the read-only sections.
    pub fn variables(&self) -> &[ObjectVariable] {
        &self.variables
    }

    /// The offset of an address of the object relative to `kiln_cpu_abi`.
    pub fn behind_anchor(&self, address: u64) -> i64 {
        address.wrapping_sub(self.anchor).cast_signed()
    }

    /// The address in the object with this offset relative to `kiln_cpu_abi`.
    pub fn at_anchor(&self, offset: i64) -> u64 {
        self.anchor.wrapping_add_signed(offset)
    }
}

/// The last part of a mangled name, for example `tile` in `_ZZ4gemmE4tile_0`.
fn source_name(mangled: &str) -> &str {
    // If clang splits a variable into its members, each member has the name of the whole variable:
    // `_ZZ4gemmE4pair.1`.
    let mangled = mangled.split_once('.').map_or(mangled, |(whole, _)| whole);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match mangled.rsplit_once('_') {
        Some((name, number)) if is_number(number) && mangled.starts_with("_Z") => name,
        _ => mangled,
    };
    // A name inside a function follows the `E` that ends the function's own name. The function's name may contain a
    // hash in which digits and letters look like a part of a mangled name.
    let is_local = mangled.starts_with("_ZZ");
    let may_begin = |start: usize| !is_local || name[..start].ends_with('E');
    let mut digits = name
        .char_indices()
        .filter(|(start, c)| c.is_ascii_digit() && may_begin(*start));
    let part = |(start, _)| {
        let digits = name[start..].find(|c: char| !c.is_ascii_digit())?;
        let (length, part) = name[start..].split_at(digits);
        (length.parse() == Ok(part.len())).then_some(part)
    };
    // Take the first part that reaches the end, because a name may itself contain a digit followed by that many
    // letters.
    digits.find_map(part).unwrap_or(name)
}

/// Whether kernels can write to the variables of a section. This is false for `__constant__` variables, because the
/// prelude puts them into separate sections (`.kiln_constant*`).
fn is_writable(section: &str) -> bool {
    !is_within(section, ".data.rel.ro")
        && (is_within(section, ".data") || is_within(section, ".bss"))
}

/// Whether the name of a section is `name`, or `name` with a suffix.
fn is_within(section: &str, name: &str) -> bool {
    let rest = section.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a symbol is a variable of the prelude, the compiler, the linker or the sanitizers.
fn is_of_prelude(name: &str) -> bool {
    // Builtins are static if threads run in loops, so their names are mangled. They are external if threads are
    // coroutines.
    const BUILTINS: [&str; 8] = [
        "_ZL9threadIdx",
        "_ZL8blockIdx",
        "_ZL8blockDim",
        "_ZL7gridDim",
        "threadIdx",
        "blockIdx",
        "blockDim",
        "gridDim",
    ];
    // If no address of the members is taken, clang splits a variable into its members: `_ZL9threadIdx.0`.
    let whole = name.split_once('.').map_or(name, |(whole, _)| whole);
    name.contains("kiln_cpu_")
        || BUILTINS.contains(&whole)
        || name.starts_with("__")
        || name.starts_with("_ZGV")
        || name.starts_with("completed.")
        || name.starts_with(".L")
        || matches!(
            name,
            "_DYNAMIC" | "_GLOBAL_OFFSET_TABLE_" | "_end" | "_edata"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_sorted_by_their_names() {
        let mut facts = ObjectFacts {
            anchor: 100,
            ..ObjectFacts::default()
        };
        facts.add("_ZZ21gemm_0123456789abcdefE4tile", 164, 4096);
        facts.add("_ZZL4loadvE4tile", 4260, 4096);
        facts.add("_ZZ24gemm_0123456789abcdef_receiptE4tile", 10000, 64);
        facts.add("_ZL16kiln_cpu_message", 0, 1024);
        facts.add("_ZL9threadIdx", 0, 12);
        facts.add("_ZL9threadIdx.0", 0, 4);
        facts.add("blockIdx.1", 0, 4);
        assert_eq!(facts.mutable_global, None);
        facts.add("_ZL7counter", 0, 4);
        assert_eq!(facts.mutable_global.as_deref(), Some("_ZL7counter"));
        assert_eq!(facts.static_shared_bytes("gemm_0123456789abcdef"), 8192);
        assert_eq!(
            facts.static_shared_bytes("gemm_0123456789abcdef_receipt"),
            4160
        );
        let tile = &facts.variables()[0];
        assert_eq!((tile.name.as_str(), tile.bytes), ("tile", 4096));
        assert_eq!(facts.behind_anchor(tile.address), 64);
    }

    #[test]
    fn a_mangled_name_ends_in_the_name_of_the_source() {
        let names = [
            ("_ZZ4gemmE4tile", "tile"),
            ("_ZZN4rows4gemmEvE9stage_2_a", "stage_2_a"),
            ("_ZZ4gemmIfEvT_E4tile_0", "tile"),
            ("_ZZ30scale_0123456789a15db_receiptE3two", "two"),
            ("_ZL7counter", "counter"),
            ("_ZZ4gemmE4pair.1", "pair"),
            ("counter", "counter"),
            ("counter_2", "counter_2"),
            ("", ""),
        ];
        for (mangled, name) in names {
            assert_eq!(source_name(mangled), name);
        }
    }

    #[test]
    fn only_plain_data_sections_hold_mutable_variables() {
        for section in [".data", ".bss", ".data.hot", ".bss.cold"] {
            assert!(is_writable(section), "{section}");
        }
        for section in [
            ".data.rel.ro",
            ".rodata",
            ".kiln_constant.7",
            ".database",
            ".text",
        ] {
            assert!(!is_writable(section), "{section}");
        }
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert!(ObjectFacts::read(b"not an object").is_err());
    }
}
