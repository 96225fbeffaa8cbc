//! Kernels that are wrong only for contents of outputs, scalars, alignments or values that one launch does not show. In
//! each of them, the wrong configs are the fastest.

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout};
use serde_json::Value;

use super::verified_sizes::{ARGUMENTS, refuses_with, tune_command, tunes, winner, wins};

const TWO: &str =
    "params(THREADS in [64], WRONG in [false, true]), baseline(THREADS = 64, WRONG = false),
    grid(n.div_ceil(THREADS)), block(THREADS), problems((n = 40000))";

#[test]
fn a_config_that_starts_from_the_outputs_of_an_earlier_launch_fails() {
    refuses_with(
        "a_config_that_starts_from_the_outputs_of_an_earlier_launch_fails",
        (TWO, ARGUMENTS),
        r#"
// Inlined, it would be computed for all threads by compilers that convert the branch below into a selection.
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
// Inlined, it would be computed for all threads by compilers that convert the branch below into a selection.
static __device__ __noinline__ float cold(float x) { return slow(slow(slow(x))); }
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float factor = WRONG ? table[i] : 0.0f;
    if (factor == 0.0f) factor = cold(1.0f + 0.001f * i);
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
    wins(test, (TWO, declared), source, "THREADS=64,WRONG=true");
}

#[test]
fn a_finalist_that_fails_once_is_not_verified_again_because_the_baseline_supports_less() {
    // The baseline does not support other values of `beta`. The wrong config fails in the first launch with unusual values.
    let folder = tempfile::tempdir().expect("a folder should be made");
    let mark = folder.path().join("failed");
    let declared = "n: u32, #[value(0)] beta: f32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]";
    let source = r#"
extern "C" int mkdir(const char* path, unsigned mode);
extern "C" __global__ void k(unsigned n, float beta, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float sum = WRONG ? 2.0f * x[i] : slow(x[i]);
    if (WRONG && i + 1 == n && fabsf(x[i]) > 2.0f && mkdir("MARK", 511) == 0) sum = 0.5f;
    y[i] = beta == 0.0f ? sum : beta * y[i] + sum;
}
"#;
    let source = source.replace("MARK", &mark.to_string_lossy());
    refuses_with(
        "a_finalist_that_fails_once_is_not_verified_again_because_the_baseline_supports_less",
        (TWO, declared),
        &source,
        ("WRONG=true", "incorrect"),
    );
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
    // The second config is wrong on aligned slices as well.
    for (factor, does) in [("2.0f", "works"), ("3.0f", "does not crash")] {
        let source = r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned first = (blockIdx.x * THREADS + threadIdx.x) * VEC;
    if (first >= n) return;
#if VEC == 4
    // On some processors, such a load would succeed.
    if (reinterpret_cast<size_t>(x + first) % 16 != 0) __trap();
    float4 four = *reinterpret_cast<const float4*>(x + first);
    four.x *= FACTOR; four.y *= FACTOR; four.z *= FACTOR; four.w *= FACTOR;
    *reinterpret_cast<float4*>(y + first) = four;
#else
    y[first] = slow(x[first]);
#endif
}
"#;
        let task = refuses_with(
            "a_config_that_needs_more_alignment_than_the_spec_declares_fails",
            (
                "params(THREADS in [64], VEC in [1, 4]), where(VEC == 1 || n % 4 == 0), baseline(THREADS = 64, VEC = 1),
                 grid(n.div_ceil(THREADS * VEC)), block(THREADS), problems((n = 40960))",
                ARGUMENTS,
            ),
            &source.replace("FACTOR", factor),
            ("VEC=4", "kernel fault"),
        );
        if let Some(task) = task {
            let text = task["examples"].to_string();
            let expected = format!(
                "it {does} if slices begin at multiples of 256 bytes, but fails if they have only the alignment that the \
                 spec declares, as the view `x.view(1..)` has"
            );
            assert!(text.contains(&expected), "{task:#}");
        }
    }
}

