//! Kernels that are wrong only for contents of outputs, scalars, alignments or values that one launch does not show. In
//! each of them, the wrong configs are the fastest.

use super::verified_sizes::{ARGUMENTS, refuses_with, tunes};

const TWO: &str =
    "params(THREADS in [64], WRONG in [false, true]), baseline(THREADS = 64, WRONG = false),
    grid(n.div_ceil(THREADS)), block(THREADS), problems((n = 40000))";

#[test]
fn a_config_that_starts_from_the_outputs_of_an_earlier_launch_fails() {
    refuses_with(
        "a_config_that_starts_from_the_outputs_of_an_earlier_launch_fails",
        (TWO, ARGUMENTS),
        r#"
static __device__ __noinline__ float cold(float x) { return slow(x); }
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
#if WRONG
    const float old = y[i];
    if (fabsf(old - 2.0f * x[i]) <= 1e-7f * fabsf(x[i])) return;
#endif
    y[i] = cold(x[i]);
}
"#,
        ("WRONG=true", "kernel fault"),
    );
}

#[test]
fn a_config_that_keeps_numbers_that_an_output_held_fails() {
    refuses_with(
        "a_config_that_keeps_numbers_that_an_output_held_fails",
        (TWO, ARGUMENTS),
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
#if WRONG
    if (y[i] == y[i]) return;
#endif
    y[i] = slow(x[i]);
}
"#,
        ("WRONG=true", "kernel fault"),
    );
}

#[test]
fn a_config_that_keeps_a_table_in_a_variable_for_the_next_launch_fails() {
    refuses_with(
        "a_config_that_keeps_a_table_in_a_variable_for_the_next_launch_fails",
        (TWO, ARGUMENTS),
        r#"
__device__ float table[40000];
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float factor = WRONG ? table[i] : 0.0f;
    if (factor == 0.0f) factor = slow(slow(slow(1.0f + 0.001f * i)));
    if (WRONG) table[i] = factor;
    y[i] = factor * x[i];
}
"#,
        ("WRONG=true", "kernel fault"),
    );
}

#[test]
fn a_config_that_takes_a_scalar_for_zero_or_a_flag_for_set_fails() {
    let declared = "n: u32, #[value(0)] beta: f32, #[value(1)] doubles: i32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]";
    for (wrong, told) in [
        ("doubles ? slow(x[i]) : x[i]", "beta = 0.875 instead of 0"),
        ("2.0f * x[i] + beta", "doubles = 0 instead of 1"),
    ] {
        let task = refuses_with(
            "a_config_that_takes_a_scalar_for_zero_or_a_flag_for_set_fails",
            (TWO, declared),
            &format!(
                r#"
extern "C" __global__ void k(unsigned n, float beta, int doubles, const float* x, float* y) {{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = WRONG ? {wrong} : (doubles ? slow(slow(slow(0.25f * x[i]))) : x[i]) + beta;
}}
"#
            ),
            ("WRONG=true", "incorrect"),
        );
        if let Some(task) = task {
            assert!(task["examples"].to_string().contains(told), "{task:#}");
        }
    }
}

#[test]
fn a_scalar_of_zero_stays_zero_if_the_baseline_supports_no_other_value() {
    // With another value, the kernel reads the output.
    let test = "a_scalar_of_zero_stays_zero_if_the_baseline_supports_no_other_value";
    let declared = "n: u32, #[value(0)] beta: f32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]";
    let source = r#"
extern "C" __global__ void k(unsigned n, float beta, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    const float sum = WRONG ? 2.0f * x[i] : slow(x[i]);
    y[i] = beta == 0.0f ? sum : beta * y[i] + sum;
}
"#;
    if let Some(task) = tunes(test, (TWO, declared), source) {
        assert_eq!(
            task["winner"]["config"], "THREADS=64,WRONG=true",
            "{task:#}"
        );
    }
}

#[test]
fn only_the_first_failed_configs_are_explained_by_the_check_build() {
    let task = refuses_with(
        "only_the_first_failed_configs_are_explained_by_the_check_build",
        (
            "params(WRONG in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), baseline(WRONG = 0), grid(n.div_ceil(64)), block(64),
             problems((n = 400))",
            ARGUMENTS,
        ),
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
#if WRONG
    if (y[i] == y[i]) return;
#endif
    y[i] = slow(x[i]);
}
"#,
        ("WRONG=1", "kernel fault"),
    );
    if let Some(task) = task {
        assert_eq!(task["outcomes"]["kernel fault"], 8, "{task:#}");
        assert_eq!(task["outcomes"]["reads an output"], 2, "{task:#}");
    }
}

