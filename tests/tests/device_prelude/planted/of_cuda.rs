//! Faults in code that is compiled only for NVIDIA GPUs.

use super::trial::Subject;
use super::{Fault, PTX, edit};
use crate::kernels;

const TILES: Subject = Subject {
    kernel: &kernels::tiles::KERNEL,
    config: "LAYOUT_A=row,LAYOUT_B=row,LAYOUT_C=row,LOAD=plain",
    types: "T=f16",
};
/// A config that uses `ldmatrix`. Its left tile is stored by columns, so both forms of the instruction are used.
const MATRICES: Subject = Subject {
    config: "LAYOUT_A=col,LAYOUT_B=row,LAYOUT_C=row,LOAD=aligned",
    ..TILES
};
const MATRICES_OF_ROWS: Subject = Subject {
    config: "LAYOUT_A=row,LAYOUT_B=col,LAYOUT_C=row,LOAD=aligned",
    ..TILES
};
const CHAIN: Subject = Subject {
    kernel: &kernels::tile_chain::KERNEL,
    config: "WARPS=1,ALIGNED=8",
    types: "T=f16",
};
const COPIES: Subject = Subject {
    kernel: &kernels::copies::KERNEL,
    config: "STAGES=2,BYTES=8,THREADS=64",
    types: "T=f32",
};
const WARPS: Subject = Subject {
    kernel: &kernels::warps::KERNEL,
    config: "WARPS=3",
    types: "T=f32",
};

pub(super) fn faults() -> Vec<Fault> {
    let mut all = of_tiles();
    all.extend(of_copies());
    all.extend(of_launches());
    all
}

fn of_tiles() -> Vec<Fault> {
    let of = |what, change, subject| edit(PTX, what, "device/tile_cuda.h", change, subject);
    vec![
        of(
            "rows of the left tile in the wrong words",
            (
                "T value[8];\n    KILN_MEMBER static int row(int i) { return tile_group() + i / 2 % 2 * 8; }",
                "T value[8];\n    KILN_MEMBER static int row(int i) { return tile_group() + i / 4 * 8; }",
            ),
            TILES,
        ),
        of(
            "rows of the right tile in the wrong words",
            (
                "return tile_in_group() * 2 + i % 2 + i / 2 % 2 * 8;",
                "return tile_in_group() * 2 + i % 2 + i / 4 * 8;",
            ),
            TILES,
        ),
        of(
            "columns of the right tile by the lane in its group",
            (
                "return tile_group() + i / 4 * 8;",
                "return tile_in_group() + i / 4 * 8;",
            ),
            TILES,
        ),
        of(
            "rows of the product in the wrong words",
            (
                "float value[8];\n    KILN_MEMBER static int row(int i) { return tile_group() + i / 2 % 2 * 8; }",
                "float value[8];\n    KILN_MEMBER static int row(int i) { return tile_group() + i % 2 * 8; }",
            ),
            TILES,
        ),
        of(
            "the held row of an element is that of its half",
            (
                "static int held_row(int i) { return i / 2 % 2; }",
                "static int held_row(int i) { return i / 4; }",
            ),
            CHAIN,
        ),
        of(
            "the second product is the first",
            ("KILN_MMA(\"f16\", 1);", "KILN_MMA(\"f16\", 0);"),
            TILES,
        ),
        of(
            "the first word of the right tile is the second",
            ("\"r\"(right[half * 2]),", "\"r\"(right[half * 2 + 1]),"),
            TILES,
        ),
        of(
            "products of bf16 as of f16",
            ("KILN_MMA(\"bf16\", 0);", "KILN_MMA(\"f16\", 0);"),
            Subject {
                types: "T=bf16",
                ..TILES
            },
        ),
        of(
            "ldmatrix: the matrices of the left tile in the wrong order",
            (
                "load_matrices(words, from + (line + matrix % 2 * 8) * leading + matrix / 2 * 8);",
                "load_matrices(words, from + (line + matrix / 2 * 8) * leading + matrix % 2 * 8);",
            ),
            MATRICES_OF_ROWS,
        ),
        of(
            "ldmatrix: a row of each matrix is the one before",
            (
                "load_matrices(words, from + (line + matrix / 2 * 8) * leading + matrix % 2 * 8);",
                "load_matrices(words, from + ((line ^ 1) + matrix / 2 * 8) * leading + matrix % 2 * 8);",
            ),
            MATRICES_OF_ROWS,
        ),
        of(
            "ldmatrix: columns are not transposed",
            (
                "load_matrices_transposed(words, from + (line + matrix / 2 * 8) * leading + matrix % 2 * 8);",
                "load_matrices(words, from + (line + matrix / 2 * 8) * leading + matrix % 2 * 8);",
            ),
            MATRICES,
        ),
        of(
            "ldmatrix: an address that is not one of a row",
            (
                "load_matrices_transposed(words, from + (line + matrix % 2 * 8) * leading + matrix / 2 * 8);",
                "load_matrices_transposed(words, from + (line + matrix % 2 * 8) * leading + matrix / 2 * 8 + 1);",
            ),
            MATRICES,
        ),
        of(
            "a row is reduced over two lanes of four",
            (
                "return warp_reduce<4>(value, combine);",
                "return warp_reduce<2>(value, combine);",
            ),
            CHAIN,
        ),
        of(
            "pairs of columns are written one column further",
            (
                "body(tile_acc::row(i), tile_acc::col(i), from_float",
                "body(tile_acc::row(i), tile_acc::col(i) + 2, from_float",
            ),
            CHAIN,
        ),
        of(
            "the second column of a pair is the first",
            (
                "const vec<T, 2> pair = from_float<T>(vec<float, 2>{{acc.value[i], acc.value[i + 1]}});",
                "const vec<T, 2> pair = from_float<T>(vec<float, 2>{{acc.value[i], acc.value[i]}});",
            ),
            CHAIN,
        ),
    ]
}

