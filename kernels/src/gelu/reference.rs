//! The Gaussian error linear unit on the host, in double precision.

use kiln::Element;

/// `y = gelu(x)` over n elements; `form` 1 is the exact one, anything else the approximation.
///
/// # Panics
/// When a slice is shorter than n.
pub fn gelu<T: Element<Wide = f64>>(n: u32, form: u32, x: &[T], y: &mut [f64]) {
    let n = n as usize;
    for (y, x) in y[..n].iter_mut().zip(&x[..n]) {
        *y = of(form, x.to_f64());
    }
}

/// One element.
pub fn of(form: u32, x: f64) -> f64 {
    let half = if form == 1 {
        libm::erf(x * std::f64::consts::FRAC_1_SQRT_2)
    } else {
        ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh()
    };
    x / 2.0 * (1.0 + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_come_out() {
        // Phi(1) = 0.841344746..., and the approximation's value from its formula.
        for (form, want) in [(1, 0.841_344_746_068_543), (2, 0.841_191_990_607_477)] {
            assert!((of(form, 1.0) - want).abs() < 1e-12, "form {form}");
            assert!((of(form, 1.0) - of(form, -1.0) - 1.0).abs() < 1e-12);
        }
    }
}
