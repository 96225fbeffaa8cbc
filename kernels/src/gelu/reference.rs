//! The Gaussian error linear unit on the host, in double precision.

use kiln::Element;

/// Computes `y = gelu(x)` over n elements. If `form` is 1, gelu is exact; otherwise, it is the approximation with a
/// hyperbolic tangent.
///
/// # Panics
/// If a slice is shorter than n.
pub fn gelu<T: Element<Wide = f64>>(n: u32, form: u32, x: &[T], y: &mut [f64]) {
    let n = n as usize;
    for (y, x) in y[..n].iter_mut().zip(&x[..n]) {
        *y = of(form, x.to_f64());
    }
}

/// Computes gelu of one element. Both forms avoid a sum with 1, which would lose digits by cancellation if x is
/// negative. They use the identities `1 + erf(v) = erfc(-v)` and `1 + tanh(u) = 2 / (1 + exp(-2u))`.
pub fn of(form: u32, x: f64) -> f64 {
    if form == 1 {
        x / 2.0 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
    } else {
        let twice = 2.0 * (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
        x / (1.0 + (-twice).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_come_out() {
        // The first value is Phi(1) = 0.841344746..., where Phi is the normal distribution. The second value is
        // computed with the formula of the approximation.
        for (form, want) in [(1, 0.841_344_746_068_543), (2, 0.841_191_990_607_477)] {
            assert!((of(form, 1.0) - want).abs() < 1e-12, "form {form}");
            assert!((of(form, 1.0) - of(form, -1.0) - 1.0).abs() < 1e-12);
        }
    }
    #[test]
    fn far_below_zero_no_digit_is_lost() {
        // The expected value is x times the probability that a normal variable is below x. The probabilities are from
        // tables.
        for (x, chance) in [
            (-4.0, 3.167_124_183_311_99e-5),
            (-6.0, 9.865_876_450_376_98e-10),
        ] {
            let want: f64 = x * chance;
            assert!((of(1, x) / want - 1.0).abs() < 1e-13, "{x}");
        }
        let u = (2.0 / std::f64::consts::PI).sqrt() * (6.0 + 0.044_715 * 216.0);
        let want = -6.0 * (-2.0 * u).exp() / (1.0 + (-2.0 * u).exp());
        assert!((of(2, -6.0) / want - 1.0).abs() < 1e-13);
    }
}
