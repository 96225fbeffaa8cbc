//! RMS normalisation on the host, in double precision.

use kiln::Element;

/// Computes `y = x / sqrt(mean of squares + epsilon) * weight` along each row of a row-major matrix of rows x cols.
///
/// # Panics
/// If a slice is shorter than its matrix or row.
pub fn rms_norm<T: Element<Wide = f64>>(
    rows: u32,
    cols: u32,
    epsilon: f32,
    x: &[T],
    weight: &[T],
    y: &mut [f64],
) {
    let (rows, cols) = (rows as usize, cols as usize);
    let to = y[..rows * cols].chunks_exact_mut(cols);
    for (from, to) in x[..rows * cols].chunks_exact(cols).zip(to) {
        let squares = from.iter().map(|x| x.to_f64().powi(2)).sum::<f64>();
        let rms = (squares / cols as f64 + f64::from(epsilon)).sqrt();
        for ((y, x), weight) in to.iter_mut().zip(from).zip(weight) {
            *y = x.to_f64() / rms * weight.to_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_divided_by_the_root_of_its_mean_square() {
        let mut y = [f64::NAN; 2];
        // The mean of 1 and 49 is 25.
        rms_norm(1, 2, 0.0, &[1.0_f32, 7.0], &[1.0, 10.0], &mut y);
        assert_eq!(y, [0.2, 14.0]);
    }
}
