//! Sum of two tensors on the host, in double precision.

/// `c = a + b` over n elements.
///
/// # Panics
/// When a slice is shorter than n.
pub fn tensor_add(n: u32, a: &[f32], b: &[f32], c: &mut [f64]) {
    let n = n as usize;
    for ((c, &a), &b) in c[..n].iter_mut().zip(&a[..n]).zip(&b[..n]) {
        *c = f64::from(a) + f64::from(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_added() {
        let mut c = [f64::NAN; 2];
        tensor_add(2, &[1.0, -2.0], &[0.5, 2.0], &mut c);
        assert_eq!(c, [1.5, 0.0]);
    }
}
