//! Matrix product on the host, accumulated in double precision.

/// Computes `c = a * b`. `a` is m x k, `b` is k x n and `c` is m x n, all row-major.
///
/// # Panics
/// If a slice is shorter than its matrix.
pub fn gemm(m: u32, n: u32, k: u32, a: &[f32], b: &[f32], c: &mut [f64]) {
    let (m, n, k) = (m as usize, n as usize, k as usize);
    if n == 0 {
        return;
    }
    for (row, to) in c[..m * n].chunks_exact_mut(n).enumerate() {
        to.fill(0.0);
        for (i, from) in b[..k * n].chunks_exact(n).enumerate() {
            let factor = f64::from(a[row * k + i]);
            for (sum, &x) in to.iter_mut().zip(from) {
                *sum += factor * f64::from(x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_is_right() {
        let mut c = [f64::NAN; 4];
        gemm(
            2,
            2,
            3,
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0],
            &mut c,
        );
        assert_eq!(c, [4.0, 5.0, 10.0, 11.0]);
    }

    #[test]
    fn an_empty_sum_is_zero() {
        let mut c = [f64::NAN; 2];
        gemm(1, 2, 0, &[], &[], &mut c);
        assert_eq!(c, [0.0, 0.0]);
    }
}