fn of_copies() -> Vec<Fault> {
    let of = |what, change, subject| edit(PTX, what, "device/shared.h", change, subject);
    vec![
        of(
            "the wait for cp.async dropped",
            (
                "    asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(PENDING) : \"memory\");\n",
                "",
            ),
            COPIES,
        ),
        of(
            "the wait for cp.async leaves one group more",
            (
                "::\"n\"(PENDING) : \"memory\");",
                "::\"n\"(PENDING + 1) : \"memory\");",
            ),
            COPIES,
        ),
        of(
            "copies are never committed",
            (
                "    asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n",
                "",
            ),
            COPIES,
        ),
        of(
            "a copy reads what is beyond the end",
            (
                "const int read = valid ? bytes : 0;",
                "const int read = bytes;",
            ),
            COPIES,
        ),
        of(
            "a copy of 8 bytes moves 4",
            ("\"l\"(source), \"n\"(bytes)\n", "\"l\"(source), \"n\"(4)\n"),
            COPIES,
        ),
        of(
            "the source of a copy is an address of 32 bits",
            (
                "const size_t source = __cvta_generic_to_global(from);\n    const int read",
                "const size_t source = (unsigned int)__cvta_generic_to_global(from);\n    const int read",
            ),
            COPIES,
        ),
        of(
            "the target of a copy is a generic address",
            (
                "(unsigned int)__cvta_generic_to_shared(to);\n    const size_t source = __cvta_generic_to_global(from);\n    if",
                "(unsigned int)(size_t)to;\n    const size_t source = __cvta_generic_to_global(from);\n    if",
            ),
            COPIES,
        ),
    ]
}

fn of_launches() -> Vec<Fault> {
    let receipt = |what, change, subject| edit(PTX, what, "cuda/receipt.h", change, subject);
    vec![
        receipt(
            "NVIDIA: the grid of a receipt is that of its first axis",
            (
                "receipt->grid[1] = gridDim.y;",
                "receipt->grid[1] = gridDim.x;",
            ),
            WARPS,
        ),
        receipt(
            "NVIDIA: threads count themselves without an atomic operation",
            (
                "atomicAdd((unsigned long long*)&receipt->threads, 1ull);",
                "receipt->threads += 1;",
            ),
            WARPS,
        ),
        receipt(
            "NVIDIA: dynamic shared bytes from the wrong register",
            ("%%dynamic_smem_size", "%%nwarpid"),
            Subject {
                kernel: &kernels::reversed::KERNEL,
                config: "",
                types: "T=f32",
            },
        ),
        edit(
            PTX,
            "a lane's number is that of its warp",
            "device/warp.h",
            ("%%laneid", "%%warpid"),
            WARPS,
        ),
        edit(
            PTX,
            "NVIDIA: a power of two is off by 80 units in the last place",
            "device/number.h",
            (
                ": \"=f\"(result) : \"f\"(x));\n    return result;",
                ": \"=f\"(result) : \"f\"(x));\n    return result * 1.00001f;",
            ),
            Subject {
                kernel: &kernels::exp2::KERNEL,
                config: "",
                types: "",
            },
        ),
    ]
}
