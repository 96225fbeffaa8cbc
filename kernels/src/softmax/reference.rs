//! Softmax on the host, in double precision.

use kiln::Element;

/// Computes `y = softmax(x)` along each row of a row-major matrix of rows x cols.
///
/// # Panics
/// If a slice is shorter than the matrix.
pub fn softmax<T: Element<Wide = f64>>(rows: u32, cols: u32, x: &[T], y: &mut [f64]) {
    let (rows, cols) = (rows as usize, cols as usize);
    if cols == 0 {
        return;
    }
    let to = y[..rows * cols].chunks_exact_mut(cols);
    for (from, to) in x[..rows * cols].chunks_exact(cols).zip(to) {
        let values = || from.iter().map(|x| x.to_f64());
        let largest = values().fold(f64::NEG_INFINITY, f64::max);
        for (y, x) in to.iter_mut().zip(values()) {
            *y = (x - largest).exp();
        }
        let sum: f64 = to.iter().sum();
        to.iter_mut().for_each(|y| *y /= sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_sum_to_one_and_keep_ratios() {
        let mut y = [f64::NAN; 6];
        let two = std::f32::consts::LN_2;
        softmax(2, 3, &[0.0, two, 0.0, 1000.0, 1000.0, 1000.0], &mut y);
        for (got, want) in y
            .iter()
            .zip([0.25, 0.5, 0.25, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0])
        {
            assert!((got - want).abs() < 1e-7, "{y:?}");
        }
    }
}
