//! Convolution with 3 x 3 filters on the host, accumulated in double precision.

use kiln::Element;

/// Convolves `x` with `weight`. `x` is images x height x width x channels, `weight` is 3 x 3 x channels x filters, and
/// `y` is images x height x width x filters. Pixels outside an image are zero.
///
/// # Panics
/// If a slice is shorter than its tensor.
#[allow(clippy::too_many_arguments)] // as the kernel
pub fn conv3x3<T: Element<Wide = f64>>(
    images: u32,
    height: u32,
    width: u32,
    channels: u32,
    filters: u32,
    x: &[T],
    weight: &[T],
    y: &mut [f64],
) {
    let (height, width) = (height as usize, width as usize);
    let (channels, filters) = (channels as usize, filters as usize);
    let x: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
    let weight: Vec<f64> = weight.iter().map(|x| x.to_f64()).collect();
    let pixels = images as usize * height * width;
    for (pixel, to) in y.chunks_exact_mut(filters).take(pixels).enumerate() {
        to.fill(0.0);
        let (row, col) = (pixel / width % height, pixel % width);
        for tap in 0..9 {
            // The row and column numbers are larger by one, so that none is negative.
            let (from_row, from_col) = (row + tap / 3, col + tap % 3);
            if !(1..=height).contains(&from_row) || !(1..=width).contains(&from_col) {
                continue;
            }
            let from = pixel + (tap / 3) * width + tap % 3 - width - 1;
            for channel in 0..channels {
                let factor = x[from * channels + channel];
                let weights = &weight[(tap * channels + channel) * filters..][..filters];
                for (sum, weight) in to.iter_mut().zip(weights) {
                    *sum += factor * weight;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_looks_right_and_down_moves_the_image() {
        // With one channel, the filter adds the pixel below and to the right (tap 8) and ten times the pixel itself
        // (tap 4).
        let mut weight = [0.0_f32; 9];
        (weight[8], weight[4]) = (1.0, 10.0);
        let mut y = [f64::NAN; 4];
        conv3x3(1, 2, 2, 1, 1, &[1.0_f32, 2.0, 3.0, 4.0], &weight, &mut y);
        assert_eq!(y, [14.0, 20.0, 30.0, 40.0]);
    }
}