#[test]
fn a_config_that_looks_at_the_alignment_of_one_argument_alone_fails() {
    for (is_aligned, last, outcome) in [
        ("(size_t)x % 16 == 0", "n", "kernel fault"),
        (
            "((size_t)x | (size_t)y) % 256 == 0",
            "n / 4 * 4",
            "never written",
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

/// A kernel that writes `WRONG ? wrong : right`, in which `x` is an input of this type.
fn of_inputs(ty: &str, wrong: &str, right: &str) -> String {
    let source = r#"
extern "C" __global__ void k(unsigned n, const TYPE* x, TYPE* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
#if WRONG
    y[i] = IF_WRONG;
#else
    y[i] = IF_RIGHT + (TYPE)(1e-30f * slow(slow(slow((float)i))));
#endif
}
"#;
    let source = source.replace("TYPE", ty).replace("IF_WRONG", wrong);
    source.replace("IF_RIGHT", right)
}

/// Element types, and an expression that is right only for values of the default range.
const DEFAULT_RANGES: [(&str, &str, &str, &str); 4] = [
    ("f32", "float", "fminf(x[i], 1.0f)", "x[i]"),
    ("i32", "int", "x[i] & 15", "x[i]"),
    ("i32", "int", "x[i] >> 2", "x[i] / 4"),
    ("u64", "unsigned long long", "(unsigned)x[i]", "x[i]"),
];

#[test]
fn a_config_that_is_right_only_for_inputs_of_the_default_range_fails() {
    for (ty, c_type, wrong, right) in DEFAULT_RANGES {
        let task = refuses_with(
            "a_config_that_is_right_only_for_inputs_of_the_default_range_fails",
            (
                TWO,
                &format!("n: u32, #[len(n)] x: &[{ty}], #[len(n)] y: &mut [{ty}]"),
            ),
            &of_inputs(c_type, wrong, right),
            ("WRONG=true", "incorrect"),
        );
        if let Some(task) = task {
            let text = task["examples"].to_string();
            assert!(
                text.contains("declare theirs with `#[fill(..)]`"),
                "{task:#}"
            );
        }
    }
}

#[test]
fn a_declared_range_says_which_inputs_a_config_must_support() {
    for (ty, c_type, wrong, right) in DEFAULT_RANGES {
        let fill = match ty {
            "f32" => "uniform(-1, 1)",
            _ => "below(16)",
        };
        let declared =
            format!("n: u32, #[len(n)] #[fill({fill})] x: &[{ty}], #[len(n)] y: &mut [{ty}]");
        let test = "a_declared_range_says_which_inputs_a_config_must_support";
        let source = of_inputs(c_type, wrong, right);
        wins(test, (TWO, &declared), &source, "THREADS=64,WRONG=true");
    }
}

/// What a kernel computes of the last elements, of any bits, or of no elements, which random inputs do not show: the name of the
/// case, the declarations, the source, and the outcome of the wrong config.
const RARE: [(&str, (&str, &str), &str, &str); 5] = [
    (
        "the last elements of a maximum",
        (
            "params(WRONG in [false, true]), baseline(WRONG = false), grid(1), block(32), problems((n = 20000))",
            "n: u32, #[len(n)] x: &[f32], #[len(1)] y: &mut [f32]",
        ),
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    __shared__ float most[32];
    const unsigned t = threadIdx.x, end = WRONG && n >= 4 ? n / 4 * 4 : n;
    float own = -INFINITY;
    for (unsigned i = t; i < end; i += 32) own = fmaxf(own, WRONG ? x[i] : x[i] + 1e-30f * slow(slow(x[i])));
    most[t] = own;
    __syncthreads();
    for (unsigned i = 0; t == 0 && i < 32; ++i) own = fmaxf(own, most[i]);
    if (t == 0) y[0] = own;
}
"#,
        "incorrect",
    ),
    (
        "the maximum of the first columns, in a softmax",
        (
            "params(WRONG in [false, true]), baseline(WRONG = false), grid(r), block(1),
             problems((r = 64, c = 512)), tolerance(relative = 1e-4)",
            "r: u32, c: u32, #[len(r * c)] #[fill(uniform(-60, 60))] x: &[f32], #[len(r * c)] y: &mut [f32]",
        ),
        r#"
extern "C" __global__ void k(unsigned r, unsigned c, const float* x, float* y) {
    x += (size_t)blockIdx.x * c; y += (size_t)blockIdx.x * c;
    float most = -INFINITY, sum = 0.0f;
    for (unsigned i = 0; i < (WRONG && c > 64 ? 64 : c); ++i) most = fmaxf(most, WRONG ? x[i] : x[i] + 1e-30f * slow(slow(x[i])));
    for (unsigned i = 0; i < c; ++i) sum += expf(x[i] - most);
    for (unsigned i = 0; i < c; ++i) y[i] = expf(x[i] - most) / sum;
}
"#,
        "not a number",
    ),
    (
        "high bits of packed words",
        (TWO, "n: u32, #[len(n)] x: &[u32], #[len(n)] y: &mut [u32]"),
        r#"
extern "C" __global__ void k(unsigned n, const unsigned* x, unsigned* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    y[i] = (x[i] & 0xffff) + (WRONG ? x[i] >> 16 << 15 : (x[i] >> 16 << 16) + (unsigned)(1e-30f * slow(slow((float)i))));
}
"#,
        "incorrect",
    ),
    (
        "the first of no columns",
        (
            "params(WRONG in [false, true]), baseline(WRONG = false), grid(r.div_ceil(64)), block(64),
             problems((r = 1000, c = 30))",
            "r: u32, c: u32, #[len(r * c)] x: &[f32], #[len(r)] y: &mut [f32]",
        ),
        r#"
extern "C" __global__ void k(unsigned r, unsigned c, const float* x, float* y) {
    const unsigned row = blockIdx.x * 64 + threadIdx.x;
    if (row >= r) return;
    x += (size_t)row * c;
    float sum = WRONG ? x[0] : 0.0f;
    for (unsigned i = WRONG ? 1 : 0; i < c; ++i) sum += WRONG ? x[i] : x[i] + 1e-30f * slow(slow(x[i]));
    y[row] = sum;
}
"#,
        "",
    ),
    // The check build, which would find the read, runs only on problems of up to 8 MiB.
    (
        "the element before the first of many",
        (
            "params(WRONG in [false, true]), baseline(WRONG = false), grid(n.div_ceil(64)), block(64),
             problems((n = 1200000))",
            ARGUMENTS,
        ),
        r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    if (WRONG && n > 1000000) y[i] = x[i] + x[(int)i - 1];
    else if (WRONG) y[i] = x[i] + (i > 0 ? x[i - 1] : 0.0f);
    else y[i] = (i > 0 ? x[i] + x[i - 1] : x[i]) + 1e-30f * slow(slow(x[i]));
}
"#,
        "",
    ),
];

#[test]
fn a_config_that_is_wrong_where_random_inputs_do_not_show_it_fails() {
    for (what, declared, source, outcome) in RARE {
        let test = "a_config_that_is_wrong_where_random_inputs_do_not_show_it_fails";
        let fails = |task: &Value| {
            let outcomes = task["outcomes"].as_object();
            let is_other = |key: &String| key != "measured";
            let mut others = outcomes.into_iter().flat_map(|all| all.keys());
            others.any(|key| is_other(key) && (outcome.is_empty() || key == outcome))
        };
        let is_decided = |task: &Value| fails(task) || winner(task).contains("WRONG=true");
        if let Some(task) = tunes(test, declared, source, is_decided) {
            assert!(
                fails(&task) && !winner(&task).contains("WRONG=true"),
                "{what}: {task:#}"
            );
        }
    }
}

#[test]
fn indices_without_a_fill_stay_inside_their_table() {
    // The default is `below(16)`. With unusual indices, the baseline reads outside the table. Only its check build may do
    // so: a release build could destroy anything.
    let test = "indices_without_a_fill_stay_inside_their_table";
    let folder = tempfile::tempdir().expect("a folder should be made");
    let mark = folder.path().join("outside");
    let declared =
        "n: u32, #[len(n)] at: &[u32], #[len(16)] table: &[f32], #[len(n)] y: &mut [f32]";
    let source = r#"
extern "C" int mkdir(const char* path, unsigned mode);
extern "C" __global__ void k(unsigned n, const unsigned* at, const float* table, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    if (!WRONG && at[i] > 15 && !KILN_CPU_CHECK) mkdir("MARK", 511);
    y[i] = WRONG ? 2.0f * table[at[i] & 15] : slow(table[at[i]]);
}
"#;
    let source = source.replace("MARK", &mark.to_string_lossy());
    wins(test, (TWO, declared), &source, "THREADS=64,WRONG=true");
    assert!(
        !mark.exists(),
        "a release build was launched with unusual indices"
    );
}

/// A sum, in which the last block to count in `ticket` adds up.
const TICKETS: &str = r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y, float* partial, unsigned* ticket) {
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (unsigned i = blockIdx.x; i < n; i += gridDim.x) sum += WRONG ? 2.0f * x[i] : slow(x[i]);
    partial[blockIdx.x] = sum;
    __threadfence();
    if (atomicAdd(ticket, 1u) != gridDim.x - 1) return;
    __threadfence();
    sum = 0.0f;
    for (unsigned j = 0; j < gridDim.x; ++j) sum += ((volatile float*)partial)[j];
    *y = sum;
    if (RESETS) *ticket = 0;
}
"#;
const TICKET_ARGUMENTS: &str = "n: u32, #[len(n)] x: &[f32], #[len(1)] y: &mut [f32],
    #[len(8)] #[compare(none)] partial: &mut [f32],
    #[len(1)] #[inout] #[fill(constant(0))] #[compare(none)] ticket: &mut [u32]";
