//! Search spaces: the configs of public definitions, uniform samples, and the time to build and query a space.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use kiln_exchange::definition::{Definition, DefinitionError, Solved, index_sum, valid};
use kiln_spec::csp::{ConfigSet, CspError};
use kiln_tests::capability::{Need, have, in_full, recorded_data};
use kiln_tests::command::{expect_code, stderr, stdout, target_dir, tune, tune_program, workspace};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The files of a folder of the recorded data, sorted by name.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = recorded_data().expect("the data was found").join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder should be there");
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    files
}

fn read(path: &PathBuf) -> (Definition, ConfigSet) {
    let text = std::fs::read_to_string(path).expect("the file should be readable");
    let definition = Definition::read(&text).expect("the definition should be read");
    let set = definition.solve().expect("the space should be built");
    (definition, set)
}

#[test]
fn every_public_definition_has_exactly_its_configs() {
    if !have(
        "every_public_definition_has_exactly_its_configs",
        &[Need::RecordedData],
    ) {
        return;
    }
    let mut checked = 0;
    for path in files("spacedefs") {
        let (definition, set) = read(&path);
        let text = std::fs::read_to_string(&path).expect("the file should be readable");
        let known: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let name = &definition.name;
        assert_eq!(
            valid(&set).to_string(),
            known["valid"].to_string(),
            "{name}"
        );
        assert_eq!(
            index_sum(&definition, &set).to_string(),
            known["index_sum"],
            "{name}"
        );
        let listed = u128::from(known["valid"].as_u64().unwrap_or(0));
        assert!(
            listed < 10_000 || set.bytes() as u128 <= 24 * listed,
            "{name}"
        );
        checked += 1;
    }
    println!("{checked} definitions");
    assert!(checked >= 14);
}

#[test]
fn t1_files_have_the_configs_of_the_recordings() {
    if !have(
        "t1_files_have_the_configs_of_the_recordings",
        &[Need::RecordedData],
    ) {
        return;
    }
    let known = [
        ("convolution", 6768),
        ("convolution_milo", 4362),
        ("convolution_milo_small", 2442),
        ("gemm", 17956),
        ("pnpoly", 4092),
    ];
    for path in files("spaces/t1") {
        let (_, set) = read(&path);
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if let Some((_, expected)) = known.iter().find(|known| known.0 == name) {
            assert_eq!(set.len(), *expected, "{name}");
        }
    }
}

fn space(params: &[(&str, i64)], constraints: &[&str]) -> ConfigSet {
    let definition = defined(params, constraints);
    definition.solve().expect("the space should be built")
}

fn defined(params: &[(&str, i64)], constraints: &[&str]) -> Definition {
    let params: Vec<_> = params
        .iter()
        .map(|(name, count)| {
            let values: Vec<i64> = (0..*count).collect();
            serde_json::json!({"name": name, "values": values})
        })
        .collect();
    let text = serde_json::json!({"params": params, "constraints": constraints}).to_string();
    Definition::read(&text).expect("the definition should be read")
}

