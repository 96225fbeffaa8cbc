//! Faults in the portable functions of `kiln.cuh`.

use super::trial::Subject;
use super::{BOTH, Fault, GFX11, PTX, edit};
use crate::kernels;

const WARPS: Subject = Subject {
    kernel: &kernels::warps::KERNEL,
    config: "WARPS=3",
    types: "T=f32",
};
const ORDERED: Subject = Subject {
    kernel: &kernels::ordered::KERNEL,
    config: "",
    types: "T=f32",
};
/// Rows that consist of whole warps.
const WHOLE: Subject = Subject {
    kernel: &kernels::blocks::KERNEL,
    config: "THREADS=64,ROWS=1",
    types: "T=i32",
};
/// Rows of other lengths.
const OTHER: Subject = Subject {
    config: "THREADS=100,ROWS=1",
    ..WHOLE
};
const ATOMICS: Subject = Subject {
    kernel: &kernels::atomics::KERNEL,
    config: "THREADS=64",
    types: "T=f32",
};
const VECTORS: Subject = Subject {
    kernel: &kernels::vectors::KERNEL,
    config: "WIDTH=4,HINT=plain",
    types: "T=f32",
};
const REVERSED: Subject = Subject {
    kernel: &kernels::reversed::KERNEL,
    config: "",
    types: "T=f32",
};
const COPIES: Subject = Subject {
    kernel: &kernels::copies::KERNEL,
    config: "STAGES=2,BYTES=8,THREADS=64",
    types: "T=f32",
};
const PARTS: Subject = Subject {
    kernel: &kernels::tiles::KERNEL,
    config: "LAYOUT_A=row,LAYOUT_B=row,LAYOUT_C=row,LOAD=part",
    types: "T=f16",
};

pub(super) fn faults() -> Vec<Fault> {
    let mut all = of_warps();
    all.extend(of_blocks());
    all.extend(of_memory());
    all.extend(of_numbers());
    all
}

fn of_warps() -> Vec<Fault> {
    let of = |what, change, subject| edit(BOTH, what, "device/warp.h", change, subject);
    vec![
        of(
            "a reduction of a segment leaves half of it out",
            ("int apart = WIDTH / 2;", "int apart = WIDTH / 4;"),
            WARPS,
        ),
        of(
            "lanes of a pair combine in different orders",
            (
                "const T first = upper ? other : value, second = upper ? value : other;",
                "const T first = value, second = other;",
            ),
            ORDERED,
        ),
        of(
            "every word of a value is its first",
            ("raw[i] = shuffle(raw[i]);", "raw[i] = shuffle(raw[0]);"),
            WARPS,
        ),
        of(
            "a shuffle up ignores its segments",
            (
                "word, by, width); });\n}\ntemplate <class T> KILN_INLINE T shuffle_down",
                "word, by, 32); });\n}\ntemplate <class T> KILN_INLINE T shuffle_down",
            ),
            WARPS,
        ),
        of(
            "a vote of half of the warp",
            (
                "__ballot_sync(all_lanes, predicate)",
                "__ballot_sync(0xffffu, predicate)",
            ),
            WARPS,
        ),
        of(
            "a vote of all asks for any",
            (
                "return __all_sync(all_lanes, predicate) != 0;",
                "return __any_sync(all_lanes, predicate) != 0;",
            ),
            WARPS,
        ),
        of(
            "warps of 16 threads",
            (
                "return thread_rank() / warp_threads;",
                "return thread_rank() / 16;",
            ),
            WARPS,
        ),
    ]
}

fn of_blocks() -> Vec<Fault> {
    let of = |what, change, subject| edit(BOTH, what, "device/block.h", change, subject);
    vec![
        of(
            "what warps bring is read without a barrier",
            (
                "row[threadIdx.x / warp_threads] = value;\n    __syncthreads();\n",
                "row[threadIdx.x / warp_threads] = value;\n",
            ),
            WHOLE,
        ),
        of(
            "the next reduction writes while this one is read",
            (
                "    // The next call writes here again.\n    __syncthreads();\n",
                "",
            ),
            // Each of the three reductions of `blocks` has its own memory, so the fault shows only in a kernel with a
            // reduction in a loop.
            Subject {
                kernel: &kiln_kernels::layer_norm::KERNEL,
                config: "",
                types: "T=f32",
            },
        ),
        of(
            "a tree begins without a barrier",
            (
                "row[thread] = value;\n    __syncthreads();\n",
                "row[thread] = value;\n",
            ),
            OTHER,
        ),
        of(
            "the steps of a tree have no barrier",
            (
                "row[thread + upper]);\n        __syncthreads();\n",
                "row[thread + upper]);\n",
            ),
            OTHER,
        ),
        of(
            "a broadcast has no barrier",
            (
                "sent[0] = value;\n    __syncthreads();\n",
                "sent[0] = value;\n",
            ),
            WHOLE,
        ),
        of(
            "one warp more than there is is combined",
            (
                "for (int i = 1; i < warps; ++i)",
                "for (int i = 1; i <= warps; ++i)",
            ),
            WHOLE,
        ),
        of(
            "warps write one place before their own",
            (
                "row[threadIdx.x / warp_threads] = value;",
                "row[(int)(threadIdx.x / warp_threads) - 1] = value;",
            ),
            WHOLE,
        ),
        of(
            "a tree drops the last element of an odd number",
            (
                "const int upper = (left + 1) / 2;",
                "const int upper = left / 2;",
            ),
            OTHER,
        ),
        of(
            "the array of a tree is one element short",
            (
                "__shared__ T partial[ROWS][THREADS];",
                "__shared__ T partial[ROWS][THREADS - 1];",
            ),
            OTHER,
        ),
    ]
}

