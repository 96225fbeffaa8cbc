//! Kernels that can be launched, and what their text declares.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::code::{Code, File, Op, Room, Special, Together, Value};
use super::regs::{LANES, Regs};
use super::sources::Sources;
use crate::{Class, Fault, FaultKind, InstructionInfo, Launch, Place, SourceLine};

/// Maximum number of threads of a block.
const MAX_THREADS: u64 = 1024;

/// The properties of a kernel that its text declares.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub(super) code: &'a Code,
}

impl<'a> Entry<'a> {
    /// The name of the kernel.
    pub fn name(&self) -> &'a str {
        &self.code.name
    }

    /// The offset and the size of each parameter, in bytes.
    pub fn parameters(&self) -> &'a [(u32, u32)] {
        &self.code.parameters
    }

    /// The size of the parameter buffer in bytes.
    pub fn parameter_bytes(&self) -> u32 {
        self.code.parameter_bytes
    }

    /// The size of static shared memory in bytes.
    pub fn static_bytes(&self) -> u32 {
        self.code.static_bytes
    }

    /// The size of a thread's private memory in bytes.
    pub fn local_bytes(&self) -> u32 {
        self.code.local_bytes
    }

    /// Maximum number of threads of a block, from `.maxntid` or `.reqntid`. The default is 1024.
    pub fn max_threads(&self) -> u32 {
        self.code.max_threads
    }

    /// The block size that `.reqntid` requires, or `None` without this directive.
    pub fn required_threads(&self) -> Option<[u32; 3]> {
        self.code.required_threads
    }

    /// Blocks per cluster, from `.reqnctapercluster`, or `None` without this directive.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        self.code.cluster
    }

    /// Whether the grid of a launch counts clusters, from `.blocksareclusters`.
    pub fn grid_of_clusters(&self) -> bool {
        self.code.grid_of_clusters
    }

    /// The instructions and features of this kernel that the simulator lacks. A launch that reaches one of them fails.
    pub fn not_implemented(&self) -> Vec<&'a str> {
        let names = self.code.insts.iter().filter_map(|inst| match &inst.op {
            Op::NotImplemented(what) => Some(&**what),
            _ => None,
        });
        names.collect()
    }
}

/// A kernel that can be launched with [`crate::run`].
#[derive(Debug)]
pub struct Kernel {
    pub(super) code: Arc<Code>,
    pub(super) sources: Arc<Sources>,
    /// The address of each variable of the module.
    pub(super) addresses: Vec<u64>,
    pub(super) lock: Mutex<()>,
    /// Maximum number of warp instructions of a block. A block that exceeds it ends with [`FaultKind::TooLong`].
    pub max_instructions: u64,
}

impl Kernel {
    /// The properties of the kernel that its text declares.
    pub fn entry(&self) -> Entry<'_> {
        Entry { code: &self.code }
    }

    /// The text of an instruction, and its source line.
    pub(super) fn describe(&self, pc: u32) -> (String, Option<SourceLine>) {
        let origin = self
            .code
            .origins
            .get(pc as usize)
            .copied()
            .unwrap_or_default();
        let text = self
            .sources
            .lines
            .get((origin.text as usize).wrapping_sub(1))
            .map(|line| abbreviated(line))
            .unwrap_or_default();
        let file = |number: u32| self.sources.files.get(&number).cloned();
        let line = origin.source.and_then(|source| {
            Some(SourceLine {
                file: file(source.file)?,
                number: source.line,
                called_at: source
                    .called_at
                    .and_then(|(number, line)| Some((file(number)?, line))),
            })
        });
        (text, line)
    }

    /// The description of each instruction. The indices are those of [`Counters::executed`](crate::Counters::executed).
    pub fn instructions(&self) -> impl Iterator<Item = InstructionInfo> {
        self.code.insts.iter().zip(0..).map(|(inst, pc)| {
            let (text, line) = self.describe(pc);
            InstructionInfo {
                class: class(&inst.op, &text),
                text,
                target: match inst.op {
                    Op::Branch { target, .. } => Some(target as usize),
                    _ => None,
                },
                line,
            }
        })
    }

    fn refuse(&self, what: String) -> Fault {
        Fault {
            kind: FaultKind::Invalid { what },
            place: Box::new(Place {
                kernel: self.code.name.clone(),
                ..Place::default()
            }),
            used_at: None,
        }
    }

    pub(super) fn check(&self, launch: &Launch) -> Result<(), Fault> {
        let most = u64::from(self.code.max_threads).min(MAX_THREADS);
        let threads = launch.threads();
        if threads == 0 || threads > most {
            return Err(self.refuse(format!(
                "a block has {threads} threads, but the kernel takes 1 to {most}"
            )));
        }
        if let Some(required) = self.code.required_threads
            && required != launch.block
        {
            return Err(self.refuse(format!(
                "the block is {:?}, but the kernel requires {required:?}",
                launch.block
            )));
        }
        let (given, wanted) = (launch.arguments.len(), self.code.parameter_bytes as usize);
        if given != wanted {
            return Err(self.refuse(format!(
                "the arguments have {given} bytes, but the parameters have {wanted}"
            )));
        }
        Ok(())
    }

    /// Registers that contain the values that are the same for all warps: constants, and special registers that depend
    /// only on the launch.
    pub(super) fn template(&self, launch: &Launch, seed: u64) -> Regs {
        let code = &self.code;
        let mut regs = Regs::garbage(
            code.words as usize,
            code.longs as usize,
            code.preds as usize,
            seed,
        );
        for &(reg, value) in &code.constants {
            let bits = match value {
                Value::Bits(bits) => bits,
                Value::Variable(index, offset) => self.addresses[index].wrapping_add(offset as u64),
                Value::Dynamic(offset) => {
                    u64::from(code.dynamic_base()).wrapping_add(offset as u64)
                }
            };
            match reg.file {
                File::Word => regs.words[reg.index as usize] = [bits as u32; LANES],
                File::Long => regs.longs[reg.index as usize] = [bits; LANES],
                File::Pred => {}
            }
        }
        let before = code
            .static_bytes
            .next_multiple_of(code.dynamic_align.max(1));
        let total = before + launch.shared_bytes;
        for &(row, special) in &code.specials {
            let value = match special {
                Special::Ntid(axis) => launch.block[axis],
                Special::Nctaid(axis) => launch.grid[axis],
                Special::Nwarpid => launch.threads().div_ceil(32) as u32,
                Special::DynamicShared => launch.shared_bytes,
                Special::TotalShared => total,
                Special::Fixed(value) => value,
                _ => continue,
            };
            regs.words[row as usize] = [value; LANES];
        }
        regs
    }

    pub(super) fn shared_total(&self, launch: &Launch) -> usize {
        match launch.shared_bytes {
            0 => self.code.shared_bytes as usize,
            bytes => self.code.dynamic_base() as usize + bytes as usize,
        }
    }

    /// The ranges of shared memory that belong to no variable.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Range<u32>> {
        let before_dynamic = self.code.shared_bytes..self.code.dynamic_base();
        self.code.gaps.iter().cloned().chain([before_dynamic])
    }

    pub(super) fn fill_warp(&self, regs: &mut Regs, launch: &Launch, index: [u32; 3], warp: u32) {
        for &(row, special) in &self.code.specials {
            let value = |lane: u32| -> Option<u32> {
                let thread = warp * 32 + lane;
                let [x, y, _] = launch.block;
                Some(match special {
                    Special::Tid(0) => thread % x,
                    Special::Tid(1) => thread / x % y,
                    Special::Tid(_) => thread / x / y,
                    Special::Ctaid(axis) => index[axis],
                    Special::Cluster(what) => what.value(self.code.cluster, launch.grid, index),
                    Special::Laneid => lane,
                    Special::Warpid => warp,
                    Special::LanemaskEq => 1 << lane,
                    Special::LanemaskLe => u32::MAX >> (31 - lane),
                    Special::LanemaskLt => (1 << lane) - 1,
                    Special::LanemaskGe => u32::MAX << lane,
                    Special::LanemaskGt => u32::MAX << lane << 1,
                    _ => return None,
                })
            };
            for (lane, to) in regs.words[row as usize].iter_mut().enumerate() {
                if let Some(value) = value(lane as u32) {
                    *to = value;
                }
            }
        }
    }
}

