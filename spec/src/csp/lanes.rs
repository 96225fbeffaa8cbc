//! Runs the steps of a level, which sets one variable. Each step computes one result for every value of the variable at
//! once.

use super::program::{Operand, Program, Step};
use super::python;
use super::register::{Code, Values};

/// Buffers for the results of the steps. They are reused for each state.
#[derive(Debug, Default)]
pub(super) struct LaneScratch {
    lanes: Vec<i64>,
    /// For each value of the level's variable, whether it has passed all checks so far.
    pub(super) passing: Vec<bool>,
}

/// The bits of an operand: one result for all values of the variable, or one result for each value.
#[derive(Clone, Copy)]
enum Bits<'a> {
    One(i64),
    Each(&'a [i64]),
}

impl LaneScratch {
    /// Resizes the buffers for a program.
    pub(super) fn fit(&mut self, program: &Program) {
        let width = program.places.len();
        self.lanes.resize(program.lanes * width, 0);
        self.passing.resize(width, true);
        self.passing.truncate(width);
    }

    /// Runs the steps of a program for one state. `false` if no value passes the checks.
    pub(super) fn run(&mut self, program: &Program, state: &[i64], values: &mut Values) -> bool {
        let width = program.places.len();
        self.passing.fill(true);
        for step in &program.steps {
            match step {
                Step::Code { code, x, y, lane } => {
                    let (before, rest) = self.lanes.split_at_mut(lane * width);
                    let x = bits(*x, program, state, before);
                    let y = bits(*y, program, state, before);
                    run_code(*code, x, y, &mut rest[..width]);
                }
                Step::General {
                    function,
                    arguments,
                    lane,
                    repr,
                } => {
                    let (before, rest) = self.lanes.split_at_mut(lane * width);
                    for (i, out) in rest[..width].iter_mut().enumerate() {
                        if !self.passing[i] {
                            continue;
                        }
                        let mut outcomes = [None; 3];
                        for (outcome, (operand, repr)) in outcomes.iter_mut().zip(arguments) {
                            let bits = bits(*operand, program, state, before).at(i);
                            *outcome = values.decode(bits, *repr);
                        }
                        let arguments = &outcomes[..arguments.len().min(3)];
                        *out = values.encode(program.semantics.apply(*function, arguments), *repr);
                    }
                }
                Step::Check { x, truth } => {
                    let x = bits(*x, program, state, &self.lanes);
                    if !retain(&mut self.passing, x, *truth) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// The bits of an operand for the value at index `i` of the program's values.
    pub(super) fn at(&self, operand: Operand, program: &Program, state: &[i64], i: usize) -> i64 {
        bits(operand, program, state, &self.lanes).at(i)
    }
}

impl Bits<'_> {
    fn at(self, i: usize) -> i64 {
        match self {
            Bits::One(bits) => bits,
            Bits::Each(bits) => bits[i],
        }
    }
}

fn bits<'a>(operand: Operand, program: &'a Program, state: &[i64], lanes: &'a [i64]) -> Bits<'a> {
    let width = program.places.len();
    match operand {
        Operand::Const(bits) => Bits::One(bits),
        Operand::State(slot) => Bits::One(state[slot]),
        Operand::Table(table) => Bits::Each(&program.tables[table * width..][..width]),
        Operand::Lane(lane) => Bits::Each(&lanes[lane * width..][..width]),
    }
}

/// Marks as failed the values for which the bits of `x` differ from `truth`. Returns `false` if no value is left.
fn retain(passing: &mut [bool], x: Bits<'_>, truth: i64) -> bool {
    match x {
        Bits::One(bits) => bits == truth && passing.contains(&true),
        Bits::Each(bits) => {
            let mut any = false;
            for (passing, bits) in passing.iter_mut().zip(bits) {
                *passing &= *bits == truth;
                any |= *passing;
            }
            any
        }
    }
}

/// Applies `f` to the operands for each value.
fn map(x: Bits<'_>, y: Bits<'_>, out: &mut [i64], f: impl Fn(i64, i64) -> i64) {
    match (x, y) {
        (Bits::Each(x), Bits::Each(y)) => {
            for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
                *out = f(*x, *y);
            }
        }
        (Bits::Each(x), Bits::One(y)) => {
            for (out, x) in out.iter_mut().zip(x) {
                *out = f(*x, y);
            }
        }
        (Bits::One(x), Bits::Each(y)) => {
            for (out, y) in out.iter_mut().zip(y) {
                *out = f(x, *y);
            }
        }
        (Bits::One(x), Bits::One(y)) => out.fill(f(x, y)),
    }
}

/// Like [`map`], for a function of doubles.
fn map_float(x: Bits<'_>, y: Bits<'_>, out: &mut [i64], f: impl Fn(f64, f64) -> f64) {
    let float = |bits: i64| f64::from_bits(bits as u64);
    map(x, y, out, |x, y| f(float(x), float(y)).to_bits() as i64);
}

/// Like [`map`], for a comparison of doubles.
fn test_float(x: Bits<'_>, y: Bits<'_>, out: &mut [i64], f: impl Fn(f64, f64) -> bool) {
    let float = |bits: i64| f64::from_bits(bits as u64);
    map(x, y, out, |x, y| f(float(x), float(y)).into());
}

fn run_code(code: Code, x: Bits<'_>, y: Bits<'_>, out: &mut [i64]) {
    match code {
        Code::AddInt => map(x, y, out, |x, y| x.wrapping_add(y)),
        Code::MulInt => map(x, y, out, |x, y| x.wrapping_mul(y)),
        Code::DivInt => map(x, y, out, |x, y| x.wrapping_div(y)),
        Code::RemInt => map(x, y, out, |x, y| x.wrapping_rem(y)),
        Code::FloorDivInt => map(x, y, out, |x, y| {
            let (quotient, rest) = (x.wrapping_div(y), x.wrapping_rem(y));
            quotient - i64::from(rest != 0 && (rest < 0) != (y < 0))
        }),
        Code::FloorModInt => map(x, y, out, |x, y| {
            let rest = x.wrapping_rem(y);
            if rest != 0 && (rest < 0) != (y < 0) {
                rest + y
            } else {
                rest
            }
        }),
        Code::DivCeilInt => map(x, y, out, |x, y| {
            x.wrapping_div(y) + i64::from(x.wrapping_rem(y) != 0)
        }),
        Code::MinInt => map(x, y, out, i64::min),
        Code::MaxInt => map(x, y, out, i64::max),
        Code::And => map(x, y, out, |x, y| x & y),
        Code::Or => map(x, y, out, |x, y| x | y),
        Code::Eq => map(x, y, out, |x, y| (x == y).into()),
        Code::Ne => map(x, y, out, |x, y| (x != y).into()),
        Code::LtInt => map(x, y, out, |x, y| (x < y).into()),
        Code::LeInt => map(x, y, out, |x, y| (x <= y).into()),
        Code::GtInt => map(x, y, out, |x, y| (x > y).into()),
        Code::GeInt => map(x, y, out, |x, y| (x >= y).into()),
        Code::AbsInt => map(x, y, out, |x, _| x.abs()),
        Code::IntToFloat => map(x, y, out, |x, _| (x as f64).to_bits() as i64),
        Code::AddFloat => map_float(x, y, out, |x, y| x + y),
        Code::SubFloat => map_float(x, y, out, |x, y| x - y),
        Code::MulFloat => map_float(x, y, out, |x, y| x * y),
        Code::DivFloat => map_float(x, y, out, |x, y| x / y),
        Code::FloorDivFloat => map_float(x, y, out, python::floor_quotient),
        Code::FloorModFloat => map_float(x, y, out, python::remainder),
        Code::MinFloat => map_float(x, y, out, |x, y| if y < x { y } else { x }),
        Code::MaxFloat => map_float(x, y, out, |x, y| if y > x { y } else { x }),
        Code::NegFloat => map_float(x, y, out, |x, _| -x),
        Code::AbsFloat => map_float(x, y, out, |x, _| x.abs()),
        Code::EqFloat => test_float(x, y, out, |x, y| x == y),
        Code::NeFloat => test_float(x, y, out, |x, y| x != y),
        Code::LtFloat => test_float(x, y, out, |x, y| x < y),
        Code::LeFloat => test_float(x, y, out, |x, y| x <= y),
        Code::GtFloat => test_float(x, y, out, |x, y| x > y),
        Code::GeFloat => test_float(x, y, out, |x, y| x >= y),
    }
}
