//! What the symbol table of a compiled object says: how much shared memory its kernels declare and where
//! it lies, and whether it has variables that its copies could not share.

use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};

/// In the names of everything that belongs to the copy of the source that signs receipts.
const RECEIPT_COPY: &str = "kiln_receipt_copy";

/// The facts about one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The `__shared__` arrays.
    shared: Vec<SharedArray>,
    /// Address of the prelude's `kiln_cpu_abi`.
    anchor: u64,
    /// A variable of the author's that kernels could write to: a `__device__` variable.
    pub mutable_global: Option<String>,
    /// Whether it needs the address sanitizer's runtime in the process.
    pub needs_sanitizer: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SharedArray {
    address: u64,
    bytes: u64,
    in_receipt: bool,
}

impl Facts {
    /// Reads an object of this machine's format.
    ///
    /// # Errors
    /// When it is none, or not one that Kiln generated.
    pub fn read(image: &[u8]) -> Result<Facts, String> {
        let file: ElfFile64 = ElfFile64::parse(image).map_err(|error| error.to_string())?;
        let mut facts = Facts::default();
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
            if is_writable(section.name().unwrap_or_default()) {
                facts.add(name, symbol.address(), symbol.size());
            }
        }
        if facts.anchor == 0 {
            return Err(
                "it has no symbol kiln_cpu_abi: not an object of Kiln's, or stripped".into(),
            );
        }
        Ok(facts)
    }

    /// Sorts one writable variable by its name.
    fn add(&mut self, name: &str, address: u64, bytes: u64) {
        if is_of_prelude(name) || bytes == 0 {
            return;
        }
        if name.starts_with("_ZZ") {
            self.shared.push(SharedArray {
                address,
                bytes,
                in_receipt: name.contains(RECEIPT_COPY) || name.contains("_receiptE"),
            });
        } else if self.mutable_global.is_none() {
            self.mutable_global = Some(name.into());
        }
    }

    /// Static shared memory of a kernel, in bytes: all of its copy of the source, since which kernel uses a
    /// device function's arrays cannot be told.
    pub fn static_shared_bytes(&self, symbol: &str) -> u32 {
        let receipt = symbol.ends_with("_receipt");
        let arrays = self
            .shared
            .iter()
            .filter(|array| array.in_receipt == receipt);
        u32::try_from(arrays.map(|array| array.bytes).sum::<u64>()).unwrap_or(u32::MAX)
    }

    /// Where all shared arrays lie, relative to `kiln_cpu_abi`.
    pub fn shared_ranges(&self) -> Vec<(i64, u64)> {
        let relative = |array: &SharedArray| {
            (
                array.address.wrapping_sub(self.anchor).cast_signed(),
                array.bytes,
            )
        };
        self.shared.iter().map(relative).collect()
    }
}

/// Sections whose variables a kernel can write to. Those of `__constant__` variables have a name of their
/// own, which the prelude gives them.
fn is_writable(section: &str) -> bool {
    let within = |name: &str| {
        section == name
            || section
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('.'))
    };
    section != ".data.rel.ro"
        && !section.starts_with(".data.rel.ro.")
        && (within(".data") || within(".bss"))
}

/// Variables of the prelude, the compiler, the linker and the sanitizers.
fn is_of_prelude(name: &str) -> bool {
    // Static in loops, which mangles their names; external where threads are coroutines.
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
    name.contains("kiln_cpu_")
        || BUILTINS.contains(&name)
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
        let mut facts = Facts {
            anchor: 100,
            ..Facts::default()
        };
        facts.add("_ZZ4gemmE4tile", 164, 4096);
        facts.add("_ZZN17kiln_receipt_copyL4loadEvE4tile", 4260, 4096);
        facts.add("_ZZ24gemm_0123456789abcdef_receiptE4tile", 10000, 64);
        facts.add("_ZL16kiln_cpu_message", 0, 1024);
        facts.add("_ZL9threadIdx", 0, 12);
        assert_eq!(facts.mutable_global, None);
        facts.add("_ZL7counter", 0, 4);
        assert_eq!(facts.mutable_global.as_deref(), Some("_ZL7counter"));
        assert_eq!(facts.static_shared_bytes("gemm_0123456789abcdef"), 4096);
        assert_eq!(
            facts.static_shared_bytes("gemm_0123456789abcdef_receipt"),
            4160
        );
        assert_eq!(facts.shared_ranges()[0], (64, 4096));
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
        assert!(Facts::read(b"not an object").is_err());
    }
}
