//! Tests that tables can be written and read back, and that rows are checked. The submodules test merges with git and
//! invalid tables.

mod hostile;
mod merge;

use proptest::prelude::*;

use super::*;
use crate::device::DeviceKey;
use crate::hash::{Hash, SourceHash, SpecHash};
use crate::model::KernelSpec;
use crate::plan::LaunchPlan;

fn hashes(salt: &str) -> Hashes {
    let hash = |what: &str| Hash::of(what, salt.as_bytes());
    Hashes {
        spec: SpecHash(hash("spec")),
        source: SourceHash(hash("source")),
        prelude: hash("prelude"),
        flags: hash("flags"),
    }
}

fn device(text: &str) -> DeviceKey {
    text.parse().unwrap()
}

const L4: &str = "cuda/sm_89/NVIDIA L4";
const RTX: &str = "cuda/sm_86/NVIDIA GeForce RTX 3090";
const STRIX: &str = "hip/gfx1151/AMD Radeon 8060S";

pub(super) fn row(spec: &KernelSpec, key: &str, problem: &str, config: &str) -> Row {
    let config = spec.parse_config(config).unwrap();
    let problem = spec.parse_problem(problem).unwrap();
    Row {
        device: device(key),
        entry: spec.entry.clone(),
        evidence: Evidence::Proven,
        speedup: Some(Speedup {
            low_ppm: 1_200_000,
            speedup_ppm: 1_250_000,
            high_ppm: 1_300_000,
        }),
        baseline: spec.baseline_text(),
        symbol: format!("gemm_{:016x}", config.hash().0.short()),
        plan: spec.plan(&config, &problem, None).unwrap(),
        hashes: hashes("1"),
        image: None,
        problem: problem.to_string(),
        config: config.to_string(),
    }
}

pub(super) const SMALL: &str = "m=512,n=512,k=512";
const LARGE: &str = "m=4096,n=4096,k=4096";
pub(super) const WINNER: &str = "BLOCK_M=64,BLOCK_N=64,BLOCK_K=16,VECTOR_WIDTH=4,THREADS=256";
const OTHER: &str = "BLOCK_M=32,BLOCK_N=64,BLOCK_K=16,VECTOR_WIDTH=4,THREADS=128";

pub(super) fn gemm() -> KernelSpec {
    crate::parse::tests::gemm()
}

fn table(rows: &[Row]) -> BakedTable {
    let mut table = BakedTable::new("gemm");
    let mut devices: Vec<_> = rows.iter().map(|row| row.device.clone()).collect();
    devices.dedup();
    for key in devices {
        let of_device = rows.iter().filter(|row| row.device == key).cloned();
        table.replace_device(&key, of_device).unwrap();
    }
    table
}

/// The text of a valid table with one row.
fn one_row() -> String {
    table(&[row(&gemm(), L4, SMALL, WINNER)]).to_text()
}

fn parse(text: &str) -> Result<BakedTable, BakedError> {
    BakedTable::parse(text.as_bytes())
}

#[test]
fn two_devices_in_either_order_give_the_same_bytes() {
    let spec = gemm();
    let rows = [
        row(&spec, L4, LARGE, WINNER),
        row(&spec, L4, SMALL, OTHER),
        row(&spec, STRIX, SMALL, WINNER),
    ];
    let mut other_way = rows.to_vec();
    other_way.reverse();
    let text = table(&rows).to_text();
    assert_eq!(text, table(&other_way).to_text());
    let back = parse(&text).unwrap();
    assert_eq!(back, table(&rows));
    assert_eq!(back.to_text(), text);
    let order: Vec<_> = back.rows().map(|r| r.problem.as_str()).collect();
    assert_eq!(order, [SMALL, LARGE, SMALL], "sizes are sorted as numbers");
}

#[test]
fn rows_of_template_instances_in_namespaces_read_back() {
    let mut spec = gemm();
    for entry in [
        "tiles::gemm<T, BLOCK_M>",
        "gemm<float, 256>",
        "a::b::gemm<BLOCK_M / 2, tiles::wide>",
    ] {
        spec.entry = entry.into();
        spec.baseline.entry = entry.into();
        let rows = [row(&spec, L4, SMALL, WINNER)];
        let back = parse(&table(&rows).to_text()).unwrap();
        assert_eq!(back, table(&rows));
        assert!(
            back.rows().next().unwrap().resolve(&spec).is_ok(),
            "{entry}"
        );
    }
    // The baseline was kept, so the row has no speed-up.
    for entry in ["rows::gemm", "a::b::gemm<float, 256>"] {
        spec.entry = entry.into();
        spec.baseline.entry = entry.into();
        let mut kept = row(&spec, L4, SMALL, &spec.baseline.config.to_string());
        kept.speedup = None;
        assert!(kept.is_baseline());
        let mut written = BakedTable::new("gemm");
        written
            .replace_device(&kept.device, [kept.clone()])
            .unwrap();
        assert!(
            written.rows().next().unwrap().resolve(&spec).is_ok(),
            "{entry}"
        );
    }
    let mut wrong = row(&gemm(), L4, SMALL, WINNER);
    for baseline in ["gemm", "gemm<T:A=1", "gemm T:A=1", ":A=1", "gemm:A=1 "] {
        wrong.baseline = baseline.into();
        let mut table = BakedTable::new("gemm");
        let refused = table.replace_device(&wrong.device, [wrong.clone()]);
        assert!(
            matches!(
                refused,
                Err(BakedError::Value {
                    key: "baseline",
                    ..
                })
            ),
            "{baseline}"
        );
    }
}

