//! Faults in the sources of kernels.

use super::trial::Subject;
use super::{BOTH, Fault, GFX11, PTX, small, source};
use crate::stand_ins;

const SMALL: Subject = Subject {
    kernel: &small::small::KERNEL,
    config: "",
    types: "",
};
const TRANSPOSE: Subject = Subject {
    kernel: &kiln_kernels::transpose::KERNEL,
    config: "TILE=32,THREAD_ROWS=8,STAGING=shared,PADDING=1,WALK=0",
    types: "T=f32",
};

pub(super) fn faults() -> Vec<Fault> {
    let mut all = of_bounds();
    all.extend(of_order());
    all.extend(of_garbage());
    all.extend(of_masks());
    all
}

fn of_bounds() -> Vec<Fault> {
    let of = |what, change, subject| source(BOTH, what, change, subject);
    vec![
        of(
            "a load one element before an array",
            ("value = x[i];", "value = (x - 1)[i];"),
            SMALL,
        ),
        of(
            "a load one element behind an array",
            ("value = x[i];", "value = (x + 1)[i];"),
            SMALL,
        ),
        of(
            "a store one element before an array",
            ("y[i] = turned", "(y - 1)[i] = turned"),
            SMALL,
        ),
        of(
            "a store one element behind an array",
            ("y[i] = turned", "(y + 1)[i] = turned"),
            SMALL,
        ),
        of(
            "a thread beyond the end takes part",
            (
                "if (i < n) {\n        value",
                "if (i <= n) {\n        value",
            ),
            SMALL,
        ),
        of(
            "shared memory one element before an array",
            ("tile[t] = value;", "tile[(int)t - 1] = value;"),
            SMALL,
        ),
        of(
            "shared memory one element behind an array",
            (
                "const float turned = tile[THREADS - 1 - t];",
                "const float turned = tile[THREADS - t];",
            ),
            SMALL,
        ),
        of(
            "shared memory one element short",
            (
                "__shared__ float tile[THREADS];",
                "__shared__ float tile[THREADS - 1];",
            ),
            SMALL,
        ),
        of(
            "an atomic operation behind an array",
            ("% BINS], 1u)", "% BINS + (i == 0 ? 8 : 0)], 1u)"),
            SMALL,
        ),
        of(
            "a store to an input",
            ("sums[i] = sum;", "sums[i] = sum; ((float*)x)[i] = sum;"),
            SMALL,
        ),
        of(
            "a row beyond the last is loaded",
            (
                "if (row < rows && col < cols) {\n            tile",
                "if (row <= rows && col < cols) {\n            tile",
            ),
            TRANSPOSE,
        ),
        of(
            "a column beyond the last is stored",
            (
                "if (row < rows && col < cols) {\n            y[(size_t)col * rows + row] = tile",
                "if (row < rows && col <= cols) {\n            y[(size_t)col * rows + row] = tile",
            ),
            TRANSPOSE,
        ),
        of(
            "private memory behind an array",
            (
                "sum += held[(k * 3 + t) % 8];",
                "sum += held[(k * 3 + t) % 8 + (k == 7 ? 4096 : 0)];",
            ),
            SMALL,
        ),
    ]
}

/// Faults in a branch that three of four lanes take.
fn of_masks() -> Vec<Fault> {
    let of = |on, what, change| {
        let subject = Subject {
            kernel: &stand_ins::lanes::KERNEL,
            ..SMALL
        };
        source(on, what, change, subject)
    };
    vec![
        of(
            BOTH,
            "a match of the whole warp in a branch",
            (
                "__match_any_sync(PART, own % 3)",
                "__match_any_sync(ALL, own % 3)",
            ),
        ),
        of(
            BOTH,
            "a reduction of the whole warp in a branch",
            ("__reduce_max_sync(PART,", "__reduce_max_sync(ALL,"),
        ),
        of(
            BOTH,
            "a reduction of fewer lanes than take part",
            (
                "__reduce_add_sync(PART, own)",
                "__reduce_add_sync(0x11111111u, own)",
            ),
        ),
        // On gfx11, a vote counts only the active lanes, even if the mask contains others.
        of(
            PTX,
            "a vote of the whole warp in a branch",
            ("__ballot_sync(PART,", "__ballot_sync(ALL,"),
        ),
    ]
}

