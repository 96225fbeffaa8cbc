//! Faults in code that is compiled only for gfx11.

use super::trial::Subject;
use super::{Fault, GFX11, edit};
use crate::{kernels, stand_ins};

const TILES: Subject = Subject {
    kernel: &kernels::tiles::KERNEL,
    config: "LAYOUT_A=row,LAYOUT_B=col,LAYOUT_C=row,LOAD=aligned",
    types: "T=f16",
};
const CHAIN: Subject = Subject {
    kernel: &kernels::tile_chain::KERNEL,
    config: "WARPS=1,ALIGNED=8",
    types: "T=f16",
};
const WARPS: Subject = Subject {
    kernel: &kernels::warps::KERNEL,
    config: "WARPS=3",
    types: "T=f32",
};
const LANES: Subject = Subject {
    kernel: &stand_ins::lanes::KERNEL,
    config: "",
    types: "",
};
const BLOCKS: Subject = Subject {
    kernel: &kernels::blocks::KERNEL,
    config: "THREADS=64,ROWS=3",
    types: "T=i32",
};
const ATOMICS: Subject = Subject {
    kernel: &kernels::atomics::KERNEL,
    config: "THREADS=64",
    types: "T=f16",
};
const CONVERT: Subject = Subject {
    kernel: &kernels::convert::KERNEL,
    config: "",
    types: "T=f32",
};
const REVERSED: Subject = Subject {
    kernel: &kernels::reversed::KERNEL,
    config: "",
    types: "T=f32",
};

pub(super) fn faults() -> Vec<Fault> {
    let mut all = of_tiles();
    all.extend(of_warps());
    all.extend(of_launches());
    all.extend(of_numbers());
    all
}

fn of_tiles() -> Vec<Fault> {
    let of = |what, change, subject| edit(GFX11, what, "device/tile_hip.h", change, subject);
    vec![
        of(
            "columns of the product as in the halves of a row",
            (
                "return i * 2 + (int)lane() / 16;",
                "return i + (int)lane() / 16 * 8;",
            ),
            TILES,
        ),
        of(
            "columns of the right tile mirrored",
            (
                "static int col(int) { return (int)lane() % 16; }",
                "static int col(int) { return 15 - (int)lane() % 16; }",
            ),
            TILES,
        ),
        of(
            "lanes 16 to 31 do not repeat lanes 0 to 15 of the left tile",
            (
                "T value[16];\n    KILN_MEMBER static int row(int) { return (int)lane() % 16; }",
                "T value[16];\n    KILN_MEMBER static int row(int) { return (int)lane() / 2; }",
            ),
            TILES,
        ),
        of(
            "the second half of a line is the first",
            (
                "high = load_aligned<8>(from + 8);",
                "high = load_aligned<8>(from);",
            ),
            TILES,
        ),
        of(
            "a and b of the instruction exchanged",
            (
                "f16_w32(bits_as<half_line>(b), bits_as<half_line>(a),",
                "f16_w32(bits_as<half_line>(a), bits_as<half_line>(b),",
            ),
            TILES,
        ),
        of(
            "the product is not added to what was there",
            (
                "                                                            result);\n    } else {",
                "                                                            acc_line{});\n    } else {",
            ),
            TILES,
        ),
        of(
            "the exchange of halves takes the lower lanes twice",
            ("0x76543210u, 0xfedcba98u", "0x76543210u, 0x76543210u"),
            CHAIN,
        ),
        of(
            "the columns of two lanes in the wrong turn",
            (
                "result.value[2 * i] = upper ? other.value[i] : mine.value[i];",
                "result.value[2 * i] = upper ? mine.value[i] : other.value[i];",
            ),
            CHAIN,
        ),
        of(
            "a row is reduced over one lane of two",
            (
                "return combine(upper ? other : value, upper ? value : other);",
                "return value;",
            ),
            CHAIN,
        ),
        of(
            "the halves of a row are written in each other's place",
            ("(upper ? 8 : 0) + first", "(upper ? 0 : 8) + first"),
            CHAIN,
        ),
    ]
}

