//! Instructions on registers. Each is a function over the lanes of a warp, selected once when the text is decoded.

mod compare;
mod convert;
mod float;
mod fp8;
mod half_float;
mod int;
mod logic;
mod parts;
mod saturated;
mod special;
#[cfg(test)]
mod testing;

pub(super) use float::canonical;

use super::regs::Run;
use super::types::Type;

/// A decoded instruction that only uses registers.
#[derive(Debug)]
pub(super) struct Alu {
    pub run: Run,
    /// The types of the destination and of the sources, in the order of the text.
    pub types: Vec<Type>,
    pub flags: u32,
}

fn alu(run: Run, types: &[Type]) -> Option<Alu> {
    flagged(run, types, 0)
}

fn flagged(run: Run, types: &[Type], flags: u32) -> Option<Alu> {
    let types = types.to_vec();
    Some(Alu { run, types, flags })
}

/// An opcode, split at its dots.
#[derive(Clone, Debug)]
pub(super) struct Mods<'a> {
    pub parts: Vec<&'a str>,
}

impl<'a> Mods<'a> {
    pub fn new(opcode: &'a str) -> Mods<'a> {
        Mods {
            parts: opcode.split('.').collect(),
        }
    }

    /// The opcode without its suffixes.
    pub fn name(&self) -> &'a str {
        self.parts[0]
    }

    pub fn has(&self, suffix: &str) -> bool {
        self.parts[1..].contains(&suffix)
    }

    /// All types among the suffixes.
    pub fn types(&self) -> Vec<Type> {
        self.parts[1..]
            .iter()
            .filter_map(|part| Type::parse(part))
            .collect()
    }

    /// The first type among the suffixes.
    pub fn ty(&self) -> Option<Type> {
        self.parts[1..].iter().find_map(|part| Type::parse(part))
    }

    /// The last type among the suffixes.
    pub fn last_type(&self) -> Option<Type> {
        self.parts[1..]
            .iter()
            .rev()
            .find_map(|part| Type::parse(part))
    }
}

/// The decoded instruction, or `None` if it does more than use registers or is not implemented.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    match m.name() {
        "setp" | "set" | "selp" | "slct" => compare::decode(m),
        "cvt" => fp8::decode(m)
            .or_else(|| saturated::decode(m))
            .or_else(|| convert::decode(m)),
        "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "shf" | "lop3" | "prmt" | "mov" => {
            logic::decode(m)
        }
        "ex2" | "lg2" | "sin" | "cos" | "tanh" | "rsqrt" => special::decode(m),
        "rcp" | "sqrt" | "div" if m.has("approx") || m.has("full") => special::decode(m),
        _ => int::decode(m)
            .or_else(|| float::decode(m))
            .or_else(|| half_float::decode(m))
            .or_else(|| parts::decode(m)),
    }
}
