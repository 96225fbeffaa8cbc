//! Parses the remarks of clang's `-Rpass-analysis=kernel-resource-usage`, for example:
//!
//! ```text
//! k.cu:12:0: remark: Function Name: gemm [-Rpass-analysis=kernel-resource-usage]
//! k.cu:12:0: remark:     SGPRs: 18 [-Rpass-analysis=kernel-resource-usage]
//! k.cu:12:0: remark:     VGPRs: 71 [-Rpass-analysis=kernel-resource-usage]
//! k.cu:12:0: remark:     ScratchSize [bytes/lane]: 0 [-Rpass-analysis=kernel-resource-usage]
//! k.cu:12:0: remark:     Occupancy [waves/SIMD]: 16 [-Rpass-analysis=kernel-resource-usage]
//! k.cu:12:0: remark:     SGPRs Spill: 0 [-Rpass-analysis=kernel-resource-usage]
//! k.cu:12:0: remark:     VGPRs Spill: 0 [-Rpass-analysis=kernel-resource-usage]
//! k.cu:12:0: remark:     LDS Size [bytes/block]: 8192 [-Rpass-analysis=kernel-resource-usage]
//! ```

use kiln_spec::KernelLimits;

use super::{InspectError, Resources, Spills};

const END: &str = " [-Rpass-analysis=kernel-resource-usage]";

/// The resources of an entry.
pub(super) fn resources(log: &str, symbol: &str) -> Result<Resources, InspectError> {
    let block = block(log, symbol).ok_or_else(|| InspectError::NotInLog {
        symbol: symbol.into(),
    })?;
    let figure = |names: &[&str]| names.iter().find_map(|name| field(&block, name));
    let required = |names: &[&str], expected| {
        if let Some(figure) = figure(names) {
            return Ok(figure);
        }
        // For kernels with indirect calls, clang 22 prints formulas that its assembler evaluates, such as
        // `VGPRs: k.num_vgpr`. Only the image contains their values.
        let line = symbol.into();
        let is_formula = |name: &&str| block.iter().any(|(found, _)| found == name);
        Err(match names.iter().any(is_formula) {
            true => InspectError::NotInLog { symbol: line },
            false => InspectError::Log { line, expected },
        })
    };
    Ok(Resources {
        registers: required(&["VGPRs", "TotalVGPRs"], "a remark `VGPRs: N`")?,
        scalar_registers: figure(&["SGPRs", "TotalSGPRs"]),
        stack_bytes: required(&["ScratchSize [bytes/lane]"], "a remark `ScratchSize`")?,
        limits: KernelLimits {
            static_shared_bytes: required(&["LDS Size [bytes/block]"], "a remark `LDS Size`")?,
            ..KernelLimits::default()
        },
        spills: figure(&["VGPRs Spill"]).map(|vector| Spills::Registers {
            vector,
            scalar: figure(&["SGPRs Spill"]).unwrap_or(0),
        }),
        barriers: None,
    })
}

/// The occupancy that the compiler computes, in waves per SIMD; `None` if the log does not contain it.
pub fn waves_per_simd(log: &str, symbol: &str) -> Option<u32> {
    field(&block(log, symbol)?, "Occupancy [waves/SIMD]")
}

/// The remarks about an entry, as pairs of name and value.
fn block<'a>(log: &'a str, symbol: &str) -> Option<Vec<(&'a str, &'a str)>> {
    let mut remarks = log.lines().filter_map(remark);
    remarks.find(|&(name, value)| name == "Function Name" && value == symbol)?;
    Some(
        remarks
            .take_while(|(name, _)| *name != "Function Name")
            .collect(),
    )
}

fn remark(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_end().strip_suffix(END)?;
    let (_, text) = text.split_once("remark: ")?;
    text.trim().split_once(": ")
}

fn field(block: &[(&str, &str)], name: &str) -> Option<u32> {
    let (_, value) = block.iter().find(|(found, _)| *found == name)?;
    value.parse().ok()
}