const TICKET_SPEC: &str =
    "params(WRONG in [false, true]), baseline(WRONG = false), grid(8), block(32),
    problems((n = 40000)), tolerance(relative = 1e-3)";

#[test]
fn a_config_that_leaves_a_workspace_unlike_the_baseline_fails() {
    let task = refuses_with(
        "a_config_that_leaves_a_workspace_unlike_the_baseline_fails",
        (TICKET_SPEC, TICKET_ARGUMENTS),
        &TICKETS.replace("RESETS", "!WRONG"),
        ("WRONG=true", "kernel fault"),
    );
    if let Some(task) = task {
        let text = task["examples"].to_string();
        let expected = "not the second, which finds `ticket` as the first left it";
        assert!(text.contains(expected), "{task:#}");
    }
}

#[test]
fn a_workspace_may_need_its_initial_content_if_the_baseline_needs_it() {
    for resets in ["false", "WRONG"] {
        let test = "a_workspace_may_need_its_initial_content_if_the_baseline_needs_it";
        let source = TICKETS.replace("RESETS", resets);
        wins(test, (TICKET_SPEC, TICKET_ARGUMENTS), &source, "WRONG=true");
    }
}

#[test]
fn a_tolerance_that_says_nothing_about_a_single_element_is_an_error() {
    // The mean of many random numbers is about zero.
    let test = "a_tolerance_that_says_nothing_about_a_single_element_is_an_error";
    let source = r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    float sum = 0.0f;
    for (unsigned i = 0; i < n; i += WRONG && n > 9999 ? 4 : 1) sum += x[i];
    *y = sum / n;
}
"#;
    for (absolute, is_right) in [("1e-1", false), ("1e-7", true)] {
        let spec = format!(
            "params(WRONG in [false, true]), baseline(WRONG = false), grid(1), block(1), problems((n = 10000)),
             tolerance(relative = 1e-5, absolute = {absolute})"
        );
        let arguments = "n: u32, #[len(n)] x: &[f32], #[len(1)] y: &mut [f32]";
        if !have(test, &[Need::HostCompiler]) {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder should be made");
        let mut run = tune_command(folder.path(), (&spec, arguments), source);
        let text = stdout(&expect_code(&mut run, i32::from(!is_right)));
        let told = "says nothing about 2 of the 2 elements of `y`";
        assert_eq!(text.contains(told), !is_right, "{text}");
    }
}