#[test]
fn every_row_is_one_line_that_names_its_device() {
    let spec = gemm();
    let text = table(&[
        row(&spec, L4, LARGE, WINNER),
        row(&spec, RTX, LARGE, WINNER),
    ])
    .to_text();
    let rows: Vec<_> = text
        .lines()
        .filter(|line| line.contains("problem ="))
        .collect();
    assert_eq!(rows.len(), 2);
    assert!(rows[0].contains(RTX) && rows[1].contains(L4), "{text}");
    let mut lines: Vec<_> = text.lines().skip(1).filter(|l| !l.is_empty()).collect();
    let count = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), count, "every line is unique: {text}");
}

#[test]
fn baking_a_device_again_replaces_its_section_only() {
    let spec = gemm();
    let mut baked = table(&[
        row(&spec, L4, LARGE, WINNER),
        row(&spec, RTX, LARGE, WINNER),
    ]);
    baked
        .replace_device(&device(L4), [row(&spec, L4, SMALL, OTHER)])
        .unwrap();
    assert_eq!(baked.device_rows(&device(L4)).count(), 1);
    assert_eq!(baked.device_rows(&device(RTX)).count(), 1);
    baked.replace_device(&device(L4), []).unwrap();
    assert_eq!(baked.rows().count(), 1);
    let wrong = baked.replace_device(&device(L4), [row(&spec, RTX, SMALL, OTHER)]);
    assert!(matches!(wrong, Err(BakedError::Section { .. })));
}

#[test]
fn a_row_is_stale_when_any_hash_differs_and_says_which() {
    let mut baked = row(&gemm(), L4, SMALL, WINNER);
    let now = hashes("1");
    assert_eq!(baked.freshness(&now), Freshness::Fresh);
    let other = hashes("2");
    for (which, hashes) in [
        (
            "spec",
            Hashes {
                spec: other.spec,
                ..now
            },
        ),
        (
            "source",
            Hashes {
                source: other.source,
                ..now
            },
        ),
        (
            "prelude",
            Hashes {
                prelude: other.prelude,
                ..now
            },
        ),
        (
            "flags",
            Hashes {
                flags: other.flags,
                ..now
            },
        ),
    ] {
        baked.hashes = hashes;
        match baked.freshness(&now) {
            Freshness::Stale {
                which: found,
                baked,
                now,
            } => {
                assert_eq!(found, which);
                assert_ne!(baked, now);
            }
            Freshness::Fresh => panic!("a changed {which} should be stale"),
        }
    }
}

