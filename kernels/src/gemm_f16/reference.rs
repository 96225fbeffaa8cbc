//! Matrix product of 16-bit floats on the host, accumulated in double precision.

use kiln::Element;

/// Computes `c = a * b`. `a` is m x k, `b` is k x n and `c` is m x n, all row-major.
///
/// # Panics
/// If a slice is shorter than its matrix.
pub fn gemm_f16<T: Element<Wide = f64>>(m: u32, n: u32, k: u32, a: &[T], b: &[T], c: &mut [f64]) {
    let (m, n, k) = (m as usize, n as usize, k as usize);
    let b: Vec<f64> = b[..k * n].iter().map(|x| x.to_f64()).collect();
    for (row, to) in c[..m * n].chunks_exact_mut(n).enumerate() {
        to.fill(0.0);
        for (i, from) in b.chunks_exact(n).enumerate() {
            let factor = a[row * k + i].to_f64();
            for (sum, x) in to.iter_mut().zip(from) {
                *sum += factor * x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln::f16;

    #[test]
    fn a_small_product_is_right() {
        let of = |values: [f32; 4]| values.map(f16::from_f32);
        let mut c = [f64::NAN; 4];
        gemm_f16(
            2,
            2,
            2,
            &of([1.0, 2.0, 3.0, 4.0]),
            &of([5.0, 6.0, 7.0, 8.0]),
            &mut c,
        );
        assert_eq!(c, [19.0, 22.0, 43.0, 50.0]);
    }
}
