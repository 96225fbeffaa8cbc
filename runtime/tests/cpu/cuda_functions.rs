//! Functions and constants of CUDA's headers: the ranges of 16-bit floats, casts between them, and the inverses of the
//! error functions.

use crate::on_cpu::{compile, devices, unit};
use crate::prelude::map;
use half::bf16;
use kiln::compiler::BuildKind;

/// Compares a function of every bfloat16 with Rust's, rounded to bfloat16. The results may be neighbours.
fn assert_of_bfloat16s(name: &str, expected: fn(f64) -> f64) {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let expression = format!(
        "({{ __nv_bfloat16 v = __ushort_as_bfloat16(x); __nv_bfloat162 two = h2{name}(__nv_bfloat162(v, v)); \
         __bfloat16_as_ushort(h{name}(v)) == __bfloat16_as_ushort(two.y) ? __bfloat16_as_ushort(two.x) : 0x1234; }})"
    );
    let check = |x: u16, y: u16| {
        let argument = bf16::from_bits(x);
        let (got, expected) = (
            bf16::from_bits(y),
            bf16::from_f64(expected(argument.to_f64())),
        );
        let near = got.to_bits().abs_diff(expected.to_bits()) <= 1 || got == expected;
        assert!(
            near || got.is_nan() && expected.is_nan(),
            "h{name}({argument}): {got}, expected {expected}"
        );
    };
    map("unsigned short -> unsigned short", &expression, &all, check);
}

#[test]
fn functions_of_bfloat16s_have_the_range_of_bfloat16s() {
    type Function = fn(f64) -> f64;
    let functions: [(&str, Function); 13] = [
        ("exp", f64::exp),
        ("exp2", f64::exp2),
        ("exp10", |x| 10_f64.powf(x)),
        ("log", f64::ln),
        ("log2", f64::log2),
        ("log10", f64::log10),
        ("tanh", f64::tanh),
        ("sqrt", f64::sqrt),
        ("rsqrt", |x| 1.0 / x.sqrt()),
        ("rcp", |x| 1.0 / x),
        ("floor", f64::floor),
        ("ceil", f64::ceil),
        ("rint", f64::round_ties_even),
    ];
    for (name, expected) in functions {
        assert_of_bfloat16s(name, expected);
    }
}

#[test]
fn a_bfloat16_becomes_a_half_by_a_cast_only() {
    let unit_of = |expression: &str| {
        let source = format!(
            "__global__ void k(float* y) {{ __nv_bfloat16 b(y[0]); half h = (half)y[0]; y[0] = {expression}; y[1] = h; }}"
        );
        unit(false, &source, "k")
    };
    for device in devices() {
        for right in [
            "(half)b",
            "(__nv_bfloat16)h",
            "b > 0.0f && b == b && b != 1",
            "(y[1] += b)",
        ] {
            let compiled = compile(&device, &unit_of(right), BuildKind::Release);
            assert!(compiled.is_ok(), "{right}: {compiled:?}");
        }
        let mut wrong = vec!["__half2int_rn(b)", "__half2float(b)"];
        if cfg!(target_arch = "x86_64") {
            // On aarch64, g++ 12 has only `__fp16`, which becomes a float wherever one is accepted.
            wrong.push("__bfloat162float(h)");
        }
        for wrong in wrong {
            let compiled = compile(&device, &unit_of(wrong), BuildKind::Release);
            assert!(compiled.is_err(), "{wrong}");
        }
    }
}

#[test]
fn constants_have_the_values_of_the_c_library() {
    let constants = [
        ("M_E", std::f64::consts::E),
        ("M_LN2", std::f64::consts::LN_2),
        ("M_PI_2", std::f64::consts::FRAC_PI_2),
        ("M_2_SQRTPI", std::f64::consts::FRAC_2_SQRT_PI),
        ("M_SQRT2", std::f64::consts::SQRT_2),
        ("M_SQRT1_2", std::f64::consts::FRAC_1_SQRT_2),
        ("CUDART_L2E", std::f64::consts::LOG2_E),
    ];
    for (name, expected) in constants {
        let check = |_: f64, y: f64| assert_eq!(y, expected, "{name}");
        map("double -> double", &format!("x + {name}"), &[0.0], check);
    }
}

#[test]
fn inverses_of_the_error_functions_are_inverses() {
    let input: Vec<f64> = (1..2000)
        .map(|i| f64::from(i) / 1000.0)
        .chain((1..300).map(|i| 10_f64.powi(-i)))
        .collect();
    for expression in [
        "erfc(erfcinv(x)) / x",
        "(x < 1 ? normcdf(normcdfinv(x)) / x : 1)",
        "(x < 0.95 ? erf(erfinv(x)) / x : 1)",
    ] {
        map("double -> double", expression, &input, |x: f64, y: f64| {
            // The error of the last bit of the inverse grows with its square.
            let bound = 4e-16 * (1.0 - 4.0 * (x.min(1.0)).ln());
            assert!((y - 1.0).abs() <= bound, "{expression} of {x}: {y}");
        });
    }
}
