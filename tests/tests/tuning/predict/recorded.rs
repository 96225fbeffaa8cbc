//! The model on recorded spaces of graphics cards with a known or similar architecture: RTX cards with sm_86, and a
//! Radeon with gfx1100, whose workgroup processors are those of gfx1151. The recordings have no sources. The model
//! therefore gets the contents of a spec from the problem definitions next to the recordings: block, grid, outputs and
//! declared work. It gets neither the name of the kernel nor the number of registers.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use kiln_spec::LaunchPlan;
use kiln_spec::targets::{KnownTarget, Peaks, target};
use kiln_tests::capability::{Need, have, recorded_data};
use kiln_tuner::predict::{Facts, Score, estimate};
use serde_json::Value;

/// A recorded space, and the properties of its card.
struct Recorded {
    space: &'static str,
    /// The target in Kiln's table whose architecture the card has, or nearly has.
    arch: &'static str,
    multiprocessors: u32,
    clock_mhz: u64,
    memory_gb_per_s: u64,
    /// The work per output as a spec would declare it: operations and bytes.
    work: (u64, u64),
    /// Whether the model beats random order, as the gate decides. The value is fixed here, so a change is noticed.
    beats_random: bool,
}

const fn recorded(space: &'static str, card: Card, work: (u64, u64), beats: bool) -> Recorded {
    let (arch, multiprocessors, clock_mhz, memory_gb_per_s) = card;
    Recorded {
        space,
        arch,
        multiprocessors,
        clock_mhz,
        memory_gb_per_s,
        work,
        beats_random: beats,
    }
}

