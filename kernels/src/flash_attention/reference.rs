//! Attention on the host, in double precision.

use kiln::f16;

/// Computes `out = softmax(q * transposed(k) / sqrt(dim)) * v` for each head. All matrices are heads x seq x dim. If
/// `causal` is 2, each query attends to the keys up to its own position.
///
/// # Panics
/// If a slice is shorter than its tensor.
#[allow(clippy::too_many_arguments)] // as the kernel
pub fn flash_attention(
    heads: u32,
    seq: u32,
    dim: u32,
    causal: u32,
    q: &[f16],
    k: &[f16],
    v: &[f16],
    out: &mut [f64],
) {
    let (seq, dim) = (seq as usize, dim as usize);
    let wide = |x: &[f16]| x.iter().map(|x| x.to_f64()).collect::<Vec<_>>();
    let (q, k, v) = (wide(q), wide(k), wide(v));
    for head in 0..heads as usize {
        let part = head * seq * dim..(head + 1) * seq * dim;
        let (q, k, v) = (&q[part.clone()], &k[part.clone()], &v[part.clone()]);
        let rows = q.chunks_exact(dim).zip(out[part].chunks_exact_mut(dim));
        for (query, (q, out)) in rows.enumerate() {
            let keys = if causal == 2 { query + 1 } else { seq };
            attend(q, &k[..keys * dim], &v[..keys * dim], out);
        }
    }
}

/// Computes the output of one query.
fn attend(q: &[f64], k: &[f64], v: &[f64], out: &mut [f64]) {
    let dim = q.len();
    let score = |k: &[f64]| q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() / (dim as f64).sqrt();
    let scores: Vec<f64> = k.chunks_exact(dim).map(score).collect();
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    out.fill(0.0);
    for (weight, v) in weights.iter().zip(v.chunks_exact(dim)) {
        for (out, v) in out.iter_mut().zip(v) {
            *out += weight / sum * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<const N: usize>(values: [f32; N]) -> [f16; N] {
        values.map(f16::from_f32)
    }

    #[test]
    fn equal_scores_average_the_values_that_a_query_sees() {
        let (zeros, v) = (of([0.0; 4]), of([1.0, 2.0, 3.0, 6.0]));
        let mut out = [f64::NAN; 4];
        flash_attention(1, 2, 2, 1, &zeros, &zeros, &v, &mut out);
        assert_eq!(out, [2.0, 4.0, 2.0, 4.0]);
        flash_attention(1, 2, 2, 2, &zeros, &zeros, &v, &mut out);
        assert_eq!(out, [1.0, 2.0, 2.0, 4.0]);
    }
}
