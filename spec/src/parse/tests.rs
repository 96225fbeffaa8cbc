//! Whole kernels through the grammar, and one test a mistake of form.

use super::{ParsedKernel, kernel, kernel_unchecked};
use crate::diagnostic::Diagnostics;
use crate::expr::Expr;
use crate::model::{Access, ArgSpec, Fill, KernelSpec, Reference, ScalarValue};

pub(crate) const GEMM_ATTRIBUTE: &str = r#"
    source = "gemm.cu",
    params(
        BLOCK_M in [16, 32, 64, 128],
        BLOCK_N in [16, 32, 64, 128],
        BLOCK_K in [8, 16, 32],
        VECTOR_WIDTH in [1, 2, 4],
        THREADS in [64, 128, 256],
    ),
    where(
        BLOCK_M * BLOCK_N % (THREADS * VECTOR_WIDTH) == 0,
        (BLOCK_M + BLOCK_N) * BLOCK_K * 4 <= device.shared_bytes_per_block,
    ),
    baseline(BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 1, THREADS = 256),
    grid(n.div_ceil(BLOCK_N), m.div_ceil(BLOCK_M)),
    block(THREADS),
    problems((m = 512, n = 512, k = 512), (m = 4096, n = 4096, k = 4096)),
    work(flops = 2 * m * n * k, bytes = 4 * (m * k + k * n + m * n)),
    tolerance(relative = 1e-5),
"#;

pub(crate) const GEMM_ITEM: &str = r#"
    unsafe extern "C" {
        fn gemm(m: u32, n: u32, k: u32,
                #[len(m * k)] a: &[f32], #[len(k * n)] b: &[f32], #[len(m * n)] c: &mut [f32]);
    }
"#;

/// Parses and checks; the tokens come from text, so that spans have lines.
pub(crate) fn read(attribute: &str, item: &str) -> Result<ParsedKernel, Diagnostics> {
    let tokens = |text: &str| text.parse().expect("the text should be Rust tokens");
    kernel(tokens(attribute), tokens(item))
}

pub(crate) fn gemm() -> KernelSpec {
    read(GEMM_ATTRIBUTE, GEMM_ITEM)
        .expect("the example of the documentation should parse")
        .spec
}

#[test]
fn the_documented_gemm_parses_to_its_spec() {
    let spec = gemm();
    assert_eq!(spec.name, "gemm");
    assert_eq!(spec.entry, "gemm");
    assert_eq!(spec.params.len(), 5);
    assert_eq!(spec.problems[1].to_string(), "m=4096,n=4096,k=4096");
    assert_eq!(
        spec.constraints[0].expr.to_string(),
        "BLOCK_M * BLOCK_N % (THREADS * VECTOR_WIDTH) == 0"
    );
    assert_eq!(
        spec.baseline.config.to_string(),
        "BLOCK_M=16,BLOCK_N=16,BLOCK_K=16,VECTOR_WIDTH=1,THREADS=256"
    );
    assert_eq!(spec.geometry.grid[0].to_string(), "div_ceil(n, BLOCK_N)");
    let ArgSpec::Slice(c) = &spec.args[5] else {
        panic!("c should be a slice")
    };
    assert_eq!(c.access, Access::Out);
    assert_eq!(KernelSpec::from_json(&spec.to_json()).unwrap(), spec);
}
