//! Rows that a table already has when `tune` writes it again, and searches that an earlier run ended.

use kiln_cache::{Cache, OpenOptions};
use kiln_spec::baked::BakedTable;
use kiln_tests::command::{expect_code, stderr, stdout};
use kiln_tests::scale_package::{SMALL, ScalePackage};
use serde_json::Value;

const TABLE: &str = "mine/tuned/scale.toml";

/// Runs `tune` on the device `a`, and returns its output.
fn tune(package: &ScalePackage, cache: &str, words: &str) -> String {
    let words = format!("{words} --device fake:ROOT/a.json");
    let ran = expect_code(&mut package.tune(cache, "", &words), 0);
    stdout(&ran) + &stderr(&ran)
}

/// The report of a run on the device `a`.
fn report(package: &ScalePackage, cache: &str, words: &str) -> Value {
    let words = format!("run --budget full --json --device fake:ROOT/a.json {words}");
    let ran = expect_code(&mut package.tune(cache, "", &words), 0);
    serde_json::from_str(&stdout(&ran)).expect("the report should be JSON")
}

/// The problems of the rows in the table, with their configs.
fn rows(package: &ScalePackage) -> Vec<(String, String)> {
    let table = BakedTable::parse(package.read(TABLE).as_bytes()).expect("the table is sound");
    let rows = table.rows();
    rows.map(|row| (row.problem.clone(), row.config.clone()))
        .collect()
}

#[test]
fn fresh_rows_of_problems_that_this_cache_has_not_decided_are_kept() {
    let package = ScalePackage::new(SMALL, &[10_000, 20_000], &[]);
    report(&package, "one", "--write");
    let both = rows(&package);
    assert_eq!(both.len(), 2);
    // Another machine with a cache of its own tunes one of the problems again.
    let again = report(&package, "two", "--write --problem n=10000");
    assert_eq!(rows(&package), both);
    assert_eq!(again["tables"][0]["rows"], 2);
    assert_eq!(again["tables"][0]["kept"], 1);
    tune(&package, "two", "bake --write");
    assert_eq!(rows(&package), both);
    // A row of another version of the kernel is not kept.
    let source = package.read("mine/src/scale.cu");
    package.write("mine/src/scale.cu", &source.replace("2 * x", "3 * x"));
    let changed = report(&package, "two", "--write --problem n=10000");
    assert_eq!(changed["tables"][0]["kept"], 0);
    assert_eq!(rows(&package), both[..1]);
}

#[test]
fn a_table_that_a_merge_damaged_is_repaired_by_the_next_bake() {
    let package = ScalePackage::new(SMALL, &[10_000, 20_000], &[]);
    report(&package, "one", "--write");
    let (sound, both) = (package.read(TABLE), rows(&package));
    let lines: Vec<&str> = sound.lines().collect();
    let is_row = |line: &&str| line.starts_with("  {");
    let first = lines.iter().position(is_row).expect("a row");
    let other = lines[first].replace("THREADS=256", "THREADS=64");
    let section = lines[first - 1];
    let damaged = [
        // The results of `merge=union` for two branches that both baked the first problem.
        sound.replace(lines[first], &format!("{}\n{other}", lines[first])),
        sound.replace(section, &format!("{section}\n{other}\n] # a\n{section}")),
        sound.replace(
            lines[first],
            &format!(
                "<<<<<<< ours\n{}\n=======\n{other}\n>>>>>>> theirs",
                lines[first]
            ),
        ),
        lines[..=first].join("\n"),
    ];
    for text in damaged {
        assert!(BakedTable::parse(text.as_bytes()).is_err(), "{text}");
        package.write(TABLE, &text);
        let said = tune(&package, "one", "bake --write");
        assert!(said.contains("scale.toml was damaged"), "{said}");
        assert_eq!(rows(&package), both, "{text}");
        assert_eq!(package.read(TABLE), sound);
        // The rows of a local table include those of the committed table.
        package.write(TABLE, &text);
        tune(&package, "one", "bake");
    }
    package.write("mine/tuned/index.toml", "format = 1\n<<<<<<< ours\n");
    tune(&package, "one", "bake --write");
    assert!(package.read("mine/tuned/index.toml").contains("scale.toml"));
    // The table of a newer version is not touched.
    package.write(TABLE, &sound.replace("format = 1", "format = 9"));
    let mut bake = package.tune("one", "", "bake --write --device fake:ROOT/a.json");
    let said = stderr(&expect_code(&mut bake, 1));
    assert!(said.contains("has format 9"), "{said}");
}

