//! Parses the listing of `nvdisasm --print-code`.
//!
//! An entry begins with its section, `.section .text.NAME`. A line of code such as `/*00a0*/ @!P0 BRA `(.L_x_1) ;` has
//! an offset, an optional predicate, an opcode and operands. A line that ends with a colon is a label.

use std::collections::HashMap;

use super::Instruction;
use super::class::of_sass;

/// The instructions of an entry; `None` if the listing does not contain the entry.
pub(super) fn entry(listing: &str, name: &str) -> Option<Vec<Instruction>> {
    let section = format!(".text.{name}");
    let mut lines = listing.lines().skip_while(|line| !begins(line, &section));
    lines.next()?;
    let lines: Vec<&str> = lines.take_while(|line| !is_section(line)).collect();
    let mut labels = HashMap::new();
    let mut code = Vec::new();
    for line in lines {
        let line = line.trim();
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, code.len());
        } else if let Some(instruction) = instruction(line) {
            code.push(instruction);
        }
    }
    let target = |operands: &str| {
        let (_, label) = operands.split_once("`(")?;
        labels.get(label.split_once(')')?.0).copied()
    };
    let code = code.into_iter().map(|(opcode, operands)| Instruction {
        class: of_sass(opcode),
        target: jumps(opcode).then(|| target(operands)).flatten(),
    });
    Some(code.collect())
}

/// Whether a section begins here. A `.sectioninfo` line does not begin a section; it describes the current one.
fn is_section(line: &str) -> bool {
    section_of(line).is_some()
}

fn begins(line: &str, section: &str) -> bool {
    section_of(line) == Some(section)
}

/// The name of the section that begins with this line; `None` if no section begins here.
fn section_of(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix(".section")?;
    rest.starts_with(char::is_whitespace)
        .then(|| rest.trim_start().split(',').next())?
}

/// The opcode and the operands of a line of code.
fn instruction(line: &str) -> Option<(&str, &str)> {
    let (_offset, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    // Braces enclose pairs of instructions that are issued together.
    let rest = rest.trim_start().trim_start_matches(['{', ' ']);
    let rest = match rest.strip_prefix('@') {
        Some(predicated) => predicated.split_once(char::is_whitespace)?.1.trim_start(),
        None => rest,
    };
    let rest = rest.split(';').next()?.trim_end();
    let (opcode, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (!opcode.is_empty()).then_some((opcode, operands))
}

/// Whether an instruction jumps to its operand. Other instructions with a label as operand, such as `BSSY`, only store
/// the address.
fn jumps(opcode: &str) -> bool {
    matches!(opcode.split('.').next(), Some("BRA" | "BRX" | "JMP"))
}
