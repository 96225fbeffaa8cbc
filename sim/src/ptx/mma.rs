//! `mma.sync` (PTX ISA 9.7.14.5). Products are exact. The ISA does not specify the order of summation, and requires at
//! least the precision of `f32`. The simulator adds the products in `f32` by ascending `k`, and then adds the
//! accumulator.

use half::f16;
use pulp::{Simd, WithSimd};

use super::alu::{Mods, canonical};
use super::factors::{Brain, Bytes, FiniteHalf, Form, Half, Tensor};
use super::product::{Sums, columns, fused_product, product, rows};
use super::regs::{LANES, Regs};
use crate::halves::{Specials, half_value};
use crate::lanes::{Aligned, each};
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

/// A product of a matrix with 16 rows and a matrix with 8 columns.
#[derive(Clone, Debug)]
pub(super) struct Mma {
    a_type: Factor,
    b_type: Factor,
    k: usize,
    /// Whether the input accumulators are pairs of `f16`.
    half_in: bool,
    half_out: bool,
    saturates: bool,
    pub d: Vec<u32>,
    pub a: Vec<u32>,
    pub b: Vec<u32>,
    pub c: Vec<u32>,
}

impl Mma {
    /// The registers that [`Self::of_sixteen_bits`] uses for D (also C), A and B.
    pub const D: std::ops::Range<usize> = 0..4;
    pub const A: std::ops::Range<usize> = 4..8;
    pub const B: std::ops::Range<usize> = 8..10;
    /// The number of these registers.
    pub const WORDS: usize = 10;

    /// `m16n8k16` of `bf16` or `f16` with sums of `f32`, on registers of its own.
    pub fn of_sixteen_bits(is_brain: bool) -> Mma {
        let factor = if is_brain { Factor::Bf16 } else { Factor::F16 };
        let list = |range: std::ops::Range<usize>| range.map(|i| i as u32).collect::<Vec<u32>>();
        Mma {
            a_type: factor,
            b_type: factor,
            k: 16,
            half_in: false,
            half_out: false,
            saturates: false,
            d: list(Self::D),
            a: list(Self::A),
            b: list(Self::B),
            c: list(Self::D),
        }
    }

    /// Decodes the implemented shapes: `m16n8k4` to `m16n8k32`, depending on the types. Returns `None` for other
    /// instructions.
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

    /// Whether the instruction has the right number of registers.
    pub fn fits(&self) -> bool {
        let words = self.k * bytes(self.a_type) / 16;
        let accumulators = |half| if half { 2 } else { 4 };
        self.a.len() == 2 * words
            && self.b.len() == words
            && self.c.len() == accumulators(self.half_in)
            && self.d.len() == accumulators(self.half_out)
    }

    /// Executes the product for the whole warp.
    pub fn run(&self, regs: &mut Regs) {
        wide(Run { mma: self, regs });
    }

    #[inline(always)]
    fn execute<S: Simd>(&self, simd: S, regs: &mut Regs) {
        match (self.a_type, self.k) {
            (Factor::F16, 8) if self.are_finite(regs) => {
                self.floats::<S, FiniteHalf, 2, 4, 2>(simd, regs)
            }
            (Factor::F16, _) if self.are_finite(regs) => {
                self.floats::<S, FiniteHalf, 2, 8, 4>(simd, regs)
            }
            (Factor::F16, 8) => self.floats::<S, Half, 2, 4, 2>(simd, regs),
            (Factor::F16, _) => self.floats::<S, Half, 2, 8, 4>(simd, regs),
            (Factor::Bf16, 8) => self.floats::<S, Brain, 2, 4, 2>(simd, regs),
            (Factor::Bf16, _) => self.floats::<S, Brain, 2, 8, 4>(simd, regs),
            (Factor::Tf32, 4) => self.floats::<S, Tensor, 1, 4, 2>(simd, regs),
            (Factor::Tf32, _) => self.floats::<S, Tensor, 1, 8, 4>(simd, regs),
            (_, 16) => self.integers::<S, 4, 2>(simd, regs),
            _ => self.integers::<S, 8, 4>(simd, regs),
        }
    }

