//! Kernels that were written for other programs, and mistakes in them. The message reports the line in the user's file.

use super::case::{Case, LIB, SOURCE, case};

pub fn cases() -> Vec<Case> {
    let mut all = declared();
    all.extend(baselines());
    all.extend(smoke_tests());
    all.extend(candidates());
    all
}

fn declared() -> Vec<Case> {
    vec![
        case("a parameter that only the launch uses")
            .edit(SOURCE, "THREADS +", "blockDim.x +")
            .runs("$TUNE space --device cpu --count")
            .prints("scale (n=10000): 6"),
        case("an element type of every width")
            .edit(LIB, "&[f32]", "&[f64]")
            .edit(LIB, "&mut [f32]", "&mut [f64]")
            .edit(SOURCE, "const float* x, float* y", "const double* x, double* y")
            .runs("$TUNE space --device cpu --count")
            .prints("scale (n=10000): 6"),
        case("an element type that there is not")
            .edit(LIB, "&[f32]", "&[f128]")
            .says("   = help: element types are f32, f16, bf16, i32, u32, u8, f64, i64, u64, i16, u16, i8; a name for several of them is declared in the attribute: `types(f128 in [f32, f16])`"),
        case("a problem for which nothing is launched")
            .edit(LIB, "problems((n = 10000))", "problems((n = 0))")
            .says("error: the baseline cannot be launched for n=0: grid x is 0, but must be from 1 to 4294967295"),
    ]
}

fn baselines() -> Vec<Case> {
    let baseline = |name, told: &'static str| {
        case(name)
            .runs("$TUNE run --device cpu --trials 1")
            .says(told)
    };
    vec![
        case("a header that is not there")
            .edit(SOURCE, "extern \"C\"", "#include <nothere.h>\nextern \"C\"")
            .runs("$TUNE run --device cpu --trials 1 2>&1 | grep -o -m1 '`nothere.h` was not found: src/scale.cu:1:10: fatal error: '")
            .prints("`nothere.h` was not found: src/scale.cu:1:10: fatal error: "),
        baseline(
            "a baseline that reads behind an argument",
            "tune: scale (n=10000): the baseline does not work: block (16,0,0) thread (8,0,0): out of bounds: it reads `x`[521] (4 bytes) at src/scale.cu:3, but there are 521 elements of 4 bytes",
        )
        .edit(SOURCE, "2.0f * x[i]", "2.0f * x[i + (i + 1 == n)]"),
        baseline(
            "a baseline that writes behind an argument",
            "tune: scale (n=10000): the baseline does not work: block (16,0,0) thread (8,0,0): out of bounds: it writes `y`[521] (4 bytes) at src/scale.cu:3, but there are 521 elements of 4 bytes",
        )
        .edit(SOURCE, "y[i]", "y[i + (i + 1 == n)]"),
        baseline(
            "a baseline that needs whole blocks",
            "help: it fails on n=521, one of the sizes on which Kiln verifies every config; if the kernel does not support this size, exclude it by a constraint such as `where(n % TILE == 0)`, or list other sizes with `verify(..)`",
        )
        .edit(SOURCE, " && i < n", ""),
        baseline(
            "a baseline with a divergent barrier",
            "tune: scale (n=10000): the baseline does not work: block (0,0,0) thread (16,0,0): divergent barrier: it waits at __syncthreads() at src/scale.cu:2, but thread (0,0,0) waits at __syncthreads() at src/scale.cu:2",
        )
        .edit(SOURCE, "    unsigned", "    if (threadIdx.x < 16) __syncthreads(); __syncthreads(); unsigned"),
        case("a baseline with a race, for which no constraint on the sizes is advised")
            .edit(SOURCE, "2.0f * x[i]", "two * x[i]")
            .edit(SOURCE, "    unsigned", "    __shared__ float two; if (threadIdx.x == 0) two = 2.0f;\n    unsigned")
            .runs("said=$($TUNE run --device cpu --trials 1 2>&1); echo \"$said\" | grep -q ': race: ' && echo \"$said\" | grep -c 'verifies every config'; true")
            .prints("0"),
        baseline(
            "a baseline with more shared memory than there is",
            "tune: scale (n=10000): the baseline THREADS=32,ITEMS=1 is not valid for n=10000: dynamic shared memory is 100000, but the device allows 49152",
        )
        .edit(LIB, "block(THREADS)", "block(THREADS), shared(100000)"),
    ]
}

