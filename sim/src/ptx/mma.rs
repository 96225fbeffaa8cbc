//! `mma.sync` (PTX ISA 9.7.14.5). Products are exact, and the ISA leaves the order of their sum open: here they are added
//! in `f64` by ascending `k`, then to the accumulator, and rounded once.

use half::{bf16, f16};

use super::alu::Mods;
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
        let out = match bytes(self.a_type) {
            1 => self.integers(regs),
            _ => self.floats(regs),
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

    /// The element at a place of a register: `a` has its rows in `lane / 4` and `lane / 4 + 8`, alternating by register;
    /// a register holds consecutive elements of `k` (9.7.14.5.7 to 9.7.14.5.10).
    fn factors(&self, regs: &Regs) -> ([[f64; 16]; 32], [[f64; 8]; 32]) {
        let per = 4 / bytes(self.a_type);
        let mut a = [[0f64; 16]; 32];
        let mut b = [[0f64; 8]; 32];
        for (i, &reg) in self.a.iter().enumerate() {
            let row = &regs.words[reg as usize];
            for part in 0..per {
                let values = elements(row, part, self.a_type);
                for (lane, value) in values.into_iter().enumerate() {
                    let k = lane % 4 * per + part + i / 2 * 4 * per;
                    a[k][lane / 4 + i % 2 * 8] = value;
                }
            }
        }
        for (i, &reg) in self.b.iter().enumerate() {
            let row = &regs.words[reg as usize];
            for part in 0..per {
                let values = elements(row, part, self.b_type);
                for (lane, value) in values.into_iter().enumerate() {
                    b[lane % 4 * per + part + i * 4 * per][lane / 4] = value;
                }
            }
        }
        (a, b)
    }

    /// Accumulator `i` of a lane is in row `lane / 4 + i / 2 * 8` and column `lane % 4 * 2 + i % 2`.
    fn floats(&self, regs: &Regs) -> [[u32; LANES]; 4] {
        let (a, b) = self.factors(regs);
        let mut sums = [[0f64; 8]; 16];
        for (a, b) in a.iter().zip(&b).take(self.k) {
            for (sums, &a) in sums.iter_mut().zip(a) {
                for (sum, &b) in sums.iter_mut().zip(b) {
                    *sum += a * b;
                }
            }
        }
        let mut out = [[0; LANES]; 4];
        for (i, out) in out.iter_mut().enumerate() {
            for (lane, out) in out.iter_mut().enumerate() {
                let c = match self.half_in {
                    false => f64::from(f32::from_bits(regs.words[self.c[i] as usize][lane])),
                    true => element(regs.words[self.c[i / 2] as usize][lane], i % 2, Factor::F16),
                };
                let sum = c + sums[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
                *out = match self.half_out {
                    false if sum.is_nan() => 0x7fff_ffff,
                    false => (sum as f32).to_bits(),
                    true if sum.is_nan() => 0x7fff,
                    true => f16::from_f64(round(sum, F16, Mode::Near)).to_bits().into(),
                };
            }
        }
        out
    }

    fn integers(&self, regs: &Regs) -> [[u32; LANES]; 4] {
        let (a, b) = self.factors(regs);
        let mut out = [[0; LANES]; 4];
        for (i, out) in out.iter_mut().enumerate() {
            for (lane, out) in out.iter_mut().enumerate() {
                let (row, column) = (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
                let dot: i64 = a
                    .iter()
                    .zip(&b)
                    .map(|(a, b)| (a[row] * b[column]) as i64)
                    .sum();
                let sum = dot + i64::from(regs.words[self.c[i] as usize][lane] as i32);
                let bounds = (i64::from(i32::MIN), i64::from(i32::MAX));
                *out = if self.saturates {
                    sum.clamp(bounds.0, bounds.1) as u32
                } else {
                    sum as u32
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

/// One part of every lane.
fn elements(row: &[u32; LANES], part: usize, factor: Factor) -> [f64; LANES] {
    match factor {
        Factor::F16 => row.map(|word| half_value((word >> (16 * part)) as u16)),
        Factor::Bf16 => row.map(|word| f64::from(f32::from_bits(word >> (16 * part) << 16))),
        _ => row.map(|word| element(word, part, factor)),
    }
}

/// The value of an `f16`: its exponent and fraction as those of an `f32`, which is then 2^112 times too small.
#[inline(always)]
fn half_value(half: u16) -> f64 {
    let bits = u32::from(half & 0x7fff) << 13;
    let finite = f32::from_bits(bits) * f32::from_bits(0x7780_0000);
    let magnitude = if bits >= 0x0f80_0000 {
        f32::from_bits(bits | 0x7f80_0000)
    } else {
        finite
    };
    let sign = u32::from(half & 0x8000) << 16;
    f64::from(f32::from_bits(magnitude.to_bits() | sign))
}

fn element(word: u32, part: usize, factor: Factor) -> f64 {
    match factor {
        Factor::F16 => f16::from_bits((word >> (16 * part)) as u16).to_f64(),
        Factor::Bf16 => bf16::from_bits((word >> (16 * part)) as u16).to_f64(),
        // The low 13 bits of a `tf32` are not defined (5.2.3); the hardware ignores them.
        Factor::Tf32 => f64::from(f32::from_bits(word & 0xffff_e000)),
        Factor::S8 => f64::from((word >> (8 * part)) as i8),
        Factor::U8 => f64::from((word >> (8 * part)) as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_has_its_value() {
        for bits in 0..=u16::MAX {
            let (mine, right) = (half_value(bits), f16::from_bits(bits).to_f64());
            assert!(
                mine == right && mine.is_sign_negative() == right.is_sign_negative()
                    || mine.is_nan() && right.is_nan()
            );
        }
    }
}
