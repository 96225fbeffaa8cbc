//! Conversion (PTX ISA 9.7.9, `cvt`).

use half::{bf16, f16};

use super::float::{FTZ, SAT, canonical, direction, flush, modifiers};
use super::{Alu, Mods, flagged};
use crate::halves::half_value;
use crate::ptx::regs::{Args, Cell, Regs, Run, map1, map2};
use crate::ptx::rounding::{BF16, F16, F32, Format, Mode, TF32, round};
use crate::ptx::types::Type::{self, B, S, U};

/// Rounds the result to an integral number, although its type is a float.
const INTEGRAL: u32 = 16;
/// Replaces a negative result by zero.
const RELU: u32 = 32;
/// Rounds ties away from zero.
const AWAY: u32 = 64;

/// Decodes an instruction. Returns `None` if this file does not implement the instruction.
pub(super) fn decode(m: &Mods) -> Option<Alu> {
    let &[to, from] = &m.types()[..] else {
        return None;
    };
    if m.has("satfinite") || m.has("scaled") || m.has("rs") {
        return None;
    }
    let mut flags = modifiers(m);
    flags |= match () {
        () if m.has("rni") => INTEGRAL,
        () if m.has("rzi") => 1 | INTEGRAL,
        () if m.has("rmi") => 2 | INTEGRAL,
        () if m.has("rpi") => 3 | INTEGRAL,
        () => 0,
    };
    flags |= if m.has("relu") { RELU } else { 0 } | if m.has("rna") { AWAY } else { 0 };
    match to {
        Type::F16x2 if from == Type::F32 => {
            return flagged(pack::<f16>, &[B(32), from, from], flags);
        }
        Type::Bf16x2 if from == Type::F32 => {
            return flagged(pack::<bf16>, &[B(32), from, from], flags);
        }
        Type::Tf32 if from == Type::F32 => return flagged(to_tf32, &[B(32), from], flags),
        _ => {}
    }
    let run = match (to.integer(), from.integer()) {
        (true, true) => integers(to, from, flags & SAT != 0)?,
        (true, false) => from_floats(to, from)?,
        (false, true) => to_floats(to, from)?,
        (false, false) => floats(to, from, flags)?,
    };
    flagged(run, &[to, from], flags)
}

/// An integer type.
trait Int: Cell {
    /// The value, sign-extended or zero-extended to 64 bits.
    fn extended(self) -> u64;
    fn value(self) -> i128;
    fn truncated(bits: u64) -> Self;
    fn clamped(value: i128) -> Self;
    /// Converts an integral number, and clamps it to the range of the type. A NaN gives 0.
    fn near(x: f64) -> Self;
    const MIDDLE: u64;
    const WIDE: bool;
}

macro_rules! ints {
    ($($t:ty),*) => { $(
        impl Int for $t {
            #[inline(always)]
            fn extended(self) -> u64 { self as i64 as u64 }
            fn value(self) -> i128 { i128::from(self) }
            #[inline(always)]
            fn truncated(bits: u64) -> $t { bits as $t }
            fn clamped(value: i128) -> $t { value.clamp(<$t>::MIN.into(), <$t>::MAX.into()) as $t }
            fn near(x: f64) -> $t { x as $t }
            const MIDDLE: u64 = 1 << (<$t>::BITS - 1);
            const WIDE: bool = <$t>::BITS == 64;
        }
    )* };
}

ints!(u8, u16, u32, u64, i8, i16, i32, i64);

macro_rules! over_ints {
    ($ty:expr, |$t:ident| $body:expr) => {{
        let run: Run = match $ty {
            U(8) | B(8) => {
                type $t = u8;
                $body
            }
            U(16) | B(16) => {
                type $t = u16;
                $body
            }
            U(32) | B(32) => {
                type $t = u32;
                $body
            }
            U(64) | B(64) => {
                type $t = u64;
                $body
            }
            S(8) => {
                type $t = i8;
                $body
            }
            S(16) => {
                type $t = i16;
                $body
            }
            S(32) => {
                type $t = i32;
                $body
            }
            S(64) => {
                type $t = i64;
                $body
            }
            _ => return None,
        };
        Some(run)
    }};
}

