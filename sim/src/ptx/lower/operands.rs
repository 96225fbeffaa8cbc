//! Decodes operands into registers.

use super::Lower;
use super::names::file;
use crate::ptx::ParseError;
use crate::ptx::alu::{Mods, decode};
use crate::ptx::code::{Address, File, Op, Reg, Room, Value};
use crate::ptx::regs::Args;
use crate::ptx::syntax::Operand;
use crate::ptx::types::Type;

impl<'a> Lower<'a> {
    /// Emits an instruction on registers, specified by its opcode. The opcode must exist.
    pub(super) fn emit_alu(&mut self, opcode: &str, d: u32, a: u32) {
        match decode(&Mods::new(opcode)) {
            Some(alu) => {
                let args = Args {
                    d,
                    a,
                    flags: alu.flags,
                    ..Args::default()
                };
                self.emit(Op::Alu { run: alu.run, args });
            }
            None => self.emit(Op::NotImplemented(opcode.into())),
        }
    }

    /// Emits instructions without the current guard.
    pub(super) fn unguarded(&mut self, emit: impl FnOnce(&mut Self)) {
        let guard = std::mem::take(&mut self.guard);
        emit(self);
        self.guard = guard;
    }

    pub(super) fn file_of(&self, ty: Type) -> Result<File, ParseError> {
        match file(ty) {
            Some(file) => Ok(file),
            None => self.error("an operand has 128 bits, which is not implemented"),
        }
    }

