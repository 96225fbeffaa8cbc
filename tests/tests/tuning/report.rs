//! `tune report` on a run of the real program.

use std::path::Path;
use std::process::Command;

use kiln_tests::command::{expect_code, stderr, stdout, tune, workspace};
use scraper::{Html, Selector};
use serde_json::{Value, json};

/// A run on the fake device in which some configs do not compile. Returns its report.
fn run(folder: &Path) -> Value {
    let script = json!({
        "seed": 1,
        "time": {"base_ns": 100_000.0, "rugged": 1.0, "factors": {"VECTOR_WIDTH": {"4": 0.3, "2": 0.5}}},
        "noise": {"sigma": 0.005, "placement_sigma": 0.005},
        "rules": [{"when": {"entry": "gemm", "config": {"UNROLL": "4"}}, "compile": {"fails": "error: </script>"}}],
    });
    let path = folder.join("script.json");
    std::fs::write(&path, script.to_string()).expect("the script should be written");
    let mut run = tune(&workspace(), &folder.join("cache"));
    run.args(["run", "-k", "gemm", "--problem", "m=64,n=64,k=64"]);
    run.args([
        "--strategy",
        "random",
        "--trials",
        "8",
        "--json",
        "--budget",
        "full",
    ]);
    run.arg("--device").arg(format!("fake:{}", path.display()));
    parsed(&mut run)
}

fn parsed(command: &mut Command) -> Value {
    let output = stdout(&expect_code(command, 0));
    serde_json::from_str(&output).expect("the output should be JSON")
}

fn report(folder: &Path, words: &[&str]) -> Command {
    let mut command = tune(folder, &folder.join("cache"));
    command.arg("report").args(words);
    command
}

#[test]
fn the_last_run_is_written_as_a_page_that_says_what_the_run_said() {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let root = folder.path();
    let ran = run(root);
    let [said, figures] = [
        &ran["tasks"][0],
        &parsed(&mut report(root, &["--json"]))["tasks"][0],
    ];

    let spent = [
        "strategy_ns",
        "compile_ns",
        "verify_ns",
        "race_ns",
        "elapsed_ns",
    ];
    assert!(
        spent
            .iter()
            .all(|part| said["spent"][part].as_u64() > Some(0)),
        "{said}"
    );
    let parts = spent[..4].iter().map(|part| said["spent"][part].as_u64());
    let parts: u64 = parts.map(Option::unwrap_or_default).sum();
    assert!(
        Some(parts) <= said["spent"]["elapsed_ns"].as_u64(),
        "{said}"
    );
    assert_eq!(ran["strategy_ns"], said["spent"]["strategy_ns"]);
    for field in ["spent", "key", "space"] {
        assert_eq!(figures[field], said[field], "{field}");
    }
    assert_eq!(figures["evidence"]["winner"], said["winner"]);
    let points = figures["convergence"]["points"]
        .as_array()
        .expect("the curve is a list");
    assert_eq!(Some(points.len() as u64), said["trials"].as_u64());
    let ends: Vec<_> = points
        .iter()
        .map(|point| point["end_ns"].as_u64())
        .collect();
    assert!(ends.is_sorted() && ends[0] > Some(0), "{ends:?}");

    let wrote = stdout(&expect_code(&mut report(root, &[]), 0));
    assert!(
        wrote.starts_with("wrote tune-report-1.html: run 1, 1 tasks, "),
        "{wrote}"
    );
    let page = std::fs::read_to_string(root.join("tune-report-1.html")).expect("the page is there");
    let page = Html::parse_document(&page);
    assert_eq!(page.errors, Vec::<std::borrow::Cow<'static, str>>::new());
    let select = |selector: &str| {
        let selector = Selector::parse(selector).expect("a selector");
        page.select(&selector).count()
    };
    assert_eq!((select("script"), select("section.task")), (1, 1));
    assert!(select("svg") >= 3);
}

#[test]
fn a_run_that_is_not_there_and_a_page_that_cannot_be_written_are_errors_with_help() {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let root = folder.path();
    let said = |words: &[&str], code: i32| stderr(&expect_code(&mut report(root, words), code));
    let none = said(&[], 1);
    assert!(
        none.contains("the cache contains no runs") && none.contains("help: run `tune run`"),
        "{none}"
    );
    assert_eq!(parsed(&mut report(root, &["--list", "--json"])), json!([]));
    run(root);
    let listed = stdout(&expect_code(&mut report(root, &["--list"]), 0));
    assert!(listed.contains("gemm"), "{listed}");
    assert!(said(&["7"], 1).contains("there is no run 7; the cache contains runs 1 to 1"));
    assert!(said(&["-k", "softmax"], 1).contains("kernel softmax"));
    assert!(said(&["--device", "cuda:0"], 1).contains("on the device `cuda:0`"));
    let unwritable = said(&["-o", "no/such/folder/page.html"], 1);
    assert!(
        unwritable.contains("cannot write no/such/folder/page.html"),
        "{unwritable}"
    );
    let no_curves = said(&["--curves", "script.json"], 1);
    assert!(
        no_curves.contains("script.json contains no curves: ") && no_curves.contains("\nhelp: "),
        "{no_curves}"
    );
    let no_profiles = said(&["--profiles", "script.json"], 1);
    assert!(
        no_profiles.contains("script.json contains no profiles: ")
            && no_profiles.contains("\nhelp: `tune inspect --profile --json > FILE`"),
        "{no_profiles}"
    );
    let no_status = said(&["--fleet", "script.json"], 1);
    assert!(
        no_status.contains("script.json does not contain the state of a plan: ")
            && no_status.contains("\nhelp: `tune fleet status "),
        "{no_status}"
    );
    said(&["--profiles", "script.json", "--list"], 2);
    said(&["seven"], 2);
    said(&["--list", "-o", "page.html"], 2);
    let files = std::fs::read_dir(root).expect("the folder is read").count();
    assert_eq!(files, 2, "only the cache and the script are there");
}
