//! Reads the operands and writes the results of vector instructions.

use crate::lanes::{each, over};
use half::f16;

use crate::gfx11::isa::instruction::{Dpp, Vector};
use crate::gfx11::isa::operand::Src;
use crate::gfx11::wave::{Lanes, Lanes64, Wave};

/// The first source of an instruction with DPP: each lane receives the value of the lane that `dpp` specifies.
pub(super) fn permuted(value: &Lanes, dpp: &Dpp, exec: u32) -> Lanes {
    each(|lane| {
        let from = usize::from(dpp.lanes[lane]);
        match from < 32 && (dpp.fetch_inactive || exec >> from & 1 != 0) {
            true => value[from],
            false => 0,
        }
    })
}

/// The mask of the lanes that an instruction with DPP writes.
pub(super) fn written(dpp: &Dpp, exec: u32) -> u32 {
    let mut mask = exec & dpp.enabled;
    if !dpp.bound_zero {
        for (lane, &from) in dpp.lanes.iter().enumerate() {
            let valid = from < 32 && (dpp.fetch_inactive || exec >> from & 1 != 0);
            mask &= !(u32::from(!valid) << lane);
        }
    }
    mask
}

/// Whether a 32-bit float is denormal or zero.
fn is_denormal32(bits: u32) -> bool {
    bits & 0x7f80_0000 == 0
}

pub(super) fn flush32(value: &mut Lanes) {
    for bits in value {
        *bits = if is_denormal32(*bits) {
            *bits & 0x8000_0000
        } else {
            *bits
        };
    }
}

pub(super) fn flush16(value: &mut Lanes) {
    for bits in value {
        *bits = if *bits & 0x7c00 == 0 {
            *bits & 0x8000
        } else {
            *bits
        };
    }
}

pub(super) fn flush64(value: &mut Lanes64) {
    for bits in value {
        *bits = if *bits >> 52 & 0x7ff == 0 {
            *bits & 1 << 63
        } else {
            *bits
        };
    }
}

impl Wave {
    /// The mask of the lanes that an instruction writes.
    #[inline]
    pub(super) fn mask(&self, one: &Vector) -> u32 {
        match &one.dpp {
            None => self.exec(),
            Some(dpp) => written(dpp, self.exec()),
        }
    }

    /// A 32-bit integer source.
    #[inline]
    pub(super) fn b32(&self, one: &Vector, n: usize) -> Lanes {
        let value = self.lanes(one.src[n]);
        match &one.dpp {
            Some(dpp) if n == 0 => permuted(&value, dpp, self.exec()),
            _ => value,
        }
    }

    /// A 32-bit float source.
    #[inline]
    pub(super) fn f32(&self, one: &Vector, n: usize) -> Lanes {
        let mut value = self.b32(one, n);
        if one.modified {
            let clear = u32::from(one.mods.abs >> n & 1 != 0) << 31;
            let flip = u32::from(one.mods.neg >> n & 1 != 0) << 31;
            value = over(&value, |bits| bits & !clear ^ flip);
        }
        if self.mode.denormals & 1 == 0 {
            flush32(&mut value);
        }
        value
    }

    /// A 16-bit source, in the low half.
    pub(super) fn b16(&self, one: &Vector, n: usize) -> Lanes {
        let value = self.b32(one, n);
        match one.mods.high >> n & 1 != 0 && !matches!(one.src[n], Src::Constant(_)) {
            true => over(&value, |bits| bits >> 16),
            false => over(&value, |bits| bits & 0xffff),
        }
    }

    /// A 16-bit float source, in the low half.
    pub(super) fn f16(&self, one: &Vector, n: usize) -> Lanes {
        let mut value = self.b16(one, n);
        if one.modified {
            let clear = u32::from(one.mods.abs >> n & 1 != 0) << 15;
            let flip = u32::from(one.mods.neg >> n & 1 != 0) << 15;
            value = over(&value, |bits| bits & !clear ^ flip);
        }
        if self.mode.denormals & 4 == 0 {
            flush16(&mut value);
        }
        value
    }

    /// A 64-bit integer source.
    pub(super) fn b64(&self, one: &Vector, n: usize) -> Lanes64 {
        self.lanes64(one.src[n])
    }

    /// A 64-bit float source.
    pub(super) fn f64(&self, one: &Vector, n: usize) -> Lanes64 {
        let clear = u64::from(one.mods.abs >> n & 1 != 0) << 63;
        let flip = u64::from(one.mods.neg >> n & 1 != 0) << 63;
        let mut value = over(&self.b64(one, n), |bits| bits & !clear ^ flip);
        if self.mode.denormals & 4 == 0 {
            flush64(&mut value);
        }
        value
    }

    /// Writes a 32-bit integer result.
    #[inline]
    pub(super) fn set_b32(&mut self, one: &Vector, value: &Lanes) {
        let mask = self.mask(one);
        self.put(one.dst, value, mask);
    }

