//! A Gaussian process whose posterior over a set of candidates is kept up to date.

use super::correlation::{Distances, Shape, Tables};
use super::linear::Factor;

/// Candidates by columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) columns: Vec<Vec<u16>>,
    pub(crate) len: usize,
}

impl Candidates {
    pub(crate) fn push(&mut self, positions: &[u16]) {
        self.columns.resize(positions.len(), Vec::new());
        for (column, &position) in self.columns.iter_mut().zip(positions) {
            column.push(position);
        }
        self.len += 1;
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) distances: Distances,
    pub(crate) shape: Shape,
    pub(crate) tables: Tables,
    points: Vec<Vec<u16>>,
    factor: Factor,
    /// Row by row L⁻¹ k(points, candidates).
    rows: Vec<Vec<f32>>,
}

const CHUNK: usize = 512;

impl Process {
    pub(crate) fn new(distances: Distances, shape: Shape) -> Self {
        let tables = Tables::new(&distances, &shape);
        Self { distances, shape, tables, points: Vec::new(), factor: Factor::default(), rows: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    pub(crate) fn reshape(&mut self, shape: Shape) {
        self.tables = Tables::new(&self.distances, &shape);
        self.shape = shape;
        self.clear();
    }

    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.factor.clear();
        self.rows.clear();
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.points.truncate(len);
        self.factor.truncate(len);
        self.rows.truncate(len);
    }


    /// Adds points; rows over candidates are computed in chunks.
    pub(crate) fn extend(&mut self, points: &[Vec<u16>], candidates: &Candidates) {
        let first = self.points.len();
        let noise = self.shape.noise.exp();
        for point in points {
            let row: Vec<f64> = self.points.iter().map(|other| self.tables.correlation(point, other)).collect();
            if self.factor.push(&row, 1.0 + noise) {
                self.points.push(point.clone());
            } else {
                // Keep going with more noise on this one.
                self.factor.push(&row, 2.0 + noise);
                self.points.push(point.clone());
            }
        }
        let n = candidates.len;
        for _ in first..self.points.len() {
            self.rows.push(vec![0.0; n]);
        }
        let mut from = 0;
        while from < n {
            let to = (from + CHUNK).min(n);
            for i in first..self.points.len() {
                let (done, rest) = self.rows.split_at_mut(i);
                let mut row = std::mem::take(&mut rest[0]);
                let out = &mut row[from..to];
                // Split borrow: correlations needs &self without rows.
                let tables = &self.tables;
                fill(tables, &self.points[i], candidates, from, out);
                let l = self.factor.row(i);
                for (j, other) in done.iter().enumerate() {
                    let weight = l[j] as f32;
                    for (out, other) in out.iter_mut().zip(&other[from..to]) {
                        *out -= weight * other;
                    }
                }
                let scale = 1.0 / l[i] as f32;
                for out in out.iter_mut() {
                    *out *= scale;
                }
                rest[0] = row;
            }
            from = to;
        }
    }

    /// Whitened values.
    pub(crate) fn reduce(&self, values: &[f64]) -> Vec<f64> {
        self.factor.solve(values)
    }

    /// Mean of every candidate for values reduced so.
    pub(crate) fn mean(&self, reduced: &[f64], n: usize) -> Vec<f32> {
        let mut mean = vec![0.0f32; n];
        for (row, &weight) in self.rows.iter().zip(reduced) {
            let weight = weight as f32;
            for (mean, row) in mean.iter_mut().zip(row) {
                *mean += weight * row;
            }
        }
        mean
    }

    /// Variance of every candidate.
    pub(crate) fn variance(&self, n: usize) -> Vec<f32> {
        let mut variance = vec![1.0f32; n];
        for row in &self.rows {
            for (variance, row) in variance.iter_mut().zip(row) {
                *variance -= row * row;
            }
        }
        variance
    }
}

fn fill(tables: &Tables, point: &[u16], candidates: &Candidates, from: usize, out: &mut [f32]) {
    out.fill(1.0);
    for (p, column) in candidates.columns.iter().enumerate() {
        let count = tables.counts[p];
        if count < 2 {
            continue;
        }
        let start = point[p] as usize * count;
        let table: Vec<f32> = tables.factors[p][start..start + count].iter().map(|&x| x as f32).collect();
        for (out, &position) in out.iter_mut().zip(&column[from..]) {
            *out *= table[position as usize];
        }
    }
}
