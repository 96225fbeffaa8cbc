//! Layer normalisation on the host, in double precision.

use kiln::Element;

/// Computes `y = (x - mean) / sqrt(variance + epsilon) * weight + bias` along each row of a row-major matrix of rows
/// x cols.
///
/// # Panics
/// If a slice is shorter than its matrix or row.
pub fn layer_norm<T: Element<Wide = f64>>(
    rows: u32,
    cols: u32,
    epsilon: f32,
    x: &[T],
    weight: &[T],
    bias: &[T],
    y: &mut [f64],
) {
    let (rows, cols) = (rows as usize, cols as usize);
    let to = y[..rows * cols].chunks_exact_mut(cols);
    for (from, to) in x[..rows * cols].chunks_exact(cols).zip(to) {
        let mean = from.iter().map(|x| x.to_f64()).sum::<f64>() / cols as f64;
        let squares = from
            .iter()
            .map(|x| (x.to_f64() - mean).powi(2))
            .sum::<f64>();
        let deviation = (squares / cols as f64 + f64::from(epsilon)).sqrt();
        for (col, (y, x)) in to.iter_mut().zip(from).enumerate() {
            *y = (x.to_f64() - mean) / deviation * weight[col].to_f64() + bias[col].to_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_mean_taken_off_and_is_divided_by_its_deviation() {
        let mut y = [f64::NAN; 2];
        // The mean is 3 and the standard deviation is 2.
        layer_norm(
            1,
            2,
            0.0,
            &[1.0_f32, 5.0],
            &[1.0, 10.0],
            &[0.5, 0.0],
            &mut y,
        );
        assert_eq!(y, [-0.5, 10.0]);
    }
}