fn of_memory() -> Vec<Fault> {
    let vector = |on, what, change, subject| edit(on, what, "device/vector.h", change, subject);
    let shared = |on, what, change, subject| edit(on, what, "device/shared.h", change, subject);
    let atomic = |what, change, subject| edit(BOTH, what, "device/atomic.h", change, subject);
    vec![
        vector(
            BOTH,
            "a part of a vector reads one element more",
            (
                "if ((unsigned int)i < count) result.value[i] = from[i];",
                "if ((unsigned int)i <= count) result.value[i] = from[i];",
            ),
            VECTORS,
        ),
        vector(
            BOTH,
            "a part of a vector writes one element more",
            (
                "if ((unsigned int)i < count) to[i] = from.value[i];",
                "if ((unsigned int)i <= count) to[i] = from.value[i];",
            ),
            VECTORS,
        ),
        vector(
            BOTH,
            "a load by an address of 32 bits",
            (
                "load_word<how>(reinterpret_cast<const word*>(from) + i);",
                "load_word<how>(reinterpret_cast<const word*>((size_t)(unsigned int)(size_t)from) + i);",
            ),
            VECTORS,
        ),
        vector(
            PTX,
            "vectors are taken to be aligned wherever they lie",
            (
                "return (uintptr_t)at % alignof(vec<T, N>) == 0;",
                "return true;",
            ),
            VECTORS,
        ),
        shared(
            BOTH,
            "dynamic shared memory begins an element too late",
            (
                "return reinterpret_cast<T*>(kiln_dynamic_shared);",
                "return reinterpret_cast<T*>(kiln_dynamic_shared) + 1;",
            ),
            REVERSED,
        ),
        shared(
            GFX11,
            "a copy that is not valid reads nevertheless",
            (
                "if (valid) elements = load_aligned<N>(from);",
                "elements = load_aligned<N>(from);",
            ),
            COPIES,
        ),
        shared(
            GFX11,
            "a copy goes one place further",
            (
                "    store_aligned(to, load_aligned<N>(from));",
                "    store_aligned(to + N, load_aligned<N>(from));",
            ),
            COPIES,
        ),
        atomic(
            "an addition is a load and a store",
            (
                "return atomicAdd(to, value); }",
                "const T old = *to; *to = old + value; return old; }",
            ),
            Subject {
                types: "T=i32",
                ..ATOMICS
            },
        ),
        atomic(
            "a compare and swap that failed is not tried again",
            ("} while (seen != expected);", "} while (false);"),
            Subject {
                types: "T=f16",
                ..ATOMICS
            },
        ),
        atomic(
            "a maximum of negative floats by their bits as integers",
            (
                "if (bits_as<int>(value) >= 0) {\n            return bits_as<float>(atomicMax",
                "if (true) {\n            return bits_as<float>(atomicMax",
            ),
            ATOMICS,
        ),
        edit(
            BOTH,
            "a part of a tile reads a row beyond the last",
            "device/tile.h",
            (
                "if (row < rows && col < cols) element =",
                "if (row <= rows && col < cols) element =",
            ),
            PARTS,
        ),
        edit(
            BOTH,
            "a part of a tile writes a column beyond the last",
            "device/tile.h",
            (
                "if (row < rows && col < cols) {\n            to[",
                "if (row < rows && col <= cols) {\n            to[",
            ),
            PARTS,
        ),
    ]
}

fn of_numbers() -> Vec<Fault> {
    let of = |what, change, subject| edit(BOTH, what, "device/number.h", change, subject);
    vec![
        of(
            "a quotient is rounded up where it is whole",
            ("(a % b != 0 ? 1 : 0)", "1"),
            REVERSED,
        ),
        of(
            "an integer's maximum is its first operand",
            ("else return a < b ? b : a;", "else return a;"),
            WHOLE,
        ),
        of(
            "bytes wrap around",
            ("(whole < 255u ? whole : 255u)", "whole"),
            Subject {
                kernel: &kernels::convert::KERNEL,
                config: "",
                types: "T=f32",
            },
        ),
    ]
}
