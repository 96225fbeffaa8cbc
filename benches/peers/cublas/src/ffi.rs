//! The calls into cudarc that need `unsafe`.

use anyhow::{Result, ensure};
use cudarc::cublas::sys::cublasOperation_t::CUBLAS_OP_N;
use cudarc::cublas::{CudaBlas, Gemm, GemmConfig};
use cudarc::driver::CudaSlice;

use crate::element::FileElement;

/// The sizes of the product `c = a * b`: `a` is m x k, `b` is k x n and `c` is m x n.
#[derive(Clone, Copy, Debug)]
pub struct ProductShape {
    /// Number of rows of `a` and `c`.
    pub m: usize,
    /// Number of columns of `b` and `c`.
    pub n: usize,
    /// Number of columns of `a` and of rows of `b`.
    pub k: usize,
}

/// Whether the driver's library can be loaded. If it cannot, cudarc would panic later.
pub fn driver_is_there() -> bool {
    // SAFETY: the call only tries to load the library, which has no preconditions.
    unsafe { cudarc::driver::sys::is_culib_present() }
}

/// Whether cuBLAS can be loaded.
pub fn cublas_is_there() -> bool {
    // SAFETY: the call only tries to load the library, which has no preconditions.
    unsafe { cudarc::cublas::sys::is_culib_present() }
}

/// Queues `c = a * b` for row-major matrices. cuBLAS reads them as column-major, which transposes them, so it is called
/// to compute `transposed(c) = transposed(b) * transposed(a)`.
pub fn multiply<T: FileElement>(
    blas: &CudaBlas,
    shape: ProductShape,
    a: &CudaSlice<T>,
    b: &CudaSlice<T>,
    c: &mut CudaSlice<T>,
) -> Result<()>
where
    CudaBlas: Gemm<T>,
{
    let ProductShape { m, n, k } = shape;
    ensure!(
        (a.len(), b.len(), c.len()) == (m * k, k * n, m * n),
        "the matrices are not of {shape:?}"
    );
    let config = GemmConfig {
        transa: CUBLAS_OP_N,
        transb: CUBLAS_OP_N,
        m: i32::try_from(n)?,
        n: i32::try_from(m)?,
        k: i32::try_from(k)?,
        alpha: T::small(true),
        beta: T::small(false),
        lda: i32::try_from(n)?,
        ldb: i32::try_from(k)?,
        ldc: i32::try_from(n)?,
    };
    // SAFETY: the lengths were checked against the shape above, and the leading dimensions are those of contiguous
    // matrices.
    unsafe { blas.gemm(config, b, a, c) }?;
    Ok(())
}
