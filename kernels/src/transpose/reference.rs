//! Transposes a matrix on the host.

use kiln::Element;

/// Transposes `x` into `y`. `x` is rows x cols and `y` is cols x rows, both row-major.
///
/// # Panics
/// If a slice is shorter than its matrix.
pub fn transpose<T: Element<Wide = f64>>(rows: u32, cols: u32, x: &[T], y: &mut [f64]) {
    let (rows, cols) = (rows as usize, cols as usize);
    for row in 0..rows {
        for col in 0..cols {
            y[col * rows + row] = x[row * cols + col].to_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let mut y = [f64::NAN; 6];
        transpose(2, 3, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], &mut y);
        assert_eq!(y, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