/// Pearson's statistic of `draws` samples over all configs, in standard deviations from its expected value.
fn deviation_from_uniform(set: &ConfigSet, draws: u32) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let configs = usize::try_from(set.len()).expect("a small space");
    let mut counts = vec![0u32; configs];
    for _ in 0..draws {
        let places = set.places(rng.random_range(0..set.len()));
        let index = set.index_of(&places).expect("a sample should be valid");
        counts[usize::try_from(index).expect("a small index")] += 1;
    }
    let expected = f64::from(draws) / configs as f64;
    let squares = counts
        .iter()
        .map(|count| (f64::from(*count) - expected).powi(2));
    let freedom = configs as f64 - 1.0;
    (squares.sum::<f64>() / expected - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn samples_are_uniform_over_valid_configs() {
    let separable = space(
        &[("a", 10), ("b", 10), ("c", 10), ("d", 10)],
        &["a <= b", "c * d < 30"],
    );
    let chain = space(
        &[("a", 12), ("b", 12), ("c", 12)],
        &["a * b <= 40", "b != c and (b + c) % 3 != 1"],
    );
    assert_eq!(separable.components().len(), 2);
    assert_eq!(chain.components().len(), 1);
    for (name, set) in [("separable", separable), ("inseparable", chain)] {
        let deviation = deviation_from_uniform(&set, 400_000);
        println!(
            "{name}: {} configs, chi-square {deviation:+.2} deviations",
            set.len()
        );
        assert!(deviation.abs() < 4.0, "{name}");
    }
}

/// The median time of a single query in nanoseconds, minus the overhead of timing.
fn median_ns(set: &ConfigSet, mut ask: impl FnMut(&ConfigSet, u128, &[u32])) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let asked: Vec<(u128, Vec<u32>)> = (0..20_000)
        .map(|_| rng.random_range(0..set.len()))
        .map(|index| (index, set.places(index)))
        .collect();
    let mut times = Vec::with_capacity(asked.len());
    let mut nothing = Vec::with_capacity(asked.len());
    for (index, places) in &asked {
        let start = Instant::now();
        ask(set, *index, places);
        times.push(start.elapsed().as_nanos());
        let start = Instant::now();
        nothing.push(start.elapsed().as_nanos());
    }
    let median = |mut times: Vec<u128>| {
        times.sort_unstable();
        times[times.len() / 2] as f64
    };
    median(times) - median(nothing)
}

#[test]
fn a_large_space_answers_within_a_microsecond() {
    if !in_full()
        || !have(
            "a_large_space_answers_within_a_microsecond",
            &[Need::RecordedData],
        )
    {
        return;
    }
    let sets = files("spacedefs").into_iter().map(|path| read(&path));
    let largest = sets
        .max_by_key(|(_, set)| set.len())
        .expect("there are definitions");
    let (definition, set) = largest;
    let mut places = vec![0; set.params()];
    let access = median_ns(&set, |set, index, _| set.write_places(index, &mut places));
    let membership = median_ns(&set, |set, _, places| {
        std::hint::black_box(set.index_of(places));
    });
    let mut found = Vec::with_capacity(1000);
    let neighbours = median_ns(&set, |set, index, _| {
        found.clear();
        set.neighbours(index, |param, place, other| {
            found.push((param, place, other))
        });
    });
    println!(
        "{}, {} configs: access {access} ns, membership {membership} ns, neighbours {neighbours} ns",
        definition.name,
        set.len()
    );
    for time in [access, membership, neighbours] {
        assert!(time <= 1000.0, "{time} ns");
    }
}

#[test]
fn spaces_are_built_as_fast_as_their_bar() {
    if !in_full()
        || !have(
            "spaces_are_built_as_fast_as_their_bar",
            &[Need::RecordedData, Need::HostCompiler],
        )
    {
        return;
    }
    let tune = tune_program();
    assert_eq!(tune.parent(), Some(target_dir().join("release").as_path()));
    let script = workspace().join("benches/peers/space_construction.py");
    let status = Command::new("python3").arg(script).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "a bar was missed"
    );
}

const TWELVE: [&str; 12] = [
    "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11",
];

/// Twelve parameters with 100 values each, and constraints of a kind that does not merge. Their factors are random.
fn twelve(constraints: &[String]) -> Definition {
    let params = TWELVE.map(|name| (name, 100));
    let constraints: Vec<&str> = constraints.iter().map(String::as_str).collect();
    defined(&params, &constraints)
}

fn product_beyond_62_bits() -> Definition {
    let factors = TWELVE.map(|name| format!("({name} + 1)"));
    twelve(&[format!("{} <= 10**20", factors.join(" * "))])
}

fn sum_with_remainder(rng: &mut ChaCha8Rng) -> Definition {
    let terms = TWELVE.map(|name| format!("{} * {name}", rng.random_range(1..1_000_000)));
    twelve(&[format!("({}) % 1009 == 0", terms.join(" + "))])
}

