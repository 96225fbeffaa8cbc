//! Invalid declarations of kernels, and sources that do not match them.

use super::case::{Case, LIB, SOURCE, case};

pub fn cases() -> Vec<Case> {
    let mut all = names_and_values();
    all.extend(launches());
    all.extend(sources());
    all.extend(nesting());
    all
}

fn names_and_values() -> Vec<Case> {
    vec![
        case("an unknown name in a constraint")
            .edit(LIB, "THREADS <= device", "THREDS <= device")
            .says("error: unknown name `THREDS`\n --> <root>/src/lib.rs:6:11\n  |\n6 |     where(THREDS <= device.max_threads_per_block),\n  |           ^^^^^^\n  = help: did you mean `THREADS`?"),
        case("an unknown device limit")
            .edit(LIB, "device.max_threads_per_block", "device.max_thread_per_block")
            .says("error: unknown device limit `device.max_thread_per_block`"),
        case("a baseline outside the space")
            .edit(LIB, "THREADS = 32", "THREADS = 48")
            .says("error: baseline outside the space: 48 is not a value of `THREADS`"),
        case("a constraint that nothing satisfies")
            .edit(LIB, "where(", "where(THREADS > 4096, ")
            .says("error: no config satisfies this constraint for n=10000"),
        case("a constraint that no device satisfies")
            .edit(LIB, "where(", "where(THREADS > device.max_threads_per_block * 2, ")
            .says("error: no config satisfies this constraint for n=10000 on any known target"),
        case("an integer beyond 64 bits")
            .edit(LIB, "128]", "99999999999999999999]")
            .says("error: integer literal does not fit 64 bits"),
        case("a problem size beyond its type")
            .edit(LIB, "n = 10000", "n = 99999999999")
            .says("error: 99999999999 is not a size of `n`, which is u32"),
        case("a parameter without values")
            .edit(LIB, "[1, 2]", "[]")
            .says("error: `ITEMS` has no values"),
        case("an item given twice")
            .edit(LIB, "block(THREADS),", "block(THREADS), block(THREADS),")
            .says("error: `block` is given twice"),
        case("an unknown item")
            .edit(LIB, "problems(", "problem(")
            .says("error: unknown item `problem`"),
        case("two mistakes at once")
            .edit(LIB, "problems(", "problem(")
            .edit(LIB, "THREADS = 32", "THREADS = 48")
            .says("error: unknown item `problem`"),
    ]
}

fn launches() -> Vec<Case> {
    vec![
        case("a grid that overflows")
            .edit(LIB, "grid(n.div_ceil(THREADS * ITEMS))", "grid(n * 9223372036854775807)")
            .says("error: the baseline cannot be launched for n=10000: grid x is 92233720368547758070000, but must be from 1 to 4294967295"),
        case("a grid that divides by zero")
            .edit(LIB, "grid(n.div_ceil(THREADS * ITEMS))", "grid(n / (ITEMS - 1))")
            .says("error: the baseline cannot be launched for n=10000: grid x: `n / (ITEMS - 1)` divides by zero"),
        case("a grid beyond every device")
            .edit(LIB, "grid(n.div_ceil(THREADS * ITEMS))", "grid(1, n * 100)")
            .says("error: the baseline cannot be launched for n=10000: grid y is 1000000, but the device allows 65535"),
        case("a problem larger than memory")
            .edit(LIB, "f32], #[len(n)] y", "f32], #[len(n * 1000000000)] y")
            .runs("$TUNE run --device cpu 2>&1 | grep -v 'device has room'; $TUNE run --device cpu 2>/dev/null >&2")
            .says("help: declare a smaller problem, or process it in chunks"),
        case("a kernel that does not compile")
            .edit(SOURCE, "2.0f * x[i]", "2.0f * z[i]")
            .runs("$TUNE run --device cpu")
            .says("help: configs are compared with the baseline: it must compile, run and be correct first"),
    ]
}

