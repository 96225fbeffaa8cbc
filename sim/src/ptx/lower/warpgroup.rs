//! Decodes the instructions of a warpgroup (PTX ISA 9.7.15).

use super::Lower;
use crate::ptx::ParseError;
use crate::ptx::alu::Mods;
use crate::ptx::code::{File, Matrix, MatrixOp, Op, Together, Value, Warpgroup};
use crate::ptx::syntax::{Operand, Statement};
use crate::ptx::types::Type;
use crate::ptx::wgmma::{Left, Wgmma};

impl<'a> Lower<'a> {
    pub(super) fn warpgroup(
        &mut self,
        s: &'a Statement<'a>,
        m: &Mods<'a>,
    ) -> Result<(), ParseError> {
        let what = match m.parts.get(1).copied() {
            _ if !m.has("sync") || !m.has("aligned") => return self.not_implemented(s.opcode),
            Some("fence") => Together::Warpgroup(Warpgroup::Fence),
            Some("commit_group") => Together::Warpgroup(Warpgroup::Commit),
            Some("wait_group") => match self.operands(s)? {
                [Operand::Int(count)] => {
                    let left = u32::try_from(*count).unwrap_or(u32::MAX);
                    Together::Warpgroup(Warpgroup::Wait(left))
                }
                _ => return self.error("`wgmma.wait_group` needs a number"),
            },
            Some("mma_async") => match Wgmma::decode(m) {
                Some(product) => self.product(s, product)?,
                None => return self.not_implemented(s.opcode),
            },
            _ => return self.not_implemented(s.opcode),
        };
        let members = self.constant(File::Word, Value::Bits(0xffff_ffff)).index;
        self.emit(Op::Together { what, members });
        Ok(())
    }

    fn product(
        &mut self,
        s: &'a Statement<'a>,
        mut product: Wgmma,
    ) -> Result<Together, ParseError> {
        let [Operand::Vector(d), a, b, adds, signs @ ..] = s.operands.as_slice() else {
            return self.error("`wgmma.mma_async` has too few operands");
        };
        product.d = self.list(d)?;
        product.b = self.source(b, Type::U(64))?.index;
        product.adds = self.source(adds, Type::Pred)?.index;
        let (turned, b_turned) = match (a, signs) {
            (Operand::Vector(_), [_, _, b_turned]) => (None, b_turned),
            (Operand::Name(_), [_, _, a_turned, b_turned]) => (Some(a_turned), b_turned),
            _ => return self.error(format!("`{}` has operands of another form", s.opcode)),
        };
        product.a_negated = self.sign(&signs[0])?;
        product.b_negated = self.sign(&signs[1])?;
        product.b_turned = self.flag(b_turned)?;
        product.a = match (a, turned) {
            (Operand::Vector(a), _) => Left::Registers(self.list(a)?),
            (_, Some(turned)) => {
                let turned = self.flag(turned)?;
                Left::Shared(self.source(a, Type::U(64))?.index, turned)
            }
            _ => return self.error("matrix A is neither a list nor a descriptor"),
        };
        if !product.fits() {
            return self.error(format!("`{}` has lists of other sizes", s.opcode));
        }
        // The race checks need granules that are at most as large as a piece.
        self.code.granule = self.code.granule.min(4);
        let index = self.code.matrices.len() as u32;
        self.code
            .matrices
            .push(MatrixOp::Warpgroup(Box::new(product)));
        Ok(Together::Matrix(Matrix(index)))
    }

    fn list(&mut self, operands: &[Operand<'a>]) -> Result<Vec<u32>, ParseError> {
        let mut registers = Vec::new();
        for operand in operands {
            let reg = self.any_register(operand)?;
            if reg.file != File::Word {
                return self
                    .error("a list of `wgmma.mma_async` has a register that is not of 32 bits");
            }
            registers.push(reg.index);
        }
        Ok(registers)
    }

    /// Whether an immediate factor is -1 and not 1.
    fn sign(&self, operand: &Operand<'a>) -> Result<bool, ParseError> {
        match operand {
            Operand::Int(1) => Ok(false),
            Operand::Int(-1) => Ok(true),
            _ => self.error("the factors of `wgmma.mma_async` are 1 and -1"),
        }
    }

    fn flag(&self, operand: &Operand<'a>) -> Result<bool, ParseError> {
        match operand {
            Operand::Int(0) => Ok(false),
            Operand::Int(1) => Ok(true),
            _ => self.error("the layouts of `wgmma.mma_async` are 0 and 1"),
        }
    }
}