#[test]
fn a_search_that_was_limited_goes_on_when_it_may_try_more_configs() {
    let package = ScalePackage::new(SMALL, &[10_000], &[]);
    let task = |words: &str| report(&package, "one", words)["tasks"][0].clone();
    let trials = |task: &Value| task["trials"].as_u64().expect("a number");
    let few = task("--trials 3");
    assert_eq!((&few["state"], trials(&few)), (&"searched".into(), 2));
    for words in ["--trials 3", "--trials 2"] {
        assert_eq!(task(words)["state"], "known", "{words}");
    }
    let more = task("--trials 6");
    assert_eq!(more["state"], "searched");
    assert!(trials(&more) > trials(&few), "{more}");
    let all = task("--strategy exhaustive");
    assert_eq!((&all["state"], trials(&all)), (&"searched".into(), 8));
    assert_eq!(task("")["state"], "known");
    assert_eq!(task("--trials 3")["state"], "known");
}

#[test]
fn trials_are_exported_with_the_problem_under_which_they_are_stored() {
    let package = ScalePackage::new(SMALL, &[10_000, 20_000], &[]);
    report(&package, "one", "");
    let opened = Cache::open(&package.path("one"), OpenOptions::new());
    let keys = opened.expect("the cache opens").0.keys(Some("scale"));
    let keys = keys.expect("the cache is read");
    assert_eq!(keys.len(), 2);
    for key in &keys {
        let problem = key.field("problem");
        let hash = key.hash().to_string();
        let export = |words: &str| {
            let words = format!("export --format t4 -k scale {words} --key {hash}");
            package.tune("one", "", &words)
        };
        let text = stdout(&expect_code(&mut export(""), 0));
        let exported: Value = serde_json::from_str(&text).expect("JSON");
        let n = exported["metadata"]["problem"]["n"].to_string();
        assert_eq!(format!("n={n}"), problem, "{text}");
        expect_code(&mut export(&format!("--problem {problem}")), 0);
        let other = ["n=10000", "n=20000"].map(|n| n.to_owned());
        let other = other.iter().find(|other| *other != problem);
        let other = other.expect("there are two problems");
        let said = stderr(&expect_code(&mut export(&format!("--problem {other}")), 1));
        let wanted = format!(
            "no trials of the current version of `scale` are stored for {other} under a key"
        );
        assert!(said.contains(&wanted), "{said}");
        let said = stderr(&expect_code(&mut export("--device cuda"), 1));
        assert!(said.contains("on the device `cuda`"), "{said}");
    }
}

#[test]
fn a_kernel_name_that_two_packages_have_is_refused_where_one_kernel_is_meant() {
    let package = ScalePackage::new(SMALL, &[10_000], &[]);
    let manifest = package.read("mine/Cargo.toml");
    package.write(
        "mine/Cargo.toml",
        &manifest.replace("[workspace]", "[workspace]\nmembers = [\"other\"]"),
    );
    let other = manifest.replace("\"mine\"", "\"other\"");
    package.write("mine/other/Cargo.toml", &other.replace("[workspace]", ""));
    for file in ["lib.rs", "scale.cu"] {
        let text = package.read(&format!("mine/src/{file}"));
        package.write(&format!("mine/other/src/{file}"), &text);
    }
    let words = "export --format t1 -k scale --target sm_89";
    let said = stderr(&expect_code(&mut package.tune("one", "", words), 1));
    let expected =
        "kernel `scale` is in several packages: other, mine\nhelp: choose one with `--package`";
    assert!(said.contains(expected), "{said}");
    let words = format!("{words} --package other");
    expect_code(&mut package.tune("one", "", &words), 0);
}
