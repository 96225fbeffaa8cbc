//! Registers whose value is undefined, because the kernel loaded it from shared memory that held no value, or because
//! the load races with a store.
//!
//! Such a load is not a fault: compilers move loads before the condition that guards them, and software
//! pipelines read one tile too many. It is a fault to *use* the value: to store it in global memory, to use it as an
//! address, or to let it decide a branch. Each undefined bit of a register is therefore marked, and instructions on
//! registers move the marks, as in MemorySanitizer (Stepanov and Serebryany, CGO 2015).
//!
//! MemorySanitizer has a rule for each instruction. The simulator instead executes an instruction that reads marked
//! bits several times, each time with other values in their place. The bits of the results that differ are undefined.
//! Values that a select does not choose, and bits that a mask removes, therefore leave no mark.

use std::collections::HashMap;

use crate::lanes::{LANES, of_mask};
use crate::{FaultKind, SourceLine};

/// The values of a register, one per lane.
pub(crate) type Row = [u64; LANES];

/// Stands for a lane that is not known.
pub(crate) const NO_LANE: u8 = u8::MAX;

/// Why a loaded value is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Nothing had written the bytes.
    Unwritten,
    /// An asynchronous copy to the bytes was not complete.
    Pending,
    /// A race with the instruction `at` of a warp.
    Race { warp: u8, at: u32 },
}

/// The load of an undefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The index of the load in the code.
    pub at: u32,
    pub warp: u8,
    pub lane: u8,
    /// The byte offset in shared memory.
    pub offset: u32,
    pub cause: Cause,
}

impl Origin {
    /// The fault of a use of the value. `describe` returns the text and the source line of an instruction.
    pub fn kind(&self, describe: impl Fn(u32) -> (String, Option<SourceLine>)) -> FaultKind {
        let offset = self.offset.into();
        match self.cause {
            Cause::Unwritten => FaultKind::Unwritten { offset },
            Cause::Pending => FaultKind::BeforeWait { offset },
            Cause::Race { warp, at } => {
                let (instruction, line) = describe(at);
                FaultKind::Race {
                    offset,
                    other: Some(warp.into()),
                    instruction,
                    line,
                }
            }
        }
    }
}

/// The marks of a register.
#[derive(Clone, Copy, Debug)]
struct Marks {
    /// The lanes with undefined bits.
    lanes: u32,
    bits: Row,
    /// For each lane with undefined bits, the load that they came from.
    from: [Origin; LANES],
}

/// The undefined bits of the registers and of the private memory of a warp. Registers are numbered by the interpreter.
#[derive(Debug, Default)]
pub(crate) struct Undefined {
    /// The marks of each register that has any.
    registers: Vec<Option<Box<Marks>>>,
    /// Number of registers with marks.
    count: usize,
    /// The marked bits of private memory, for each lane and byte offset.
    private: HashMap<(u8, u32), (u8, Origin)>,
}

impl Undefined {
    /// Whether nothing is marked.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.private.is_empty()
    }

    fn marks(&self, register: usize) -> Option<&Marks> {
        self.registers.get(register)?.as_deref()
    }

    /// Whether a register has marks.
    #[inline]
    pub fn has(&self, register: usize) -> bool {
        self.marks(register).is_some()
    }

    /// The undefined bits of a lane of a register, and their origin.
    pub fn of(&self, register: usize, lane: usize) -> Option<(u64, Origin)> {
        let marks = self.marks(register)?;
        (marks.bits[lane] != 0).then(|| (marks.bits[lane], marks.from[lane]))
    }

    /// The first of these lanes in which a register has undefined bits, and their origin.
    pub fn first(&self, register: usize, lanes: u32) -> Option<(usize, Origin)> {
        let marks = self.marks(register)?;
        let lane = of_mask(marks.lanes & lanes).next()?;
        Some((lane, marks.from[lane]))
    }

    /// Replaces the undefined bits of a lane of a register.
    pub fn set(&mut self, register: usize, lane: usize, bits: u64, from: Origin) {
        if bits == 0 {
            return self.clear(register, 1 << lane);
        }
        if self.registers.len() <= register {
            self.registers.resize_with(register + 1, || None);
        }
        let count = &mut self.count;
        let marks = self.registers[register].get_or_insert_with(|| {
            *count += 1;
            Box::new(Marks {
                lanes: 0,
                bits: [0; LANES],
                from: [from; LANES],
            })
        });
        marks.lanes |= 1 << lane;
        marks.bits[lane] = bits;
        marks.from[lane] = from;
    }

    /// Removes the marks of these lanes of a register.
    pub fn clear(&mut self, register: usize, lanes: u32) {
        let Some(place) = self.registers.get_mut(register) else {
            return;
        };
        let Some(marks) = place else {
            return;
        };
        marks.lanes &= !lanes;
        for lane in of_mask(lanes) {
            marks.bits[lane] = 0;
        }
        if marks.lanes == 0 {
            *place = None;
            self.count -= 1;
        }
    }

    /// Replaces the marks of bytes of private memory.
    pub fn store_private(&mut self, lane: usize, address: u32, bytes: &[(u8, Option<Origin>)]) {
        for (byte, &(bits, from)) in (address..).zip(bytes) {
            let key = (lane as u8, byte);
            match from {
                Some(from) if bits != 0 => drop(self.private.insert(key, (bits, from))),
                _ => drop(self.private.remove(&key)),
            }
        }
    }

    /// The undefined bits of up to 8 bytes of private memory, and an origin of them.
    pub fn load_private(&self, lane: usize, address: u32, bytes: u32) -> Option<(u64, Origin)> {
        if self.private.is_empty() {
            return None;
        }
        let mut found = None;
        for i in 0..bytes {
            if let Some(&(bits, from)) = self.private.get(&(lane as u8, address.wrapping_add(i))) {
                let (all, _) = found.get_or_insert((0, from));
                *all |= u64::from(bits) << (8 * i);
            }
        }
        found
    }
}

