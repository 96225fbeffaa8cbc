//! Resolves names to registers, variables and labels.

use std::collections::HashMap;

use super::Lower;
use crate::ptx::ParseError;
use crate::ptx::clusters::OfCluster;
use crate::ptx::code::{File, Reg, Room, Special, Value};
use crate::ptx::syntax::{Space, Variable};
use crate::ptx::types::Type;

/// The meaning of a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding<'a> {
    Register(Reg),
    /// A parameter of the kernel, by its offset in bytes.
    Parameter(u32),
    Local(u32),
    Shared(u32),
    /// The beginning of dynamic shared memory.
    Dynamic,
    /// A variable of the module in global or constant memory, by its index.
    Variable(usize),
    Label(u32),
    Targets(&'a [&'a str]),
}

/// The names that are declared between two braces.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    names: HashMap<&'a str, Binding<'a>>,
    /// Declarations like `%r<100>`: for each prefix, the first register and the number of registers.
    ranges: HashMap<&'a str, (Reg, u32)>,
}

impl<'a> Scope<'a> {
    pub fn with_labels(labels: Option<Vec<(&'a str, Binding<'a>)>>) -> Scope<'a> {
        Scope {
            names: labels.into_iter().flatten().collect(),
            ranges: HashMap::new(),
        }
    }

    pub fn bind(&mut self, name: &'a str, binding: Binding<'a>) {
        self.names.insert(name, binding);
    }

    fn find(&self, name: &str) -> Option<Binding<'a>> {
        if let Some(binding) = self.names.get(name) {
            return Some(*binding);
        }
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let &(first, count) = self.ranges.get(prefix)?;
        let number: u32 = name[prefix.len()..].parse().ok()?;
        let index = first.index + number;
        (number < count).then_some(Binding::Register(Reg { index, ..first }))
    }
}

/// The register file for values of a type. `None` for 128 bits.
pub(super) fn file(ty: Type) -> Option<File> {
    match ty.bits() {
        1 => Some(File::Pred),
        64 => Some(File::Long),
        8..=32 => Some(File::Word),
        _ => None,
    }
}

impl<'a> Lower<'a> {
    fn scope(&mut self) -> &mut Scope<'a> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    pub(super) fn declare_registers(
        &mut self,
        ty: Type,
        name: &'a str,
        count: Option<u32>,
    ) -> Result<(), ParseError> {
        let Some(file) = file(ty) else {
            return self.error("registers of 128 bits are not implemented");
        };
        let first = self.fresh(file);
        match count {
            None => self.scope().bind(name, Binding::Register(first)),
            Some(count) => {
                let total = match file {
                    File::Word => &mut self.code.words,
                    File::Long => &mut self.code.longs,
                    File::Pred => &mut self.code.preds,
                };
                *total = total.saturating_add(count);
                if *total > 1 << 20 {
                    return self.error("more than 1048576 registers");
                }
                self.scope().ranges.insert(name, (first, count));
            }
        }
        Ok(())
    }

    pub(super) fn declare(&mut self, variable: &Variable<'a>) -> Result<(), ParseError> {
        let binding = match variable.space {
            Space::Shared if variable.external || variable.count.is_none() => {
                self.dynamic(variable)
            }
            Space::Shared => Binding::Shared(self.reserve_shared(variable)?),
            Space::Local | Space::Param => Binding::Local(self.reserve_local(variable)?),
            _ => {
                return self.error(format!(
                    "`{}` is declared in a body and is not local",
                    variable.name
                ));
            }
        };
        self.scope().bind(variable.name, binding);
        Ok(())
    }

    fn dynamic(&mut self, variable: &Variable<'a>) -> Binding<'a> {
        self.code.dynamic_align = self.code.dynamic_align.max(variable.align);
        Binding::Dynamic
    }

    pub(super) fn find(&mut self, name: &str) -> Option<Binding<'a>> {
        if let Some(found) = self.scopes.iter().rev().find_map(|scope| scope.find(name)) {
            return Some(found);
        }
        let index = self
            .ast
            .variables
            .iter()
            .position(|variable| variable.name == name)?;
        let variable = &self.ast.variables[index];
        match variable.space {
            Space::Shared if variable.external || variable.count.is_none() => {
                Some(self.dynamic(variable))
            }
            Space::Shared => self.shared_offset(variable).ok().map(Binding::Shared),
            _ => Some(Binding::Variable(index)),
        }
    }

    pub(super) fn label(&mut self, name: &str) -> Result<u32, ParseError> {
        match self.find(name) {
            Some(Binding::Label(label)) => Ok(label),
            _ => self.error(format!("`{name}` is not a label")),
        }
    }

    pub(super) fn register(&mut self, name: &str) -> Result<Reg, ParseError> {
        match self.find(name) {
            Some(Binding::Register(reg)) => {
                self.uses.mention(reg);
                Ok(reg)
            }
            _ => self.error(format!("`{name}` is not a register")),
        }
    }

    /// The state space and the address of a variable, plus an offset.
    pub(super) fn variable(&mut self, name: &str, offset: i64) -> Option<(Room, Value)> {
        let bits = |base: u32| Value::Bits(i64::from(base).wrapping_add(offset) as u64);
        Some(match self.find(name)? {
            Binding::Parameter(base) => (Room::Param, bits(base)),
            Binding::Local(base) => (Room::Local, bits(base)),
            Binding::Shared(base) => (Room::Shared, bits(base)),
            Binding::Dynamic => (Room::Shared, Value::Dynamic(offset)),
            Binding::Variable(index) => (Room::Global, Value::Variable(index, offset)),
            Binding::Register(_) | Binding::Label(_) | Binding::Targets(_) => return None,
        })
    }

    /// A register with a constant value.
    pub(super) fn constant(&mut self, file: File, value: Value) -> Reg {
        if let Some(&index) = self.constants.get(&(file, value)) {
            return Reg { file, index };
        }
        let reg = self.fresh(file);
        self.constants.insert((file, value), reg.index);
        self.code.constants.push((reg, value));
        reg
    }

    /// The register that contains the value of a special register. `None` if the value changes while a warp runs, or if
    /// the name is not a special register.
    pub(super) fn special(&mut self, name: &str) -> Option<Reg> {
        let special = special(name)?;
        if let Some(&(index, _)) = self
            .code
            .specials
            .iter()
            .find(|(_, known)| *known == special)
        {
            return Some(Reg {
                file: File::Word,
                index,
            });
        }
        let reg = self.fresh(File::Word);
        self.code.specials.push((reg.index, special));
        Some(reg)
    }
}