/// For each pair of parameters, a remainder modulo 101 must be at least `least`.
fn all_pairs(least: u32, rng: &mut ChaCha8Rng) -> Definition {
    let mut constraints = Vec::new();
    for (i, a) in TWELVE.iter().enumerate() {
        for b in &TWELVE[..i] {
            let (x, y) = (rng.random_range(1..1000), rng.random_range(1..1000));
            constraints.push(format!("({x} * {a} + {y} * {b}) % 101 >= {least}"));
        }
    }
    assert_eq!(constraints.len(), 66);
    twelve(&constraints)
}

/// CPU time of this process so far, in seconds.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// CPU time of a fixed computation, in seconds. Other programs on the same cores slow it down as they slow down a search.
fn yardstick_s() -> f64 {
    let start = cpu_s();
    let step = |x: u64, _| (x * 6_364_136 + 1_442_695) % 4_294_967_291;
    std::hint::black_box((0..100_000_000_u64).fold(1, step));
    cpu_s() - start
}

#[test]
fn spaces_that_do_not_merge_are_sampled_or_refused_in_bounded_time() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let shapes = [
        ("product", product_beyond_62_bits(), true),
        ("sum", sum_with_remainder(&mut rng), true),
        ("pairs", all_pairs(10, &mut rng), true),
        ("strict pairs", all_pairs(50, &mut rng), false),
    ];
    for (name, definition, has_sample) in shapes {
        let before = yardstick_s();
        let start = cpu_s();
        let solved = definition.solve_or_sample();
        let spent = cpu_s() - start;
        let yardsticks = spent / before.max(yardstick_s());
        println!("{name}: {yardsticks:.1} times the yardstick, which took {before:.2} s");
        match solved {
            Ok(Solved::Sampled(list)) if has_sample => {
                let valid = list.valid();
                println!("{name}: {} of {valid}, {spent:.1} s", list.len());
                assert!(list.len() > 1000, "{name}: {}", list.len());
                assert!(valid.most < 1.2 * valid.least, "{name}: {valid}");
                assert!(list.bytes() < 16 << 20, "{name}: {} bytes", list.bytes());
                let all_valid = (0..list.len()).all(|index| {
                    let places = list.places(index);
                    list.relaxed().is_valid(&places) && list.index_of(&places) == Some(index)
                });
                assert!(all_valid, "{name}");
            }
            Err(DefinitionError::Csp(error @ CspError::Hopeless { .. })) if !has_sample => {
                println!("{name}: {error}, {spent:.1} s");
            }
            other => panic!("{name}: {other:?}"),
        }
        // On an idle EPYC, the slowest shape takes 26 times as long as the yardstick.
        assert!(
            yardsticks <= 60.0,
            "{name}: {yardsticks} times the yardstick"
        );
    }
}

/// A package with a kernel of twelve parameters, all of which occur in one constraint.
fn tied_package() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let values: Vec<String> = (1..=64).map(|x: i64| x.to_string()).collect();
    let values = values.join(", ");
    let params = TWELVE.map(|name| format!("{} in [{values}]", name.to_uppercase()));
    let factor = |i: usize| 7_919 * (i + 3).pow(2) % 1009;
    let terms = TWELVE.iter().enumerate();
    let terms: Vec<String> = terms
        .map(|(i, name)| format!("{} * ({} - 1)", factor(i), name.to_uppercase()))
        .collect();
    let baseline = TWELVE.map(|name| format!("{} = 1", name.to_uppercase()));
    let lib = format!(
        "use kiln::tuned_kernel;\n\n#[tuned_kernel(source = \"copy.cu\", params({}), where(({}) % 1009 <= 800), \
         baseline({}), grid(n), block(1), problems((n = 1000)), tolerance(relative = 0.0))]\n\
         unsafe extern \"C\" {{ pub fn copy(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]); }}\n",
        params.join(", "),
        terms.join(" + "),
        baseline.join(", "),
    );
    let sum = TWELVE.map(str::to_uppercase).join(" + ");
    let kernel = format!(
        "extern \"C\" __global__ void copy(unsigned int n, const float* x, float* y)\n{{\n    \
         if (blockIdx.x < n && {sum} > 0) {{\n        y[blockIdx.x] = x[blockIdx.x];\n    }}\n}}\n"
    );
    let files: [(&str, &str); 3] = [
        (
            "Cargo.toml",
            "[package]\nname = \"tied\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        ),
        ("src/lib.rs", &lib),
        ("src/copy.cu", &kernel),
    ];
    std::fs::create_dir(folder.path().join("src")).expect("a folder should be made");
    for (path, text) in files {
        std::fs::write(folder.path().join(path), text).expect("a file should be written");
    }
    folder
}