    /// Writes a 32-bit float result.
    #[inline]
    pub(super) fn set_f32(&mut self, one: &Vector, mut value: Lanes) {
        if one.modified {
            value = self.adjusted32(one, value);
        }
        if self.mode.denormals & 2 == 0 {
            flush32(&mut value);
        }
        self.set_b32(one, &value);
    }

    fn adjusted32(&self, one: &Vector, value: Lanes) -> Lanes {
        over(&value, |bits| {
            let scaled = scaled(f32::from_bits(bits).into(), one.mods.omod) as f32;
            match one.mods.clamp {
                true => clamped(scaled.into(), self.mode.clamp_nan) as f32,
                false if one.mods.omod == 0 => f32::from_bits(bits),
                false => scaled,
            }
            .to_bits()
        })
    }

    /// Writes a 16-bit integer result. The other half of the register keeps its value.
    pub(super) fn set_b16(&mut self, one: &Vector, value: &Lanes) {
        let mask = self.mask(one);
        let old = self.vector[usize::from(one.dst)];
        let high = one.mods.high & 8 != 0;
        let value = each(|lane| match high {
            true => old[lane] & 0xffff | value[lane] << 16,
            false => old[lane] & 0xffff_0000 | value[lane] & 0xffff,
        });
        self.put(one.dst, &value, mask);
    }

    /// Writes a 16-bit float result. The other half of the register keeps its value.
    pub(super) fn set_f16(&mut self, one: &Vector, mut value: Lanes) {
        if one.mods.clamp || one.mods.omod != 0 {
            value = over(&value, |bits| {
                let wide = scaled(f16::from_bits(bits as u16).to_f64(), one.mods.omod);
                let wide = if one.mods.clamp {
                    clamped(wide, self.mode.clamp_nan)
                } else {
                    wide
                };
                u32::from(f16::from_f64(wide).to_bits())
            });
        }
        if self.mode.denormals & 8 == 0 {
            flush16(&mut value);
        }
        self.set_b16(one, &value);
    }

    /// Writes a 64-bit integer result.
    pub(super) fn set_b64(&mut self, one: &Vector, value: &Lanes64) {
        let mask = self.mask(one);
        self.put64(one.dst, value, mask);
    }

    /// Writes a 64-bit float result.
    pub(super) fn set_f64(&mut self, one: &Vector, mut value: Lanes64) {
        if one.mods.clamp || one.mods.omod != 0 {
            value = over(&value, |bits| {
                let value = scaled(f64::from_bits(bits), one.mods.omod);
                if one.mods.clamp {
                    clamped(value, self.mode.clamp_nan)
                } else {
                    value
                }
                .to_bits()
            });
        }
        if self.mode.denormals & 8 == 0 {
            flush64(&mut value);
        }
        self.set_b64(one, &value);
    }

    /// Writes a lane mask. The bits of inactive lanes are 0.
    pub(super) fn set_mask(&mut self, register: u8, mask: u32) {
        let exec = self.exec();
        self.put_s32(register, mask & exec);
    }
}

fn scaled(value: f64, omod: u8) -> f64 {
    match omod {
        1 => value * 2.0,
        2 => value * 4.0,
        3 => value / 2.0,
        _ => value,
    }
}

/// The value of the clamp modifier for floats. A NaN becomes 0 if the mode `DX10_CLAMP` is on, as it is by default.
pub(super) fn clamped(value: f64, nan_is_zero: bool) -> f64 {
    match value.is_nan() {
        true if nan_is_zero => 0.0,
        true => value,
        // A zero of either sign becomes +0.
        false if value <= 0.0 => 0.0,
        false => value.min(1.0),
    }
}

/// A mask with one bit per lane: whether `test(lane)` is true.
#[inline(always)]
pub(super) fn mask_of(test: impl Fn(usize) -> bool) -> u32 {
    let mut mask = 0;
    for lane in 0..32 {
        mask |= u32::from(test(lane)) << lane;
    }
    mask
}

/// Applies a function of one operand to every lane.
#[inline(always)]
pub(super) fn map1(a: &Lanes, f: impl Fn(u32) -> u32) -> Lanes {
    let mut result = [0; 32];
    for lane in 0..32 {
        result[lane] = f(a[lane]);
    }
    result
}

/// Applies a function of two operands to every lane.
#[inline(always)]
pub(super) fn map2(a: &Lanes, b: &Lanes, f: impl Fn(u32, u32) -> u32) -> Lanes {
    let mut result = [0; 32];
    for lane in 0..32 {
        result[lane] = f(a[lane], b[lane]);
    }
    result
}

/// Applies a function of three operands to every lane.
#[inline(always)]
pub(super) fn map3(a: &Lanes, b: &Lanes, c: &Lanes, f: impl Fn(u32, u32, u32) -> u32) -> Lanes {
    let mut result = [0; 32];
    for lane in 0..32 {
        result[lane] = f(a[lane], b[lane], c[lane]);
    }
    result
}
