//! Cholesky factors to which rows can be added.

/// The lower triangular Cholesky factor L of a positive definite matrix, stored row by row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factor {
    entries: Vec<f64>,
    len: usize,
}

impl Factor {
    /// Row `row` up to and including its diagonal entry.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        let start = row * (row + 1) / 2;
        &self.entries[start..=start + row]
    }

    /// Removes the rows from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.entries.truncate(len * (len + 1) / 2);
        self.len = self.len.min(len);
    }

    /// Adds a row to the matrix: its covariances with the previous rows, and its variance. If the matrix would not be
    /// positive definite, it adds nothing and returns false.
    #[must_use]
    pub(crate) fn push(&mut self, covariances: &[f64], variance: f64) -> bool {
        const SMALLEST: f64 = 1e-9;
        let row = self.solve(covariances);
        let pivot = variance - dot(&row, &row);
        if !pivot.is_finite() || pivot <= SMALLEST {
            return false;
        }
        self.entries.extend(row);
        self.entries.push(pivot.sqrt());
        self.len += 1;
        true
    }

    /// Solves L v = b.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut v: Vec<f64> = Vec::with_capacity(b.len());
        for (i, b) in b.iter().enumerate() {
            let row = self.row(i);
            v.push((b - dot(&row[..i], &v)) / row[i]);
        }
        v
    }

    /// Solves Lᵀ v = b.
    pub(crate) fn solve_transposed(&self, b: &[f64]) -> Vec<f64> {
        let mut v = b.to_vec();
        for i in (0..v.len()).rev() {
            let row = self.row(i);
            v[i] /= row[i];
            let value = v[i];
            for (v, entry) in v[..i].iter_mut().zip(row) {
                *v -= entry * value;
            }
        }
        v
    }

    /// Half the logarithm of the determinant of the matrix.
    pub(crate) fn half_log_determinant(&self) -> f64 {
        (0..self.len).map(|i| self.row(i)[i].ln()).sum()
    }

    /// The lower triangle of the inverse of the matrix, row by row.
    pub(crate) fn inverse(&self) -> Vec<Vec<f64>> {
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(self.len);
        for j in 0..self.len {
            let mut column = vec![1.0 / self.row(j)[j]];
            for i in j + 1..self.len {
                let row = self.row(i);
                column.push(-dot(&row[j..i], &column) / row[i]);
            }
            columns.push(column);
        }
        let entry = |i: usize, j: usize| dot(&columns[i], &columns[j][i - j..]);
        (0..self.len)
            .map(|i| (0..=i).map(|j| entry(i, j)).collect())
            .collect()
    }
}

/// The inner product of two vectors. If their lengths differ, the rest of the longer one is ignored.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 4;
    let len = a.len().min(b.len());
    let (a, b) = (a[..len].chunks_exact(LANES), b[..len].chunks_exact(LANES));
    let rest: f64 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(a, b)| a * b)
        .sum();
    let mut sums = [0.0; LANES];
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX: [[f64; 3]; 3] = [[4.0, 2.0, 0.6], [2.0, 5.0, 1.0], [0.6, 1.0, 3.0]];

    fn factor() -> Factor {
        let mut factor = Factor::default();
        for (i, row) in MATRIX.iter().enumerate() {
            assert!(factor.push(&row[..i], row[i]));
        }
        factor
    }

    #[test]
    fn a_factor_times_its_transpose_is_the_matrix() {
        let factor = factor();
        for (i, row) in MATRIX.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                assert!((dot(factor.row(i), factor.row(j)) - entry).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn solving_both_ways_inverts_the_matrix() {
        let factor = factor();
        let b = [1.0, -2.0, 0.5];
        let v = factor.solve_transposed(&factor.solve(&b));
        let back: Vec<f64> = MATRIX.iter().map(|row| dot(row, &v)).collect();
        assert!(back.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn the_inverse_times_the_matrix_is_one() {
        let inverse = factor().inverse();
        let full = |i: usize, j: usize| if i >= j { inverse[i][j] } else { inverse[j][i] };
        for (i, row) in MATRIX.iter().enumerate() {
            for j in 0..3 {
                let entry: f64 = (0..3).map(|k| row[k] * full(k, j)).sum();
                assert!((entry - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        let mut factor = Factor::default();
        assert!(factor.push(&[], 1.0));
        assert!(!factor.push(&[1.0], 1.0) && !factor.push(&[f64::NAN], 1.0));
    }

    #[test]
    fn the_log_determinant_is_that_of_the_matrix() {
        let mut factor = Factor::default();
        assert!(factor.push(&[], 2.0) && factor.push(&[1.0], 3.0));
        assert!((2.0 * factor.half_log_determinant() - 5.0_f64.ln()).abs() < 1e-12);
    }
}
