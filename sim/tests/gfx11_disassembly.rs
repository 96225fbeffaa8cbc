//! Compares the decoder with LLVM's disassembler: names and registers of all instructions of whole code objects.
#![allow(clippy::unwrap_used)] // a failed call fails the test

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kiln_sim::gfx11::CodeObject;

/// The disassembler `$KILN_LLVM_OBJDUMP`, or otherwise an installed `llvm-objdump` of LLVM 19 to 22, if there is one.
fn disassembler() -> Option<PathBuf> {
    let named = std::env::var_os("KILN_LLVM_OBJDUMP").map(PathBuf::from);
    let versions = (19..=22)
        .rev()
        .map(|version| PathBuf::from(format!("/usr/lib/llvm-{version}/bin/llvm-objdump")));
    named
        .into_iter()
        .chain(versions)
        .find(|program| program.is_file())
}

/// The code objects of the repository, and those in the folder `$KILN_GFX11_IMAGES`.
fn images() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gfx11");
    let folders = [
        Some(own),
        std::env::var_os("KILN_GFX11_IMAGES").map(PathBuf::from),
    ];
    let entries = folders
        .into_iter()
        .flatten()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "co" || extension == "hsaco")
    });
    files.sort();
    files
}

/// The name and the registers of an instruction, without the suffix that names the encoding.
fn outline(text: &str) -> String {
    let text = text.split("//").next().unwrap_or_default();
    let mut words = text
        .split([' ', ',', '\t', '|', '-', '(', ')'])
        .filter(|word| !word.is_empty());
    let name = words.next().unwrap_or_default();
    let suffixes = ["_e64_dpp", "_e64", "_e32", "_dpp"];
    let name = suffixes
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name);
    if name.starts_with("s_delay")
        || name.starts_with("s_sendmsg")
        || name.starts_with("s_waitcnt_depctr")
    {
        return name.to_owned();
    }
    let is_register = |word: &&str| {
        let rest = word.strip_prefix(['v', 's']).unwrap_or_default();
        let numbered = rest.starts_with('[') || rest.starts_with(|c: char| c.is_ascii_digit());
        numbered
            || ["vcc_lo", "exec_lo", "m0", "vcc", "exec", "off", "::"].contains(word)
            || word.starts_with("v_dual")
    };
    // LLVM 22 names the half of a register that an instruction reads or writes. Here, the half is not compared.
    let whole = |word: &'_ str| {
        word.trim_end_matches(".l")
            .trim_end_matches(".h")
            .to_owned()
    };
    let registers: Vec<String> = words.filter(is_register).map(whole).collect();
    format!("{name} {}", registers.join(" "))
}

#[test]
fn every_instruction_of_a_code_object_is_the_one_that_llvm_sees() {
    let Some(program) = disassembler() else {
        println!("skipped: llvm-objdump is not installed");
        return;
    };
    let images = images();
    assert!(!images.is_empty());
    let mut compared = 0;
    for image in &images {
        let object = CodeObject::parse(&fs::read(image).unwrap()).unwrap();
        let output = Command::new(&program)
            .args(["-d", "--no-leading-addr"])
            .arg(image)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let theirs: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("// 0"))
            .map(str::trim)
            .collect();
        let mut theirs = theirs.iter();
        for (offset, ours) in object.disassembly() {
            let Some(their) = theirs.next() else { break };
            assert_eq!(
                outline(&ours),
                outline(their),
                "{} at {offset:#x}: {ours} / {their}",
                image.display()
            );
            compared += 1;
        }
    }
    println!("{compared} instructions of {} code objects", images.len());
    assert!(compared > 100);
}