    /// Whether all `f16` factors are finite.
    #[inline(always)]
    fn are_finite(&self, regs: &Regs) -> bool {
        let mut specials = Specials::NONE;
        for &register in self.a.iter().chain(&self.b) {
            specials.look_at(&regs.words[register as usize]);
        }
        !specials.are_there()
    }

    #[inline(always)]
    fn floats<
        S: Simd,
        F: Form<Element = f32>,
        const PARTS: usize,
        const OF_PART: usize,
        const REGISTERS: usize,
    >(
        &self,
        simd: S,
        regs: &mut Regs,
    ) {
        let mut a = Aligned([[[0.0; LANES]; PARTS]; REGISTERS]);
        rows::<F, PARTS, REGISTERS>(regs, &self.a, &mut a.0);
        let mut b = Aligned([[[0.0; 8]; OF_PART]; PARTS]);
        columns::<S, F, PARTS, OF_PART>(simd, regs, &self.b, &mut b.0);
        let mut sums = Aligned([[0.0; LANES]; 4]);
        fused_product(simd, &a.0, &b.0, &mut sums.0);
        let add = |c: u32, sum: f32| canonical(f32::from_bits(c) + sum).to_bits();
        match self.half_in || self.half_out {
            true => self.add_halves(regs, &sums.0),
            false => self.add(regs, &sums.0, add),
        }
    }

    /// Adds the sums to the accumulators.
    #[inline(always)]
    fn add<T: Copy>(&self, regs: &mut Regs, sums: &Sums<T>, f: impl Fn(u32, T) -> u32) {
        // The registers of D may also be registers of C, so all results are computed before the first one is stored.
        let mut out = [[0; LANES]; 4];
        for (out, (sums, &c)) in out.iter_mut().zip(sums.iter().zip(&self.c)) {
            let c = &regs.words[c as usize];
            *out = each(|lane| f(c[lane], sums[lane]));
        }
        for (out, &d) in out.iter().zip(&self.d) {
            regs.words[d as usize] = *out;
        }
    }

    /// Adds the sums if input or output accumulators are pairs of `f16`.
    #[inline(always)]
    fn add_halves(&self, regs: &mut Regs, sums: &Sums<f32>) {
        let mut out = [[0; LANES]; 4];
        for (i, out) in out.iter_mut().enumerate() {
            let c = &regs.words[self.c[if self.half_in { i / 2 } else { i }] as usize];
            *out = each(|lane| {
                let sum = sums[i][lane];
                let c = match self.half_in {
                    true => half_value((c[lane] >> (i % 2 * 16)) as u16),
                    false => f32::from_bits(c[lane]),
                };
                match self.half_out {
                    true => half_bits(c + sum),
                    false => canonical(c + sum).to_bits(),
                }
            });
        }
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

    #[inline(always)]
    fn integers<S: Simd, const OF_PART: usize, const REGISTERS: usize>(
        &self,
        simd: S,
        regs: &mut Regs,
    ) {
        let mut a = [[[0; LANES]; 4]; REGISTERS];
        match self.a_type {
            Factor::S8 => rows::<Bytes<true>, 4, REGISTERS>(regs, &self.a, &mut a),
            _ => rows::<Bytes<false>, 4, REGISTERS>(regs, &self.a, &mut a),
        }
        let mut b = [[[0; 8]; OF_PART]; 4];
        match self.b_type {
            Factor::S8 => columns::<S, Bytes<true>, 4, OF_PART>(simd, regs, &self.b, &mut b),
            _ => columns::<S, Bytes<false>, 4, OF_PART>(simd, regs, &self.b, &mut b),
        }
        let mut sums = [[0; LANES]; 4];
        product(&a, &b, &mut sums);
        // Sums of 8-bit products cannot overflow 32 bits.
        match self.saturates {
            true => self.add(regs, &sums, |c, sum| (c as i32).saturating_add(sum) as u32),
            false => self.add(regs, &sums, |c, sum| (c as i32).wrapping_add(sum) as u32),
        }
    }
}

/// The bits of an `f16`, rounded to nearest even.
fn half_bits(sum: f32) -> u32 {
    match sum.is_nan() {
        true => 0x7fff,
        false => f16::from_f32(sum).to_bits().into(),
    }
}

/// Executes a product with the widest vectors of the processor.
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
