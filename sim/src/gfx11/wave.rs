//! The state of a wave.

use super::descriptor::FloatMode;
use super::isa::operand::{EXEC, M0, NULL, Src, VCC};
use crate::lanes::{each, over};
use crate::undefined::{Origin, Undefined};

/// The value of one register for every lane.
pub(super) type Lanes = [u32; 32];
/// The value of two consecutive registers for every lane.
pub(super) type Lanes64 = [u64; 32];

/// Whether a wave runs, waits or has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The wave can continue.
    Runs,
    /// The wave waits at the barrier of this number.
    AtBarrier(u32),
    /// The wave has ended.
    Ended,
}

/// The registers of a wave, and its position in the program.
pub(super) struct Wave {
    pub vector: Box<[Lanes; 256]>,
    pub scalar: [u32; 128],
    pub scc: bool,
    /// The index of the next instruction.
    pub next: u32,
    pub mode: FloatMode,
    pub standing: Standing,
    /// Private memory. Each element contains one word of every lane.
    pub scratch: Vec<Lanes>,
    /// The undefined bits of the registers and of private memory. `None` if there are none.
    pub undefined: Option<Box<Undefined>>,
}

impl Wave {
    /// A wave whose vector registers contain `bits` in every lane, with all bits of its scalar registers set, for tests.
    /// `denormals` is [`FloatMode::denormals`].
    #[cfg(test)]
    pub fn filled(bits: u32, denormals: u8) -> Wave {
        Wave {
            vector: Box::new([[bits; 32]; 256]),
            scalar: [u32::MAX; 128],
            scc: false,
            next: 0,
            mode: FloatMode {
                round: 0,
                denormals,
                clamp_nan: true,
                ieee: false,
            },
            standing: Standing::Runs,
            scratch: Vec::new(),
            undefined: None,
        }
    }

    /// The mask of the active lanes.
    pub fn exec(&self) -> u32 {
        self.scalar[EXEC as usize]
    }

    pub fn vcc(&self) -> u32 {
        self.scalar[VCC as usize]
    }

    pub fn m0(&self) -> u32 {
        self.scalar[M0 as usize]
    }

    /// The value of a scalar register.
    pub fn s32(&self, register: u8) -> u32 {
        self.scalar[usize::from(register & 127)]
    }

    /// The value of two consecutive scalar registers.
    pub fn s64(&self, register: u8) -> u64 {
        u64::from(self.s32(register)) | u64::from(self.s32(register + 1)) << 32
    }

    /// Writes a scalar register.
    pub fn put_s32(&mut self, register: u8, value: u32) {
        if register != NULL {
            self.scalar[usize::from(register & 127)] = value;
        }
    }

    /// Writes two consecutive scalar registers.
    pub fn put_s64(&mut self, register: u8, value: u64) {
        if register != NULL {
            self.put_s32(register, value as u32);
            self.put_s32(register + 1, (value >> 32) as u32);
        }
    }

    /// A 32-bit scalar source. For a vector register, this is the value of the first active lane.
    pub fn scalar32(&self, src: Src) -> u32 {
        match src {
            Src::Scalar(register) => self.s32(register),
            Src::Constant(value) => value as u32,
            Src::Scc => u32::from(self.scc),
            Src::Vector(register) => self.vector[usize::from(register)][self.first_lane()],
        }
    }

    /// A 64-bit scalar source.
    pub fn scalar64(&self, src: Src) -> u64 {
        match src {
            Src::Scalar(register) => self.s64(register),
            Src::Constant(value) => value,
            _ => u64::from(self.scalar32(src)),
        }
    }

    /// Replaces the undefined bits of a lane of a vector register. `from` is their origin, if there are any.
    pub fn mark(&mut self, register: u8, lane: usize, bits: u32, from: Option<Origin>) {
        let register = usize::from(register);
        match from {
            Some(from) if bits != 0 => {
                let undefined = self.undefined.get_or_insert_default();
                undefined.set(register, lane, bits.into(), from);
            }
            _ => {
                if let Some(undefined) = &mut self.undefined {
                    undefined.clear(register, 1 << lane);
                }
            }
        }
    }

    /// The undefined bits of a lane of a vector register.
    pub fn undefined_bits(&self, register: u8, lane: usize) -> (u32, Option<Origin>) {
        let undefined = self.undefined.as_ref();
        match undefined.and_then(|undefined| undefined.of(register.into(), lane)) {
            Some((bits, from)) => (bits as u32, Some(from)),
            None => (0, None),
        }
    }

    /// The first active lane, or lane 0 if no lane is active.
    pub fn first_lane(&self) -> usize {
        self.exec().trailing_zeros() as usize & 31
    }

    /// A 32-bit source of every lane.
    #[inline]
    pub fn lanes(&self, src: Src) -> Lanes {
        match src {
            Src::Vector(register) => self.vector[usize::from(register)],
            _ => [self.scalar32(src); 32],
        }
    }

    /// A 64-bit source of every lane.
    #[inline]
    pub fn lanes64(&self, src: Src) -> Lanes64 {
        match src {
            Src::Vector(register) => {
                let low = &self.vector[usize::from(register)];
                let high = &self.vector[usize::from(register.wrapping_add(1))];
                each(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
            }
            _ => [self.scalar64(src); 32],
        }
    }

    /// Writes a register in the lanes of a mask.
    #[inline]
    pub fn put(&mut self, register: u8, value: &Lanes, mask: u32) {
        let old = &mut self.vector[usize::from(register)];
        match mask {
            u32::MAX => *old = *value,
            _ => merge(old, value, mask),
        }
    }

    /// Writes two consecutive registers in the lanes of a mask.
    #[inline]
    pub fn put64(&mut self, register: u8, value: &Lanes64, mask: u32) {
        self.put(register, &over(value, |value| value as u32), mask);
        self.put(
            register.wrapping_add(1),
            &over(value, |value| (value >> 32) as u32),
            mask,
        );
    }
}

/// Replaces the values of the lanes of a mask.
pub(super) fn merge(old: &mut Lanes, new: &Lanes, mask: u32) {
    for lane in 0..32 {
        let all = 0u32.wrapping_sub(mask >> lane & 1);
        old[lane] = old[lane] & !all | new[lane] & all;
    }
}
