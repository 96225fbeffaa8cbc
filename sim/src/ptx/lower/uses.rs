//! Finds the registers that instructions use.

use std::collections::HashSet;
use std::ops::Range;

use crate::ptx::code::{Code, File, MatrixOp, Reg, Use};
use crate::ptx::regs::CARRY;
use crate::ptx::syntax::{Operand, Statement};

/// The registers that statements mention.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// The 32-bit registers in the current statement, in the order in which they were decoded.
    mentioned: Vec<u32>,
    /// The numbers of all registers that the instructions of the current statement may read or write so far.
    all: Vec<usize>,
    of_instructions: Vec<Option<Use>>,
}

impl Uses {
    /// Begins a statement.
    pub fn begin(&mut self, statement: &Statement) {
        self.mentioned.clear();
        self.all.clear();
        let name = statement.opcode.split('.').next().unwrap_or("");
        if matches!(name, "addc" | "subc" | "madc") || statement.opcode.contains(".cc") {
            self.all.push(CARRY);
        }
    }

    /// The numbers of all registers that the instructions of the current statement may read or write so far.
    pub fn all(&self) -> &[usize] {
        &self.all
    }

    /// Records a register that the decoder adds to the current statement.
    pub fn add(&mut self, reg: Reg) {
        let number = reg.number();
        if !self.all.contains(&number) {
            self.all.push(number);
        }
    }

    /// Records a register of the current statement.
    pub fn mention(&mut self, reg: Reg) {
        self.add(reg);
        if reg.file == File::Word {
            self.mentioned.push(reg.index);
        }
    }

    /// Ends a statement that was decoded to these instructions. Instructions of inlined functions are already known.
    pub fn end(&mut self, statement: &Statement, instructions: Range<usize>) {
        let is_product = statement.opcode.starts_with("wgmma");
        let known = self.of_instructions.len().max(instructions.start);
        self.of_instructions.resize(known, None);
        let are_names = matches!(
            statement.operands.as_slice(),
            [Operand::Name(_), Operand::Name(_)]
        );
        let is_copy =
            statement.opcode.starts_with("mov.") && are_names && statement.guard.is_none();
        let uses = match *self.mentioned.as_slice() {
            _ if is_product => None,
            [] => None,
            [a, d] if is_copy && instructions.len() == 1 => Some(Use::Copy { d, a }),
            ref all => Some(Use::Of(all.into())),
        };
        self.of_instructions
            .resize(instructions.end.max(known), uses);
    }

    /// The uses of registers that warpgroup products use, or that are copies of such registers. Empty if the kernel has
    /// no such products.
    pub fn of_products(&mut self, code: &Code) -> Vec<Option<Use>> {
        let products = code.matrices.iter().filter_map(|op| match op {
            MatrixOp::Warpgroup(product) => Some(product),
            _ => None,
        });
        let registers = products.flat_map(|product| product.d.iter().chain(product.left()));
        let mut registers: HashSet<u32> = registers.copied().collect();
        if registers.is_empty() {
            return Vec::new();
        }
        loop {
            let before = registers.len();
            for uses in self.of_instructions.iter().flatten() {
                if let Use::Copy { d, a } = uses
                    && (registers.contains(d) || registers.contains(a))
                {
                    registers.extend([d, a]);
                }
            }
            if registers.len() == before {
                break;
            }
        }
        let mut all = std::mem::take(&mut self.of_instructions);
        all.resize(code.insts.len(), None);
        let kept = all.into_iter().map(|uses| match uses? {
            Use::Of(all) => {
                let ours = all.iter().filter(|register| registers.contains(register));
                let ours: Box<[u32]> = ours.copied().collect();
                (!ours.is_empty()).then_some(Use::Of(ours))
            }
            copy @ Use::Copy { d, .. } => registers.contains(&d).then_some(copy),
        });
        kept.collect()
    }
}
