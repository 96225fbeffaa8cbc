//! Dense lower-triangular algebra in one buffer.

/// A growing lower-triangular Cholesky factor, packed by rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factor {
    entries: Vec<f64>,
    len: usize,
}

impl Factor {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn row(&self, row: usize) -> &[f64] {
        let start = row * (row + 1) / 2;
        &self.entries[start..=start + row]
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.len = 0;
    }

    /// Drops the rows from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.entries.truncate(len * (len + 1) / 2);
        self.len = self.len.min(len);
    }

    /// Adds a row: its covariances with the rows before it, and its variance. False, and nothing added, if
    /// the matrix would not be positive definite.
    pub(crate) fn push(&mut self, covariances: &[f64], variance: f64) -> bool {
        let mut row = self.solve(covariances);
        let pivot = variance - dot(&row, &row);
        if !pivot.is_finite() || pivot <= 1e-9 {
            return false;
        }
        row.push(pivot.sqrt());
        self.entries.extend(row);
        self.len += 1;
        true
    }

    /// Solves L v = b for the first rows.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut v: Vec<f64> = Vec::with_capacity(b.len() + 1);
        for (i, b) in b.iter().enumerate() {
            let row = self.row(i);
            let value = (b - dot(&row[..i], &v)) / row[i];
            v.push(value);
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

    pub(crate) fn half_log_determinant(&self) -> f64 {
        (0..self.len).map(|i| self.row(i)[i].ln()).sum()
    }

    /// The inverse of the matrix, its lower triangle by rows.
    pub(crate) fn inverse(&self) -> Vec<Vec<f64>> {
        let n = self.len;
        // Columns of L⁻¹: row j holds column j from the diagonal on.
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(n);
        for j in 0..n {
            let mut column = vec![0.0; n - j];
            column[0] = 1.0 / self.row(j)[j];
            for i in j + 1..n {
                let row = self.row(i);
                let sum = dot(&row[j..i], &column[..i - j]);
                column[i - j] = -sum / row[i];
            }
            columns.push(column);
        }
        (0..n)
            .map(|i| (0..=i).map(|j| dot(&columns[i], &columns[j][i - j..])).collect())
            .collect()
    }
}

/// The inner product of two vectors, as long as the shorter.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [0.0; 4];
    let (heads, tails) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = heads.remainder().iter().zip(tails.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in heads.zip(tails) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}
