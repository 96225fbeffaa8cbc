//! Decodes instructions that the lanes of a warp or the warps of a block execute together.

use super::Lower;
use super::memory::shared_address;
use crate::ptx::ParseError;
use crate::ptx::alu::Mods;
use crate::ptx::code::{Atomic, Barrier, Matrix, MatrixOp, Op, Reduction, Shuffle, Together};
use crate::ptx::mma::Mma;
use crate::ptx::syntax::{Operand, Statement};
use crate::ptx::types::Type;

const U32: Type = Type::U(32);

impl<'a> Lower<'a> {
    fn word(&mut self, operand: &Operand<'a>) -> Result<u32, ParseError> {
        Ok(self.source(operand, U32)?.index)
    }

    fn word_destination(&mut self, operand: &Operand<'a>) -> Result<u32, ParseError> {
        Ok(self.destination(operand, U32)?.0.index)
    }

    /// The destinations `d` or `d|p`. Without `p`, the second index is that of predicate 0, which ignores writes.
    fn pair(&mut self, operand: &Operand<'a>) -> Result<(u32, u32), ParseError> {
        match operand {
            Operand::Pair(d, p) => Ok((self.word_destination(d)?, self.predicate(p)?)),
            _ => Ok((self.word_destination(operand)?, 0)),
        }
    }

    pub(super) fn together(
        &mut self,
        s: &'a Statement<'a>,
        m: &Mods<'a>,
    ) -> Result<(), ParseError> {
        if m.name() == "activemask" {
            let [d] = self.operands(s)?;
            let d = self.word_destination(d)?;
            self.emit(Op::ActiveMask { d });
            return Ok(());
        }
        if !m.has("sync") {
            return self.not_implemented(s.opcode);
        }
        let (what, members) = match m.name() {
            "shfl" => self.shuffle(s, m)?,
            "vote" => self.vote(s, m)?,
            "match" => self.matching(s, m)?,
            "elect" => {
                let [pair, members] = self.operands(s)?;
                let (d, p) = self.pair(pair)?;
                (Together::Elect { d, p }, self.word(members)?)
            }
            _ => match self.redux(s, m)? {
                Some(redux) => redux,
                None => return self.not_implemented(s.opcode),
            },
        };
        self.emit(Op::Together { what, members });
        Ok(())
    }

    fn shuffle(
        &mut self,
        s: &'a Statement<'a>,
        m: &Mods<'a>,
    ) -> Result<(Together, u32), ParseError> {
        let [pair, a, b, c, members] = self.operands(s)?;
        let way = match () {
            () if m.has("up") => Shuffle::Up,
            () if m.has("down") => Shuffle::Down,
            () if m.has("bfly") => Shuffle::Butterfly,
            () => Shuffle::Index,
        };
        let (d, p) = self.pair(pair)?;
        let [a, b, c] = [self.word(a)?, self.word(b)?, self.word(c)?];
        Ok((
            Together::Shuffle { way, d, p, a, b, c },
            self.word(members)?,
        ))
    }

    fn vote(&mut self, s: &'a Statement<'a>, m: &Mods<'a>) -> Result<(Together, u32), ParseError> {
        let [d, p, members] = self.operands(s)?;
        let kind = match () {
            () if m.has("all") => 0,
            () if m.has("any") => 1,
            () if m.has("uni") => 2,
            () => 3,
        };
        let p = self.source(p, Type::Pred)?;
        let d = if kind == 3 {
            self.word_destination(d)?
        } else {
            self.predicate(d)?
        };
        Ok((Together::Vote { kind, d, p }, self.word(members)?))
    }

    fn matching(
        &mut self,
        s: &'a Statement<'a>,
        m: &Mods<'a>,
    ) -> Result<(Together, u32), ParseError> {
        let [pair, a, members] = self.operands(s)?;
        let (d, p) = self.pair(pair)?;
        let a = self.source(a, m.last_type().unwrap_or(Type::B(32)))?;
        let all = m.has("all");
        Ok((Together::Match { all, d, p, a }, self.word(members)?))
    }

    fn redux(
        &mut self,
        s: &'a Statement<'a>,
        m: &Mods<'a>,
    ) -> Result<Option<(Together, u32)>, ParseError> {
        let [d, a, members] = self.operands(s)?;
        let op = match () {
            () if m.has("add") => Atomic::Add,
            () if m.has("min") => Atomic::Min,
            () if m.has("max") => Atomic::Max,
            () if m.has("and") => Atomic::And,
            () if m.has("or") => Atomic::Or,
            () => Atomic::Xor,
        };
        if m.ty() == Some(Type::F32) {
            return Ok(None);
        }
        let signed = m.ty() == Some(Type::S(32));
        let (d, a) = (self.word_destination(d)?, self.word(a)?);
        Ok(Some((
            Together::Redux { op, signed, d, a },
            self.word(members)?,
        )))
    }

