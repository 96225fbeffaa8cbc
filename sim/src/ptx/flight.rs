//! The registers of warpgroup products that are not complete (PTX ISA 9.7.15.5.2 and 9.7.15.7).
//!
//! A product receives its sums when it is issued, but they reach the registers only at the wait that completes it.
//! Until then, no other instruction may use the accumulators or the registers of matrix A. A product may use a register
//! only if `wgmma.fence` was executed since the last other use of that register.
//!
//! A `mov` between registers is not a use: it renames a register. The compiler inserts such copies between its virtual
//! registers, and `ptxas` assigns the same register to both.

use super::regs::{LANES, Regs};

/// How the products in flight use a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Free,
    /// Element `.1` of the sums of product `.0`.
    Sum(u32, u32),
    /// A part of matrix A of a product of this group.
    Factor(u32),
    /// A copy of a sum to which a later product has added.
    Stale,
}

/// The sums of a product that is not complete.
#[derive(Debug)]
struct Sums {
    values: Vec<[u32; LANES]>,
    /// The number of the last group with a product that adds to these sums.
    group: u32,
    /// The registers that have received the role [`Role::Sum`], and the element of each.
    owners: Vec<(u32, u32)>,
}

/// The warpgroup products of a warp.
#[derive(Debug)]
pub(super) struct Flight {
    roles: Vec<Role>,
    /// The value of `fences` at the last use of each register.
    used: Vec<u32>,
    fences: u32,
    sums: Vec<Option<Sums>>,
    /// The registers of matrix A in flight, and their groups.
    factors: Vec<(u32, u32)>,
    /// The number of the open group, which is also the number of committed groups.
    group: u32,
}

impl Flight {
    /// The products of a warp with this number of registers: none yet. No register is ready for a product before the
    /// first fence.
    pub fn new(registers: usize) -> Flight {
        Flight {
            roles: vec![Role::Free; registers],
            used: vec![0; registers],
            fences: 0,
            sums: Vec::new(),
            factors: Vec::new(),
            group: 0,
        }
    }

    /// The number of the open group.
    pub fn group(&self) -> u32 {
        self.group
    }

    /// Records that an instruction other than a product uses registers.
    ///
    /// # Errors
    /// If a product in flight uses one of them.
    pub fn touch(&mut self, registers: &[u32]) -> Result<(), String> {
        self.are_free(registers)?;
        for &register in registers {
            self.used[register as usize] = self.fences;
        }
        Ok(())
    }

    fn are_free(&self, registers: &[u32]) -> Result<(), String> {
        for &register in registers {
            let what = match self.roles[register as usize] {
                Role::Free => continue,
                Role::Sum(..) => "an accumulator",
                Role::Factor(_) => "a register of matrix A",
                Role::Stale => "a copy of an accumulator",
            };
            return Err(format!(
                "{what} of a `wgmma.mma_async` is used before the `wgmma.wait_group` that completes it"
            ));
        }
        Ok(())
    }

    /// Records a copy of register `a` to register `d` in all lanes.
    ///
    /// # Errors
    /// If the copy replaces a register of a product in flight.
    pub fn rename(&mut self, d: u32, a: u32) -> Result<(), String> {
        let (to, from) = (self.roles[d as usize], self.roles[a as usize]);
        let keeps = matches!(from, Role::Sum(..));
        let replaces = match to {
            Role::Free | Role::Stale => false,
            Role::Sum(..) => !keeps,
            Role::Factor(_) => true,
        };
        if from == Role::Stale || replaces {
            return self.are_free(&[a, d]);
        }
        self.used[d as usize] = self.used[a as usize];
        self.roles[d as usize] = match from {
            Role::Sum(sums, element) => {
                if let Some(Some(sums)) = self.sums.get_mut(sums as usize) {
                    sums.owners.push((d, element));
                }
                from
            }
            _ => Role::Free,
        };
        Ok(())
    }

    /// Executes `wgmma.fence`.
    pub fn fence(&mut self) {
        self.fences += 1;
    }

    /// Begins a product in the open group with the accumulators `d` and the registers `a` of matrix A. Returns the
    /// sums, which contain the current values.
    ///
    /// # Errors
    /// If the registers are not ready.
    pub fn begin(
        &mut self,
        regs: &Regs,
        d: &[u32],
        a: &[u32],
    ) -> Result<&mut [[u32; LANES]], String> {
        let is_used = |register: &&u32| self.used[**register as usize] == self.fences;
        if d.iter().chain(a).any(|register| is_used(&register)) {
            return Err(
                "a register of `wgmma.mma_async` was used, but no `wgmma.fence` was executed since"
                    .to_owned(),
            );
        }
        let group = self.group;
        for &register in a {
            if !matches!(self.roles[register as usize], Role::Free | Role::Factor(_)) {
                self.are_free(&[register])?;
            }
            self.roles[register as usize] = Role::Factor(group);
            self.factors.push((register, group));
        }
        let index = match self.roles[d[0] as usize] {
            Role::Sum(index, 0) => index,
            _ => {
                self.are_free(d)?;
                self.reserve(regs, d)
            }
        };
        let fits = (0..)
            .zip(d)
            .all(|(element, &register)| self.roles[register as usize] == Role::Sum(index, element));
        let roles = &mut self.roles;
        match self.sums.get_mut(index as usize) {
            Some(Some(sums)) if fits && sums.values.len() == d.len() => {
                for &(register, element) in &sums.owners {
                    let role = &mut roles[register as usize];
                    if *role == Role::Sum(index, element) && d[element as usize] != register {
                        *role = Role::Stale;
                    }
                }
                sums.group = group;
                Ok(&mut sums.values)
            }
            _ => Err(
                "a `wgmma.mma_async` adds to accumulators of a product of another shape that is not complete"
                    .to_owned(),
            ),
        }
    }

    fn reserve(&mut self, regs: &Regs, d: &[u32]) -> u32 {
        let place = self.sums.iter().position(Option::is_none);
        let place = place.unwrap_or_else(|| {
            self.sums.push(None);
            self.sums.len() - 1
        });
        for (element, &register) in (0..).zip(d) {
            self.roles[register as usize] = Role::Sum(place as u32, element);
        }
        self.sums[place] = Some(Sums {
            values: d.iter().map(|&d| regs.words[d as usize]).collect(),
            group: self.group,
            owners: d.iter().copied().zip(0..).collect(),
        });
        place as u32
    }

    /// Executes `wgmma.commit_group`.
    pub fn commit(&mut self) {
        self.group += 1;
    }

    /// Executes `wgmma.wait_group`: completes all groups except the last `left`, and writes their sums to the
    /// registers. Returns the number of the first group that is not complete.
    pub fn wait(&mut self, regs: &mut Regs, left: u32) -> u32 {
        let end = self.group.saturating_sub(left);
        let roles = &mut self.roles;
        for (index, place) in (0..).zip(&mut self.sums) {
            let Some(sums) = place.take_if(|sums| sums.group < end) else {
                continue;
            };
            for (register, element) in sums.owners {
                let role = &mut roles[register as usize];
                if *role == Role::Sum(index, element) {
                    *role = Role::Free;
                    regs.words[register as usize] = sums.values[element as usize];
                }
            }
        }
        self.factors.retain(|&(register, group)| {
            if group >= end {
                return true;
            }
            let role = &mut roles[register as usize];
            if *role == Role::Factor(group) {
                *role = Role::Free;
            }
            false
        });
        end
    }
}
