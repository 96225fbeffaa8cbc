//! `tune inspect --first` chooses the configs that a run tries first, although it does not know the device of the run.

use std::collections::BTreeSet;

use kiln_project::{PackageSelection, Project};
use kiln_spec::Backend;
use kiln_tests::command::{expect_code, stdout};
use kiln_tests::scale_package::{LARGE, ScalePackage};
use kiln_tuner::cli::options::DEFAULT_TRIALS;
use kiln_tuner::cli::{DEFAULT_SEED, DEFAULT_STRATEGY};
use kiln_tuner::compile_only::FirstConfigs;
use serde_json::Value;

/// Number of configs without the baseline. Two of them are the author's, and all others are in the first batch for
/// which the strategy is asked.
const COUNT: usize = 9;

/// The configs that the author lists in the spec.
const OF_THE_AUTHOR: [&str; 2] = ["THREADS=96,ITEMS=5", "THREADS=224,ITEMS=2"];

const BASELINE: &str = "THREADS=64,ITEMS=1";

/// A package with 48 configs and two problems.
fn package() -> ScalePackage {
    let package = ScalePackage::new(LARGE, &[1000, 2000], &[]);
    let listed = OF_THE_AUTHOR.map(|config| format!("({})", config.replace('=', " = ")));
    let first = format!("try_first({}),\n    problems(", listed.join(", "));
    let spec = package.read("mine/src/lib.rs");
    package.write("mine/src/lib.rs", &spec.replace("problems(", &first));
    package
}

fn json(package: &ScalePackage, words: &str) -> Value {
    let text = stdout(&expect_code(&mut package.tune("cache", "", words), 0));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The first configs of the first problem, for a run on the fake device.
fn first(package: &ScalePackage, count: usize) -> Vec<String> {
    let project = Project::read(&PackageSelection {
        manifest_path: Some(package.path("mine/Cargo.toml")),
        ..PackageSelection::default()
    });
    let project = project.expect("the package should be read");
    let script = package.path("a.json");
    let device = kiln::open(&format!("fake:{}", script.display())).expect("it should open");
    let kernel = &project.kernels[0];
    let first = FirstConfigs {
        count,
        strategy: DEFAULT_STRATEGY,
        seed: DEFAULT_SEED,
        trials: DEFAULT_TRIALS,
        threads: 2,
    };
    let device = (Backend::Fake, &device.info().limits);
    let configs = first.of(kernel, &kernel.spec.problems[0], device);
    let configs = configs.expect("the space should be built").into_iter();
    configs.map(|config| config.to_string()).collect()
}

/// The rows of `tune inspect` for the cpu: what each config is, its problem, and the config.
fn rows(package: &ScalePackage, words: &str) -> Vec<[String; 3]> {
    let rows = json(package, &format!("inspect --target cpu --json {words}"));
    let rows = rows.as_array().expect("rows are a list").iter();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    rows.map(|row| ["what", "problem", "config"].map(|name| text(row, name)))
        .collect()
}

#[test]
fn the_first_configs_are_those_that_a_run_tries_first() {
    let package = package();
    let trials = COUNT + 1;
    let words = format!(
        "run --device fake:ROOT/a.json --problem n=1000 --trials {trials} --jobs 2 --budget full --json"
    );
    json(&package, &words);
    let export = json(&package, "cache export");
    let entries = export["entries"].as_array().expect("entries are a list");
    let trials = entries.iter().filter_map(|entry| entry.get("trial"));
    let tried: BTreeSet<String> = trials
        .map(|trial| trial["config"].as_str().unwrap_or_default().to_owned())
        .filter(|config| config != BASELINE)
        .collect();

    let chosen = first(&package, COUNT);
    assert_eq!(chosen[..2], OF_THE_AUTHOR);
    assert_eq!(chosen.iter().cloned().collect::<BTreeSet<_>>(), tried);
    // A larger number adds configs at the end, also beyond the first batch and up to the end of the space.
    let all = first(&package, 1000);
    assert_eq!(all[..COUNT], chosen);
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 47);
    assert_eq!(all.len(), 47, "all except the baseline");

    // The command chooses the same configs.
    let rows = rows(&package, &format!("--first {COUNT} --problem n=1000"));
    let [what, _, config] = &rows[0];
    assert_eq!((&**what, &**config), ("baseline", BASELINE));
    let of_the_command: BTreeSet<String> = rows[1..]
        .iter()
        .map(|[what, _, config]| {
            assert_eq!(what, "first");
            config.clone()
        })
        .collect();
    assert_eq!(of_the_command, tried);
}

#[test]
fn without_a_problem_the_first_configs_are_of_all_and_other_configs_of_the_first() {
    let package = package();
    let count = |words: &str, what: &str, problem: &str| {
        let rows = rows(&package, words);
        let is_it = |row: &&[String; 3]| row[0] == what && row[1] == problem;
        rows.iter().filter(is_it).count()
    };
    let words = "--first 3 --all-corners";
    for (what, of_first, of_second) in [("baseline", 1, 1), ("first", 3, 3), ("corner", 4, 0)] {
        assert_eq!(count(words, what, "n=1000"), of_first, "{what}");
        assert_eq!(count(words, what, "n=2000"), of_second, "{what}");
    }
    assert_eq!(count("--baseline", "baseline", "n=2000"), 0);
    let both = "--baseline --problem n=1000 --problem n=2000";
    assert_eq!(count(both, "baseline", "n=1000"), 1);
    assert_eq!(count(both, "baseline", "n=2000"), 1);
    let none = package.tune("cache", "", "inspect --first 0").output();
    let none = none.expect("tune should start");
    assert_eq!(none.status.code(), Some(2), "0 is not a number of configs");
}