fn smoke_tests() -> Vec<Case> {
    vec![
        case("a smoke test of a race that forward order hides")
            .edit(SOURCE, "2.0f * x[i]", "two * x[i]")
            .edit(SOURCE, "    unsigned", "    __shared__ float two; if (threadIdx.x == 0) two = 2.0f;\n    unsigned")
            .runs("$TUNE smoke --device cpu; test $? = 1")
            .prints("failed   scale baseline (n=10000): block (0,0,0) thread (1,0,0): race: it reads shared variable `two` at src/scale.cu:4, which thread (0,0,0) of the block writes at src/scale.cu:2, and no __syncwarp() or barrier orders the two (on n=67, one of the sizes on which Kiln verifies every config)"),
        case("a smoke test of a race that makes outputs wrong")
            .edit(SOURCE, "2.0f * x[i]", "2.0f * turned[THREADS - 1 - threadIdx.x]")
            .edit(SOURCE, "    unsigned", "    __shared__ float turned[THREADS]; unsigned")
            .edit(SOURCE, "    for", "    turned[threadIdx.x] = first < n ? x[first] : 0.0f;\n    for")
            .runs("$TUNE smoke --device cpu; test $? = 1")
            .prints("failed   scale baseline (n=10000): block (0,0,0) thread (16,0,0): race: it writes shared variable `turned`[16] at src/scale.cu:3, which thread (15,0,0) of the block reads at src/scale.cu:4, and no __syncwarp() or barrier orders the two (on n=67, one of the sizes on which Kiln verifies every config)"),
        unwritten("a smoke test of a read of unwritten shared memory", "", "n == 123456")
            .runs("$TUNE smoke --device cpu; test $? = 1")
            .prints("failed   scale baseline (n=10000): kernel fault: block (0,0,0) thread (0,0,0): it reads shared variable `s`[32] at src/scale.cu:3, which no thread of the block has written (on n=67, one of the sizes on which Kiln verifies every config)\nhelp: if the kernel drops the value, declare `unwritten_reads = allow`"),
        unwritten("a smoke test of a dropped read of unwritten shared memory", "unwritten_reads = allow, ", "n == 123456")
            .runs("$TUNE smoke --device cpu")
            .prints("1 passed, 0 failed, 0 not run"),
        unwritten("a smoke test of a used read of unwritten shared memory", "unwritten_reads = allow, ", "n > 1")
            .runs("$TUNE smoke --device cpu; test $? = 1")
            .prints("help: the kernel must not use this value: let the lane take part in the shuffle, or write the element first"),
        case("a smoke test of a kernel whose inputs another program makes")
            .edit(LIB, "problems(", "inputs = made, problems(")
            .runs("$TUNE smoke --device cpu; test $? = 1")
            .prints("failed   scale baseline (n=10000): the inputs of `scale` are made by the Rust function `made`, which is not linked into this program"),
        case("a smoke test of a table that is too long for a copy without a call")
            .edit(LIB, "y: &mut [f32]", "y: &mut [f32], #[len(4096)] #[constant] table: &[f32]")
            .edit(SOURCE, "extern \"C\"", "__constant__ float table[4096];\nextern \"C\"")
            .edit(SOURCE, "2.0f * x[i]", "table[i % 4096] * x[i]")
            .runs("$TUNE smoke --device cpu")
            .prints("1 passed, 0 failed, 0 not run"),
        case("a smoke test of a read far outside an argument")
            .edit(SOURCE, "2.0f * x[i]", "2.0f * x[i + (1u << 30)]")
            .runs("$TUNE smoke --device cpu; test $? = 1")
            .prints("failed   scale baseline (n=10000): block (0,0,0) thread (0,0,0): out of bounds: it reads 4 bytes at address 0x<hash> at src/scale.cu:3, which is in no argument and in no variable of the kernel (on n=67, one of the sizes on which Kiln verifies every config)"),
    ]
}

