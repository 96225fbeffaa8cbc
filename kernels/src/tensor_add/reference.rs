//! Sum of two tensors on the host, in double precision.

use kiln::Element;

/// Computes `c = a + b` over n elements.
///
/// # Panics
/// If a slice is shorter than n.
pub fn tensor_add<T: Element<Wide = f64>>(n: u32, a: &[T], b: &[T], c: &mut [f64]) {
    let n = n as usize;
    for ((c, a), b) in c[..n].iter_mut().zip(&a[..n]).zip(&b[..n]) {
        *c = a.to_f64() + b.to_f64();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_added() {
        let mut c = [f64::NAN; 2];
        tensor_add(2, &[1.0_f32, -2.0], &[0.5, 2.0], &mut c);
        assert_eq!(c, [1.5, 0.0]);
    }
}
