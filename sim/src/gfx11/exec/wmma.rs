//! Matrix products of a wave.
//!
//! AMD, "RDNA3 Instruction Set Architecture", section 7.9 ("Wave Matrix Multiply Accumulate"), for waves of 32 lanes: lane `l`
//! holds row `l % 16` of A, or column `l % 16` of B, in both halves of the wave. Register `r` of C and D holds row
//! `2 * r + l / 16`, column `l % 16`. The document does not say in which order products are added; here each is added in 32
//! bits by its index.

use half::f16;

use super::convert::f16_bits;
use super::packed_operands::parts;
use crate::FaultKind;
use crate::gfx11::isa::instruction::Packed;
use crate::gfx11::isa::operand::Src;
use crate::gfx11::isa::packed::PackedOp;
use crate::gfx11::wave::{Lanes, Wave};

/// A row of A or a column of B.
type Line = [f32; 16];

fn bf16(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// Rounds to bfloat16, to nearest even.
fn bf16_bits(value: f32) -> u32 {
    u32::from(half::bf16::from_f32(value).to_bits())
}

/// The registers of a source; all lanes of both halves must agree.
fn repeated(w: &Wave, one: &Packed, n: usize, count: usize) -> Result<Vec<Lanes>, FaultKind> {
    let registers: Vec<Lanes> = (0..count).map(|r| register(w, one.src[n], r)).collect();
    for (r, lanes) in registers.iter().enumerate() {
        if let Some(lane) = (0..16).find(|&lane| lanes[lane] != lanes[lane + 16]) {
            let (name, matrix) = (one.op.name(), ["A", "B"][n]);
            let what = format!(
                "{name} needs every row of A and column of B in both halves of the wave, but register {r} of {matrix} \
                 holds {:#x} in lane {lane} and {:#x} in lane {}",
                lanes[lane],
                lanes[lane + 16],
                lane + 16
            );
            return Err(FaultKind::Invalid { what });
        }
    }
    Ok(registers)
}

fn register(w: &Wave, src: Src, r: usize) -> Lanes {
    match src {
        Src::Vector(first) => w.vector[usize::from(first.wrapping_add(r as u8))],
        _ => w.lanes(src),
    }
}

/// Rows of A or columns of B, in 32 bits.
fn lines(w: &Wave, one: &Packed, n: usize) -> Result<[Line; 16], FaultKind> {
    let registers = repeated(w, one, n, 8)?;
    let is_f16 = matches!(one.op, PackedOp::WmmaF32F16 | PackedOp::WmmaF16F16);
    let value = |bits: u32, neg: u8| {
        let bits = bits & 0xffff ^ u32::from(neg >> n & 1) << 15;
        if is_f16 {
            f16::from_bits(bits as u16).to_f32()
        } else {
            bf16(bits)
        }
    };
    let mut lines = [[0.0; 16]; 16];
    for (lane, line) in lines.iter_mut().enumerate() {
        for k in 0..8 {
            let bits = registers[k][lane];
            line[2 * k] = value(bits, one.neg_low);
            line[2 * k + 1] = value(bits >> 16, one.neg_high);
        }
    }
    Ok(lines)
}

/// Adds the products of A and B to the rows of C.
fn multiply(a: &[Line; 16], b: &[Line; 16], sum: &mut [Line; 16]) {
    // By rows of B, so that sixteen columns are one step.
    let mut rows = [[0.0; 16]; 16];
    for (k, row) in rows.iter_mut().enumerate() {
        for (column, value) in row.iter_mut().enumerate() {
            *value = b[column][k];
        }
    }
    for (a, sum) in a.iter().zip(sum) {
        for (&factor, row) in a.iter().zip(&rows) {
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += factor * value;
            }
        }
    }
}

