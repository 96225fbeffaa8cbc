//! Cholesky factors of small dense matrices.

/// The lower triangular factor of a positive definite matrix, row by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Cholesky {
    rows: Vec<Vec<f64>>,
}

impl Cholesky {
    /// Factors the matrix whose entries on and below the diagonal are `entry(row, column)`; `None` if it is not
    /// positive definite.
    pub(super) fn factor(len: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Self> {
        let mut factor = Self::default();
        for row in 0..len {
            let column: Vec<f64> = (0..row).map(|column| entry(row, column)).collect();
            let reduced = factor.solve(&column);
            factor.append(reduced, entry(row, row))?;
        }
        Some(factor)
    }

    /// Adds a row to the matrix: `reduced` is its part left of the diagonal after [`solve`](Self::solve). Returns
    /// the factor's diagonal entry.
    fn append(&mut self, mut reduced: Vec<f64>, diagonal: f64) -> Option<f64> {
        let pivot = diagonal - dot(&reduced, &reduced);
        if pivot.is_nan() || pivot <= 1e-10 {
            return None;
        }
        reduced.push(pivot.sqrt());
        self.rows.push(reduced);
        Some(pivot.sqrt())
    }

    /// Solves L v = b.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut v = Vec::with_capacity(b.len());
        for (row, b) in self.rows.iter().zip(b) {
            let (diagonal, left) = row
                .split_last()
                .expect("a row of a factor should have a diagonal");
            v.push((b - dot(left, &v)) / diagonal);
        }
        v
    }

    /// Half the logarithm of the determinant of the matrix.
    pub(super) fn half_log_determinant(&self) -> f64 {
        self.rows
            .iter()
            .filter_map(|row| row.last())
            .map(|diagonal| diagonal.ln())
            .sum()
    }
}

/// The inner product of two vectors, as long as the shorter.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX: [[f64; 3]; 3] = [[4.0, 2.0, 0.6], [2.0, 5.0, 1.0], [0.6, 1.0, 3.0]];

    #[test]
    fn a_factor_times_its_transpose_is_the_matrix() {
        let factor = Cholesky::factor(3, |row, column| MATRIX[row][column]).unwrap();
        for (i, row) in MATRIX.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                assert!((dot(&factor.rows[i], &factor.rows[j]) - entry).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn solving_inverts_the_factor() {
        let factor = Cholesky::factor(3, |row, column| MATRIX[row][column]).unwrap();
        let v = factor.solve(&[1.0, -2.0, 0.5]);
        let back: Vec<f64> = factor.rows.iter().map(|row| dot(row, &v)).collect();
        assert!(
            back.iter()
                .zip([1.0, -2.0, 0.5])
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        assert!(Cholesky::factor(2, |_, _| 1.0).is_none());
    }

    #[test]
    fn the_log_determinant_is_that_of_the_matrix() {
        let factor =
            Cholesky::factor(2, |row, column| [[2.0, 1.0], [1.0, 3.0]][row][column]).unwrap();
        assert!((2.0 * factor.half_log_determinant() - 5.0_f64.ln()).abs() < 1e-12);
    }
}
