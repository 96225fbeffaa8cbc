//! Adds a bias and applies the Gaussian error linear unit on the host, in double precision.

use kiln::Element;

use crate::gelu::reference::of;

/// Computes `y = gelu(x + bias)` along each row of a row-major matrix of rows x cols.
///
/// # Panics
/// If a slice is shorter than its matrix or row.
pub fn bias_gelu<T: Element<Wide = f64>>(
    rows: u32,
    cols: u32,
    form: u32,
    x: &[T],
    bias: &[T],
    y: &mut [f64],
) {
    let (rows, cols) = (rows as usize, cols as usize);
    let to = y[..rows * cols].chunks_exact_mut(cols);
    for (from, to) in x[..rows * cols].chunks_exact(cols).zip(to) {
        for ((y, x), bias) in to.iter_mut().zip(from).zip(&bias[..cols]) {
            *y = of(form, x.to_f64() + bias.to_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_has_its_bias() {
        let mut y = [f64::NAN; 4];
        bias_gelu(2, 2, 1, &[0.0_f32, 1.0, 2.0, 3.0], &[1.0, -3.0], &mut y);
        assert_eq!(y, [of(1, 1.0), of(1, -2.0), of(1, 3.0), 0.0]);
    }
}
