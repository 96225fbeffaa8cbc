//! `mma.sync` (PTX ISA 9.7.14.5). Products are exact, and the ISA leaves the order of their sum open: here they are added
//! in `f64` by ascending `k`, then to the accumulator, and rounded once.

use half::f16;

use super::alu::{Mods, canonical};
use super::product::{columns, product, rows};
use super::regs::{LANES, Regs};
use super::rounding::{F16, Mode, round};

/// The type of the factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    F16,
    Bf16,
    Tf32,
    S8,
    U8,
}

/// A product of matrices with 16 rows and 8 columns.
#[derive(Clone, Debug)]
pub(super) struct Mma {
    a_type: Factor,
    b_type: Factor,
    k: usize,
    /// Accumulators are pairs of `f16`.
    half_in: bool,
    half_out: bool,
    saturates: bool,
    pub d: Vec<u32>,
    pub a: Vec<u32>,
    pub b: Vec<u32>,
    pub c: Vec<u32>,
}

impl Mma {
    /// The instruction, if it is one of the implemented shapes: `m16n8k4` to `m16n8k32` by type.
    pub fn decode(m: &Mods) -> Option<Mma> {
        let sparse = m
            .parts
            .iter()
            .any(|part| part.starts_with("sp") || *part == "block_scale");
        if sparse || !m.has("row") || !m.has("col") {
            return None;
        }
        let factor = |name: &&str| match *name {
            "f16" => Some(Factor::F16),
            "bf16" => Some(Factor::Bf16),
            "tf32" => Some(Factor::Tf32),
            "s8" => Some(Factor::S8),
            "u8" => Some(Factor::U8),
            _ => None,
        };
        let [d, a, b, c] = m.parts.last_chunk::<4>()?;
        let (a_type, b_type) = (factor(a)?, factor(b)?);
        let shape = *m.parts.iter().find(|part| part.starts_with("m16n8k"))?;
        let k = shape.strip_prefix("m16n8k")?.parse().ok()?;
        let bytes = bytes(a_type);
        let integer = bytes == 1;
        let accumulators = if integer {
            *d == "s32" && *c == "s32"
        } else {
            matches!(*d, "f32" | "f16") && matches!(*c, "f32" | "f16")
        };
        let halves = *d == "f16" || *c == "f16";
        if !accumulators
            || bytes != self::bytes(b_type)
            || halves && a_type != Factor::F16
            || !matches!(k * bytes, 16 | 32)
        {
            return None;
        }
        Some(Mma {
            a_type,
            b_type,
            k,
            half_in: *c == "f16",
            half_out: *d == "f16",
            saturates: m.has("satfinite"),
            d: Vec::new(),
            a: Vec::new(),
            b: Vec::new(),
            c: Vec::new(),
        })
    }

    /// Whether the numbers of registers are right.
    pub fn fits(&self) -> bool {
        let words = self.k * bytes(self.a_type) / 16;
        let accumulators = |half| if half { 2 } else { 4 };
        self.a.len() == 2 * words
            && self.b.len() == words
            && self.c.len() == accumulators(self.half_in)
            && self.d.len() == accumulators(self.half_out)
    }

    /// Executes it for the whole warp.
    pub fn run(&self, regs: &mut Regs) {
        let out = match (bytes(self.a_type), self.k) {
            (1, 16) => self.integers::<16>(regs),
            (1, _) => self.integers::<32>(regs),
            (_, 4) => self.floats::<4>(regs),
            (_, 8) => self.floats::<8>(regs),
            _ => self.floats::<16>(regs),
        };
        for (i, row) in out.iter().enumerate() {
            match self.half_out {
                false => regs.words[self.d[i] as usize] = *row,
                true => {
                    let to = &mut regs.words[self.d[i / 2] as usize];
                    for lane in 0..LANES {
                        let shift = i % 2 * 16;
                        to[lane] = to[lane] & !(0xffff << shift) | row[lane] << shift;
                    }
                }
            }
        }
    }

