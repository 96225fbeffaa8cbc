//! Compares the counters of the micro-kernels in `tests/fixtures/micro/micro.cu` with values computed by hand.
//!
//! Unless the entry says otherwise, a launch has 256 threads in 4 blocks of 2 warps, so 8 warps. The figures are sums
//! over all warps. A comment shows the calculation for one warp, unless the comment says "all".

use std::fs;

use kiln_tests::command::{expect_code, stdout, tune_alone};
use serde_json::Value;

const SOURCE: &str = include_str!("../../../fixtures/micro/micro.cu");

/// A micro-kernel: a branch of the source, its sizes, and its expected costs.
struct Micro {
    way: &'static str,
    stride: u32,
    offset: u32,
    n: u32,
    costs: Costs,
}

/// Costs that were computed by hand.
struct Costs {
    /// Accesses to global memory, the 32-byte sectors that they touch, and the sectors that the same bytes would fill.
    global: [u64; 3],
    /// Accesses to shared memory, and additional cycles because of bank conflicts.
    shared: [u64; 2],
    barriers: u64,
    private: u64,
    /// Number of warp instructions that are fused multiply-adds, and number of exchanges between lanes.
    multiply_adds: u64,
    exchanges: u64,
    /// For a loop: its iterations, summed over all warps, and the average number of active lanes.
    hot: Option<(u64, f64)>,
}

const WARPS: u64 = 8;

const NOTHING: Costs = Costs {
    global: [0; 3],
    shared: [0; 2],
    barriers: 0,
    private: 0,
    multiply_adds: 0,
    exchanges: 0,
    hot: None,
};

/// The costs of a load and a store per warp. The arguments are the sectors of both, and the ideal number of sectors.
const fn moves(sectors: u64, ideal: u64) -> Costs {
    Costs {
        global: [2 * WARPS, sectors * WARPS, ideal * WARPS],
        ..NOTHING
    }
}

/// A copy of 4 bytes per thread (4 + 4 sectors) through shared memory, with a store and a load that have `conflicts`.
const fn through_shared(sectors: u64, conflicts: u64) -> Costs {
    Costs {
        shared: [2 * WARPS, conflicts * WARPS],
        barriers: WARPS,
        ..moves(sectors, sectors)
    }
}

/// The transpose of a 32 x 32 matrix by each block. Each warp handles 16 rows.
const fn transposes(sectors: u64, shared: u64, conflicts: u64) -> Costs {
    let rows = 16 * WARPS;
    Costs {
        global: [2 * rows, sectors * rows, 8 * rows],
        shared: [shared * rows, conflicts * rows],
        barriers: if shared > 0 { WARPS } else { 0 },
        ..NOTHING
    }
}

const fn micro(way: &'static str, stride: u32, offset: u32, costs: Costs) -> Micro {
    Micro {
        way,
        stride,
        offset,
        n: 256,
        costs,
    }
}