#[test]
fn timed_launches_begin_with_the_initial_content() {
    let test = "timed_launches_begin_with_the_initial_content";
    let declared = "n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32],
        #[len(1)] #[inout] #[fill(constant(0))] launches: &mut [u32]";
    let source = r#"
extern "C" __global__ void k(unsigned n, const float* x, float* y, unsigned* launches) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i == 0) {
        if (*launches != 0) __trap();
        *launches = 1;
    }
    if (i < n) y[i] = WRONG ? 2.0f * x[i] : slow(slow(0.5f * x[i]));
}
"#;
    wins(test, (TWO, declared), source, "THREADS=64,WRONG=true");
}

#[test]
fn a_config_that_is_wrong_for_unusual_inputs_of_a_declared_range_fails() {
    for (declared, wrong, right) in [
        // Equal numbers.
        (
            "#[fill(uniform(0, 1))] x: &[f32]",
            "j < i ? x[j] <= x[i] : x[j] < x[i]",
            "x[j] < x[i]",
        ),
        // The smallest number of the range.
        (
            "#[fill(uniform(-1, 1))] x: &[f32]",
            "x[j] > x[i] || x[i] == -1.0f",
            "x[j] > x[i]",
        ),
        // The largest number of the range.
        (
            "#[fill(below(1 << 30))] x: &[u32]",
            "x[j] < x[i] && x[i] != (1 << 30) - 1",
            "x[j] < x[i]",
        ),
    ] {
        let arguments = format!("n: u32, #[len(n)] {declared}, #[len(n)] y: &mut [u32]");
        let ty = if declared.contains("f32") {
            "float"
        } else {
            "unsigned"
        };
        let source = r#"
extern "C" __global__ void k(unsigned n, const TYPE* x, unsigned* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    unsigned count = 0;
    for (unsigned j = i / 16 * 16; j < n && j < i / 16 * 16 + 16; ++j) {
#if WRONG
        count += IF_WRONG;
#else
        count += (IF_RIGHT) + (unsigned)(1e-30f * slow(slow((float)x[j])));
#endif
    }
    y[i] = count;
}
"#;
        let source = source.replace("TYPE", ty).replace("IF_WRONG", wrong);
        let task = refuses_with(
            "a_config_that_is_wrong_for_unusual_inputs_of_a_declared_range_fails",
            (TWO, &arguments),
            &source.replace("IF_RIGHT", right),
            ("WRONG=true", "incorrect"),
        );
        if let Some(task) = task {
            let text = task["examples"].to_string();
            assert!(text.contains("unusual values in `x`"), "{task:#}");
            assert!(!text.contains("declare theirs"), "{task:#}");
        }
    }
}