#[test]
fn a_fresh_row_resolves_to_config_and_problem() {
    let spec = gemm();
    let resolved = row(&spec, L4, LARGE, WINNER).resolve(&spec).unwrap();
    assert_eq!(resolved.config.to_string(), WINNER);
    assert_eq!(resolved.problem.to_string(), LARGE);
    assert!(!resolved.is_baseline);
    let mut kept = row(&spec, L4, LARGE, &spec.baseline.config.to_string());
    kept.speedup = None;
    assert!(kept.resolve(&spec).unwrap().is_baseline);
    assert!(table(&[kept]).to_text().contains("proven"));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn a_fresh_row_that_does_not_fit_its_spec_is_refused() {
    let spec = gemm();
    let good = row(&spec, L4, LARGE, WINNER);
    let outside = "BLOCK_M=16,BLOCK_N=16,BLOCK_K=8,VECTOR_WIDTH=4,THREADS=256";
    let cases = [
        (
            Row {
                config: outside.into(),
                ..good.clone()
            },
            "constraint `BLOCK_M * BLOCK_N % (THREADS * VECTOR_WIDTH) == 0` is false",
        ),
        (
            Row {
                config: WINNER.replace("64", "48"),
                ..good.clone()
            },
            "`48` is not a value of `BLOCK_M`",
        ),
        (
            Row {
                config: "BLOCK_M=64".into(),
                ..good.clone()
            },
            "no value for BLOCK_N, BLOCK_K",
        ),
        (
            Row {
                config: WINNER.replace("BLOCK_M", "BLOK_M"),
                ..good.clone()
            },
            "did you mean `BLOCK_M`?",
        ),
        (
            Row {
                config: "THREADS=256,BLOCK_M=64,BLOCK_N=64,BLOCK_K=16,VECTOR_WIDTH=4".into(),
                ..good.clone()
            },
            "`config` is `THREADS=256",
        ),
        (
            Row {
                problem: "m=1,n=1".into(),
                ..good.clone()
            },
            "no value for k",
        ),
        (
            Row {
                problem: "m=01,n=1,k=1".into(),
                ..good.clone()
            },
            "`01` is not a value of `m`",
        ),
        (
            Row {
                problem: "m=5000000000,n=1,k=1".into(),
                ..good.clone()
            },
            "that fits u32",
        ),
        (
            Row {
                entry: "other".into(),
                ..good.clone()
            },
            "`entry` is `other`, but the spec gives `gemm`",
        ),
        (
            Row {
                baseline: "gemm:X=1".into(),
                ..good.clone()
            },
            "`baseline` is `gemm:X=1`",
        ),
        (
            Row {
                plan: LaunchPlan {
                    grid: [1; 3],
                    ..good.plan
                },
                ..good.clone()
            },
            "`plan` is `grid=(1,1,1)",
        ),
    ];
    for (bad, message) in cases {
        let error = bad.resolve(&spec).unwrap_err().to_string();
        assert!(error.contains(message), "{error}\nshould contain {message}");
        assert!(error.contains("help: "), "{error}");
    }
}

#[test]
fn every_prefix_of_a_table_is_read_or_refused_without_a_panic() {
    let text = one_row();
    for end in 0..text.len() {
        let _ = BakedTable::parse(&text.as_bytes()[..end]);
    }
}

#[test]
fn a_table_of_another_kernel_is_refused() {
    let error = BakedTable::parse_for(one_row().as_bytes(), "softmax").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the table belongs to kernel `gemm`, not to kernel `softmax`"
    );
}

#[test]
fn an_index_cannot_name_a_file_outside_its_folder() {
    for name in [
        "../x.toml",
        "/etc/x.toml",
        "a/b.toml",
        "..",
        "x\\y.toml",
        ".x.toml",
        "index.toml",
        "x.cu",
        "",
    ] {
        let text = format!("format = 1\n[kernels]\ngemm = {name:?}\n");
        let error = Index::parse(text.as_bytes()).unwrap_err();
        assert!(
            matches!(error, BakedError::Value { line: 3, .. }),
            "{name}: {error}"
        );
    }
    assert!(Index::new().insert("index").is_err());
    assert!(Index::new().insert("../x").is_err());
    let error = Index::parse(b"format = 1\n[kernels]\n\"a/b\" = \"ab.toml\"\n").unwrap_err();
    assert!(error.to_string().contains("a C identifier"), "{error}");
    assert_eq!(
        Index::parse(Index::new().to_text().as_bytes()).unwrap(),
        Index::new()
    );
}

proptest! {
    #[test]
    fn a_table_survives_its_text(
        rows in prop::collection::btree_map(
            ("[ -~]{1,20}", 1i64..10_000, 0usize..3),
            (any::<[u32; 3]>(), 1_000_001u64..2_000_000, any::<bool>()),
            0..12,
        ),
    ) {
        let spec = gemm();
        let rows: Vec<Row> = rows.into_iter().map(|((name, m, backend), (grid, speedup, image))| {
            let mut row = row(&spec, L4, SMALL, WINNER);
            row.device.name = name;
            row.device.backend = crate::Backend::ALL[backend];
            row.problem = format!("m={m},n=1,k=1");
            row.plan.grid = grid.map(|n| n.max(1));
            row.evidence = Evidence::ALL[backend];
            row.speedup = (backend == 0).then_some(Speedup {
                low_ppm: speedup, speedup_ppm: speedup, high_ppm: speedup + 1,
            });
            row.image = image.then(|| Image {
                file: "gemm-1.cubin".into(), target: "sm_89".into(), hash: Hash::of("image", b"1"),
            });
            row
        }).collect();
        let baked = table(&rows);
        let text = baked.to_text();
        prop_assert_eq!(parse(&text).unwrap(), baked, "{}", text);
    }

    #[test]
    fn damaged_tables_are_read_or_refused_without_a_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = one_row().into_bytes();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = BakedTable::parse(&bytes);
        let _ = Index::parse(&bytes);
    }
}