const TABLE: &[Micro] = &[
    // 32 words of 4 bytes are 128 bytes: 4 sectors to load and 4 sectors to store.
    micro("LOAD", 1, 0, moves(4 + 4, 8)),
    // The 32 words lie in 2, 3 or 4 times as many sectors. From a stride of 8 words on, each word has its own sector.
    micro("LOAD", 2, 0, moves(8 + 4, 8)),
    micro("LOAD", 3, 0, moves(12 + 4, 8)),
    micro("LOAD", 4, 0, moves(16 + 4, 8)),
    micro("LOAD", 8, 0, moves(32 + 4, 8)),
    micro("LOAD", 32, 0, moves(32 + 4, 8)),
    // Shifted by one word, 128 bytes touch a fifth sector. Shifted by 8 words, they begin at a sector again.
    micro("LOAD", 1, 1, moves(5 + 4, 8)),
    micro("LOAD", 1, 7, moves(5 + 4, 8)),
    micro("LOAD", 1, 8, moves(4 + 4, 8)),
    // The last warp has 231 - 224 = 7 lanes: 28 bytes, so 1 + 1 sectors. All: 7 warps x 8 + 2.
    Micro {
        n: 231,
        ..micro(
            "LOAD",
            1,
            0,
            Costs {
                global: [16, 58, 58],
                ..NOTHING
            },
        )
    },
    // Stores have the same costs as loads.
    micro("STORE", 2, 0, moves(4 + 8, 8)),
    micro("STORE", 32, 0, moves(4 + 32, 8)),
    micro("STORE", 1, 1, moves(4 + 5, 8)),
    // 8 bytes per lane are 256 bytes, so 8 sectors. Shifted by 8 bytes, they touch a ninth sector.
    micro("PAIRS", 1, 0, moves(8 + 8, 16)),
    micro("PAIRS", 1, 1, moves(9 + 8, 16)),
    // Every second pair: the pairs span 512 bytes, so 16 sectors.
    micro("PAIRS", 2, 0, moves(16 + 8, 16)),
    // 16 bytes per lane are 512 bytes, so 16 sectors. Shifted by 16 bytes, they touch a seventeenth sector.
    micro("QUADS", 1, 0, moves(16 + 16, 32)),
    micro("QUADS", 1, 1, moves(17 + 16, 32)),
    // All lanes read the same word.
    micro("ONE_WORD", 1, 0, moves(1 + 4, 1 + 4)),
    // 8 words in 8 sectors, and four lanes read each word. The 32 bytes would fill 1 sector.
    micro("REPEATS", 1, 0, moves(8 + 4, 1 + 4)),
    // The order of lanes does not matter.
    micro("SWAPPED", 5, 0, moves(4 + 4, 8)),
    micro("BACKWARD", 1, 0, moves(4 + 4, 8)),
    // Bytes: 32 bytes are one sector, or parts of two sectors.
    micro("BYTES", 1, 0, moves(1 + 4, 1 + 4)),
    micro("BYTES", 1, 16, moves(2 + 4, 1 + 4)),
    // 16-bit elements: 64 bytes are 2 sectors, or parts of 3 sectors.
    micro("HALVES", 1, 0, moves(2 + 4, 2 + 4)),
    micro("HALVES", 1, 4, moves(3 + 4, 2 + 4)),
    // 16 lanes move 64 bytes, and 9 lanes move 36 bytes.
    micro("SOME_LANES", 16, 0, moves(2 + 2, 2 + 2)),
    micro("SOME_LANES", 9, 0, moves(2 + 2, 2 + 2)),
    // An atomic operation is one access: to one word, to 32 contiguous words, or to words in 32 sectors.
    micro("ADD", 0, 0, atomics(1, 1)),
    micro("ADD", 1, 0, atomics(4, 4)),
    micro("ADD", 8, 0, atomics(32, 4)),
    // Bank = word % 32. A stride of 1 uses each bank once, of 2 every second bank twice, of 8 every eighth bank 8
    // times.
    micro("SHARED", 1, 0, through_shared(8, 0)),
    micro("SHARED", 2, 0, through_shared(8, 1 + 1)),
    micro("SHARED", 8, 0, through_shared(8, 7 + 7)),
    micro("SHARED", 32, 0, through_shared(8, 31 + 31)),
    // A padded row, or any other odd stride, uses each bank once.
    micro("SHARED", 33, 0, through_shared(8, 0)),
    micro("SHARED", 3, 0, through_shared(8, 0)),
    micro("SHARED_WORD", 1, 0, through_shared(8, 0)),
    // Pairs: 16 lanes need all 32 banks. If every second pair is skipped, the lanes l and l + 8 of these 16 share two
    // banks, which costs one more cycle in each half of the warp.
    micro("SHARED_PAIRS", 1, 0, through_shared(16, 0)),
    micro("SHARED_PAIRS", 2, 0, through_shared(16, 2 + 2)),
    // Quads: 8 lanes need all 32 banks. A stride of two quads costs one more cycle in each of four quarters of the
    // warp. With a stride of four, 8 quads are in 2 groups of banks, 4 lanes each, which costs 3 more cycles.
    micro("SHARED_QUADS", 1, 0, through_shared(32, 0)),
    micro("SHARED_QUADS", 2, 0, through_shared(32, 4 + 4)),
    micro("SHARED_QUADS", 4, 0, through_shared(32, 12 + 12)),
    // 16-bit elements: two lanes share a word without a conflict. These kernels load nothing from global memory.
    micro("SHARED_HALVES", 1, 0, halves(0)),
    // With a stride of four elements (two words), 32 words are in 16 banks.
    micro("SHARED_HALVES", 4, 0, halves(1 + 1)),
    // Without a tile, a row needs 4 sectors to load and 32 sectors to store.
    micro("TRANSPOSE", 1, 0, transposes(4 + 32, 0, 0)),
    // With a tile, it needs 4 and 4. A column of the tile is in one bank, or, with padding or an xor, in all banks.
    micro("TRANSPOSE_TILE", 32, 0, transposes(4 + 4, 2, 31)),
    micro("TRANSPOSE_TILE", 33, 0, transposes(4 + 4, 2, 0)),
    micro("TRANSPOSE_XOR", 1, 0, transposes(4 + 4, 2, 0)),
    // One multiply-add in each of 100 iterations, and two in each of 10 x 20 iterations.
    micro("FMA", 100, 1, looped(100, 100, 32.0)),
    micro("FMA_NESTED", 10, 20, looped(10 * 20, 2 * 10 * 20, 32.0)),
    // 16 lanes, 8 lanes and 1 lane execute the loop.
    micro("LANES_LOOP", 16, 1, looped(100, 100, 16.0)),
    micro("LANES_LOOP", 8, 1, looped(100, 100, 8.0)),
    micro("LANES_LOOP", 1, 1, looped(100, 100, 1.0)),
    // Lane l iterates l + 1 times. This gives 32 iterations with 32, 31, .. 1 active lanes, 528 / 32 on average.
    micro("RAGGED_LOOP", 1, 1, looped(32, 32, 16.5)),
    // Lane l iterates l / 8 + 1 times. This gives 4 iterations with 32, 24, 16 and 8 active lanes.
    micro("RAGGED_LOOP", 8, 1, looped(4, 4, 20.0)),
    micro(
        "BARRIERS",
        10,
        1,
        Costs {
            barriers: 10 * WARPS,
            ..looped(10, 0, 32.0)
        },
    ),
    // 16 stores and 16 loads.
    micro(
        "PRIVATE",
        1,
        1,
        Costs {
            global: [WARPS, 4 * WARPS, 4 * WARPS],
            private: (16 + 16) * WARPS,
            ..NOTHING
        },
    ),
    // From a distance of 16 lanes down to 1, these are five exchanges.
    micro(
        "SHUFFLES",
        1,
        0,
        Costs {
            exchanges: 5 * WARPS,
            ..moves(8, 8)
        },
    ),
];

