//! The registers of a warp. Each has 32 lanes in an array, so the compiler vectorises loops over the lanes.

use half::{bf16, f16};

use crate::undefined::{Registers, Row};

/// Number of lanes of a warp.
pub(super) const LANES: usize = 32;

/// The registers of a warp. A register of 8 or 16 bits is the low part of a 32-bit register.
#[derive(Clone, Debug, Default)]
pub(super) struct Regs {
    pub words: Vec<[u32; LANES]>,
    pub longs: Vec<[u64; LANES]>,
    /// The predicates, one bit per lane.
    pub preds: Vec<u32>,
    /// The carry of `add.cc` and similar instructions, one bit per lane.
    pub carry: u32,
}

impl Regs {
    /// Registers filled with garbage that depends on `seed`. Predicate 0 is always true.
    pub fn garbage(words: usize, longs: usize, preds: usize, seed: u64) -> Regs {
        let mut state = seed | 1;
        let mut next = || {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 29
        };
        let word: [u32; LANES] = std::array::from_fn(|_| next() as u32 | 0x4000_0001);
        let long: [u64; LANES] = std::array::from_fn(|_| next() | 1 << 62);
        let mut regs = Regs {
            words: vec![word; words],
            longs: vec![long; longs],
            preds: (0..preds).map(|_| next() as u32).collect(),
            carry: next() as u32,
        };
        regs.preds[0] = !0;
        regs
    }
}

/// The number of files by which the numbers of [`Registers`] are interleaved: words, longs, predicates and the carry.
pub(super) const FILES: usize = 4;
/// The number of the carry.
pub(super) const CARRY: usize = 3;

impl Registers for Regs {
    fn row(&self, register: usize) -> Row {
        let index = register / FILES;
        match register % FILES {
            0 => self.words[index].map(u64::from),
            1 => self.longs[index],
            file => {
                let bits = if file == CARRY {
                    self.carry
                } else {
                    self.preds[index]
                };
                std::array::from_fn(|lane| u64::from(bits >> lane & 1))
            }
        }
    }

    fn put_row(&mut self, register: usize, row: &Row) {
        let index = register / FILES;
        match register % FILES {
            0 => self.words[index] = row.map(|value| value as u32),
            1 => self.longs[index] = *row,
            file => {
                let bits = (0..)
                    .zip(row)
                    .fold(0, |all, (lane, bit)| all | (*bit as u32 & 1) << lane);
                let to = if file == CARRY {
                    &mut self.carry
                } else {
                    &mut self.preds[index]
                };
                *to = bits;
            }
        }
    }
}

/// The operands of an instruction on registers, as indices. The instruction determines to which register file each
/// index belongs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Args {
    pub d: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub e: u32,
    /// A constant that is chosen when the instruction is decoded.
    pub flags: u32,
}

/// Executes an instruction on registers, for the lanes of the mask.
pub(super) type Run = fn(&mut Regs, &Args, u32);

/// The value of a lane, in the type that an instruction uses.
pub(super) trait Cell: Copy {
    type Bits: Copy + Default;
    fn row(regs: &Regs, index: u32) -> &[Self::Bits; LANES];
    fn row_mut(regs: &mut Regs, index: u32) -> &mut [Self::Bits; LANES];
    fn get(bits: Self::Bits) -> Self;
    fn put(self) -> Self::Bits;
}

macro_rules! cell {
    ($file:ident $bits:ty: $($cell:ty, $get:expr, $put:expr;)*) => { $(
        impl Cell for $cell {
            type Bits = $bits;
            #[inline(always)]
            fn row(regs: &Regs, index: u32) -> &[$bits; LANES] {
                &regs.$file[index as usize]
            }
            #[inline(always)]
            fn row_mut(regs: &mut Regs, index: u32) -> &mut [$bits; LANES] {
                &mut regs.$file[index as usize]
            }
            #[inline(always)]
            fn get(bits: $bits) -> $cell {
                let get: fn($bits) -> $cell = $get;
                get(bits)
            }
            #[inline(always)]
            fn put(self) -> $bits {
                let put: fn($cell) -> $bits = $put;
                put(self)
            }
        }
    )* };
}