fn of_order() -> Vec<Fault> {
    let of = |what, change, subject| source(BOTH, what, change, subject);
    vec![
        of(
            "what other threads wrote is read without a barrier",
            ("tile[t] = value;\n    __syncthreads();", "tile[t] = value;"),
            SMALL,
        ),
        of(
            "what other warps still read is written",
            (
                "        atomicAdd(&count, 1u);\n    }\n    __syncthreads();",
                "        atomicAdd(&count, 1u);\n    }",
            ),
            SMALL,
        ),
        of(
            "what other warps wrote is read after a barrier of the warp",
            (
                "tile[t ^ 1] = value;\n    __syncthreads();",
                "tile[t ^ 1] = value;\n    __syncwarp();",
            ),
            SMALL,
        ),
        of(
            "a tile is read without a barrier",
            ("    __syncthreads();\n", ""),
            TRANSPOSE,
        ),
        // Not for gfx11, where a second warp may write the value that is already there.
        source(
            PTX,
            "every warp clears a counter",
            (
                "if (t == 0) {\n        count",
                "if (t % 32 == 0) {\n        count",
            ),
            SMALL,
        ),
        of(
            "every warp sets a counter to another value",
            (
                "if (t == 0) {\n        count = 0;",
                "if (t % 32 == 0) {\n        count = t;",
            ),
            SMALL,
        ),
        of(
            "a counter is cleared behind the barrier",
            (
                "    if (t == 0) {\n        count = 0;\n    }\n    tile[t] = value;\n    __syncthreads();",
                "    tile[t] = value;\n    __syncthreads();\n    if (t == 0) {\n        count = 0;\n    }",
            ),
            SMALL,
        ),
        of(
            "a counter of shared memory without atomic operations",
            ("atomicAdd(&count, 1u);", "count += 1;"),
            SMALL,
        ),
        of(
            "a counter of global memory without atomic operations",
            (
                "atomicAdd(&bins[(unsigned int)value % BINS], 1u);",
                "bins[(unsigned int)value % BINS] += 1;",
            ),
            SMALL,
        ),
        of(
            "half of the warps skip a barrier",
            (
                "tile[t ^ 1] = value;\n    __syncthreads();",
                "tile[t ^ 1] = value;\n    if (t < 32) __syncthreads();",
            ),
            SMALL,
        ),
        of(
            "a warp waits at one barrier more than the other",
            (
                "tile[t ^ 1] = value;",
                "if (t >= 32) __syncthreads();\n    tile[t ^ 1] = value;",
            ),
            SMALL,
        ),
        source(
            PTX,
            "half of the lanes of a warp skip a barrier",
            (
                "tile[t ^ 1] = value;\n    __syncthreads();",
                "tile[t ^ 1] = value;\n    if (t % 2 == 0) __syncthreads();",
            ),
            SMALL,
        ),
        of(
            "threads beyond the end leave before a barrier",
            (
                "tile[t] = value;\n",
                "if (i >= n) return;\n    tile[t] = value;\n",
            ),
            SMALL,
        ),
    ]
}

fn of_garbage() -> Vec<Fault> {
    let of = |what, change, subject| source(BOTH, what, change, subject);
    vec![
        of(
            "an output is not written",
            ("odd[i] = count;", "if (i != 77) odd[i] = count;"),
            SMALL,
        ),
        of(
            "shared memory is not written",
            ("tile[t] = value;\n", "if (t != 5) tile[t] = value;\n"),
            SMALL,
        ),
        of(
            "a counter of shared memory is not cleared",
            ("        count = 0;\n", ""),
            SMALL,
        ),
        of(
            "private memory is not written",
            (
                "for (int k = 0; k < 8; ++k) {\n        held",
                "for (int k = 1; k < 8; ++k) {\n        held",
            ),
            SMALL,
        ),
        source(
            GFX11,
            "a vector register is not written",
            (
                "float value = 0.0f;",
                "float value;\n    asm volatile(\"\" : \"=v\"(value));",
            ),
            SMALL,
        ),
        source(
            PTX,
            "a register is not written",
            (
                "float value = 0.0f;",
                "float value;\n    asm volatile(\"\" : \"=f\"(value));",
            ),
            SMALL,
        ),
        source(
            GFX11,
            "a scalar register is not written",
            (
                "odd[i] = count;",
                "unsigned int none;\n        asm volatile(\"\" : \"=s\"(none));\n        odd[i] = count + (none >> 31);",
            ),
            SMALL,
        ),
    ]
}
