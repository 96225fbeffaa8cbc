//! Mistakes in the function and its arguments. Each case compares the position, the message and the help text.

use super::*;

const CASES: &[Case] = &[
    (
        "fn gemm(m: u32",
        "static X: u32; fn gemm(m: u32",
        &[
            "static X: u32;: expected a function; write `unsafe extern \"C\" { fn kernel(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]); }`",
        ],
    ),
    (
        "fn gemm(",
        "fn index(",
        &[
            "index: a kernel cannot be named `index`: `tuned/index.toml` is the index of all tables; give the function another name, and name the `__global__` function with `entry = \"index\"`",
        ],
    ),
    (
        "fn gemm(",
        "fn kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk(",
        &[
            "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: the kernel's name has 201 characters, and at most 200 are allowed; give the function a shorter name, and name the `__global__` function with `entry = \"..\"`",
        ],
    ),
    (
        "fn gemm(",
        "fn gemm<T>(",
        &[
            "<T>: a kernel has no generics of its own; declare element types in the attribute: `types(T in [f32, f16])`",
        ],
    ),
    (
        "fn gemm(",
        "safe fn gemm(",
        &[
            "safe: `safe` and `unsafe` do not go here; the block's `unsafe` vouches for it; the generated function is safe",
        ],
    ),
    (
        "m: u32",
        "m: u128",
        &[
            "u128: a kernel cannot take this type; arguments are u32, i32, u64, i64, f32, f64, i16, u16, i8, u8, f16, bf16 and type parameters by value, `&[T]` and `&mut [T]`",
        ],
    ),
    (
        "m: u32",
        "m: *const f32",
        &[
            "*const f32: a kernel cannot take this type; arguments are u32, i32, u64, i64, f32, f64, i16, u16, i8, u8, f16, bf16 and type parameters by value, `&[T]` and `&mut [T]`",
        ],
    ),
    (
        "m: u32",
        "_: u32",
        &[
            "_: expected the argument's name; write `unsafe extern \"C\" { fn kernel(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]); }`",
        ],
    ),
    (
        "#[len(m * k)] a",
        "a",
        &[
            "a: `a` has no length; add `#[len(m * n)]`: its elements, over the sizes of this kernel (m, n, k)",
        ],
    ),
    (
        "#[len(m * k)] a",
        "#[len(m * k)] #[len(m)] a",
        &["#[len(m)]: `#[len]` is given twice; give each attribute once"],
    ),
    (
        "#[len(m * k)] a",
        "#[lenn(m * k)] a",
        &["lenn: unknown attribute `lenn`; did you mean `#[len(..)]`?"],
    ),
    (
        "#[len(m * k)] a",
        "#[len(m * k)] #[serde(x)] a",
        &[
            "serde: unknown attribute `serde`; arguments take len, fill, value, computed, inout, align, tolerance, compare, constant",
        ],
    ),
    (
        "#[len(m * k)] a",
        "#[len(m * k)] #[value(1)] a",
        &["1: `#[value]` on the slice `a`; slices take `#[fill(..)]`"],
    ),
    (
        "#[len(m * k)] a",
        "#[len(m * k)] #[inout] a",
        &[
            "#[inout]: `#[inout]` on `a`, which is read only; make it `&mut [T]`, or remove the attribute",
        ],
    ),
    (
        "#[len(m * k)] a",
        "#[len(m * k)] #[tolerance(relative = 1)] a",
        &[
            "#[tolerance(relative = 1)]: `#[tolerance]` on the input `a`; it bounds outputs; remove it",
        ],
    ),
    (
        "#[len(m * n)] c",
        "#[len(m * n)] #[fill(iota)] c",
        &[
            "#[fill(iota)]: `#[fill]` on the output `c`; outputs are poisoned before each launch; add `#[inout]` if the kernel reads it",
        ],
    ),
    (
        "#[len(m * k)] a",
        "#[len(m * k)] #[fill(gauss(1))] a",
        &["gauss: unknown fill `gauss`; fills are uniform(-1, 1), below(n), iota and constant(0)"],
    ),
    (
        "#[len(m * k)] a",
        "#[len(m * k)] #[fill(uniform(1))] a",
        &[
            "uniform: `uniform` takes 2 numbers; fills are uniform(-1, 1), below(n), iota and constant(0)",
        ],
    ),
    (
        "#[len(m * k)] a",
        "#[len(m * k)] #[fill(uniform(1, 1))] a",
        &[
            "uniform: the lower bound must be below the upper one; fills are uniform(-1, 1), below(n), iota and constant(0)",
        ],
    ),
    (
        "#[len(m * k)] a: &[f32]",
        "#[len(m * k)] #[fill(uniform(-1, 300))] a: &[u8]",
        &[
            "#[fill(uniform(-1, 300))]: fill from -1 to 300 does not suit u8 elements; give whole numbers from 0 to 255, or `below(n)`",
        ],
    ),
    (
        "fn gemm(m: u32",
        "fn gemm(#[len(3)] #[fill(iota)] #[align(2)] #[inout] m: u32",
        &[
            "3: `#[len]` on the scalar `m`; it describes slices; remove it",
            "#[fill(iota)]: `#[fill]` on the scalar `m`; it describes slices; remove it",
            "2: `#[align]` on the scalar `m`; it describes slices; remove it",
            "#[inout]: `#[inout]` on the scalar `m`; it describes slices; remove it",
        ],
    ),
    (
        "fn gemm(m: u32",
        "fn gemm(scale: f32, m: u32",
        &[
            "scale: `scale` has no value to tune with; add `#[value(1.0)]`: only integers can be problem sizes",
        ],
    ),
    (
        "fn gemm(m: u32",
        "fn gemm(#[value(0.5)] scale: u32, m: u32",
        &["0.5: 0.5 is not a value of `scale`, which is u32; change the value or the type"],
    ),
    (
        "fn gemm(m: u32",
        "fn gemm(#[value(-1)] scale: u32, m: u32",
        &["-1: -1 does not fit `scale`, which is u32; change the value or the type"],
    ),
    (
        "fn gemm(m: u32",
        "fn gemm(#[value(1e300)] scale: f32, m: u32",
        &["1e300: 1e300 is not a value of `scale`, which is f32; change the value or the type"],
    ),
    (
        "fn gemm(m: u32",
        "fn gemm(self, m: u32",
        &[
            "self: a kernel has no `self`; write `unsafe extern \"C\" { fn kernel(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]); }`",
        ],
    ),
    (
        "fn gemm(m: u32",
        "fn gemm(#[computed(BLOCK_K)] scale: f32, m: u32",
        &[
            "BLOCK_K: `scale` is f32, but expressions are integers; compute integers alone; callers give real numbers: `#[value(1.0)]`",
        ],
    ),
    (
        "fn gemm(m: u32",
        "fn gemm(#[computed(BLOCK_K)] #[value(8)] tile: u32, m: u32",
        &[
            "8: `#[value]` on the computed argument `tile`; its value is that of `#[computed(..)]`; remove one of the two",
        ],
    ),
    (
        "#[len(m * n)] c",
        "#[len(m * n)] #[computed(m)] c",
        &["m: `#[computed]` on the slice `c`; only scalars are computed"],
    ),
    (
        "#[len(m * k)] a",
        "#[len(m * k)] #[compare(sum)] a",
        &["#[compare(sum)]: `#[compare]` on the input `a`; inputs are not compared; remove it"],
    ),
    (
        "#[len(m * n)] c",
        "#[len(8)] #[constant] c",
        &[
            "#[constant]: `#[constant]` on `c`, which is written; kernels only read `__constant__` variables; make it `&[T]`",
        ],
    ),
    (
        "#[len(m * k)] a",
        "#[len(m)] #[constant(tables::a)] a",
        &[
            "m: the length of `a` depends on the size `m`; a `__constant__` variable has a fixed size: give the number of elements that it is declared with",
            "b: the parameter `b` comes after a `#[constant]` argument; move it before them: arguments that fill `__constant__` variables come last",
        ],
    ),
    (
        "m: u32",
        "#[constant] m: u32",
        &["#[constant]: `#[constant]` on the scalar `m`; it describes slices; remove it"],
    ),
    (
        "#[len(m * n)] c",
        "#[len(m * n)] #[compare(sun)] c",
        &["sun: unknown comparison `sun`; did you mean `sum`?"],
    ),
    (
        "#[len(m * n)] c",
        "#[len(m * n)] #[compare(none)] c",
        &[
            "c: no output is compared; compare at least one output: without `#[compare]`, each of its elements is compared; with `#[compare(sum)]`, `max` or `min`, only their sum, maximum or minimum",
        ],
    ),
    (
        "m: u32",
        "#[value(70000)] scale: f16, m: u32",
        &[
            "70000: 70000 does not fit `scale`, which is f16; give a value that every type of the argument can have",
        ],
    ),
    (
        "m: u32",
        "scale: half::bf16, m: u32",
        &[
            "scale: `scale` has no value to tune with; add `#[value(1.0)]`: a number of this type cannot be a problem size",
        ],
    ),
    (
        "m: u32",
        "#[computed(m)] scale: f16, m: u32",
        &[
            "m: `#[computed]` on `scale`, which is not of an integer type; callers give it: write `#[value(..)]` with the value to tune with",
        ],
    ),
    (
        "m: u32",
        "#[len(m)] #[value(1)] scale: f16, m: u32",
        &["m: `#[len]` on the scalar `scale`; it describes slices; remove it"],
    ),
    (
        "m: u32",
        "#[value(1)] scale: T, m: u32",
        &[
            "T: a struct needs a value to tune with; write `#[value(T { scale: 0.5f32, count: n as u32 })]` before it, with its fields; if `T` stands for several number types, declare `types(T in [f32, f16])` in the attribute",
        ],
    ),
];

#[test]
fn every_mistake_in_a_function_is_reported_at_its_place_with_help() {
    compare(CASES);
}