/// Executes a matrix product.
pub(super) fn wmma(w: &mut Wave, one: &Packed) -> Result<(), FaultKind> {
    if w.exec() != u32::MAX {
        let what = format!(
            "{} needs all lanes, and the mask is {:#x}",
            one.op.name(),
            w.exec()
        );
        return Err(FaultKind::Invalid { what });
    }
    match one.op {
        PackedOp::WmmaF32F16 | PackedOp::WmmaF32Bf16 => {
            let (a, b) = (lines(w, one, 0)?, lines(w, one, 1)?);
            let mut sum = addend(w, one, f32::from_bits);
            multiply(&a, &b, &mut sum);
            store(w, one, |row, column, _| sum[row][column].to_bits());
        }
        PackedOp::WmmaF16F16 | PackedOp::WmmaBf16Bf16 => {
            let (a, b) = (lines(w, one, 0)?, lines(w, one, 1)?);
            let shift = if one.select_low & 4 != 0 { 16 } else { 0 };
            let is_f16 = one.op == PackedOp::WmmaF16F16;
            let value = |bits: u32| match is_f16 {
                true => f16::from_bits((bits >> shift) as u16).to_f32(),
                false => bf16(bits >> shift & 0xffff),
            };
            let mut sum = addend(w, one, value);
            multiply(&a, &b, &mut sum);
            store(w, one, |row, column, old| {
                let bits = if is_f16 {
                    f16_bits(sum[row][column])
                } else {
                    bf16_bits(sum[row][column])
                };
                old & !(0xffff << shift) | bits << shift
            });
        }
        _ => integers(w, one)?,
    }
    Ok(())
}

/// Rows of C.
fn addend(w: &Wave, one: &Packed, value: impl Fn(u32) -> f32) -> [Line; 16] {
    let mut rows = [[0.0; 16]; 16];
    for r in 0..8 {
        let lanes = register(w, one.src[2], r);
        for (lane, &bits) in lanes.iter().enumerate() {
            let value = value(bits);
            let value = if one.neg_high & 4 != 0 {
                value.abs()
            } else {
                value
            };
            rows[2 * r + lane / 16][lane % 16] = if one.neg_low & 4 != 0 { -value } else { value };
        }
    }
    rows
}

/// Writes D; the function has the row, the column and the former value.
fn store(w: &mut Wave, one: &Packed, value: impl Fn(usize, usize, u32) -> u32) {
    for r in 0..8 {
        let lanes = &mut w.vector[usize::from(one.dst.wrapping_add(r as u8))];
        for (lane, bits) in lanes.iter_mut().enumerate() {
            *bits = value(2 * r + lane / 16, lane % 16, *bits);
        }
    }
}

fn integers(w: &mut Wave, one: &Packed) -> Result<(), FaultKind> {
    let (bits, count) = if one.op == PackedOp::WmmaI32Iu8 {
        (8, 4)
    } else {
        (4, 2)
    };
    let (a, b) = (repeated(w, one, 0, count)?, repeated(w, one, 1, count)?);
    let line = |registers: &[Lanes], n: usize, lane: usize| -> Vec<i64> {
        let is_signed = one.neg_low >> n & 1 != 0;
        registers
            .iter()
            .flat_map(|lanes| parts(lanes[lane], bits, is_signed))
            .collect()
    };
    let rows: Vec<Vec<i64>> = (0..16).map(|lane| line(&a, 0, lane)).collect();
    let columns: Vec<Vec<i64>> = (0..16).map(|lane| line(&b, 1, lane)).collect();
    let addends: Vec<Lanes> = (0..8).map(|r| register(w, one.src[2], r)).collect();
    store(w, one, |row, column, _| {
        let sum: i64 = rows[row]
            .iter()
            .zip(&columns[column])
            .map(|(a, b)| a * b)
            .sum();
        let sum = sum + i64::from(addends[row / 2][row % 2 * 16 + column] as i32);
        match one.clamp {
            true => sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32,
            false => sum as u32,
        }
    });
    Ok(())
}