fn of_warps() -> Vec<Fault> {
    let of = |what, change, subject| edit(GFX11, what, "hip/warp.h", change, subject);
    vec![
        of(
            "the index of ds_bpermute is a lane and not a byte",
            ("int from = (int)(source << 2);", "int from = (int)source;"),
            WARPS,
        ),
        of(
            "the high word of a shuffle of 8 bytes is the low one",
            ("(int)(uint32_t)(bits >> 32)", "(int)(uint32_t)bits"),
            LANES,
        ),
        of(
            "a shuffle up keeps one lane too many",
            ("< delta ? lane", "<= delta ? lane"),
            LANES,
        ),
        of(
            "a shuffle down leaves its segment by one lane",
            ("+ delta >= (uint32_t)width", "+ delta > (uint32_t)width"),
            LANES,
        ),
        of(
            "an exchange reaches a later segment",
            (
                "return from > (lane | (uint32_t)(width - 1)) ? lane : from;",
                "return from;",
            ),
            LANES,
        ),
        of(
            "a shuffle ignores its segments",
            (
                "return (lane & ~(uint32_t)(width - 1)) | ((uint32_t)source & (uint32_t)(width - 1));",
                "return (uint32_t)source & 31;",
            ),
            WARPS,
        ),
        of(
            "a reduction of a warp begins with 8 lanes",
            ("uint32_t apart = 16;", "uint32_t apart = 8;"),
            LANES,
        ),
        of(
            "a reduction in part leaves a lane out",
            (
                "for (unsigned int left = mask & (mask - 1); left;",
                "for (unsigned int left = mask & (mask - 1) & 0x3fffffffu; left;",
            ),
            LANES,
        ),
        of(
            "a match sees half of the warp",
            (
                "for (unsigned int left = mask; left;",
                "for (unsigned int left = mask & 0xffffu; left;",
            ),
            LANES,
        ),
        of(
            "all lanes means any",
            (
                "return __ballot_sync(mask, predicate == 0) == 0;",
                "return __ballot_sync(mask, predicate != 0) != 0;",
            ),
            LANES,
        ),
        edit(
            GFX11,
            "a lane's number counts lane 0 out",
            "hip/builtins.h",
            (
                "__builtin_amdgcn_mbcnt_lo(~0u, 0u)",
                "__builtin_amdgcn_mbcnt_lo(~1u, 0u)",
            ),
            WARPS,
        ),
    ]
}