/// Architecture, multiprocessors, boost clock in MHz and memory bandwidth in GB/s, from the vendors' product pages.
type Card = (&'static str, u32, u64, u64);
const RTX_3090: Card = ("sm_86", 82, 1695, 936);
const RTX_3060_LAPTOP: Card = ("sm_86", 30, 1425, 336);
const A4000: Card = ("sm_86", 48, 1560, 448);
const A6000: Card = ("sm_86", 84, 1800, 768);
const W7800: Card = ("gfx1151", 35, 2499, 576);

/// The work per output of a 4096 x 4096 product, of a 15 x 15 convolution, and of a point against a polygon with 600
/// corners.
const PRODUCT: (u64, u64) = (2 * 4096, 12);
const CONVOLUTION: (u64, u64) = (2 * 15 * 15, 8);
const POINT: (u64, u64) = (600 * 10, 12);

const SPACES: [Recorded; 8] = [
    recorded("gemm@RTX_3090", RTX_3090, PRODUCT, true),
    recorded("pnpoly@RTX_3090", RTX_3090, POINT, true),
    recorded("pnpoly@RTX_3060_laptop", RTX_3060_LAPTOP, POINT, true),
    recorded("convolution_milo@A4000", A4000, CONVOLUTION, true),
    recorded("convolution_milo@A6000", A6000, CONVOLUTION, true),
    recorded("convolution@RTX_3090", RTX_3090, CONVOLUTION, false),
    recorded(
        "convolution@RTX_3060_laptop",
        RTX_3060_LAPTOP,
        CONVOLUTION,
        false,
    ),
    recorded("convolution_milo@W7800", W7800, CONVOLUTION, false),
];

#[test]
fn the_model_is_scored_on_recorded_spaces_and_offered_only_where_it_beats_random_order() {
    let name =
        "the_model_is_scored_on_recorded_spaces_and_offered_only_where_it_beats_random_order";
    if !have(name, &[Need::RecordedData]) {
        return;
    }
    let folder = recorded_data()
        .expect("the data was found just now")
        .join("spaces");
    let mut decided = Vec::new();
    for recorded in &SPACES {
        let score = recorded.score(&folder);
        let offered = if score.beats_random() {
            "offered"
        } else {
            "not offered"
        };
        println!("{}: {offered}: {score}", recorded.space);
        decided.push((recorded.space, score.beats_random(), recorded.beats_random));
    }
    for (space, found, expected) in decided {
        assert_eq!(found, expected, "{space}");
    }
}

impl Recorded {
    fn score(&self, folder: &Path) -> Score {
        let space = read(&folder.join(format!("{}.json.gz", self.space)));
        let entries = space["cache"]
            .as_object()
            .expect("a recording holds its configs");
        let known = self.card();
        let pair = |entry: &Value| {
            // A failed config has a text instead of a time.
            let measured = entry["time"].as_f64()?;
            let facts = self.facts(entry)?;
            Some((
                estimate(&facts, &known).map_or(f64::INFINITY, |e| e.seconds),
                measured,
            ))
        };
        let pairs: Vec<_> = entries.values().filter_map(pair).collect();
        assert!(
            pairs.len() > 3000,
            "{}: {} configs",
            self.space,
            pairs.len()
        );
        Score::new(&pairs).expect("a space has more than two configs")
    }

    /// The known target of the architecture, with the sizes of this card.
    fn card(&self) -> KnownTarget {
        let row = target(self.arch).expect("the target should be known");
        let clock_hz = self.clock_mhz * 1_000_000;
        let mut limits = row.limits;
        limits.multiprocessors = self.multiprocessors;
        let peaks = Peaks {
            clock_hz,
            memory_bytes_per_s: self.memory_gb_per_s * 1_000_000_000,
            // Two operations per lane, as in the known target.
            f32_flops_per_s: u64::from(self.multiprocessors) * clock_hz * per_clock(row),
            f16_matrix_flops_per_s: 0,
        };
        KnownTarget {
            limits,
            peaks: Some(peaks),
            ..*row
        }
    }

    /// The facts about a config, with the geometry from the problem definitions.
    fn facts(&self, entry: &Value) -> Option<Facts> {
        let value = |name: &str| u32::try_from(entry[name].as_u64()?).ok();
        let (block, grid, outputs) = match self.space.split('@').next()? {
            "gemm" => (
                [value("MDIMC")?, value("NDIMC")?, 1],
                [4096 / value("MWG")?, 4096 / value("NWG")?, 1],
                4096 * 4096,
            ),
            "pnpoly" => {
                let block = value("block_size_x")?;
                let blocks = 20_000_000_u32.div_ceil(block * value("tile_size")?);
                ([block, 1, 1], [blocks, 1, 1], 20_000_000)
            }
            _ => {
                let [x, y] = [value("block_size_x")?, value("block_size_y")?];
                let grid_x = 4096_u32.div_ceil(x * value("tile_size_x")?);
                let grid_y = 4096_u32.div_ceil(y * value("tile_size_y")?);
                ([x, y, 1], [grid_x, grid_y, 1], 4096 * 4096)
            }
        };
        Some(Facts {
            plan: LaunchPlan {
                grid,
                block,
                shared_bytes: 0,
            },
            outputs,
            flops: self.work.0 * outputs,
            bytes: self.work.1 * outputs,
            access_bytes: 4,
            resources: None,
        })
    }
}

/// The number of operations per multiprocessor and clock cycle.
fn per_clock(row: &KnownTarget) -> u64 {
    let peaks = row.peaks.expect("a GPU has peaks");
    (peaks.f32_flops_per_s / u64::from(row.limits.multiprocessors) + peaks.clock_hz / 2)
        / peaks.clock_hz
}

fn read(path: &Path) -> Value {
    let output = Command::new("gzip")
        .arg("-dc")
        .arg(path)
        .output()
        .expect("gzip should start");
    assert!(
        output.status.success(),
        "{} should be unpacked",
        path.display()
    );
    serde_json::from_slice(&output.stdout).expect("a recording should be JSON")
}

#[test]
fn the_configs_of_a_recording_are_told_apart_by_what_the_model_is_told() {
    // Within one space, configs with the same block and grid get the same prediction, because nothing else is known
    // about them.
    let name = "the_configs_of_a_recording_are_told_apart_by_what_the_model_is_told";
    if !have(name, &[Need::RecordedData]) {
        return;
    }
    let folder = recorded_data()
        .expect("the data was found just now")
        .join("spaces");
    let gemm = &SPACES[0];
    let space = read(&folder.join(format!("{}.json.gz", gemm.space)));
    let entries = space["cache"]
        .as_object()
        .expect("a recording holds its configs");
    let known = gemm.card();
    let mut guesses: BTreeMap<([u32; 3], [u32; 3]), u64> = BTreeMap::new();
    for entry in entries.values() {
        let facts = gemm.facts(entry).expect("every config has a geometry");
        let Some(guess) = estimate(&facts, &known) else {
            continue;
        };
        let bits = guess.seconds.to_bits();
        let first = *guesses
            .entry((facts.plan.block, facts.plan.grid))
            .or_insert(bits);
        assert_eq!(first, bits);
    }
    assert!(guesses.len() > 50, "{} geometries", guesses.len());
}