/// The bytes of a register's marks, for [`Undefined::store_private`].
pub(crate) fn bytes_of(marks: Option<(u64, Origin)>, bytes: u32) -> Vec<(u8, Option<Origin>)> {
    let (bits, from) = marks.map_or((0, None), |(bits, from)| (bits, Some(from)));
    let byte = |i| ((bits >> (8 * i)) as u8, from);
    (0..bytes).map(byte).collect()
}

/// Access to registers by number. A register that is not divided into lanes has only lane 0.
pub(crate) trait Registers {
    /// The values of a register.
    fn row(&self, register: usize) -> Row;
    /// Writes a register.
    fn put_row(&mut self, register: usize, row: &Row);
}

/// The values that replace undefined bits: the least and the greatest integers, and the greatest floats of 32 and 16
/// bits of both signs. Numbers that differ by register and lane follow them.
const VALUES: [u64; 6] = [
    0,
    u64::MAX,
    0x7f7f_ffff_7f7f_ffff,
    0xff7f_ffff_ff7f_ffff,
    0x7bff_7bff_7bff_7bff,
    0xfbff_fbff_fbff_fbff,
];
/// Number of times that an instruction with undefined bits is executed with other values in their place.
const TRIALS: usize = VALUES.len() + 4;

/// The value that replaces undefined bits of a lane of a register.
fn replacement(trial: usize, register: usize, lane: usize) -> u64 {
    match VALUES.get(trial) {
        Some(&value) => value,
        None => {
            let seed = (trial * 4096 + register) * LANES + lane;
            let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed ^ mixed >> 27
        }
    }
}

impl Undefined {
    /// Executes an instruction on registers with `run`, and marks the bits of its results that depend on undefined
    /// bits. `mentioned` contains each register that the instruction may read or write, once. If `alike` is true, the
    /// undefined bits of lane `i + 16` are those of lane `i`.
    ///
    /// # Errors
    /// The error of `run`.
    pub fn execute<R: Registers, T, E>(
        &mut self,
        registers: &mut R,
        mentioned: &[usize],
        alike: bool,
        mut run: impl FnMut(&mut R) -> Result<T, E>,
    ) -> Result<T, E> {
        if !mentioned.iter().any(|&register| self.has(register)) {
            return run(registers);
        }
        let row = |registers: &R, register: &usize| registers.row(*register);
        let before: Vec<Row> = mentioned.iter().map(|one| row(registers, one)).collect();
        let done = run(registers)?;
        let after: Vec<Row> = mentioned.iter().map(|one| row(registers, one)).collect();
        let mut differ = vec![[0; LANES]; mentioned.len()];
        for trial in 0..TRIALS {
            for (&register, before) in mentioned.iter().zip(&before) {
                registers.put_row(register, &self.replaced(trial, register, before, alike));
            }
            // Ignore an error: if only this trial fails, it takes no jump, so its next instruction differs too.
            let _ = run(registers);
            for ((register, after), differ) in mentioned.iter().zip(&after).zip(&mut differ) {
                let now = row(registers, register);
                for lane in 0..LANES {
                    differ[lane] |= now[lane] ^ after[lane];
                }
            }
        }
        for (&register, after) in mentioned.iter().zip(&after) {
            registers.put_row(register, after);
        }
        self.mark(mentioned, &before, &after, &differ);
        Ok(done)
    }