fn of_launches() -> Vec<Fault> {
    let barrier = |what, change, subject| edit(GFX11, what, "hip/barrier.h", change, subject);
    let builtin = |what, change, subject| edit(GFX11, what, "hip/builtins.h", change, subject);
    let receipt = |what, change, subject| edit(GFX11, what, "hip/receipt.h", change, subject);
    vec![
        barrier(
            "s_barrier dropped",
            ("    __builtin_amdgcn_s_barrier();\n", ""),
            BLOCKS,
        ),
        barrier(
            "the counter of a vote is cleared without a barrier",
            ("count = 0;\n    __syncthreads();\n", "count = 0;\n"),
            LANES,
        ),
        barrier(
            "the votes of a block are read without a barrier",
            (
                "    __syncthreads();\n    int all = (int)count;",
                "    int all = (int)count;",
            ),
            LANES,
        ),
        barrier(
            "the counter of the next vote is cleared while the last is read",
            (
                "int all = (int)count;\n    __syncthreads();\n",
                "int all = (int)count;\n",
            ),
            LANES,
        ),
        builtin(
            "gridDim.y from the word of gridDim.z",
            ("kiln_hip_implicit_word(1)", "kiln_hip_implicit_word(2)"),
            TILES,
        ),
        builtin(
            "gridDim.x from the words of the group's size",
            ("kiln_hip_implicit_word(0)", "kiln_hip_implicit_word(3)"),
            WARPS,
        ),
        builtin(
            "blockDim.y is blockDim.z",
            (
                "__builtin_amdgcn_workgroup_size_y()",
                "__builtin_amdgcn_workgroup_size_z()",
            ),
            BLOCKS,
        ),
        builtin(
            "threadIdx.y is threadIdx.z",
            (
                "__builtin_amdgcn_workitem_id_y()",
                "__builtin_amdgcn_workitem_id_z()",
            ),
            BLOCKS,
        ),
        builtin(
            "blockIdx.y is blockIdx.x",
            (
                "__builtin_amdgcn_workgroup_id_y()",
                "__builtin_amdgcn_workgroup_id_x()",
            ),
            TILES,
        ),
        receipt(
            "dynamic shared bytes from the next word",
            ("kiln_hip_implicit_word(30)", "kiln_hip_implicit_word(31)"),
            REVERSED,
        ),
        receipt(
            "nothing keeps hidden_dynamic_lds_size alive",
            (
                "    __asm__ volatile(\"\" ::\"v\"((uint32_t)(uintptr_t)(byte*)kiln_hip_dynamic_shared));\n",
                "",
            ),
            WARPS,
        ),
        receipt(
            "threads count themselves without an atomic operation",
            (
                "__hip_atomic_fetch_add(&receipt->threads, (uint64_t)1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);",
                "receipt->threads += 1;",
            ),
            WARPS,
        ),
        receipt(
            "the grid of a receipt is that of its first axis",
            (
                "receipt->grid[1] = gridDim.y;",
                "receipt->grid[1] = gridDim.x;",
            ),
            WARPS,
        ),
        receipt(
            "a receipt without its nonce",
            ("    receipt->nonce = receipt->nonce_in;\n", ""),
            WARPS,
        ),
    ]
}

fn of_numbers() -> Vec<Fault> {
    let atomic = |what, change, subject| edit(GFX11, what, "hip/atomic.h", change, subject);
    vec![
        atomic(
            "an atomic operation of 16 bits changes the lower half of the word",
            ("shift = into * 8;", "shift = 0;"),
            ATOMICS,
        ),
        atomic(
            "an atomic operation of 16 bits clears its neighbour",
            ("whole wanted = (seen & ~mask) |", "whole wanted ="),
            ATOMICS,
        ),
        atomic(
            "atomic operations are a load and a store",
            (
                "            return builtin(address, value, __ATOMIC_RELAXED, scope);",
                "            T old = *address; *address = (T)(expression); return old;",
            ),
            Subject {
                types: "T=i32",
                ..ATOMICS
            },
        ),
        edit(
            GFX11,
            "bf16 is cut off",
            "portable/bfloat16.h",
            ("(word + 0x7fffu + (word >> 16 & 1)) >> 16", "word >> 16"),
            CONVERT,
        ),
        edit(
            GFX11,
            "ties of bf16 are rounded away from zero",
            "portable/bfloat16.h",
            (
                "(word + 0x7fffu + (word >> 16 & 1)) >> 16",
                "(word + 0x8000u) >> 16",
            ),
            Subject {
                types: "T=f16",
                ..CONVERT
            },
        ),
        edit(
            GFX11,
            "f16 is cut off",
            "portable/float16.h",
            (
                "KILN_FROM(__float2, _rn)(float x) { return (KILN_F)x; }",
                "KILN_FROM(__float2, _rn)(float x) { return (KILN_F)__uint_as_float(__float_as_uint(x) & 0xffffe000u); }",
            ),
            CONVERT,
        ),
        edit(
            GFX11,
            "a power of two is off by 80 units in the last place",
            "device/number.h",
            (
                "__builtin_amdgcn_exp2f(x)",
                "__builtin_amdgcn_exp2f(x) * 1.00001f",
            ),
            Subject {
                kernel: &kernels::exp2::KERNEL,
                config: "",
                types: "",
            },
        ),
    ]
}
