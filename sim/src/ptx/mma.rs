//! `mma.sync` (PTX ISA 9.7.14.5). Products are exact. The ISA leaves the order of their sum open, and asks for the precision
//! of `f32` at least: here they are added in `f32` by ascending `k`, then to the accumulator.

use half::f16;
use pulp::{Simd, WithSimd};

use super::alu::{Mods, canonical};
use super::factors::{Brain, Bytes, FiniteHalf, Form, Half, Tensor};
use super::product::{columns, fused_product, product, rows};
use super::regs::{LANES, Regs};
use crate::halves::{half_value, has_special_halves};
use crate::lanes::{each, over};
use crate::wide::wide;

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
        wide(Run { mma: self, regs });
    }

    #[inline(always)]
    fn execute<S: Simd>(&self, simd: S, regs: &mut Regs) {
        let mut special = false;
        for &register in self.a.iter().chain(&self.b) {
            special |= has_special_halves(&regs.words[register as usize]);
        }
        let out = match (self.a_type, self.k) {
            (Factor::F16, _) if special => match self.k {
                8 => self.floats::<S, Half, 8, 8, 4, 2>(simd, regs),
                _ => self.floats::<S, Half, 16, 8, 8, 2>(simd, regs),
            },
            (Factor::F16, 8) => self.floats::<S, FiniteHalf, 8, 8, 4, 2>(simd, regs),
            (Factor::F16, _) => self.floats::<S, FiniteHalf, 16, 8, 8, 2>(simd, regs),
            (Factor::Bf16, 8) => self.floats::<S, Brain, 8, 8, 4, 2>(simd, regs),
            (Factor::Bf16, _) => self.floats::<S, Brain, 16, 8, 8, 2>(simd, regs),
            (Factor::Tf32, 4) => self.floats::<S, Tensor, 4, 4, 4, 1>(simd, regs),
            (Factor::Tf32, _) => self.floats::<S, Tensor, 8, 4, 8, 1>(simd, regs),
            (_, 16) => self.integers::<16, 4>(regs),
            _ => self.integers::<32, 8>(regs),
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
    #[inline(always)]
    fn floats<
        S: Simd,
        F: Form<Element = f32>,
        const K: usize,
        const RUN: usize,
        const OF_PART: usize,
        const PARTS: usize,
    >(
        &self,
        simd: S,
        regs: &Regs,
    ) -> [[u32; LANES]; 4] {
        let mut a = [[[0.0; OF_PART]; 16]; PARTS];
        rows::<F, OF_PART, PARTS>(regs, &self.a, &mut a);
        let mut b = [[0.0; 8]; K];
        columns::<F, K, RUN>(regs, &self.b, &mut b);
        let sums = fused_product(simd, &a, &b);
        let mut out = [[0; LANES]; 4];
        for (i, out) in out.iter_mut().enumerate() {
            let sums = sums[i / 2 * 64..].as_chunks::<2>().0;
            let c = &regs.words[self.c[if self.half_in { i / 2 } else { i }] as usize];
            let sum = match self.half_in {
                false => each(|lane| f32::from_bits(c[lane]) + sums[lane][i % 2]),
                true => {
                    each(|lane| half_value((c[lane] >> (i % 2 * 16)) as u16) + sums[lane][i % 2])
                }
            };
            *out = match self.half_out {
                false => over(&sum, |sum| canonical(sum).to_bits()),
                true => over(&sum, half_bits),
            };
        }
        out
    }

    #[inline(always)]
    fn integers<const K: usize, const OF_PART: usize>(&self, regs: &Regs) -> [[u32; LANES]; 4] {
        let mut a = [[[0; OF_PART]; 16]; 4];
        match self.a_type {
            Factor::S8 => rows::<Bytes<true>, OF_PART, 4>(regs, &self.a, &mut a),
            _ => rows::<Bytes<false>, OF_PART, 4>(regs, &self.a, &mut a),
        }
        let mut b = [[0; 8]; K];
        match self.b_type {
            Factor::S8 => columns::<Bytes<true>, K, 16>(regs, &self.b, &mut b),
            _ => columns::<Bytes<false>, K, 16>(regs, &self.b, &mut b),
        }
        let sums = product(&a, &b);
        let mut out = [[0; LANES]; 4];
        for (i, out) in out.iter_mut().enumerate() {
            let sums = sums[i / 2 * 64..].as_chunks::<2>().0;
            let c = &regs.words[self.c[i] as usize];
            // Sums of products of 8 bits are far from the bounds of 32.
            *out = match self.saturates {
                true => each(|lane| (c[lane] as i32).saturating_add(sums[lane][i % 2]) as u32),
                false => each(|lane| (c[lane] as i32).wrapping_add(sums[lane][i % 2]) as u32),
            };
        }
        out
    }
}

/// An `f16`, rounded to nearest even.
fn half_bits(sum: f32) -> u32 {
    match sum.is_nan() {
        true => 0x7fff,
        false => f16::from_f32(sum).to_bits().into(),
    }
}

/// Executes a product with the widest vectors.
struct Run<'a> {
    mma: &'a Mma,
    regs: &'a mut Regs,
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.mma.execute(simd, self.regs);
    }
}

#[inline(always)]
fn bytes(factor: Factor) -> usize {
    match factor {
        Factor::F16 | Factor::Bf16 => 2,
        Factor::Tf32 => 4,
        Factor::S8 | Factor::U8 => 1,
    }
}