#[test]
fn tune_searches_a_kernel_whose_constraint_ties_twelve_parameters() {
    let package = tied_package();
    let run = |words: &str| {
        let mut command = tune(package.path(), &package.path().join("cache"));
        stdout(&expect_code(command.args(words.split(' ')), 0))
    };
    let text = run("space --device cpu");
    let sampled = "  sampled: 100000 of about 3.7";
    assert!(text.contains(sampled), "{text}");
    let left_out = " valid configs (3.7";
    assert!(text.contains(left_out), "{text}");
    let first = "; constraints left out while building: (";
    assert!(text.contains(first), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&run("space --device cpu --json")).expect("it is JSON");
    let space = &json[0];
    assert!(space["valid"].is_null(), "{space}");
    assert_eq!(space["sampled"], true);
    assert_eq!(space["listed"], 100_000);
    let end = |name: &str| space["valid_estimate"][name].as_f64().expect("a number");
    // All remainders are almost equally likely.
    let truth = 64f64.powi(12) * 801.0 / 1009.0;
    assert!(end("least") < truth && truth < end("most"), "{space}");
    assert_eq!(space["left_out"].as_array().map(Vec::len), Some(1));
    let planned = run("run --device cpu --dry-run");
    assert!(
        planned.contains(" of 100000 configs\n  sampled: "),
        "{planned}"
    );
    let planned: serde_json::Value =
        serde_json::from_str(&run("run --device cpu --dry-run --json")).expect("it is JSON");
    assert_eq!(planned["tasks"][0]["configs"], 100_000, "{planned}");
    if have(
        "tune_searches_a_kernel_whose_constraint_ties_twelve_parameters",
        &[Need::HostCompiler],
    ) {
        let report = run("run --device cpu --trials 3 --budget full");
        assert!(report.contains("sampled: 100000 of about"), "{report}");
    }
}

#[test]
fn a_definition_that_is_sampled_has_no_exact_count() {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let params: Vec<_> = TWELVE
        .iter()
        .map(|name| serde_json::json!({"name": name, "values": (1..=100).collect::<Vec<i64>>()}))
        .collect();
    let product = format!("{} <= 10**20", TWELVE.join(" * "));
    let text = serde_json::json!({"name": "product", "params": params, "constraints": [product]});
    std::fs::write(folder.path().join("space.json"), text.to_string()).expect("it is written");
    let run = |words: &str, code| {
        let mut command = tune(folder.path(), &folder.path().join("cache"));
        expect_code(command.args(words.split(' ')), code)
    };
    let json = stdout(&run("space --definition space.json --json", 0));
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert!(
        json["valid"].is_null() && json["index_sum"].is_null(),
        "{json}"
    );
    assert_eq!(json["sampled"], true);
    assert_eq!(json["left_out"][0], product.as_str());
    let text = stdout(&run("space --definition space.json", 0));
    assert!(text.contains("\n  sampled: 100000 of about 7."), "{text}");
    let refused = stderr(&run("space --definition space.json --count", 1));
    assert!(refused.contains("no exact count, because "), "{refused}");
    assert!(refused.contains("about 7."), "{refused}");
    assert!(refused.contains("\nhelp: "), "{refused}");
}