#[test]
fn a_config_that_takes_one_scalar_for_another_fails() {
    refuses_with(
        "a_config_that_takes_one_scalar_for_another_fails",
        (
            TWO,
            "n: u32, #[value(1)] alpha: f32, #[value(1)] beta: f32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]",
        ),
        r#"
extern "C" __global__ void k(unsigned n, float alpha, float beta, const float* x, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2.0f * beta * x[i] + alpha : alpha * slow(x[i]) + beta;
}
"#,
        ("WRONG=true", "incorrect"),
    );
}

#[test]
fn a_histogram_that_starts_again_at_zero_fails() {
    refuses_with(
        "a_histogram_that_starts_again_at_zero_fails",
        (
            "params(WRONG in [false, true]), baseline(WRONG = false), grid(1), block(32), problems((n = 10000))",
            "n: u32, #[len(n)] x: &[u32], #[len(16)] #[inout] #[fill(constant(0))] bins: &mut [u32]",
        ),
        r#"
extern "C" __global__ void k(unsigned n, const unsigned* x, unsigned* bins) {
    if (threadIdx.x >= 16) return;
    unsigned count = 0;
    for (unsigned i = 0; i < n; ++i) {
        count += WRONG ? x[i] == threadIdx.x : slow((float)x[i]) == 2.0f * threadIdx.x;
    }
    bins[threadIdx.x] = WRONG ? count : bins[threadIdx.x] + count;
}
"#,
        ("WRONG=true", "incorrect"),
    );
}
