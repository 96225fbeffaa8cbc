//! Sum with broadcasting on the host, in double precision.

use kiln::Element;

/// Computes `c = a + b`. `a` is rows x cols, and `b` is b_rows x b_cols. If an extent of `b` is 1, its only row or
/// column is used for all rows or columns of `a`.
///
/// # Panics
/// If a slice is shorter than its matrix.
pub fn broadcast_add<T: Element<Wide = f64>>(
    rows: u32,
    cols: u32,
    b_rows: u32,
    b_cols: u32,
    a: &[T],
    b: &[T],
    c: &mut [f64],
) {
    for row in 0..rows as usize {
        for col in 0..cols as usize {
            let at = row * cols as usize + col;
            let b_row = if b_rows == 1 { 0 } else { row };
            let b_col = if b_cols == 1 { 0 } else { col };
            c[at] = a[at].to_f64() + b[b_row * b_cols as usize + b_col].to_f64();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_a_column_and_a_number_stand_for_all() {
        let a = [1.0_f32, 2.0, 3.0, 4.0];
        let mut c = [f64::NAN; 4];
        broadcast_add(2, 2, 1, 2, &a, &[10.0, 20.0], &mut c);
        assert_eq!(c, [11.0, 22.0, 13.0, 24.0]);
        broadcast_add(2, 2, 2, 1, &a, &[10.0, 20.0], &mut c);
        assert_eq!(c, [11.0, 12.0, 23.0, 24.0]);
        broadcast_add(2, 2, 1, 1, &a, &[10.0], &mut c);
        assert_eq!(c, [11.0, 12.0, 13.0, 14.0]);
    }
}