/// An instruction without the middle of a long list of registers.
fn abbreviated(line: &str) -> String {
    const MAX_REGISTERS: usize = 8;
    let list = line.split_once('{').and_then(|(before, rest)| {
        let (list, after) = rest.split_once('}')?;
        Some((before, list, after))
    });
    let Some((before, list, after)) = list else {
        return line.to_owned();
    };
    let registers: Vec<&str> = list.split(',').map(str::trim).collect();
    match registers.as_slice() {
        [first, .., last] if registers.len() > MAX_REGISTERS => {
            format!("{before}{{{first}, .., {last}}}{after}")
        }
        _ => line.to_owned(),
    }
}

fn class(op: &Op, text: &str) -> Class {
    let of_access = |access: &super::code::Access| match access.address.room {
        Room::Global | Room::Generic => Class::Global,
        Room::Shared => Class::Shared,
        Room::Local => Class::Private,
        Room::Param => Class::ScalarMemory,
    };
    match op {
        Op::Alu { .. } if text.contains("fma.rn") && text.contains("f32") => Class::MultiplyAdd,
        Op::Alu { .. } | Op::ActiveMask { .. } | Op::Clock { .. } | Op::IsSpace { .. } => {
            Class::Vector
        }
        Op::Load(access) | Op::Store(access) => of_access(access),
        Op::Atomic(access) => match access.address.room {
            Room::Shared => Class::Shared,
            _ => Class::Global,
        },
        Op::Copy { .. } => Class::Copy,
        Op::Together { what, .. } => match what {
            Together::Matrix(_) if text.contains("mma") => Class::Matrix,
            Together::Matrix(_) => Class::Shared,
            Together::Sync | Together::Warpgroup(_) => Class::Flow,
            _ => Class::Exchange,
        },
        Op::Barrier(_) => Class::Barrier,
        Op::Branch { .. }
        | Op::Switch { .. }
        | Op::Exit
        | Op::Commit
        | Op::Wait(_)
        | Op::Fence
        | Op::ProxyFence
        | Op::Trap => Class::Flow,
        Op::NotImplemented(_) | Op::Fail(_) => Class::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::abbreviated;

    #[test]
    fn only_the_middle_of_a_long_list_is_left_out() {
        let four = "ld.global.v4.f32 \t{%f1, %f2, %f3, %f4}, [%rd1];";
        assert_eq!(abbreviated(four), four);
        let nine = "wgmma {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8,%f9}, %rd1, {%r1};";
        assert_eq!(abbreviated(nine), "wgmma {%f1, .., %f9}, %rd1, {%r1};");
        assert_eq!(
            abbreviated("{ cvt.rn.f16.f32 %rs81, %f965;}"),
            "{ cvt.rn.f16.f32 %rs81, %f965;}"
        );
    }
}