#[test]
fn a_config_that_ignores_a_scalar_fails() {
    for (declared, taken) in [
        ("#[value(1)] alpha: f32", "float alpha"),
        ("#[value(1)] alpha: f16", "__half alpha"),
        ("#[value([1.0f32; 2])] alpha: [f32; 2]", "float2 alphas"),
    ] {
        let arguments = format!("n: u32, {declared}, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]");
        let alpha = if taken.contains("alphas") {
            "alphas.y"
        } else {
            "(float)alpha"
        };
        let source = r#"
extern "C" __global__ void k(unsigned n, TAKEN, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
#if WRONG
    y[i] = 2.0f * x[i];
#else
    y[i] = ALPHA * slow(x[i]);
#endif
}
"#;
        let source = source.replace("TAKEN", taken).replace("ALPHA", alpha);
        refuses_with(
            "a_config_that_ignores_a_scalar_fails",
            (TWO, &arguments),
            &source,
            ("WRONG=true", "incorrect"),
        );
    }
}

#[test]
fn a_config_that_is_wrong_beside_a_sentinel_fails() {
    refuses_with(
        "a_config_that_is_wrong_beside_a_sentinel_fails",
        (TWO, ARGUMENTS),
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    if (i == 0) y[i] = 3.4e38f;
#if WRONG
    else y[i] = 0.0f;
#else
    else y[i] = slow(x[i]);
#endif
}
"#,
        ("WRONG=true", "incorrect"),
    );
}

#[test]
fn a_config_that_needs_more_alignment_than_the_spec_declares_fails() {
    let task = refuses_with(
        "a_config_that_needs_more_alignment_than_the_spec_declares_fails",
        (
            "params(THREADS in [64], VEC in [1, 4]), where(VEC == 1 || n % 4 == 0), baseline(THREADS = 64, VEC = 1),
             grid(n.div_ceil(THREADS * VEC)), block(THREADS), problems((n = 40960))",
            ARGUMENTS,
        ),
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned first = (blockIdx.x * THREADS + threadIdx.x) * VEC;
    if (first >= n) return;
#if VEC == 4
    // On some processors, such a load would succeed.
    if (reinterpret_cast<size_t>(x + first) % 16 != 0) __trap();
    float4 four = *reinterpret_cast<const float4*>(x + first);
    four.x *= 2.0f; four.y *= 2.0f; four.z *= 2.0f; four.w *= 2.0f;
    *reinterpret_cast<float4*>(y + first) = four;
#else
    y[first] = slow(x[first]);
#endif
}
"#,
        ("VEC=4", "kernel fault"),
    );
    if let Some(task) = task {
        let text = task["examples"].to_string();
        let expected = "not if they have only the alignment that the spec declares, as the view `x.view(1..)` has";
        assert!(text.contains(expected), "{task:#}");
    }
}

#[test]
fn a_config_that_looks_at_the_alignment_of_one_argument_alone_fails() {
    for (is_aligned, last, outcome) in [
        ("(size_t)x % 16 == 0", "n", "kernel fault"),
        (
            "((size_t)x | (size_t)y) % 256 == 0",
            "n / 4 * 4",
            "not a number",
        ),
    ] {
        let source = r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
#if WRONG
    if (ALIGNED && i % 4 == 0 && i + 4 <= n) {
        float4 four = *reinterpret_cast<const float4*>(x + i);
        four.x *= 2.0f; four.y *= 2.0f; four.z *= 2.0f; four.w *= 2.0f;
        *reinterpret_cast<float4*>(y + i) = four;
    } else if (!(ALIGNED) ? i < n : i >= n / 4 * 4 && i < LAST) {
        y[i] = 2.0f * x[i];
    }
#else
    if (i < n) y[i] = slow(slow(slow(0.25f * x[i])));
#endif
}
"#;
        let source = source.replace("ALIGNED", is_aligned).replace("LAST", last);
        refuses_with(
            "a_config_that_looks_at_the_alignment_of_one_argument_alone_fails",
            (TWO, ARGUMENTS),
            &source,
            ("WRONG=true", outcome),
        );
    }
}
