//! Mistakes in the attribute. Each case compares the position, the message and the help text.

use super::*;

const CASES: &[Case] = &[
    (
        "source = \"gemm.cu\"",
        "source = gemm",
        &["gemm: expected string literal; write `source = \"gemm.cu\"`"],
    ),
    (
        "source = \"gemm.cu\"",
        "source =",
        &["source: `source` is not written like this; write `source = \"gemm.cu\"`"],
    ),
    (
        "source = \"gemm.cu\"",
        "source(\"gemm.cu\")",
        &["source: `source` is not written like this; write `source = \"gemm.cu\"`"],
    ),
    (
        "source = \"gemm.cu\",",
        "",
        &["gemm: the kernel has no source; add `source = \"kernel.cu\"`, relative to this file"],
    ),
    (
        "source = \"gemm.cu\"",
        "source = \"\"",
        &["\"\": the source's path is empty; name the `.cu` file"],
    ),
    (
        "source = \"gemm.cu\"",
        "sorce = \"gemm.cu\"",
        &["sorce: unknown item `sorce`; did you mean `source`?"],
    ),
    (
        "source = \"gemm.cu\"",
        "fancy = \"gemm.cu\"",
        &[
            "fancy: unknown item `fancy`; items are source, entry, types, sizes, params, where, baseline, try_first, grid, block, shared, problems, gpu_problems, verify, work, tolerance, inputs, reference, evidence, only, equal_stores, unwritten_reads, untuned",
        ],
    ),
    (
        "block(THREADS),",
        "block(THREADS), block(THREADS),",
        &["block: `block` is given twice; give each item once"],
    ),
    (
        "block(THREADS),",
        "block(THREADS) grid2,",
        &["grid2: unexpected tokens; is a comma missing after `block`?"],
    ),
    (
        "block(THREADS),",
        "block(THREADS), try_first((BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 3, THREAD = 64)),",
        &[
            "3: a config to try first outside the space: 3 is not a value of `VECTOR_WIDTH`; its values are `1`, `2`, `4`",
            "THREAD: a config to try first sets `THREAD`, which is not a parameter; did you mean `THREADS`?",
            "(BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 3, THREAD = 64): a config to try first gives no value for `THREADS`; give every tunable parameter a value",
        ],
    ),
    (
        "block(THREADS),",
        "block(THREADS), try_first(THREADS = 64),",
        &["THREADS: expected parentheses; write `try_first((BLOCK = 128))`"],
    ),
    (
        "block(THREADS),",
        "block(),",
        &["block: `block` is not written like this; write `block(BLOCK)`"],
    ),
    (
        "block(THREADS),",
        "",
        &["gemm: the kernel has no block; add `block(BLOCK)`: threads of a block per axis"],
    ),
    (
        "block(THREADS),",
        "block(1,2,3,4),",
        &[
            "block(1,2,3,4): a block has one to three axes, found 4; they are x, y and z; missing ones are 1",
        ],
    ),
    (
        "grid(n.div_ceil(BLOCK_N), m.div_ceil(BLOCK_M)),",
        "",
        &["gemm: the kernel has no grid; add `grid(n.div_ceil(BLOCK))`: blocks per axis"],
    ),
    (
        "block(THREADS)",
        "block(THREADS +)",
        &[
            "block(THREADS +): unexpected end of input, expected an expression; write `block(BLOCK)`",
        ],
    ),
    (
        "block(THREADS)",
        "block(THREADS as u32)",
        &["THREADS as u32: expressions have no casts; remove it: integers are exact in 128 bits"],
    ),
    (
        "block(THREADS)",
        "block(THREADS.cbrt())",
        &["cbrt: unknown function `cbrt`; expressions have i…"],
    ),
    (
        "block(THREADS)",
        "block(THREADS.div_cel(2))",
        &["div_cel: unknown function `div_cel`; did you mean `div_ceil`?"],
    ),
    (
        "block(THREADS)",
        "block(THREADS.div_ceil())",
        &[
            "THREADS.div_ceil(): `div_ceil` takes two arguments, found 1; a receiver counts as the first: `n.div_ceil(B)` is `div_ceil(n, B)`",
        ],
    ),
    (
        "block(THREADS)",
        "block(9223372036854775808)",
        &[
            "9223372036854775808: integer literal does not fit 64 bits; the largest is 9223372036854775807",
        ],
    ),
    (
        "block(THREADS)",
        "block(64u32)",
        &[
            "64u32: integer with the suffix `u32`; remove the suffix: integers of a spec have no type",
        ],
    ),
    (
        "block(THREADS)",
        "block(0.5)",
        &[
            "0.5: expressions have no fractions; write a quotient of integers; `/` rounds towards zero",
        ],
    ),
    (
        "block(THREADS)",
        "block(\"64\")",
        &["\"64\": not a value of the language; expressions have i…"],
    ),
    (
        "block(THREADS)",
        "block(a::b)",
        &["a::b: names of a spec have no path; expressions have i…"],
    ),
    (
        "block(THREADS)",
        "block(x.y)",
        &["x: only `device` has fields; limits of the devi…"],
    ),
    (
        "block(THREADS)",
        "block(device)",
        &["device: `device` has no value itself; name one of its li…"],
    ),
    (
        "block(THREADS)",
        "block(device.warp_sise)",
        &["warp_sise: unknown device limit `device.warp_sise`; did you mean `device.warp_size`?"],
    ),
    (
        "block(THREADS)",
        "block(device.foo_bar_baz)",
        &["foo_bar_baz: unknown device limit `device.foo_bar_baz`; limits of the devi…"],
    ),
    (
        "block(THREADS)",
        "block(if true { 1 } else { 2 })",
        &["if true { 1 } else { 2 }: not an expression of a spec; expressions have i…"],
    ),
    (
        "block(THREADS)",
        "block(THREADS & 3)",
        &["&: not an operator of the language; expressions have i…"],
    ),
    (
        "block(THREADS)",
        "block(*THREADS)",
        &["*THREADS: not an operator of the language; expressions have i…"],
    ),
    (
        "THREADS in [64, 128, 256]",
        "THREADS in pow3(1..=4)",
        &["pow3: expected values; write `[..]` with all values, `1..=8`, or `pow2(16..=256)`"],
    ),
    (
        "THREADS in [64, 128, 256]",
        "THREADS in 1..=1000000000000",
        &[
            "1..=1000000000000: more than 4096 values for one tunable parameter; list the values worth trying",
        ],
    ),
    (
        "THREADS in [64, 128, 256]",
        "THREADS in 9..=3",
        &["9..=3: the range is empty; the lower bound comes first"],
    ),
    (
        "THREADS in [64, 128, 256]",
        "THREADS in pow2(65..=127)",
        &[
            "65..=127: no power of two in this range; for example `pow2(16..=256)` is 16, 32, 64, 128, 256",
        ],
    ),
    (
        "THREADS in [64, 128, 256]",
        "THREADS in [64, \"x\"]",
        &[
            "\"x\": expected an integer, `true`, `false` or a name; write `params(BLOCK in [64, 128])`",
        ],
    ),
    (
        "THREADS in [64, 128, 256]",
        "THREADS = [64]",
        &["=: expected `in`; write `params(BLOCK in [64, 128])`"],
    ),
    (
        "THREADS in [64, 128, 256]",
        "r#type in [64]",
        &[
            "r#type: `r#type` is not a name that a kernel's source can use; use ASCII letters, digits and `_`, and no Rust keyword",
        ],
    ),
    (
        "THREADS in [64, 128, 256]",
        "größe in [64]",
        &[
            ": `größe` is not a name that a kernel's source can use; use ASCII letters, digits and `_`, and no Rust keyword",
        ],
    ),
    (
        "THREADS = 256)",
        "THREADS = 256, THREADS = 128)",
        &["THREADS: `THREADS` is given twice in the baseline; give each once"],
    ),
    (
        "THREADS = 256)",
        "THREDS = 256)",
        &[
            "THREDS: the baseline sets `THREDS`, which is not a parameter; did you mean `THREADS`?",
            "BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 1, THREDS = 256: the baseline gives no value for `THREADS`; give every tunable parameter a value",
        ],
    ),
    (
        "THREADS = 256)",
        "THREADS = 255)",
        &[
            "255: baseline outside the space: 255 is not a value of `THREADS`; its values are `64`, `128`, `256`",
        ],
    ),
    (
        ", THREADS = 256)",
        ")",
        &[
            "BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 1: the baseline gives no value for `THREADS`; give every tunable parameter a value",
        ],
    ),
    (
        "    baseline(BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 1, THREADS = 256),\n",
        "",
        &[
            "gemm: the kernel has no baseline; add `baseline(..)` with a value for each parameter: the simplest correct version",
        ],
    ),
    (
        "THREADS = 256)",
        "THREADS = 256, grid(1), block(1))",
        &[
            "1: the baseline has a geometry, but not an entry of its own; name the other entry with `entry = \"..\"`, or remove it",
        ],
    ),
    (
        "THREADS = 256)",
        "THREADS = 256, where(m <= 4))",
        &[
            "m <= 4: the baseline has constraints, but not an entry of its own; name the other entry with `entry = \"..\"`, or remove it",
        ],
    ),
    (
        "baseline(BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 1, THREADS = 256)",
        "baseline(entry = \"naive\", where(m <= 8), where(n <= 8))",
        &["where: `where` is given twice in the baseline; give each once"],
    ),
    (
        "baseline(BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 1, THREADS = 256)",
        "baseline(entry = \"naive\", grid(m))",
        &[
            "entry = \"naive\", grid(m): the baseline has only a part of a geometry; give `grid(..)` and `block(..)`, or neither to use the kernel's",
        ],
    ),
    (
        "problems((m = 512, n = 512, k = 512), (m = 4096, n = 4096, k = 4096)),",
        "",
        &[
            "gemm: the kernel has no problems to tune for; add `problems((m = 1024, n = 1024, k = 1024))`",
        ],
    ),
    (
        "(m = 512, n = 512, k = 512)",
        "(m = 512, n = 512)",
        &[
            "(m = 512, n = 512): the problem gives no `k`; give every integer argument a size, or declare its value with `#[value(..)]`",
        ],
    ),
    (
        "(m = 512, n = 512, k = 512)",
        "(m = 512, n = 512, k = 512, h = 3)",
        &["h: `h` is not a dimension of the problem; dimensions are `m`, `n`, `k`"],
    ),
    (
        "(m = 512, n = 512, k = 512)",
        "(m = 512, n = 512, k = 512, a = 3)",
        &["a: `a` is not a dimension of the problem; only integer scalars are problem sizes"],
    ),
    (
        "(m = 512, n = 512, k = 512)",
        "(m = 512, n = 512, k = 512, k = 3)",
        &["k: `k` is given twice in one problem; give each dimension once"],
    ),
    (
        "(m = 512, n = 512, k = 512)",
        "(m = 512, n = 512, k = -1)",
        &["-1: -1 is not a size of `k`, which is u32; sizes are not negative and fit the argument"],
    ),
    (
        "(m = 512, n = 512, k = 512)",
        "(m = 512, n = 512, k = 5000000000)",
        &[
            "5000000000: 5000000000 is not a size of `k`, which is u32; sizes are not negative and fit the argument",
        ],
    ),
    (
        "(m = 512, n = 512, k = 512)",
        "(m = 512, n = 512, k = f32)",
        &["f32: `k` takes a number; element types go to type parameters"],
    ),
    (
        "(m = 512, n = 512, k = 512)",
        "(m = 4096, n = 4096, k = 4096)",
        &[
            "(m = 4096, n = 4096, k = 4096): the problem m=4096,n=4096,k=4096 is declared twice; remove one of them",
        ],
    ),
    (
        "work(flops",
        "gpu_problems((m = 512, n = 512, k = 512)), work(flops",
        &[
            "(m = 512, n = 512, k = 512): the problem m=512,n=512,k=512 is declared twice; remove one of them",
        ],
    ),
    (
        "work(flops",
        "work(flips",
        &["flips: unknown kind of work `flips`; write `work(flops = .., bytes = ..)`"],
    ),
    (
        "bytes = 4 *",
        "flops = 4 *",
        &["flops: `flops` is given twice; give each once"],
    ),
    (
        "relative = 1e-5",
        "relative = -1",
        &[
            "-1: a bound is given once and is not negative; a tolerance is `relative = 1e-5, absolute = 0`",
        ],
    ),
    (
        "relative = 1e-5",
        "relativ = 1",
        &["relativ: unknown bound `relativ`; a tolerance is `relative = 1e-5, absolute = 0`"],
    ),
    (
        "relative = 1e-5",
        "relative = 1e999",
        &["1e999: not a plain finite number; write it without a type suffix, at most 1.7e308"],
    ),
    (
        "relative = 1e-5",
        "",
        &["tolerance: `tolerance` is not written like this; write `tolerance(relative = 1e-5)`"],
    ),
    (
        "relative = 1e-5",
        "relative = 1e-5f32",
        &["1e-5f32: not a plain finite number; write it without a type suffix, at most 1.7e308"],
    ),
    (
        "tolerance(relative = 1e-5)",
        "tolerance(relative = 1e-5), reference(entri = \"x\")",
        &[
            "entri = \"x\": unknown kind of reference; write `reference = path::to::function` or `reference(entry = \"name\")`",
        ],
    ),
    (
        "tolerance(relative = 1e-5)",
        "tolerance(relative = 1e-5), reference = 3",
        &["3: expected identifier; write `reference = path::to::function`"],
    ),
    (
        "tolerance(relative = 1e-5)",
        "tolerance(relative = 1e-5), 3",
        &["3: expected an item; items look like `source = \"..\"` or `params(..)`"],
    ),
    (
        "unsafe extern \"C\"",
        "extern \"C\"",
        &[
            "extern \"C\": the block must be `unsafe`; write `unsafe extern \"C\"`: you vouch that the source does what the spec says",
        ],
    ),
    (
        "unsafe extern \"C\"",
        "unsafe extern \"system\"",
        &["extern \"system\": the ABI must be \"C\"; write `unsafe extern \"C\"`"],
    ),
    (
        "unsafe extern \"C\" {",
        "fn x() {",
        &[
            "fn x() {\n        fn gemm(m: u32, n: u32, k: u32,\n                #[len(m * k)] a: &[f32], #[len(k * n)] b: &[f32], #[len(m * n)] c: &mut [f32]);\n    }: a tuned kernel is declared in a foreign block; write `unsafe extern \"C\" { fn kernel(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]); }`",
        ],
    ),
    (
        "c: &mut [f32]);",
        "c: &mut [f32]); fn b();",
        &[
            "fn b();: one attribute declares one kernel; give the second function a block and an attribute of its own",
        ],
    ),
    (
        "c: &mut [f32]);",
        "c: &mut [f32]) -> u32;",
        &["u32: a kernel returns nothing; write results through a `&mut [T]` argument"],
    ),
    (
        "c: &mut [f32]);",
        "c: &mut [f32], ...);",
        &[
            "...: a kernel's arguments are all named; write `unsafe extern \"C\" { fn kernel(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]); }`",
        ],
    ),
    (
        "a: &[f32]",
        "a: &[f31]",
        &["f31: unknown element type `f31`; did you mean `f32`?"],
    ),
    (
        "a: &[f32]",
        "a: &[Foo]",
        &[
            "Foo: unknown element type `Foo`; element types are f32, f16, bf16, i32, u32, u8, f64, i64, u64, i16, u16, i8; a name for several of them is declared in the attribute: `types(Foo in [f32, f16])`",
        ],
    ),
    (
        "a: &[f32]",
        "a: &[[f32; 2]]",
        &[
            "[f32; 2]: a kernel cannot take this type; arguments are u32, i32, u64, i64, f32, f64, i16, u16, i8, u8, f16, bf16 and type parameters by value, `&[T]` and `&mut [T]`",
        ],
    ),
    (
        "c: &mut [f32]",
        "c: &[f32]",
        &["gemm: kernel `gemm` has no output; a tuned kernel writes to at least one `&mut [T]`"],
    ),
    (
        "block(THREADS),",
        "block(THREADS), sizes(batch: f32),",
        &["f32: `batch` cannot be of type `f32`: a size is an integer; its type is one of …"],
    ),
    (
        "    tolerance(relative = 1e-5),\n",
        "    types(T in [f32, f61]),",
        &["f61: unknown element type `f61`; did you mean `f16`?"],
    ),
];

#[test]
fn every_mistake_in_an_attribute_is_reported_at_its_place_with_help() {
    compare(CASES);
}

#[test]
fn mistakes_in_several_items_are_reported_together() {
    let attribute = GEMM_ATTRIBUTE
        .replace("source = \"gemm.cu\"", "source = 3")
        .replace("block(THREADS)", "block(THREADS as u32)")
        .replace("work(", "wirk(");
    let item = GEMM_ITEM.replace("m: u32", "m: u128");
    let found = mistakes(&attribute, &item);
    assert_eq!(found.len(), 4, "{found:#?}");
}