fn integers(to: Type, from: Type, saturates: bool) -> Option<Run> {
    over_ints!(from, |A| integers_to::<A>(to, saturates)?)
}

fn integers_to<A: Int + 'static>(to: Type, saturates: bool) -> Option<Run> {
    // A narrow signed result is sign-extended to the register (9.4.1), which has at least 16 bits.
    if to == S(8) && !saturates {
        return Some(|r, x, m| map1(r, x, m, |a: A| a.extended() as i8 as i16));
    }
    over_ints!(to, |D| match saturates {
        true => |r, x, m| map1(r, x, m, |a: A| D::clamped(a.value())),
        false => |r, x, m| map1(r, x, m, |a: A| D::truncated(a.extended())),
    })
}

/// A float type.
trait Float: Cell {
    fn double(self) -> f64;
    /// The value of this type that equals `x`. The type must be able to represent `x`.
    fn exact(x: f64) -> Self;
    /// The format to round to, or `None` for `f64`.
    const FORMAT: Option<Format>;
}

impl Float for f32 {
    fn double(self) -> f64 {
        self.into()
    }
    fn exact(x: f64) -> f32 {
        canonical(x as f32)
    }
    const FORMAT: Option<Format> = Some(F32);
}

impl Float for f64 {
    fn double(self) -> f64 {
        self
    }
    fn exact(x: f64) -> f64 {
        x
    }
    const FORMAT: Option<Format> = None;
}

macro_rules! half {
    ($t:ty, $format:expr) => {
        impl Float for $t {
            fn double(self) -> f64 {
                self.to_f64()
            }
            // The NaN of both types is 0x7fff (9.7.4).
            fn exact(x: f64) -> $t {
                match x.is_nan() {
                    true => <$t>::from_bits(0x7fff),
                    false => <$t>::from_f64(x),
                }
            }
            const FORMAT: Option<Format> = Some($format);
        }
    };
}

half!(f16, F16);
half!(bf16, BF16);

macro_rules! over_floats {
    ($ty:expr, |$t:ident| $body:expr) => {{
        let run: Run = match $ty {
            Type::F16 => {
                type $t = f16;
                $body
            }
            Type::Bf16 => {
                type $t = bf16;
                $body
            }
            Type::F32 => {
                type $t = f32;
                $body
            }
            Type::F64 => {
                type $t = f64;
                $body
            }
            _ => return None,
        };
        Some(run)
    }};
}

fn integral(x: f64, flags: u32) -> f64 {
    match direction(flags) {
        Mode::Zero => x.trunc(),
        Mode::Down => x.floor(),
        Mode::Up => x.ceil(),
        _ => x.round_ties_even(),
    }
}

fn from_floats(to: Type, from: Type) -> Option<Run> {
    over_floats!(from, |A| from_float::<A>(to)?)
}

/// Converts a float to an integer. A NaN becomes 0, unless the source is `f64` or the result has 64 bits. In these two
/// cases, only the top bit of the result is set (9.7.9.21).
fn from_float<A: Float + 'static>(to: Type) -> Option<Run> {
    over_ints!(to, |D| |r, x, m| {
        map1(r, x, m, |a: A| {
            let value = integral(a.double(), x.flags);
            let value = if x.flags & FTZ != 0 && a.double().abs() < f64::from(f32::MIN_POSITIVE) {
                0.0
            } else {
                value
            };
            match value.is_nan() && (D::WIDE || A::FORMAT.is_none()) {
                true => D::truncated(D::MIDDLE),
                false => D::near(value),
            }
        })
    })
}

fn to_floats(to: Type, from: Type) -> Option<Run> {
    over_ints!(from, |A| to_float::<A>(to)?)
}

fn to_float<A: Int + 'static>(to: Type) -> Option<Run> {
    over_floats!(to, |D| |r, x, m| map1(r, x, m, |a: A| from_integer::<D>(
        a.value(),
        x.flags
    )))
}

