//! Convolution with a 15 x 15 filter on the host, accumulated in double precision.

/// Computes `y`. Its element `y[r][c]` is the sum over i, j of `filter[i][j] * x[r + i][c + j]`.
///
/// # Panics
/// If a slice is shorter than its matrix.
pub fn conv2d(height: u32, width: u32, x: &[f32], filter: &[f32], y: &mut [f64]) {
    let (height, width) = (height as usize, width as usize);
    for (row, to) in y.chunks_exact_mut(width).take(height).enumerate() {
        to.fill(0.0);
        for (tap, &factor) in filter.iter().take(225).enumerate() {
            let from = &x[(row + tap / 15) * (width + 14) + tap % 15..][..width];
            for (sum, &x) in to.iter_mut().zip(from) {
                *sum += f64::from(factor) * f64::from(x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_of_one_tap_moves_the_image() {
        let (mut x, mut filter, mut y) = ([0.0; 16 * 15], [0.0; 225], [f64::NAN; 2]);
        // Output row 1 depends on input rows 1 to 15, and the only tap that is not zero is the last one.
        x[15 * 15 + 14] = 3.0;
        filter[224] = 2.0;
        conv2d(2, 1, &x, &filter, &mut y);
        assert_eq!(y, [0.0, 6.0]);
    }
}
