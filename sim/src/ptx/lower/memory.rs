//! Decodes instructions that access memory.

use super::Lower;
use crate::ptx::ParseError;
use crate::ptx::alu::{Mods, decode};
use crate::ptx::code::{Access, Address, Atomic, AtomicAccess, File, Op, Reg, Room, Value};
use crate::ptx::regs::Args;
use crate::ptx::space::base;
use crate::ptx::syntax::{Operand, Statement};
use crate::ptx::types::Type;

/// The state space among the suffixes. Without one, addresses are generic.
fn room(m: &Mods) -> Room {
    let mut found = Room::Generic;
    for part in &m.parts[1..] {
        found = match part.split("::").next().unwrap_or("") {
            "global" | "const" => Room::Global,
            "shared" => Room::Shared,
            "local" => Room::Local,
            "param" => Room::Param,
            _ => continue,
        };
        break;
    }
    found
}

/// Whether threads may synchronise through the access.
fn strong(m: &Mods) -> bool {
    [
        "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio",
    ]
    .iter()
    .any(|word| m.has(word))
}

impl<'a> Lower<'a> {
    fn note_shared(&mut self, room: Room, bytes: u32) {
        if matches!(room, Room::Shared | Room::Generic) {
            self.code.granule = self.code.granule.min(bytes);
        }
    }

    pub(super) fn load_or_store(
        &mut self,
        s: &'a Statement<'a>,
        m: &Mods<'a>,
    ) -> Result<(), ParseError> {
        let Some(ty) = m.last_type() else {
            return self.not_implemented(s.opcode);
        };
        if ty.bits() > 64 || m.has("async") {
            return self.not_implemented(s.opcode);
        }
        let store = m.name() == "st";
        let (at, data) = if store { (0, 1) } else { (1, 0) };
        // The third operand may be a cache policy.
        let (Some(at), Some(data)) = (s.operands.get(at), s.operands.get(data)) else {
            return self.error(format!("`{}` has too few operands", s.opcode));
        };
        let address = self.address(at, room(m))?;
        self.note_shared(address.room, ty.bytes());
        let single = std::slice::from_ref(data);
        let elements = match data {
            Operand::Vector(all) => all.as_slice(),
            _ => single,
        };
        if !matches!(elements.len(), 1 | 2 | 4 | 8) {
            return self.error("a list has 2, 4 or 8 elements");
        }
        let mut regs = Vec::new();
        for element in elements {
            regs.push(if store {
                self.stored(element, ty)?
            } else {
                self.loaded(element, ty)?
            });
        }
        let access = Box::new(Access {
            address,
            bytes: ty.bytes(),
            signed: ty.signed(),
            regs,
            strong: strong(m),
        });
        self.emit(if store {
            Op::Store(access)
        } else {
            Op::Load(access)
        });
        Ok(())
    }