/// A kernel that reads shared memory that no thread wrote, and uses the value under a condition.
fn unwritten(name: &'static str, item: &str, uses: &str) -> Case {
    case(name)
        .edit(LIB, "problems(", format!("{item}problems("))
        .edit(SOURCE, "    unsigned", "    __shared__ float s[2 * THREADS]; s[threadIdx.x] = 1.0f; unsigned")
        .edit(SOURCE, "2.0f * x[i]", format!("2.0f * x[i] + (s[THREADS + threadIdx.x] == 3.0f || !({uses}) ? 0.0f : s[THREADS + threadIdx.x])"))
}

fn candidates() -> Vec<Case> {
    const RUN: &str = "$TUNE run --device cpu --trials all --budget full";
    vec![
        case("candidates that read behind an argument")
            .edit(SOURCE, "2.0f * x[i]", "2.0f * x[i] + (ITEMS == 2 && i + 1 == n ? x[n] : 0.0f)")
            .runs(RUN)
            .prints("            out of bounds, for example THREADS=32,ITEMS=2: block (8,0,0) thread (4,0,0): out of bounds: it reads `x`[521] (4 bytes) at src/scale.cu:3, but there are 521 elements of 4 bytes"),
        case("candidates whose outputs a race makes wrong")
            .edit(SOURCE, "2.0f * x[i]", "2.0f * (ITEMS == 2 ? turned[THREADS - 1 - threadIdx.x] : x[i])")
            .edit(SOURCE, "    unsigned", "    __shared__ float turned[THREADS]; unsigned")
            .edit(SOURCE, "    for", "    if (ITEMS == 2) turned[threadIdx.x] = first < n ? x[first] : 0.0f;\n    for")
            .runs("$TUNE run --device cpu --trials all --budget full 2>&1 | grep -o -m1 'race, for example THREADS=32,ITEMS=2: block'")
            .prints("race, for example THREADS=32,ITEMS=2: block"),
        case("candidates that are wrong, without a reference")
            .edit(SOURCE, "2.0f", "(ITEMS == 2 ? 3.0f : 2.0f)")
            .runs(RUN)
            .prints("            incorrect, for example THREADS=32,ITEMS=2: y[222] is 2.007225513458252, but the baseline says 1.<hash> (error 0.<hash>, bound 2.<hash>-6), with n=521"),
        case("candidates that are right by the reference entry of the source")
            .edit(LIB, "problems(", "reference(entry = \"simple\"), problems(")
            .edit(SOURCE, "extern", "__global__ void simple(unsigned n, const float* x, float* y) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + x[i]; }\nextern")
            .runs(RUN)
            .prints("  outputs   compared with the reference entry of the same source"),
        case("a baseline that the reference entry of the source contradicts")
            .edit(LIB, "problems(", "reference(entry = \"simple\"), problems(")
            .edit(SOURCE, "extern", "__global__ void simple(unsigned n, const float* x, float* y) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1.0f; }\nextern")
            .runs(RUN)
            .says("tune: scale (n=10000): the baseline does not work: incorrect: y[8003] is -1.<hash>, but the reference entry says 0.0004259943962097168 (error 1.<hash>, bound 2.3103327755390934e-6)"),
        case("a reference entry that does not compile")
            .edit(LIB, "problems(", "reference(entry = \"simple\"), problems(")
            .edit(SOURCE, "extern", "__global__ void simple(unsigned n, const float* x, float* y) { nothing(); }\nextern")
            .runs(RUN)
            .says("tune: scale (n=10000): the reference entry `simple` does not work: compile failed: `simple_<hash>` does not compile: src/scale.cu:1:92: error: use of undeclared identifier 'nothing'"),
        case("a template in a namespace, from the search to its rows")
            .edit(LIB, "source = \"scale.cu\"", "source = \"scale.cu\", entry = \"tiles::scale<float, THREADS>\"")
            .edit(SOURCE, "extern \"C\" __global__", "namespace tiles { template <class T, unsigned THREADS> __global__")
            .prepare("echo '}' >> src/scale.cu")
            .runs("copy=$(mktemp -d) && cp -r . $copy && cd $copy && $TUNE run --device cpu --trials 2 --budget full --write && $TUNE smoke --device cpu && $TUNE bake --check && rm -r $copy")
            .prints("1 kernels, 1 baked rows: up to date"),
        case("no candidate is right")
            .edit(SOURCE, "2.0f", "(ITEMS == 2 || THREADS > 32 ? 3.0f : 2.0f)")
            .runs(RUN)
            .prints("  winner    baseline kept: no other config is valid"),
    ]
}