fn sources() -> Vec<Case> {
    vec![
        case("a source that is not there")
            .prepare("rm src/scale.cu")
            .says("error: <root>/src/lib.rs: kernel `scale`: cannot read kernel source `src/scale.cu`: No such file or directory (os error 2) (<root>/src/scale.cu)"),
        case("a source that leaves the package")
            .edit(LIB, "scale.cu", "../../scale.cu")
            .says("error: <root>/src/lib.rs: kernel `scale`: cannot read kernel source `src/../../scale.cu`: the path leaves the package\nhelp: keep the source inside the package, as a file and not as a link, so that its hash covers it"),
        case("a source that is a link to outside")
            .prepare("ln -sf /etc/hostname src/scale.cu")
            .says("error: <root>/src/lib.rs: kernel `scale`: cannot read kernel source `src/scale.cu`: it is a link to a file outside the package\nhelp: keep the source inside the package, as a file and not as a link, so that its hash covers it"),
        case("a source that is a folder")
            .prepare("rm src/scale.cu; mkdir src/scale.cu")
            .says("error: <root>/src/lib.rs: kernel `scale`: cannot read kernel source `src/scale.cu`: Is a directory (os error 21)"),
        case("a source that is not text")
            .prepare("printf '\\377\\376' >> src/scale.cu")
            .says("error: <root>/src/lib.rs: kernel `scale`: cannot read kernel source `src/scale.cu`: it is not UTF-8 text\nhelp: save the file as UTF-8"),
        case("a source with a NUL")
            .edit(SOURCE, "extern", "\0extern")
            .says("error: <root>/src/lib.rs: kernel `scale`: src/scale.cu:1: the source contains a NUL byte"),
        case("a comment without an end")
            .edit(SOURCE, "extern", "/* extern")
            .says("error: <root>/src/lib.rs: kernel `scale`: src/scale.cu:1: unterminated block comment"),
        case("an entry that is not in the source")
            .edit(SOURCE, "void scale(", "void scala(")
            .says("error: no `__global__` function `scale` in the source (found: `scala`)"),
        case("an argument of another type")
            .edit(SOURCE, "const float* x", "const double* x")
            .says("error: argument `x` of `scale` is `&[f32]` in the spec but `const double *` in the source (src/scale.cu:1)"),
        case("an argument too few")
            .edit(SOURCE, "const float* x, ", "")
            .says("error: kernel `scale` takes 2 arguments in the source (src/scale.cu:1) but 3 in its spec"),
        case("a parameter that the kernel's code never mentions")
            .edit(LIB, "ITEMS in [1, 2]", "ITEMS in [1, 2], WIDTH in [1, 2]")
            .edit(LIB, "ITEMS = 1)", "ITEMS = 1, WIDTH = 1)")
            .says("error: the kernel's code never mentions `WIDTH`, nor do `grid`, `block` and `shared`"),
        case("an included file that is not there")
            .edit(SOURCE, "extern", "#include \"no.h\"\nextern")
            .says("error: <root>/src/lib.rs: kernel `scale`: src/scale.cu:1: cannot read included file `src/no.h`: No such file or directory (os error 2) (<root>/src/no.h)"),
        case("an include that leaves the package")
            .edit(SOURCE, "extern", "#include \"../../../no.h\"\nextern")
            .says("error: <root>/src/lib.rs: kernel `scale`: src/scale.cu:1: `#include \"../../../no.h\"` leaves the package"),
        case("a source that includes itself")
            .edit(SOURCE, "extern", "#include \"scale.cu\"\nextern")
            .says("error: <root>/src/lib.rs: kernel `scale`: src/scale.cu:1: `src/scale.cu` includes itself: src/scale.cu -> src/scale.cu"),
    ]
}

fn nesting() -> Vec<Case> {
    let deep = |open: &str, close: &str| format!("{}n{}", open.repeat(5000), close.repeat(5000));
    let grid = "grid(n.div_ceil(THREADS * ITEMS))";
    vec![
        case("an expression of five thousand brackets")
            .edit(LIB, grid, format!("grid({})", deep("(", ")")))
            .says("error: <root>/src/lib.rs:8:135: brackets or operators nest too deep"),
        case("an expression of five thousand signs")
            .edit(LIB, grid, format!("grid({})", deep("-", "")))
            .says("error: <root>/src/lib.rs:8:138: brackets or operators nest too deep"),
        case("Rust of fifty thousand brackets")
            .edit(
                LIB,
                "use kiln",
                format!(
                    "fn f() {{ {} }}\nuse kiln",
                    deep("(((((((((((", ")))))))))))")
                ),
            )
            .says("error: <root>/src/lib.rs:1:137: brackets or operators nest too deep"),
        case("an expression of fifty levels")
            .edit(
                LIB,
                grid,
                format!("grid({}n{})", "-(1 + ".repeat(50), ")".repeat(50)),
            )
            .says("error: expression nests deeper than 40 levels"),
    ]
}