fn from_integer<D: Float>(value: i128, flags: u32) -> D {
    let magnitude = value.unsigned_abs() as u64;
    let Some(format) = D::FORMAT else {
        return D::exact(double_of(magnitude, value < 0, flags));
    };
    // 53 bits are enough for the second rounding if the last one is sticky (set if any of the dropped bits is set).
    let excess = 11u32.saturating_sub(magnitude.leading_zeros());
    let kept = magnitude >> excess << excess;
    let sticky = if magnitude != kept { 1u64 << excess } else { 0 };
    let odd = (kept | sticky) as f64;
    let signed = if value < 0 { -odd } else { odd };
    D::exact(finished(round(signed, format, direction(flags)), flags))
}

fn double_of(magnitude: u64, negative: bool, flags: u32) -> f64 {
    let near = magnitude as f64;
    let up = match direction(flags) {
        Mode::Up => !negative,
        Mode::Down => negative,
        _ => false,
    };
    let exact = near as u128;
    let x = match direction(flags) {
        Mode::Near => near,
        _ if up && exact < u128::from(magnitude) => near.next_up(),
        _ if !up && exact > u128::from(magnitude) => near.next_down(),
        _ => near,
    };
    if negative { -x } else { x }
}

/// Applies `.sat`, which clamps to [0, 1] and turns NaN into 0, and `.relu`.
fn finished(x: f64, flags: u32) -> f64 {
    match () {
        () if flags & SAT != 0 => {
            if x > 0.0 {
                x.min(1.0)
            } else {
                0.0
            }
        }
        () if flags & RELU != 0 && x <= 0.0 => 0.0,
        () => x,
    }
}

fn floats(to: Type, from: Type, flags: u32) -> Option<Run> {
    match (to, from) {
        // Without modifiers, the wider type can represent every value, so no rounding is needed.
        (Type::F32, Type::F16) if flags == 0 => {
            Some(|r, x, m| map1(r, x, m, |a: u16| canonical(half_value(a))))
        }
        (Type::F32, Type::Bf16) if flags == 0 => {
            Some(|r, x, m| map1(r, x, m, |a: bf16| canonical(a.to_f32())))
        }
        (Type::F64, Type::F32) if flags == 0 => {
            Some(|r, x, m| map1(r, x, m, |a: f32| f64::from(a)))
        }
        (Type::F16, Type::F32) => {
            Some(|r, x, m| map1(r, x, m, |a: f32| narrowed::<f16>(a, x.flags)))
        }
        (Type::Bf16, Type::F32) => {
            Some(|r, x, m| map1(r, x, m, |a: f32| narrowed::<bf16>(a, x.flags)))
        }
        _ => over_floats!(from, |A| float_to_float::<A>(to)?),
    }
}

fn float_to_float<A: Float + 'static>(to: Type) -> Option<Run> {
    over_floats!(to, |D| convert::<D, A>)
}

fn convert<D: Float, A: Float>(r: &mut Regs, x: &Args, m: u32) {
    let flags = x.flags;
    map1(r, x, m, |a: A| {
        let mut value = a.double();
        let small = |value: f64| flags & FTZ != 0 && value.abs() < f64::from(f32::MIN_POSITIVE);
        if A::FORMAT.is_some_and(|format| format.fraction == 23) && small(value) {
            value = 0f64.copysign(value);
        }
        if flags & INTEGRAL != 0 {
            value = integral(value, flags);
        }
        if let Some(format) = D::FORMAT {
            value = round(value, format, direction(flags));
            if format.fraction == 23 && small(value) {
                value = 0f64.copysign(value);
            }
        }
        D::exact(finished(value, flags))
    });
}

fn narrowed<D: Float>(a: f32, flags: u32) -> D {
    let x = f64::from(flush(a, flags));
    let format = D::FORMAT.unwrap_or(F32);
    D::exact(finished(round(x, format, direction(flags)), flags))
}

/// Converts two numbers into the halves of one register. `a` becomes the upper half.
fn pack<D: Float + Cell<Bits = u32>>(r: &mut Regs, x: &Args, m: u32) {
    map2(r, x, m, |a: f32, b: f32| {
        let [high, low] = [a, b].map(|v| narrowed::<D>(v, x.flags).put());
        high << 16 | low
    });
}

