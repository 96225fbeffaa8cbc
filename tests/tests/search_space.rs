//! Search spaces: the public definitions exactly, uniform samples, and how fast a space is built and asked.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use kiln_spec::csp::ConfigSet;
use kiln_tests::capability::{Need, have, in_full, recorded_data};
use kiln_tests::command::{target_dir, tune_program, workspace};
use kiln_tuner::definition::{Definition, index_sum, valid};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The files of a folder of the data, by name.
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
    if !have("every_public_definition", &[Need::RecordedData]) {
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
    if !have("t1_files", &[Need::RecordedData]) {
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
    let params: Vec<_> = params
        .iter()
        .map(|(name, count)| {
            let values: Vec<i64> = (0..*count).collect();
            serde_json::json!({"name": name, "values": values})
        })
        .collect();
    let text = serde_json::json!({"params": params, "constraints": constraints}).to_string();
    let definition = Definition::read(&text).expect("the definition should be read");
    definition.solve().expect("the space should be built")
}

/// Pearson's statistic of `draws` samples over all configs, in standard deviations from its mean.
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

/// The median of the times of single questions, less that of asking nothing.
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
    if !in_full() || !have("a_large_space_answers", &[Need::RecordedData]) {
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
            "spaces_are_built",
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