    fn stored(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Reg, ParseError> {
        match operand {
            Operand::Name(name)
                if self.special(name).is_none() && self.variable(name, 0).is_none() =>
            {
                let reg = self.register(name)?;
                match (reg.file, ty.wide()) {
                    (File::Pred, _) | (File::Word, true) => {
                        self.error(format!("`{name}` is narrower than what is stored"))
                    }
                    _ => Ok(reg),
                }
            }
            _ => self.source(operand, ty),
        }
    }

    fn loaded(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Reg, ParseError> {
        if *operand == Operand::Name("_") {
            let file = self.file_of(ty)?;
            return Ok(self.fresh(file));
        }
        let reg = self.any_register(operand)?;
        match (reg.file, ty.wide()) {
            (File::Pred, _) | (File::Word, true) => {
                self.error("the destination is narrower than what is loaded")
            }
            _ => Ok(reg),
        }
    }

    pub(super) fn atomic(&mut self, s: &'a Statement<'a>, m: &Mods<'a>) -> Result<(), ParseError> {
        let ops = [
            ("add", Atomic::Add),
            ("min", Atomic::Min),
            ("max", Atomic::Max),
            ("inc", Atomic::Inc),
            ("dec", Atomic::Dec),
            ("and", Atomic::And),
            ("or", Atomic::Or),
            ("xor", Atomic::Xor),
            ("exch", Atomic::Exch),
            ("cas", Atomic::Cas),
        ];
        let op = ops.iter().find(|(name, _)| m.has(name)).map(|(_, op)| *op);
        let (Some(op), Some(ty)) = (op, m.last_type()) else {
            return self.not_implemented(s.opcode);
        };
        let float = matches!(
            ty,
            Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64
        );
        let vector = s
            .operands
            .iter()
            .any(|operand| matches!(operand, Operand::Vector(_)));
        let sixteen = ty.bits() == 16 && !(op == Atomic::Cas || float);
        if float && op != Atomic::Add || vector || sixteen || ty.bits() > 64 {
            return self.not_implemented(s.opcode);
        }
        let old = m.name() == "atom";
        let rest = &s.operands[usize::from(old).min(s.operands.len())..];
        let (Some(at), Some(b)) = (rest.first(), rest.get(1)) else {
            return self.error(format!("`{}` has too few operands", s.opcode));
        };
        let address = self.address(at, room(m))?;
        self.note_shared(address.room, ty.bytes());
        let b = self.source(b, ty)?;
        let c = match (op, rest.get(2)) {
            (Atomic::Cas, Some(c)) => Some(self.source(c, ty)?),
            (Atomic::Cas, None) => return self.error("`cas` has too few operands"),
            _ => None,
        };
        let old = if old {
            Some(self.destination(&s.operands[0], ty)?.0)
        } else {
            None
        };
        self.emit(Op::Atomic(Box::new(AtomicAccess {
            address,
            op,
            ty,
            old,
            b,
            c,
        })));
        Ok(())
    }

    /// `cvta` (9.7.9.19). The windows of shared, local and parameter memory begin at fixed generic addresses.
    pub(super) fn convert_address(
        &mut self,
        s: &'a Statement<'a>,
        m: &Mods<'a>,
    ) -> Result<(), ParseError> {
        let [d, a] = self.operands(s)?;
        if m.ty() != Some(Type::U(64)) {
            return self.not_implemented(s.opcode);
        }
        let a = self.source(a, Type::U(64))?;
        let (d, _) = self.destination(d, Type::U(64))?;
        let window = Value::Bits(base(room(m)));
        let b = self.constant(File::Long, window);
        let opcode = if m.has("to") { "sub.u64" } else { "add.u64" };
        let Some(alu) = decode(&Mods::new(opcode)) else {
            return self.not_implemented(opcode);
        };
        let args = Args {
            d: d.index,
            a: a.index,
            b: b.index,
            ..Args::default()
        };
        self.emit(Op::Alu { run: alu.run, args });
        Ok(())
    }

    pub(super) fn is_space(
        &mut self,
        s: &'a Statement<'a>,
        m: &Mods<'a>,
    ) -> Result<(), ParseError> {
        let [d, a] = self.operands(s)?;
        let a = self.source(a, Type::U(64))?;
        let d = self.predicate(d)?;
        self.emit(Op::IsSpace {
            d,
            a,
            room: room(m),
        });
        Ok(())
    }

    /// `cp.async`, except bulk copies (9.7.9.25.3).
    pub(super) fn copy(&mut self, s: &'a Statement<'a>, m: &Mods<'a>) -> Result<(), ParseError> {
        if m.parts.get(1) != Some(&"async") || m.has("bulk") || m.has("mbarrier") || m.has("reduce")
        {
            return self.not_implemented(s.opcode);
        }
        match m.parts.get(2).copied() {
            Some("commit_group") => self.emit(Op::Commit),
            Some("wait_all") => {
                self.emit(Op::Commit);
                self.emit(Op::Wait(0));
            }
            Some("wait_group") => match self.operands(s)? {
                [Operand::Int(count)] => {
                    self.emit(Op::Wait(u32::try_from(*count).unwrap_or(u32::MAX)))
                }
                _ => return self.error("`cp.async.wait_group` needs a number"),
            },
            Some("ca" | "cg") => return self.async_copy(s, m),
            _ => return self.not_implemented(s.opcode),
        }
        Ok(())
    }

    /// `createpolicy` (9.7.9.18). Caches are not simulated, so all policies are the same number.
    pub(super) fn cache_policy(&mut self, s: &'a Statement<'a>) -> Result<(), ParseError> {
        let (Some(policy), Some(alu)) = (s.operands.first(), decode(&Mods::new("mov.b64"))) else {
            return self.error("`createpolicy` needs a destination");
        };
        let (d, _) = self.destination(policy, alu.types[0])?;
        let args = Args {
            d: d.index,
            a: self.source(&Operand::Int(0), alu.types[1])?.index,
            b: 0,
            c: 0,
            e: 0,
            flags: alu.flags,
        };
        self.emit(Op::Alu { run: alu.run, args });
        Ok(())
    }

    fn async_copy(&mut self, s: &'a Statement<'a>, m: &Mods<'a>) -> Result<(), ParseError> {
        let mut operands = s.operands.as_slice();
        if m.has("L2::cache_hint") {
            // The last operand is a policy of the caches.
            operands = operands.split_last().map_or(operands, |(_, rest)| rest);
        }
        let [to, from, Operand::Int(bytes), rest @ ..] = operands else {
            return self.error("`cp.async` needs two addresses and a size");
        };
        let bytes = *bytes as u32;
        if !(matches!(bytes, 4 | 8) && m.has("ca") || bytes == 16) {
            return self.error(format!("`{}` cannot copy {bytes} bytes", s.opcode));
        }
        let to = self.address(to, Room::Shared)?;
        let from = self.address(from, Room::Global)?;
        let source_bytes = match rest.first() {
            None => None,
            Some(Operand::Name(name))
                if self.register(name).is_ok_and(|reg| reg.file != File::Word) =>
            {
                return self.not_implemented("cp.async with a predicate");
            }
            Some(operand) => Some(self.source(operand, Type::U(32))?.index),
        };
        self.emit(Op::Copy {
            to,
            from,
            bytes,
            source_bytes,
        });
        Ok(())
    }
}

/// The address of a matrix in shared memory.
pub(super) fn shared_address<'a>(
    lower: &mut Lower<'a>,
    operand: &Operand<'a>,
    m: &Mods,
) -> Result<Address, ParseError> {
    lower.code.granule = lower.code.granule.min(4);
    lower.address(operand, room(m))
}