fn to_tf32(r: &mut Regs, x: &Args, m: u32) {
    let mode = if x.flags & AWAY != 0 {
        Mode::Away
    } else {
        direction(x.flags)
    };
    map1(r, x, m, |a: f32| {
        f32::exact(finished(round(a.into(), TF32, mode), x.flags))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::regs::LANES;

    fn convert_bits(opcode: &str, from: u64) -> u64 {
        let alu = decode(&Mods::new(opcode)).unwrap();
        let mut regs = Regs::garbage(2, 2, 1, 7);
        regs.words[0] = [from as u32; LANES];
        regs.longs[0] = [from; LANES];
        let args = Args {
            d: 1,
            flags: alu.flags,
            ..Args::default()
        };
        (alu.run)(&mut regs, &args, !0);
        if alu.types[0].wide() {
            regs.longs[1][31]
        } else {
            regs.words[1][31].into()
        }
    }

    #[test]
    fn floats_become_integers_in_four_directions_and_saturate() {
        let bits = |x: f32| u64::from(x.to_bits());
        assert_eq!(convert_bits("cvt.rni.s32.f32", bits(2.5)), 2);
        assert_eq!(convert_bits("cvt.rpi.s32.f32", bits(2.1)), 3);
        assert_eq!(
            convert_bits("cvt.rmi.s32.f32", bits(-2.1)),
            (-3i32) as u32 as u64
        );
        assert_eq!(convert_bits("cvt.rzi.u32.f32", bits(-5.0)), 0);
        assert_eq!(convert_bits("cvt.rzi.s32.f32", bits(3e9)), 0x7fff_ffff);
        assert_eq!(convert_bits("cvt.rzi.s32.f32", bits(f32::NAN)), 0);
        assert_eq!(convert_bits("cvt.rzi.s64.f32", bits(f32::NAN)), 1 << 63);
        assert_eq!(convert_bits("cvt.rzi.s32.f64", f64::NAN.to_bits()), 1 << 31);
    }

    #[test]
    fn integers_become_floats_with_one_rounding() {
        let odd = (1u64 << 54) + (1 << 30) + 1;
        assert_eq!(
            convert_bits("cvt.rn.f32.u64", odd),
            u64::from((odd as f32).to_bits())
        );
        assert_eq!(
            convert_bits("cvt.rp.f32.u32", 0x0100_0001),
            u64::from(16_777_218f32.to_bits())
        );
        assert_eq!(convert_bits("cvt.rz.f64.s64", u64::MAX), (-1f64).to_bits());
        assert_eq!(
            convert_bits("cvt.rm.f64.u64", u64::MAX),
            18_446_744_073_709_549_568f64.to_bits()
        );
    }

    #[test]
    fn halves_round_and_their_nan_is_7fff() {
        let bits = |x: f32| u64::from(x.to_bits());
        assert_eq!(convert_bits("cvt.rn.f16.f32", bits(65519.0)), 0x7bff);
        assert_eq!(convert_bits("cvt.rn.f16.f32", bits(65520.0)), 0x7c00);
        assert_eq!(convert_bits("cvt.rz.f16.f32", bits(1e9)), 0x7bff);
        assert_eq!(convert_bits("cvt.rn.bf16.f32", bits(f32::NAN)), 0x7fff);
        assert_eq!(convert_bits("cvt.f32.f16", 0x3c01), bits(1.000_976_6));
        assert_eq!(convert_bits("cvt.sat.f32.f32", bits(1.5)), bits(1.0));
    }

    #[test]
    fn narrow_integers_extend_by_their_sign() {
        assert_eq!(convert_bits("cvt.s64.s32", 0xffff_fffe), u64::MAX - 1);
        assert_eq!(convert_bits("cvt.u64.u32", 0xffff_fffe), 0xffff_fffe);
        assert_eq!(convert_bits("cvt.u32.u64", 0x1_0000_0002), 2);
        assert_eq!(convert_bits("cvt.sat.u8.s32", 300), 255);
        assert_eq!(convert_bits("cvt.s32.s8", 0x80), 0xffff_ff80);
    }
}
