//! Decodes statements by their opcode.

use super::Lower;
use super::names::Binding;
use crate::ptx::ParseError;
use crate::ptx::alu::{Mods, decode};
use crate::ptx::code::{File, Op, Reg};
use crate::ptx::regs::Args;
use crate::ptx::syntax::{Operand, Statement};
use crate::ptx::types::Type;

impl<'a> Lower<'a> {
    pub(super) fn not_implemented(&mut self, opcode: &str) -> Result<(), ParseError> {
        self.emit(Op::NotImplemented(opcode.into()));
        Ok(())
    }

    /// The operands of a statement. It is an error if their number is not `N`.
    pub(super) fn operands<'s, const N: usize>(
        &self,
        s: &'s Statement<'a>,
    ) -> Result<&'s [Operand<'a>; N], ParseError> {
        match s.operands.as_slice().try_into() {
            Ok(operands) => Ok(operands),
            Err(_) => self.error(format!(
                "`{}` has {} operands instead of {N}",
                s.opcode,
                s.operands.len()
            )),
        }
    }

    pub(super) fn statement(&mut self, s: &'a Statement<'a>) -> Result<(), ParseError> {
        let m = Mods::new(s.opcode);
        match m.name() {
            "bra" => self.branch(s),
            "brx" => self.switch(s),
            "ret" => self.give_back(),
            "exit" => {
                self.emit(Op::Exit);
                Ok(())
            }
            "call" => self.call_statement(s),
            "trap" => {
                self.emit(Op::Trap);
                Ok(())
            }
            "brkpt" | "nanosleep" | "pmevent" | "prefetch" | "prefetchu" | "discard"
            | "applypriority" => Ok(()),
            "griddepcontrol" | "setmaxnreg" => Ok(()),
            "fence" if m.has("proxy") && m.has("async") => {
                let is_shared = !m.has("global");
                self.emit(if is_shared { Op::ProxyFence } else { Op::Fence });
                Ok(())
            }
            "fence" | "membar" if !m.has("proxy") => {
                self.emit(Op::Fence);
                Ok(())
            }
            "ld" | "ldu" | "st" => self.load_or_store(s, &m),
            "atom" | "red" if !m.has("async") => self.atomic(s, &m),
            "cvta" => self.convert_address(s, &m),
            "isspacep" => self.is_space(s, &m),
            "cp" => self.copy(s, &m),
            "createpolicy" => self.cache_policy(s),
            "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => self.together(s, &m),
            "bar" | "barrier" => self.barrier(s, &m),
            "wgmma" => self.warpgroup(s, &m),
            "mma" | "ldmatrix" | "stmatrix" | "movmatrix" => self.matrix(s, &m),
            "mov"
                if s.operands
                    .iter()
                    .any(|operand| matches!(operand, Operand::Vector(_))) =>
            {
                self.pack(s, &m)
            }
            _ => self.alu(s, &m),
        }
    }

    fn alu(&mut self, s: &'a Statement<'a>, m: &Mods<'a>) -> Result<(), ParseError> {
        let Some(alu) = decode(m) else {
            return self.not_implemented(s.opcode);
        };
        if s.operands.len() != alu.types.len() {
            let count = alu.types.len();
            return self.error(format!(
                "`{}` has {} operands instead of {count}",
                s.opcode,
                s.operands.len()
            ));
        }
        let mut sources = [0; 4];
        for ((operand, &ty), source) in s.operands[1..]
            .iter()
            .zip(&alu.types[1..])
            .zip(&mut sources)
        {
            *source = self.source(operand, ty)?.index;
        }
        let [a, b, c, e] = sources;
        let mut args = Args {
            d: 0,
            a,
            b,
            c,
            e,
            flags: alu.flags,
        };
        let ty = alu.types[0];
        if let Operand::Pair(p, q) = &s.operands[0] {
            args.d = self.predicate(p)?;
            args.e = self.predicate(q)?;
            self.emit(Op::Alu { run: alu.run, args });
            return Ok(());
        }
        let (d, wider) = self.destination(&s.operands[0], ty)?;
        args.d = d.index;
        self.emit(Op::Alu { run: alu.run, args });
        self.extend(d, wider, ty);
        Ok(())
    }

    fn branch(&mut self, s: &'a Statement<'a>) -> Result<(), ParseError> {
        let [Operand::Name(name)] = self.operands(s)? else {
            return self.error("`bra` needs a label");
        };
        let target = self.label(name)?;
        self.emit(Op::Branch { target, join: 0 });
        Ok(())
    }

    fn switch(&mut self, s: &'a Statement<'a>) -> Result<(), ParseError> {
        let [index, Operand::Name(list)] = self.operands(s)? else {
            return self.error("`brx.idx` needs a list of targets");
        };
        let index = self.source(index, Type::U(32))?.index;
        let Some(Binding::Targets(names)) = self.find(list) else {
            return self.error(format!("`{list}` is not a list of targets"));
        };
        let targets = names
            .iter()
            .map(|name| self.label(name))
            .collect::<Result<_, _>>()?;
        self.emit(Op::Switch {
            index,
            targets,
            join: 0,
        });
        Ok(())
    }

    /// `ret` ends the thread in a kernel. In an inlined function, it jumps to the instruction after the call.
    fn give_back(&mut self) -> Result<(), ParseError> {
        match self.calls.last() {
            Some((_, Some(after))) => {
                let target = *after;
                self.emit(Op::Branch { target, join: 0 });
            }
            _ => self.emit(Op::Exit),
        }
        Ok(())
    }

    fn call_statement(&mut self, s: &'a Statement<'a>) -> Result<(), ParseError> {
        let names = |group: &'a Operand<'a>| match group {
            Operand::Group(all) => {
                let names = all.iter().map(|operand| match operand {
                    Operand::Name(name) => Some(*name),
                    _ => None,
                });
                names.collect::<Option<Vec<_>>>()
            }
            _ => None,
        };
        let (results, rest) = match s.operands.first() {
            Some(group @ Operand::Group(_)) => (names(group), &s.operands[1..]),
            _ => (Some(Vec::new()), &s.operands[..]),
        };
        let (Some(results), Some(Operand::Name(name))) = (results, rest.first()) else {
            return self.error("`call` needs the name of a function");
        };
        let arguments = rest.get(1).map_or(Some(Vec::new()), names);
        let Some(arguments) = arguments else {
            return self.not_implemented("call with arguments that are not variables");
        };
        if !self
            .ast
            .functions
            .iter()
            .any(|function| function.name == *name)
        {
            return self.not_implemented("an indirect call");
        }
        self.call(name, &results, &arguments)
    }

    /// `mov` between a register and its parts (9.7.9.4).
    fn pack(&mut self, s: &'a Statement<'a>, m: &Mods<'a>) -> Result<(), ParseError> {
        let Some(ty) = m.ty() else {
            return self.not_implemented(s.opcode);
        };
        match self.operands(s)? {
            [Operand::Vector(parts), whole] => {
                let a = self.source(whole, ty)?;
                self.unpack(parts, a, ty)
            }
            [whole, Operand::Vector(parts)] => {
                let (d, _) = self.destination(whole, ty)?;
                self.pack_parts(d, parts, ty)
            }
            _ => self.error("`mov` has two lists"),
        }
    }

    fn pack_parts(&mut self, d: Reg, parts: &[Operand<'a>], ty: Type) -> Result<(), ParseError> {
        let Some(run) = crate::ptx::pack::pack(ty.bits(), parts.len()) else {
            return self.not_implemented("mov of a list of this size");
        };
        let mut sources = [0; 4];
        let part = Type::B(ty.bits() / parts.len() as u32);
        for (operand, source) in parts.iter().zip(&mut sources) {
            *source = self.source(operand, part)?.index;
        }
        let [a, b, c, e] = sources;
        let args = Args {
            d: d.index,
            a,
            b,
            c,
            e,
            flags: 0,
        };
        self.emit(Op::Alu { run, args });
        Ok(())
    }

    fn unpack(&mut self, parts: &[Operand<'a>], a: Reg, ty: Type) -> Result<(), ParseError> {
        let bits = ty.bits() / parts.len().max(1) as u32;
        let Some(run) = crate::ptx::pack::unpack(ty.bits(), parts.len()) else {
            return self.not_implemented("mov of a list of this size");
        };
        // The source register may also be one of the destinations, so it is copied first.
        let copy = self.fresh(a.file);
        let opcode = if a.file == File::Long {
            "mov.b64"
        } else {
            "mov.b32"
        };
        self.emit_alu(opcode, copy.index, a.index);
        for (i, operand) in parts.iter().enumerate() {
            let (d, _) = self.destination(operand, Type::B(bits))?;
            let args = Args {
                d: d.index,
                a: copy.index,
                flags: bits * i as u32,
                ..Args::default()
            };
            self.emit(Op::Alu { run, args });
        }
        Ok(())
    }
}