    /// The register that contains a source operand of this type.
    pub(super) fn source(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Reg, ParseError> {
        let file = self.file_of(ty)?;
        match operand {
            Operand::Name(name) => self.named_source(name, file),
            Operand::Not(name) if file == File::Pred => {
                let (a, d) = (self.register(name)?, self.fresh(file));
                self.unguarded(|lower| lower.emit_alu("not.pred", d.index, a.index));
                Ok(d)
            }
            _ => {
                let bits = self.literal(operand, ty)?;
                if file == File::Pred {
                    return Ok(self.fixed_predicate(bits != 0));
                }
                Ok(self.constant(file, Value::Bits(bits)))
            }
        }
    }

    /// A predicate with a constant value. Predicate 0 is always true.
    fn fixed_predicate(&mut self, value: bool) -> Reg {
        let truth = Reg {
            file: File::Pred,
            index: 0,
        };
        if value {
            return truth;
        }
        let d = self.fresh(File::Pred);
        self.unguarded(|lower| lower.emit_alu("not.pred", d.index, truth.index));
        d
    }

    fn named_source(&mut self, name: &'a str, file: File) -> Result<Reg, ParseError> {
        if let Some(special) = self.special(name) {
            return self.fitting(special, file, name);
        }
        if let Some(clock) = self.clock(name) {
            return self.fitting(clock, file, name);
        }
        if let Some((_, value)) = self.variable(name, 0) {
            return Ok(self.constant(file, value));
        }
        let reg = self.register(name)?;
        self.fitting(reg, file, name)
    }

    /// Returns a register of `file` that has the value of `reg`. A wider register supplies its low bits (9.4.1), and a
    /// narrower register is extended with zeros.
    fn fitting(&mut self, reg: Reg, file: File, name: &str) -> Result<Reg, ParseError> {
        if reg.file == file {
            return Ok(reg);
        }
        let opcode = match (reg.file, file) {
            (File::Long, File::Word) => "cvt.u32.u64",
            (File::Word, File::Long) => "cvt.u64.u32",
            _ => {
                return self.error(format!(
                    "`{name}` does not have the type of the instruction"
                ));
            }
        };
        let d = self.fresh(file);
        self.unguarded(|lower| lower.emit_alu(opcode, d.index, reg.index));
        Ok(d)
    }

    /// Reads `%clock` and similar registers again at each use.
    fn clock(&mut self, name: &str) -> Option<Reg> {
        let (file, upper) = match name {
            "%clock" | "%globaltimer_lo" => (File::Word, false),
            "%clock_hi" | "%globaltimer_hi" => (File::Word, true),
            "%clock64" | "%globaltimer" => (File::Long, false),
            _ => return None,
        };
        let d = self.fresh(file);
        self.unguarded(|lower| lower.emit(Op::Clock { d, upper }));
        Some(d)
    }

    pub(super) fn literal(&self, operand: &Operand<'a>, ty: Type) -> Result<u64, ParseError> {
        Ok(match (operand, ty) {
            (Operand::Int(value), Type::F32 | Type::F64) => {
                return self.error(format!("`{value}` is not a floating-point number"));
            }
            (Operand::Int(value), _) if ty.bits() < 64 => {
                *value as u64 & ((1 << ty.bits().max(32)) - 1)
            }
            (Operand::Int(value), _) => *value as u64,
            (Operand::F32(bits), Type::F64) => f64::from(f32::from_bits(*bits)).to_bits(),
            (Operand::F32(bits), _) => u64::from(*bits),
            (Operand::F64(bits), Type::F32) => u64::from((f64::from_bits(*bits) as f32).to_bits()),
            (Operand::F64(bits), _) => *bits,
            _ => return self.error("an operand does not fit the instruction"),
        })
    }

    /// The register to which an instruction writes its result. If the destination is wider than the type, this is a new
    /// register, and the second value is the destination. [`Self::extend`] then fills the destination.
    pub(super) fn destination(
        &mut self,
        operand: &Operand<'a>,
        ty: Type,
    ) -> Result<(Reg, Option<Reg>), ParseError> {
        let file = self.file_of(ty)?;
        let Operand::Name(name) = operand else {
            return self.error("the destination is not a register");
        };
        if *name == "_" {
            // Writes to predicate 0 are ignored.
            let sink = match file {
                File::Pred => Reg { file, index: 0 },
                _ => self.fresh(file),
            };
            return Ok((sink, None));
        }
        let reg = self.register(name)?;
        match (reg.file, file) {
            (have, want) if have == want => Ok((reg, None)),
            (File::Long, File::Word) => Ok((self.fresh(File::Word), Some(reg))),
            _ => self.error(format!(
                "`{name}` does not have the type of the instruction"
            )),
        }
    }

    pub(super) fn extend(&mut self, from: Reg, to: Option<Reg>, ty: Type) {
        if let Some(to) = to {
            let opcode = if ty.signed() {
                "cvt.s64.s32"
            } else {
                "cvt.u64.u32"
            };
            self.emit_alu(opcode, to.index, from.index);
        }
    }

    /// The register of a predicate destination.
    pub(super) fn predicate(&mut self, operand: &Operand<'a>) -> Result<u32, ParseError> {
        Ok(self.destination(operand, Type::Pred)?.0.index)
    }

    /// The register that an operand specifies, in any file.
    pub(super) fn any_register(&mut self, operand: &Operand<'a>) -> Result<Reg, ParseError> {
        match operand {
            Operand::Name(name) => self.register(name),
            _ => self.error("an operand is not a register"),
        }
    }

    /// `[base + offset]` in a state space.
    pub(super) fn address(
        &mut self,
        operand: &Operand<'a>,
        room: Room,
    ) -> Result<Address, ParseError> {
        let Operand::Address { base, offset } = operand else {
            return self.error("an operand is not an address");
        };
        let Some(name) = base else {
            let base = self.constant(File::Long, Value::Bits(0));
            let offset = *offset;
            return Ok(Address { room, base, offset });
        };
        if let Some((found, value)) = self.variable(name, *offset) {
            // The variable, not the instruction, determines the state space, because `ld.param` of a call's argument
            // reads a variable of the caller.
            let base = self.constant(File::Long, value);
            return Ok(Address {
                room: found,
                base,
                offset: 0,
            });
        }
        let base = self.register(name)?;
        if base.file == File::Pred {
            return self.error(format!("`{name}` is a predicate and not an address"));
        }
        Ok(Address {
            room,
            base,
            offset: *offset,
        })
    }
}
