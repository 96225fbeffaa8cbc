//! Faults in products of warpgroups, which are compiled only for GPUs of compute capability 9.0.

use super::trial::Subject;
use super::{Fault, HOPPER, edit, source};

const PRODUCT: Subject = Subject {
    kernel: &kiln_kernels::gemm_f16::KERNEL,
    config: "BLOCK_M=128,BLOCK_N=128,BLOCK_K=32,WARPS_M=8,WARPS_N=1,STAGES=4,TILES=2,LANES_M=4,GROUP_M=8",
    types: "T=f16",
};
const WIDE: Subject = Subject {
    config: "BLOCK_M=64,BLOCK_N=128,BLOCK_K=64,WARPS_M=4,WARPS_N=1,STAGES=3,TILES=2,LANES_M=4,GROUP_M=1",
    types: "T=bf16",
    ..PRODUCT
};

pub(super) fn faults() -> Vec<Fault> {
    let mut all = of_layouts();
    all.extend(of_order());
    all
}

fn of_layouts() -> Vec<Fault> {
    let of = |what, change, subject| edit(HOPPER, what, "device/warpgroup.h", change, subject);
    vec![
        of(
            "warpgroups: pieces change places by the wrong bits",
            (
                "const int turn = row / (64 / width) % pieces;",
                "const int turn = row / (64 / width) % pieces / 2;",
            ),
            WIDE,
        ),
        of(
            "warpgroups: the swizzle mode of rows of half the width",
            (
                "mode = width == 64 ? 1 : width == 32 ? 2 : 3;",
                "mode = width == 64 ? 2 : 3;",
            ),
            WIDE,
        ),
        of(
            "warpgroups: eight rows have the bytes of four",
            ("eight_rows = 8 * width;", "eight_rows = 4 * width;"),
            PRODUCT,
        ),
        of(
            "warpgroups: groups of columns have 16 rows",
            (
                "depth * width, rows::eight_rows",
                "16 * width, rows::eight_rows",
            ),
            WIDE,
        ),
        of(
            "warpgroups: the right tile as one of columns",
            (", adds, 1, 1, 0, 1;", ", adds, 1, 1, 0, 0;"),
            PRODUCT,
        ),
        of(
            "warpgroups: the next columns of the left tile are twice as far",
            ("tile + row * depth + k, 8", "tile + row * depth + 2 * k, 8"),
            PRODUCT,
        ),
        of(
            "warpgroups: shared memory is aligned to 16 bytes",
            ("__align__(1024)", "__align__(16)"),
            PRODUCT,
        ),
        of(
            "warpgroups: products of bf16 as of f16",
            (
                "KILN_WARPGROUP_MMAS(\"bf16\")",
                "KILN_WARPGROUP_MMAS(\"f16\")",
            ),
            WIDE,
        ),
    ]
}

fn of_order() -> Vec<Fault> {
    let of = |what, change| edit(HOPPER, what, "device/warpgroup.h", change, PRODUCT);
    let of_source = |what, change| source(HOPPER, what, change, PRODUCT);
    vec![
        of(
            "warpgroups: copies are not published to products",
            (
                "asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");",
                "",
            ),
        ),
        of(
            "warpgroups: no fence between the accumulators' zeros and the products",
            (
                "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");",
                "",
            ),
        ),
        of(
            "warpgroups: products are never committed",
            (
                "asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");",
                "",
            ),
        ),
        of(
            "warpgroups: the wait for products dropped",
            (
                "    asm volatile(\"wgmma.wait_group.sync.aligned %0;\" ::\"n\"(pending) : \"memory\");\n",
                "",
            ),
        ),
        of_source(
            "warpgroups: accumulators are used before the last product is complete",
            ("kiln::warpgroup_wait<0>();", "kiln::warpgroup_wait<1>();"),
        ),
        of_source(
            "warpgroups: a copy takes the place of a tile that is still multiplied",
            ("STAGES - 1 - RUNNING", "STAGES - 1"),
        ),
        of_source(
            "warpgroups: two products may be running when a copy takes the place of a tile",
            (
                "kiln::warpgroup_wait<RUNNING>();",
                "kiln::warpgroup_wait<RUNNING + 1>();",
            ),
        ),
        of_source(
            "warpgroups: no barrier between the copies and the product",
            ("__syncthreads();\n        product.begin(", "product.begin("),
        ),
        of_source(
            "warpgroups: copies are published before they are complete",
            (
                "kiln::copy_wait<AHEAD - 1>();\n        kiln::async_proxy_fence();",
                "kiln::async_proxy_fence();\n        kiln::copy_wait<AHEAD - 1>();",
            ),
        ),
    ]
}