    /// The values of a register, with other values in place of the undefined bits.
    fn replaced(&self, trial: usize, register: usize, before: &Row, alike: bool) -> Row {
        let mut row = *before;
        let Some(marks) = self.marks(register) else {
            return row;
        };
        for lane in of_mask(marks.lanes) {
            let seed = if alike { lane % 16 } else { lane };
            let value = replacement(trial, register, seed);
            row[lane] = row[lane] & !marks.bits[lane] | value & marks.bits[lane];
        }
        row
    }

    /// Marks the bits that differ.
    fn mark(&mut self, mentioned: &[usize], before: &[Row], after: &[Row], differ: &[Row]) {
        let old: Vec<Option<Marks>> = mentioned
            .iter()
            .map(|&register| self.marks(register).copied())
            .collect();
        let other = |own: usize, lane: usize| {
            let others = (0..old.len()).filter(|&i| i != own).chain([own]);
            let marks = others.filter_map(|i| old[i].as_ref());
            let here = marks.clone().find(|marks| marks.bits[lane] != 0);
            let here = here.map(|marks| marks.from[lane]);
            here.or_else(|| {
                let marks = marks.clone().next()?;
                Some(marks.from[of_mask(marks.lanes).next()?])
            })
        };
        for (i, &register) in mentioned.iter().enumerate() {
            for lane in 0..LANES {
                let bits = differ[i][lane];
                let (had, from) = match &old[i] {
                    Some(marks) => (marks.bits[lane], Some(marks.from[lane])),
                    None => (0, None),
                };
                if bits == had && (bits == 0 || before[i][lane] == after[i][lane]) {
                    continue;
                }
                if let Some(from) = other(i, lane).or(from) {
                    self.set(register, lane, bits, from);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: Origin = Origin {
        at: 3,
        warp: 1,
        lane: 0,
        offset: 64,
        cause: Cause::Unwritten,
    };

    struct Two([Row; 3]);

    impl Registers for Two {
        fn row(&self, register: usize) -> Row {
            self.0[register]
        }
        fn put_row(&mut self, register: usize, row: &Row) {
            self.0[register] = *row;
        }
    }

    /// The undefined bits of `f(a, b)` if the bits `marked` of `a` are undefined, and `b` is 12.
    fn result(marked: u64, f: impl Fn(u64, u64) -> u64) -> u64 {
        let mut undefined = Undefined::default();
        undefined.set(0, 5, marked, FROM);
        let mut registers = Two([[77; LANES], [12; LANES], [0; LANES]]);
        let done = undefined.execute(&mut registers, &[0, 1, 2], false, |two| {
            for lane in 0..LANES {
                two.0[2][lane] = f(two.0[0][lane], two.0[1][lane]);
            }
            Ok::<_, ()>(())
        });
        done.unwrap();
        assert_eq!(registers.0[0], [77; LANES]);
        assert_eq!(registers.0[2], [f(77, 12); LANES]);
        assert_eq!(undefined.of(0, 5), Some((marked, FROM)));
        assert_eq!(undefined.of(2, 4), None);
        undefined.of(2, 5).map_or(0, |(bits, _)| bits)
    }

    #[test]
    fn a_result_is_undefined_in_the_bits_that_depend_on_undefined_bits() {
        assert_eq!(result(0xff, |a, _| a << 8), 0xff00);
        assert_eq!(result(0xff, |a, b| a & b), 12);
        assert_eq!(result(0xff, |a, b| (a << 8 & 0xff) + b), 0);
        assert_eq!(result(0xff, |a, b| if b == 12 { b } else { a }), 0);
        assert_eq!(result(0xffff_ffff, |a, b| u64::from(a < b)), 1);
        assert_eq!(result(1, |a, _| a.count_ones().into()), 3 ^ 4);
        let product = |a: u64, _| (f32::from_bits(a as u32) * 0.0).to_bits().into();
        assert_ne!(result(0xffff_ffff, product), 0);
    }

    #[test]
    fn an_overwritten_register_has_no_marks() {
        let mut undefined = Undefined::default();
        undefined.set(1, 0, 7, FROM);
        undefined.set(1, 9, 7, FROM);
        undefined.clear(1, 1);
        assert_eq!(undefined.first(1, !0), Some((9, FROM)));
        undefined.clear(1, !0);
        assert!(undefined.is_empty());
    }

    #[test]
    fn private_memory_keeps_the_marks_of_each_byte() {
        let mut undefined = Undefined::default();
        undefined.store_private(2, 8, &bytes_of(Some((0xff00, FROM)), 4));
        assert_eq!(undefined.load_private(2, 8, 4), Some((0xff00, FROM)));
        assert_eq!(undefined.load_private(2, 9, 1), Some((0xff, FROM)));
        assert_eq!(undefined.load_private(1, 8, 4), None);
        undefined.store_private(2, 9, &bytes_of(None, 1));
        assert!(undefined.is_empty());
    }
}
