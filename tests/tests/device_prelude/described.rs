//! Checks that docs/device-prelude.md lists exactly the functions of the headers, and that its examples are tested
//! kernels.

use std::collections::BTreeSet;
use std::fs;

use kiln::spec::prelude::{CPU_PRELUDE, CUDA_PRELUDE, HIP_PRELUDE};
use kiln_tests::command::workspace;

const PAGE: &str = include_str!("../../../docs/device-prelude.md");

/// Internal functions that the documented functions use.
const INTERNAL: [&str; 22] = [
    "atomic_update_16",
    "combine_threads",
    "combine_warps",
    "load_line",
    "load_matrices",
    "load_matrices_transposed",
    "load_row_pair",
    "load_word",
    "shuffle_words",
    "store_word",
    "stream_bytes",
    "tile_group",
    "tile_in_group",
    "vec_alignment",
    "warp_exchange",
    "from_other_half",
    "in_turn",
    "other_half",
    "tile_for_neighbours",
    "tile_held",
    "tile_reduce_held_row",
    "wmma",
];

/// Functions that only GPUs with products of warpgroups have.
const OF_WARPGROUPS: [&str; 8] = [
    "async_proxy_fence",
    "swizzled_shared",
    "warpgroup",
    "warpgroup_begin",
    "warpgroup_commit",
    "warpgroup_mma",
    "warpgroup_results",
    "warpgroup_wait",
];

/// The functions at namespace scope in the headers that `kiln.cuh` includes on a target.
fn declared(prelude: &[(&str, &'static str)]) -> BTreeSet<&'static str> {
    let headers = prelude
        .iter()
        .filter(|(name, _)| name.starts_with("device/"));
    let lines = headers.flat_map(|(_, text)| text.lines());
    let heads = lines.filter(|line| {
        !line.starts_with(' ') && line.contains("inline") | line.contains("KILN_INLINE")
    });
    let names = heads.filter_map(|line| {
        // `noinline` has parentheses of its own, so it is removed.
        let line = line
            .split_once("((noinline)) ")
            .map_or(line, |(_, rest)| rest);
        let head = line.split_once('(')?.0;
        head.rsplit([' ', '&', '*', '>']).next()
    });
    names.filter(|name| !INTERNAL.contains(name)).collect()
}

/// The functions in the tables of the page.
fn described() -> BTreeSet<&'static str> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    let calls = rows
        .filter_map(|row| row.split('`').next())
        .filter(|name| name.contains('('));
    calls
        .filter_map(|call| call.split(['<', '(']).next())
        .collect()
}

#[test]
fn the_page_describes_every_function_of_every_target_and_no_other() {
    assert_eq!(described(), declared(CUDA_PRELUDE));
    let mut elsewhere = described();
    elsewhere.retain(|name| !OF_WARPGROUPS.contains(name));
    for prelude in [CPU_PRELUDE, HIP_PRELUDE] {
        assert_eq!(elsewhere, declared(prelude));
    }
    assert!(described().len() > 50, "{:?}", described());
}

#[test]
fn the_examples_of_the_page_are_the_kernels_that_are_tested() {
    for name in ["rms_norm", "matmul"] {
        let path = workspace().join(format!("tests/fixtures/prelude/{name}.cu"));
        let kernel = fs::read_to_string(path).unwrap();
        assert!(PAGE.contains(&format!("```cuda\n{kernel}```\n")), "{name}");
    }
}
