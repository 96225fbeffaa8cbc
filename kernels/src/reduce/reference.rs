//! Sum or maximum along rows on the host, in double precision.

use kiln::Element;

/// Computes the sum (if `operation` is 1) or the maximum (otherwise) of each row of a row-major matrix of rows x
/// cols.
///
/// # Panics
/// If a slice is shorter than its matrix or column.
pub fn reduce<T: Element<Wide = f64>>(
    rows: u32,
    cols: u32,
    operation: u32,
    x: &[T],
    y: &mut [f64],
) {
    let (rows, cols) = (rows as usize, cols as usize);
    for (from, y) in x[..rows * cols].chunks_exact(cols).zip(&mut y[..rows]) {
        let values = from.iter().map(|x| x.to_f64());
        *y = match operation {
            1 => values.sum(),
            _ => values.fold(f64::NEG_INFINITY, f64::max),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_added_or_searched() {
        let x = [1.0_f32, 2.0, 4.0, -8.0, -2.0, -9.0];
        let mut y = [f64::NAN; 2];
        reduce(2, 3, 1, &x, &mut y);
        assert_eq!(y, [7.0, -19.0]);
        reduce(2, 3, 2, &x, &mut y);
        assert_eq!(y, [4.0, -2.0]);
    }
}