/// Special registers (PTX ISA 10). The simulated GPU has one multiprocessor and one grid.
fn special(name: &str) -> Option<Special> {
    let (base, axis) = match name.rsplit_once('.') {
        Some((base, "x")) => (base, 0),
        Some((base, "y")) => (base, 1),
        Some((base, "z")) => (base, 2),
        _ => (name, 3),
    };
    Some(match (base, axis) {
        ("%tid", 0..3) => Special::Tid(axis),
        ("%ntid", 0..3) => Special::Ntid(axis),
        ("%ctaid", 0..3) => Special::Ctaid(axis),
        ("%nctaid", 0..3) => Special::Nctaid(axis),
        ("%clusterid", 0..3) => Special::Cluster(OfCluster::Id(axis)),
        ("%nclusterid", 0..3) => Special::Cluster(OfCluster::Number(axis)),
        ("%cluster_ctaid", 0..3) => Special::Cluster(OfCluster::Block(axis)),
        ("%cluster_nctaid", 0..3) => Special::Cluster(OfCluster::Blocks(axis)),
        ("%cluster_ctarank", 3) => Special::Cluster(OfCluster::Rank),
        ("%cluster_nctarank", 3) => Special::Cluster(OfCluster::Ranks),
        ("%laneid", 3) => Special::Laneid,
        ("%warpid", 3) => Special::Warpid,
        ("%nwarpid", 3) => Special::Nwarpid,
        ("%smid" | "%gridid", 3) => Special::Fixed(0),
        ("%nsmid", 3) => Special::Fixed(1),
        ("WARP_SZ", 3) => Special::Fixed(32),
        ("%lanemask_eq", 3) => Special::LanemaskEq,
        ("%lanemask_le", 3) => Special::LanemaskLe,
        ("%lanemask_lt", 3) => Special::LanemaskLt,
        ("%lanemask_ge", 3) => Special::LanemaskGe,
        ("%lanemask_gt", 3) => Special::LanemaskGt,
        ("%dynamic_smem_size", 3) => Special::DynamicShared,
        ("%total_smem_size", 3) => Special::TotalShared,
        _ => return None,
    })
}