const fn atomics(sectors: u64, ideal: u64) -> Costs {
    Costs {
        global: [WARPS, sectors * WARPS, ideal * WARPS],
        ..NOTHING
    }
}

const fn halves(conflicts: u64) -> Costs {
    Costs {
        global: [WARPS, 4 * WARPS, 4 * WARPS],
        ..through_shared(8, conflicts)
    }
}

/// A loop between a load and a store of 4 bytes per thread: iterations and multiply-adds of a warp, and active lanes.
const fn looped(rounds: u64, multiply_adds: u64, lanes: f64) -> Costs {
    Costs {
        multiply_adds: multiply_adds * WARPS,
        hot: Some((rounds * WARPS, lanes)),
        ..moves(8, 8)
    }
}

/// The number that selects a branch (`way`) of the source.
fn number(way: &str) -> u32 {
    let line = SOURCE.lines().find_map(|line| {
        let rest = line.trim().strip_prefix(way)?;
        rest.strip_prefix(" = ")?.strip_suffix(',')
    });
    let number = line.unwrap_or_else(|| panic!("{way} should be a way"));
    number.parse().expect("a number")
}

/// A package that declares a kernel for each entry of the table. All have the same entry and config, so they share an
/// image.
fn library() -> String {
    let declarations = TABLE.iter().enumerate().map(|(row, micro)| {
        let Micro { stride, offset, n, .. } = micro;
        let way = number(micro.way);
        format!(
            "#[tuned_kernel(source = \"micro.cu\", entry = \"micro\", params(THREADS in [64]), baseline(THREADS = 64), \
             grid(n.div_ceil(THREADS)), block(THREADS), work(bytes = 8 * n), \
             problems((n = {n}, way = {way}, stride = {stride}, offset = {offset})), tolerance(relative = 0))]\n\
             unsafe extern \"C\" {{\n    pub fn micro_{row}(n: u32, way: u32, stride: u32, offset: u32, \
             #[len(n * 33 + 1024)] #[align(16)] x: &[f32], #[len(n * 33 + 1024)] #[align(16)] y: &mut [f32]);\n}}\n"
        )
    });
    let declarations: String = declarations.collect();
    format!("use kiln::tuned_kernel;\n\n{declarations}")
}

