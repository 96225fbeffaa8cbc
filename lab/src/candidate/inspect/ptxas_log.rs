//! Parses the lines of `ptxas -v`, which NVRTC includes in its log:
//!
//! ```text
//! ptxas info    : Compiling entry function 'gemm' for 'sm_89'
//! ptxas info    : Function properties for gemm
//! ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//! ptxas info    : Used 64 registers, used 1 barriers, 8192 bytes smem, 388 bytes cmem[0]
//! ```
//!
//! `ptxas` omits the parts of the last line that are 0. The parser recognises lines by their words, because the
//! beginning of the lines differs between versions.

use kiln_spec::KernelLimits;

use super::{InspectError, Resources, Spills};

/// The resources of an entry.
pub(super) fn resources(log: &str, symbol: &str) -> Result<Resources, InspectError> {
    let opening = format!("Compiling entry function '{symbol}'");
    let mut lines = log
        .lines()
        .skip_while(|line| !line.contains(&opening))
        .skip(1);
    let mut block = Vec::new();
    for line in lines.by_ref() {
        if line.contains("Compiling entry function '") {
            break;
        }
        block.push(line);
    }
    let used = block
        .iter()
        .find(|line| line.contains(" registers") && line.contains("Used "));
    let Some(used) = used else {
        return Err(InspectError::NotInLog {
            symbol: symbol.into(),
        });
    };
    let frame = frame_line(&block, symbol);
    let number = |line: &str, words: &str| before(line, words).unwrap_or(0);
    Ok(Resources {
        registers: required(used, " registers", "`Used N registers`")?,
        scalar_registers: None,
        stack_bytes: frame.map_or(0, |line| number(line, " bytes stack frame")),
        limits: KernelLimits {
            static_shared_bytes: number(used, " bytes smem"),
            ..KernelLimits::default()
        },
        spills: frame.map(|line| Spills::Bytes {
            stores: number(line, " bytes spill stores"),
            loads: number(line, " bytes spill loads"),
        }),
        barriers: Some(number(used, " barriers")),
    })
}

/// The stack and spill line of the entry itself, not of a function that it calls.
fn frame_line<'a>(block: &[&'a str], symbol: &str) -> Option<&'a str> {
    let of_entry = block.iter().position(|line| {
        line.trim_end().ends_with(symbol) && line.contains("Function properties for ")
    });
    let rest = &block[of_entry.map_or(0, |at| at + 1)..];
    rest.iter()
        .copied()
        .find(|line| line.contains(" bytes stack frame"))
}

fn required(line: &str, words: &str, expected: &'static str) -> Result<u32, InspectError> {
    before(line, words).ok_or_else(|| InspectError::Log {
        line: line.trim().into(),
        expected,
    })
}

/// The number directly before `words` in a line.
fn before(line: &str, words: &str) -> Option<u32> {
    let head = &line[..line.find(words)?];
    let digits = head.len() - head.bytes().rev().take_while(u8::is_ascii_digit).count();
    head[digits..].parse().ok()
}