cell!(words u32:
    u32, |x| x, |x| x;
    i32, |x| x as i32, |x| x as u32;
    u16, |x| x as u16, u32::from;
    i16, |x| x as i16, |x| u32::from(x as u16);
    u8, |x| x as u8, u32::from;
    i8, |x| x as i8, |x| u32::from(x as u8);
    f32, f32::from_bits, f32::to_bits;
    f16, |x| f16::from_bits(x as u16), |x| u32::from(x.to_bits());
    bf16, |x| bf16::from_bits(x as u16), |x| u32::from(x.to_bits());
    [f16; 2], |x| [f16::from_bits(x as u16), f16::from_bits((x >> 16) as u16)],
        |[low, high]| u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16;
    [bf16; 2], |x| [bf16::from_bits(x as u16), bf16::from_bits((x >> 16) as u16)],
        |[low, high]| u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16;
    [i16; 2], |x| [x as i16, (x >> 16) as i16], |[low, high]| u32::from(low as u16) | u32::from(high as u16) << 16;
    [u16; 2], |x| [x as u16, (x >> 16) as u16], |[low, high]| u32::from(low) | u32::from(high) << 16;
);
cell!(longs u64:
    u64, |x| x, |x| x;
    i64, |x| x as i64, |x| x as u64;
    f64, f64::from_bits, f64::to_bits;
);

/// Writes a register in the lanes of the mask.
#[inline(always)]
pub(super) fn write<D: Cell>(regs: &mut Regs, d: u32, mask: u32, out: &[D::Bits; LANES]) {
    let row = D::row_mut(regs, d);
    if mask == !0 {
        *row = *out;
        return;
    }
    for (lane, (to, from)) in row.iter_mut().zip(out).enumerate() {
        if mask >> lane & 1 != 0 {
            *to = *from;
        }
    }
}

/// `d = f(a)` in the lanes of the mask. `f` is also called for inactive lanes, so it must not panic.
#[inline(always)]
pub(super) fn map1<D: Cell, A: Cell>(regs: &mut Regs, x: &Args, mask: u32, f: impl Fn(A) -> D) {
    let mut out = [D::Bits::default(); LANES];
    let a = A::row(regs, x.a);
    for lane in 0..LANES {
        out[lane] = f(A::get(a[lane])).put();
    }
    write::<D>(regs, x.d, mask, &out);
}

/// `d = f(a, b)`.
#[inline(always)]
pub(super) fn map2<D: Cell, A: Cell, B: Cell>(
    regs: &mut Regs,
    x: &Args,
    mask: u32,
    f: impl Fn(A, B) -> D,
) {
    let mut out = [D::Bits::default(); LANES];
    let (a, b) = (A::row(regs, x.a), B::row(regs, x.b));
    for lane in 0..LANES {
        out[lane] = f(A::get(a[lane]), B::get(b[lane])).put();
    }
    write::<D>(regs, x.d, mask, &out);
}

/// `d = f(a, b, c)`.
#[inline(always)]
pub(super) fn map3<D: Cell, A: Cell, B: Cell, C: Cell>(
    regs: &mut Regs,
    x: &Args,
    mask: u32,
    f: impl Fn(A, B, C) -> D,
) {
    let mut out = [D::Bits::default(); LANES];
    let (a, b, c) = (A::row(regs, x.a), B::row(regs, x.b), C::row(regs, x.c));
    for lane in 0..LANES {
        out[lane] = f(A::get(a[lane]), B::get(b[lane]), C::get(c[lane])).put();
    }
    write::<D>(regs, x.d, mask, &out);
}

/// `d = f(a, b, c, e)`.
#[inline(always)]
pub(super) fn map4<D: Cell, A: Cell, B: Cell, C: Cell, E: Cell>(
    regs: &mut Regs,
    x: &Args,
    mask: u32,
    f: impl Fn(A, B, C, E) -> D,
) {
    let mut out = [D::Bits::default(); LANES];
    let (a, b) = (A::row(regs, x.a), B::row(regs, x.b));
    let (c, e) = (C::row(regs, x.c), E::row(regs, x.e));
    for lane in 0..LANES {
        out[lane] = f(
            A::get(a[lane]),
            B::get(b[lane]),
            C::get(c[lane]),
            E::get(e[lane]),
        )
        .put();
    }
    write::<D>(regs, x.d, mask, &out);
}

/// One bit per lane: whether `f(a, b)` is true.
#[inline(always)]
pub(super) fn test2<A: Cell, B: Cell>(regs: &Regs, x: &Args, f: impl Fn(A, B) -> bool) -> u32 {
    let (a, b) = (A::row(regs, x.a), B::row(regs, x.b));
    let mut bytes = [0u32; LANES];
    for lane in 0..LANES {
        bytes[lane] = u32::from(f(A::get(a[lane]), B::get(b[lane]))) << lane;
    }
    bytes.iter().fold(0, |bits, bit| bits | bit)
}

/// Writes a predicate in the lanes of the mask. Writes to predicate 0 are ignored, because it stands for the
/// destination `_`.
#[inline(always)]
pub(super) fn write_pred(regs: &mut Regs, d: u32, mask: u32, bits: u32) {
    if d != 0 {
        let pred = &mut regs.preds[d as usize];
        *pred = *pred & !mask | bits & mask;
    }
}

/// The indices of the lanes in a mask, in ascending order.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}