    pub(super) fn barrier(&mut self, s: &'a Statement<'a>, m: &Mods<'a>) -> Result<(), ParseError> {
        if m.has("warp") {
            let [members] = self.operands(s)?;
            let members = self.word(members)?;
            self.emit(Op::Together {
                what: Together::Sync,
                members,
            });
            return Ok(());
        }
        if m.has("cluster") {
            return self.not_implemented(s.opcode);
        }
        let reduces = m.has("red");
        let (result, rest) = match (reduces, s.operands.split_first()) {
            (true, Some((d, rest))) => (Some(d), rest),
            _ => (None, s.operands.as_slice()),
        };
        let (input, rest) = match (reduces, rest.split_last()) {
            (true, Some((p, rest))) => (Some(p), rest),
            _ => (None, rest),
        };
        let Some(id) = rest.first() else {
            return self.error(format!("`{}` needs the number of a barrier", s.opcode));
        };
        let id = self.word(id)?;
        let threads = match rest.get(1) {
            Some(threads) => Some(self.word(threads)?),
            None => None,
        };
        let reduction = match (result, input) {
            (Some(d), Some(p)) => self.reduction(d, p, m)?,
            _ if m.has("arrive") => Reduction::Arrive,
            _ => Reduction::None,
        };
        self.emit(Op::Barrier(Barrier {
            id,
            threads,
            reduction,
        }));
        Ok(())
    }

    fn reduction(
        &mut self,
        d: &Operand<'a>,
        p: &Operand<'a>,
        m: &Mods<'a>,
    ) -> Result<Reduction, ParseError> {
        let p = self.source(p, Type::Pred)?.index;
        Ok(match () {
            () if m.has("popc") => Reduction::Count {
                d: self.word_destination(d)?,
                p,
            },
            () if m.has("and") => Reduction::And {
                d: self.predicate(d)?,
                p,
            },
            () => Reduction::Or {
                d: self.predicate(d)?,
                p,
            },
        })
    }

    pub(super) fn matrix(&mut self, s: &'a Statement<'a>, m: &Mods<'a>) -> Result<(), ParseError> {
        let op = match m.name() {
            "mma" => self.multiply(s, m)?,
            "movmatrix" => {
                let [d, a] = self.operands(s)?;
                Some(MatrixOp::Transpose {
                    d: self.word_destination(d)?,
                    a: self.word(a)?,
                })
            }
            _ if !(m.has("m8n8") && m.has("b16")) => None,
            "ldmatrix" => {
                let [Operand::Vector(d), at] = self.operands(s)? else {
                    return self.error("`ldmatrix` needs a list of registers");
                };
                let d = d
                    .iter()
                    .map(|d| self.word_destination(d))
                    .collect::<Result<_, _>>()?;
                let (address, transposed) = (shared_address(self, at, m)?, m.has("trans"));
                Some(MatrixOp::Load {
                    address,
                    transposed,
                    d,
                })
            }
            _ => {
                let [at, Operand::Vector(a)] = self.operands(s)? else {
                    return self.error("`stmatrix` needs a list of registers");
                };
                let a = a.iter().map(|a| self.word(a)).collect::<Result<_, _>>()?;
                let (address, transposed) = (shared_address(self, at, m)?, m.has("trans"));
                Some(MatrixOp::Store {
                    address,
                    transposed,
                    a,
                })
            }
        };
        let Some(op) = op else {
            return self.not_implemented(s.opcode);
        };
        let index = self.code.matrices.len() as u32;
        self.code.matrices.push(op);
        let all = self.constant(
            crate::ptx::code::File::Word,
            crate::ptx::code::Value::Bits(0xffff_ffff),
        );
        let what = Together::Matrix(Matrix(index));
        self.emit(Op::Together {
            what,
            members: all.index,
        });
        Ok(())
    }

    fn multiply(
        &mut self,
        s: &'a Statement<'a>,
        m: &Mods<'a>,
    ) -> Result<Option<MatrixOp>, ParseError> {
        let Some(mut mma) = Mma::decode(m) else {
            return Ok(None);
        };
        let [
            Operand::Vector(d),
            Operand::Vector(a),
            Operand::Vector(b),
            Operand::Vector(c),
        ] = self.operands(s)?
        else {
            return self.error("`mma` needs four lists of registers");
        };
        let mut list = |operands: &[Operand<'a>], ty: Type| -> Result<Vec<u32>, ParseError> {
            operands
                .iter()
                .map(|operand| Ok(self.source(operand, ty)?.index))
                .collect()
        };
        mma.a = list(a, Type::B(32))?;
        mma.b = list(b, Type::B(32))?;
        mma.c = list(c, Type::B(32))?;
        let d: Result<Vec<u32>, ParseError> = d.iter().map(|d| self.word_destination(d)).collect();
        mma.d = d?;
        match mma.fits() {
            true => Ok(Some(MatrixOp::Mma(mma))),
            false => self.error(format!("`{}` has lists of other sizes", s.opcode)),
        }
    }
}