    /// Accumulator `i` of a lane is in row `lane / 4 + i / 2 * 8` and column `lane % 4 * 2 + i % 2`.
    fn floats<const K: usize>(&self, regs: &Regs) -> [[u32; LANES]; 4] {
        let a = rows::<f64, K>(regs, &self.a, |row, to| floats_of(row, self.a_type, to));
        let b = columns::<f64, K>(regs, &self.b, |row, to| floats_of(row, self.b_type, to));
        let sums = product(&a, &b);
        let mut out = [[0; LANES]; 4];
        for (i, out) in out.iter_mut().enumerate() {
            let sums = &sums[i / 2 * 64 + i % 2..];
            let c = &regs.words[self.c[if self.half_in { i / 2 } else { i }] as usize];
            for lane in 0..LANES {
                let c = match self.half_in {
                    false => f64::from(f32::from_bits(c[lane])),
                    true => f64::from(half_value((c[lane] >> (i % 2 * 16)) as u16)),
                };
                let sum = c + sums[2 * lane];
                out[lane] = match self.half_out {
                    false => canonical(sum as f32).to_bits(),
                    true if sum.is_nan() => 0x7fff,
                    true => f16::from_f64(round(sum, F16, Mode::Near)).to_bits().into(),
                };
            }
        }
        out
    }

    fn integers<const K: usize>(&self, regs: &Regs) -> [[u32; LANES]; 4] {
        let a = rows::<i32, K>(regs, &self.a, |row, to| integers_of(row, self.a_type, to));
        let b = columns::<i32, K>(regs, &self.b, |row, to| integers_of(row, self.b_type, to));
        let sums = product(&a, &b);
        let mut out = [[0; LANES]; 4];
        for (i, out) in out.iter_mut().enumerate() {
            let sums = &sums[i / 2 * 64 + i % 2..];
            let c = &regs.words[self.c[i] as usize];
            for lane in 0..LANES {
                // Sums of products of 8 bits are far from the bounds of 32.
                let (sum, c) = (sums[2 * lane], c[lane] as i32);
                out[lane] = match self.saturates {
                    true => c.saturating_add(sum) as u32,
                    false => c.wrapping_add(sum) as u32,
                };
            }
        }
        out
    }
}

fn bytes(factor: Factor) -> usize {
    match factor {
        Factor::F16 | Factor::Bf16 => 2,
        Factor::Tf32 => 4,
        Factor::S8 | Factor::U8 => 1,
    }
}

/// Values of a register's elements, as they lie there.
fn floats_of(row: &[u32; LANES], factor: Factor, to: &mut [f64]) {
    let words = row.iter().zip(to.chunks_exact_mut(4 / bytes(factor)));
    match factor {
        Factor::F16 => {
            for (&word, to) in words {
                to[0] = half_value(word as u16).into();
                to[1] = half_value((word >> 16) as u16).into();
            }
        }
        Factor::Bf16 => {
            for (&word, to) in words {
                to[0] = f32::from_bits(word << 16).into();
                to[1] = f32::from_bits(word & 0xffff_0000).into();
            }
        }
        // The low 13 bits of a `tf32` are not defined (5.2.3); the hardware ignores them.
        _ => {
            for (&word, to) in words {
                to[0] = f32::from_bits(word & 0xffff_e000).into();
            }
        }
    }
}

fn integers_of(row: &[u32; LANES], factor: Factor, to: &mut [i32]) {
    for (word, to) in row.iter().zip(to.chunks_exact_mut(4)) {
        for (byte, to) in word.to_le_bytes().into_iter().zip(to) {
            *to = match factor {
                Factor::S8 => i32::from(byte as i8),
                _ => i32::from(byte),
            };
        }
    }
}

/// The value of an `f16`: its exponent and fraction as those of an `f32`, which is then 2^112 times too small.
#[inline(always)]
fn half_value(half: u16) -> f32 {
    let bits = u32::from(half & 0x7fff) << 13;
    let finite = f32::from_bits(bits) * f32::from_bits(0x7780_0000);
    let magnitude = if bits >= 0x0f80_0000 {
        bits | 0x7f80_0000
    } else {
        finite.to_bits()
    };
    let sign = u32::from(half & 0x8000) << 16;
    f32::from_bits(magnitude | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_has_its_value() {
        for bits in 0..=u16::MAX {
            let (mine, right) = (half_value(bits), f16::from_bits(bits).to_f32());
            assert!(
                mine == right && mine.is_sign_negative() == right.is_sign_negative()
                    || mine.is_nan() && right.is_nan()
            );
        }
    }
}