fn check(arch: &str, micro: &Micro, profile: &Value) {
    let Micro { costs, .. } = micro;
    let name = format!(
        "{arch} {} stride {} offset {} n {}: {profile}",
        micro.way, micro.stride, micro.offset, micro.n
    );
    let count = |key: &str| profile[key].as_u64().unwrap_or_default();
    let of_class = |class: &str| profile["by_class"][class].as_u64().unwrap_or_default();
    let counted = [
        count("global_requests"),
        count("shared_requests"),
        count("barriers"),
        count("private_requests"),
        of_class("multiply-add"),
        // Compilers add some exchanges: v_readfirstlane_b32 for values that are the same in all lanes.
        match costs.exchanges {
            0 => 0,
            _ => of_class("exchange"),
        },
    ];
    let [requests, sectors, ideal] = costs.global;
    let [shared, conflicts] = costs.shared;
    let wanted = [
        requests,
        shared,
        costs.barriers,
        costs.private,
        costs.multiply_adds,
        costs.exchanges,
    ];
    assert_eq!(counted, wanted, "{name}");
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let same = |key: &str, wanted: Option<f64>| {
        let found = profile[key].as_f64();
        let near = found.unwrap_or(0.0) - wanted.unwrap_or(0.0);
        assert!(
            found.is_some() == wanted.is_some() && near.abs() < 1e-9,
            "{key} {found:?}, {wanted:?}: {name}"
        );
    };
    same("sectors_per_request", ratio(sectors, requests));
    same("sector_use_percent", ratio(100 * ideal, sectors));
    same("conflicts_per_request", ratio(conflicts, shared));
    same("moved_bytes", Some(32.0 * sectors as f64));
    same(
        "moved_over_least",
        ratio(32 * sectors, 8 * u64::from(micro.n)),
    );
    if let Some((rounds, lanes)) = costs.hot {
        let hot = &profile["hot_loop"];
        let place = |key: &str| hot[key].as_u64().unwrap_or_default();
        // The loop has no branches, so each of its instructions is executed in each iteration.
        let instructions = place("last") - place("first") + 1;
        assert_eq!(place("warp_instructions"), instructions * rounds, "{name}");
        let active = hot["active_lanes"].as_f64().unwrap_or_default();
        assert!((active - lanes).abs() < 1e-9, "{active} lanes: {name}");
    }
}

#[test]
fn counters_of_micro_kernels_equal_what_is_computed_by_hand() {
    let known = super::targets("counters_of_micro_kernels_equal_what_is_computed_by_hand");
    let arches: Vec<&str> = known.iter().map(|known| known.arch).collect();
    let arches: Vec<&str> = ["sm_86", "gfx1151"]
        .into_iter()
        .filter(|arch| arches.contains(arch))
        .collect();
    if arches.is_empty() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let root = folder.path();
    fs::create_dir(root.join("src")).expect("a folder should be made");
    let manifest =
        "[package]\nname = \"micro\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    for (path, text) in [
        ("Cargo.toml", manifest),
        ("src/lib.rs", &library()),
        ("src/micro.cu", SOURCE),
    ] {
        fs::write(root.join(path), text).expect("a file should be written");
    }
    let mut command = tune_alone(root, &root.join("cache"));
    let command = command.args(["inspect", "--profile", "--json", "--target"]);
    let output = expect_code(command.arg(arches.join(",")), 0);
    let rows: Vec<Value> = serde_json::from_str(&stdout(&output)).expect("rows should be printed");
    assert_eq!(rows.len(), arches.len() * TABLE.len());
    for row in &rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let number = text("kernel").strip_prefix("micro_");
        let number: usize = number
            .and_then(|number| number.parse().ok())
            .expect("a row");
        check(text("target"), &TABLE[number], &row["profile"]);
    }
    println!(
        "{} micro-kernels on {}: every counter as computed by hand",
        TABLE.len(),
        arches.join(" and ")
    );
}
