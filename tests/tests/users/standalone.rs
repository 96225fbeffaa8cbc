//! A user's crate outside this workspace, built against the packages as they would be published. The tests cover the
//! way from a new kernel to its receipt, the changes that cause a rebuild, and the changes that make a baked row stale.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout};
use kiln_tests::throwaway::Throwaway;

const MAIN: &str = include_str!("../../fixtures/blending/src/main.rs");
const SOURCE: &str = include_str!("../../fixtures/blending/src/blend.cu");
const HEADER: &str = include_str!("../../fixtures/blending/src/mix.h");
const INNER_HEADER: &str = include_str!("../../fixtures/blending/src/rest.h");
const TABLE: &str = "tuned/blend.toml";
const INDEX: &str = "tuned/index.toml";

/// The output of the program if it uses the row that this test baked, and if it uses no row.
const ROW: &str = "baked row 0: this device and problem";
const BASELINE: &str = "baseline: nothing is baked for this kernel";

fn blending() -> Throwaway {
    let crate_ = without_an_index();
    expect_code(&mut crate_.tune("init"), 0);
    crate_
}

/// The crate before `tune init` has run.
fn without_an_index() -> Throwaway {
    let files = [
        ("src/main.rs", MAIN),
        ("src/blend.cu", SOURCE),
        ("src/mix.h", HEADER),
        ("src/rest.h", INNER_HEADER),
    ];
    Throwaway::new("blending", &files)
}

fn bake(crate_: &Throwaway) {
    let mut run = crate_.tune("run --device cpu --budget full --write");
    let report = stdout(&expect_code(&mut run, 0));
    assert!(crate_.read(INDEX).contains("blend.toml"), "{report}");
}

#[test]
fn a_new_kernel_takes_forty_lines_from_spec_to_receipt() {
    let name = "a_new_kernel_takes_forty_lines_from_spec_to_receipt";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let lines = MAIN.lines().count();
    println!("a program with a tuned kernel of its own: {lines} lines of Rust");
    assert!(lines <= 40, "{lines} lines");
    let start = Instant::now();
    let crate_ = blending();
    bake(&crate_);
    let test = stdout(&expect_code(
        crate_.cargo().args(["test", "--", "--nocapture"]),
        0,
    ));
    let receipts = test
        .lines()
        .filter(|line| line.contains(": launched as intended, "));
    let receipts: Vec<_> = receipts.collect();
    // One receipt of the baseline, and one of the row for this cpu.
    assert_eq!(receipts.len(), 2, "{test}");
    println!("{}", receipts.join("\n"));
    let run = stdout(&expect_code(crate_.cargo().args(["run", "--quiet"]), 0));
    assert_eq!(run, format!("{ROW}\n4\n"));
    print!(
        "from spec to receipt and launch in {:.0?}: {run}",
        start.elapsed()
    );
}

#[test]
fn a_program_builds_before_tune_init_and_is_built_again_when_there_are_tables() {
    let name = "a_program_builds_before_tune_init_and_is_built_again_when_there_are_tables";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let crate_ = without_an_index();
    let run = || {
        let run = expect_code(crate_.cargo().arg("run"), 0);
        (stdout(&run), stderr(&run))
    };
    let (said, warned) = run();
    assert_eq!(said, format!("{BASELINE}\n4\n"));
    assert!(
        warned.contains("run `tune init` in this package"),
        "{warned}"
    );
    // Cargo cannot watch a file that does not exist. Even so, the program must be built again once `tune init` creates
    // the index.
    expect_code(&mut crate_.tune("init"), 0);
    let (_, warned) = run();
    assert!(warned.contains("run `tune run -k blend`"), "{warned}");
    std::fs::remove_dir_all(crate_.path().join("tuned")).expect("the index should be removed");
    run();
    bake(&crate_);
    assert_eq!(run().0, format!("{ROW}\n4\n"));
}

#[test]
fn the_first_local_rows_are_used_by_a_program_that_was_built_for_them() {
    let name = "the_first_local_rows_are_used_by_a_program_that_was_built_for_them";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let crate_ = blending();
    let local = crate_.path().join("target/kiln/tuned");
    let run = || {
        let mut cargo = crate_.cargo();
        stdout(&expect_code(cargo.arg("run").env("KILN_TUNED", &local), 0))
    };
    assert_eq!(run(), format!("{BASELINE}\n4\n"));
    let tuned = expect_code(&mut crate_.tune("run --device cpu --budget full"), 0);
    assert!(
        local.join("blending/blend.toml").exists(),
        "{}",
        stdout(&tuned)
    );
    assert_eq!(run(), format!("{ROW}\n4\n"));
}

#[test]
fn a_users_program_carries_no_parser_database_or_progress_bar() {
    let crate_ = blending();
    let mut tree = crate_.cargo();
    tree.args([
        "tree",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
    ]);
    let tree = stdout(&expect_code(&mut tree, 0));
    let packages: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(packages.contains(&"kiln-spec"), "{tree}");
    for heavy in ["syn", "sled", "indicatif", "toml", "kiln-macros"] {
        assert!(!packages.contains(&heavy), "{heavy} is in:\n{tree}");
    }
    let mut names = packages.clone();
    names.sort_unstable();
    names.dedup();
    println!(
        "run-time dependencies: {} packages, no syn, sled or indicatif",
        names.len() - 1
    );
}

/// The effects of one `cargo run`.
struct Built {
    compiled: bool,
    ran: bool,
    out: String,
    err: String,
}

/// The crate, and the number of cases so far.
struct Cases {
    crate_: Throwaway,
    done: u32,
}

impl Cases {
    fn cargo_run(&self, variables: &[(&str, &str)]) -> Built {
        let mut command = self.crate_.cargo();
        command.arg("run").envs(variables.iter().copied());
        let output: Output = command.output().expect("cargo should start");
        let (out, err) = (stdout(&output), stderr(&output));
        Built {
            compiled: err.contains("Compiling blending"),
            ran: output.status.success(),
            out,
            err,
        }
    }

    /// Builds and runs the program. Checks whether it was compiled, its selection and its output.
    fn expect(
        &mut self,
        what: &str,
        variables: &[(&str, &str)],
        rebuilt: bool,
        selects: &str,
        says: &[&str],
    ) {
        let built = self.cargo_run(variables);
        let text = format!("{what}:\n{}\n{}", built.out, built.err);
        assert_eq!(built.compiled, rebuilt, "{text}");
        assert!(built.ran && built.out.starts_with(selects), "{text}");
        assert!(says.iter().all(|one| built.err.contains(one)), "{text}");
        self.passed(what, &built);
    }

    /// Builds the program. The build must fail with these messages.
    fn expect_error(&mut self, what: &str, variables: &[(&str, &str)], says: &[&str]) {
        let built = self.cargo_run(variables);
        let text = format!("{what}:\n{}\n{}", built.out, built.err);
        assert!(!built.ran && built.compiled, "{text}");
        assert!(says.iter().all(|one| built.err.contains(one)), "{text}");
        self.passed(what, &built);
    }

    fn passed(&mut self, what: &str, built: &Built) {
        self.done += 1;
        let how = if built.compiled {
            "rebuilt"
        } else {
            "not rebuilt"
        };
        let selected = built.out.lines().next().unwrap_or("a compile error");
        println!("{:>2} {what}: {how}, {selected}", self.done);
    }

    /// Changes a file, which makes the row stale with a message. After the change is undone, the row is used again.
    fn makes_stale(&mut self, file: &str, from: &str, to: &str, which: &str) {
        let old = self.crate_.read(file);
        let new = old.replacen(from, to, 1);
        assert_ne!(old, new, "{file} should hold {from:?}");
        self.crate_.write(file, &new);
        let says = [
            "stale and not used",
            which,
            "tune run -k blend --device cpu --write",
        ];
        self.expect(&format!("{file} edited"), &[], true, BASELINE, &says);
        self.crate_.write(file, &old);
        self.expect(&format!("{file} as it was"), &[], true, ROW, &[]);
    }
}

#[test]
fn every_input_of_a_build_rebuilds_it_or_makes_its_table_stale() {
    let name = "every_input_of_a_build_rebuilds_it_or_makes_its_table_stale";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let mut cases = Cases {
        crate_: blending(),
        done: 0,
    };
    let unbaked = ["not baked", "tune run -k blend --device cpu --write"];
    cases.expect("first build, no table", &[], true, BASELINE, &unbaked);
    cases.expect("nothing changed", &[], false, BASELINE, &[]);
    bake(&cases.crate_);
    cases.expect("a table made after the first build", &[], true, ROW, &[]);
    cases.expect("nothing changed", &[], false, ROW, &[]);
    bake(&cases.crate_);
    cases.expect("the same baked again", &[], false, ROW, &[]);
    for file in ["src/blend.cu", TABLE] {
        let text = cases.crate_.read(file);
        cases.crate_.write(file, &text);
        cases.expect(&format!("{file} touched"), &[], true, ROW, &[]);
    }
    cases.makes_stale("src/blend.cu", "i < n", "i + 1 <= n", "source");
    cases.makes_stale("src/mix.h", "share * a", "a * share", "source");
    cases.makes_stale("src/rest.h", "1.0f - share", "-share + 1.0f", "source");
    cases.makes_stale("src/main.rs", "relative = 1e-5", "relative = 2e-5", "spec");
    leaves_fresh(
        &mut cases,
        "problems((n = 100000)",
        "problems((n = 100000), (n = 77)",
    );
    let table = cases.crate_.read(TABLE);
    let hash = table
        .split("source = \"")
        .nth(1)
        .and_then(|rest| rest.get(..32));
    let hash = hash.expect("the row should have a source hash");
    cases.makes_stale(TABLE, hash, &"0".repeat(32), "source");
    index_and_table(&mut cases, &table);
    variables(&mut cases);
    println!("{} builds, each as it should be", cases.done);
}

/// Changes the declaration. The row must remain valid.
fn leaves_fresh(cases: &mut Cases, from: &str, to: &str) {
    let old = cases.crate_.read("src/main.rs");
    let new = old.replacen(from, to, 1);
    assert_ne!(old, new, "src/main.rs should hold {from:?}");
    cases.crate_.write("src/main.rs", &new);
    cases.expect("another problem declared", &[], true, ROW, &[]);
    cases.crate_.write("src/main.rs", &old);
    cases.expect("src/main.rs as it was", &[], true, ROW, &[]);
}

fn index_and_table(cases: &mut Cases, table: &str) {
    let index = cases.crate_.read(INDEX);
    let edited = index.replace("blend = \"blend.toml\"\n", "");
    cases.crate_.write(INDEX, &edited);
    cases.expect("index edited", &[], true, BASELINE, &["not baked"]);
    cases.crate_.write(INDEX, &index);
    cases.expect("index as it was", &[], true, ROW, &[]);
    let path = cases.crate_.path().join(TABLE);
    std::fs::remove_file(path).expect("the table should be removed");
    cases.expect_error("table removed", &[], &["tuned/blend.toml", "tune bake"]);
    cases.crate_.write(TABLE, table);
    cases.expect("table put back", &[], true, ROW, &[]);
}

fn variables(cases: &mut Cases) {
    let strict = [("KILN_STRICT", "1")];
    cases.expect("KILN_STRICT, nothing stale", &strict, true, ROW, &[]);
    cases.crate_.write(
        "src/rest.h",
        &INNER_HEADER.replace("1.0f - share", "-share + 1.0f"),
    );
    let says = ["stale and not used", "tune run -k blend"];
    cases.expect_error("KILN_STRICT, a stale row", &strict, &says);
    cases.crate_.write("src/rest.h", INNER_HEADER);
    cases.expect("neither", &[], true, ROW, &[]);
    let empty = "# Nothing is baked here.\nformat = 1\n";
    cases.crate_.write("elsewhere/index.toml", empty);
    // If the local tables have no rows, the rows of the package are used.
    let elsewhere = [("KILN_TUNED", "elsewhere")];
    cases.expect("KILN_TUNED set", &elsewhere, true, ROW, &[]);
    let missing = [("KILN_TUNED", "missing")];
    let says = ["KILN_TUNED names the folder missing, which does not exist"];
    cases.expect("KILN_TUNED of a missing folder", &missing, true, ROW, &says);
    cases.expect("KILN_TUNED unset", &[], true, ROW, &[]);
    // The folder of a workspace has a folder for each package.
    let name = "everywhere/blending";
    for (from, to) in [(INDEX, "index.toml"), (TABLE, "blend.toml")] {
        let text = cases.crate_.read(from);
        cases.crate_.write(&format!("{name}/{to}"), &text);
    }
    let everywhere = [("KILN_TUNED", "everywhere")];
    cases.expect("KILN_TUNED of a workspace", &everywhere, true, ROW, &[]);
    // A local row is used even if the package has none.
    cases.crate_.write(INDEX, empty);
    cases.expect("local rows alone", &everywhere, true, ROW, &[]);
}

#[test]
fn a_build_script_makes_cargo_notice_an_index_that_git_restores() {
    let name = "a_build_script_makes_cargo_notice_an_index_that_git_restores";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let crate_ = without_an_index();
    let page = include_str!("../../../docs/baked-rows.md");
    let script = page.split("  ```rust\n").nth(1);
    let script = script.and_then(|rest| rest.split("  ```").next());
    crate_.write(
        "build.rs",
        script.expect("the page should have a build script"),
    );
    let build = || stderr(&expect_code(crate_.cargo().arg("build"), 0));
    let missing = "there is no tuned/index.toml";
    let said = build();
    assert!(said.contains(missing), "{said}");
    assert!(said.contains("cargo does not notice"), "{said}");
    // Files appear in the folder and nothing else changes, as after `git checkout tuned`.
    crate_.write(INDEX, "format = 1\n\n[kernels]\n");
    let said = build();
    assert!(
        !said.contains(missing) && said.contains("not baked"),
        "{said}"
    );
}

const ADDING: [(&str, &str); 4] = [
    (
        "src/lib.rs",
        include_str!("../../fixtures/adding/src/lib.rs"),
    ),
    (
        "src/add.cu",
        include_str!("../../fixtures/adding/src/add.cu"),
    ),
    (
        "alpha.json",
        r#"{"name": "Alpha", "arch": "fake_a", "time": {"factors": {"THREADS": {"256": 0.5}}}}"#,
    ),
    (
        "beta.json",
        r#"{"name": "Beta", "arch": "fake_b", "time": {"factors": {"THREADS": {"128": 0.5}}}}"#,
    ),
];

/// Tunes on a fake device, and bakes the rows into the package.
fn bake_on(crate_: &Throwaway, script: &str) {
    let script = crate_.path().join(script);
    let words = format!(
        "run --device fake:{} --budget full --trials all --write",
        script.display()
    );
    let report = stdout(&expect_code(&mut crate_.tune(&words), 0));
    assert_eq!(report.matches("  proven ").count(), 2, "{report}");
}

fn tables(crate_: &Throwaway) -> [String; 2] {
    [crate_.read("tuned/tensor_add.toml"), crate_.read(INDEX)]
}

#[test]
fn tables_baked_in_either_order_are_the_same_bytes_and_merge_in_git() {
    let name = "tables_baked_in_either_order_are_the_same_bytes_and_merge_in_git";
    if !have(name, &[Need::Git]) {
        return;
    }
    let crate_ = Throwaway::new("adding", &ADDING);
    let root = crate_.path();
    expect_code(&mut crate_.tune("init"), 0);
    git(root, "init --quiet --initial-branch main");
    git(root, "add src tuned Cargo.toml");
    git(root, "commit --quiet --message empty");
    for (branch, script) in [("alpha", "alpha.json"), ("beta", "beta.json")] {
        git(root, &format!("checkout --quiet -b {branch} main"));
        bake_on(&crate_, script);
        git(root, "add tuned");
        git(root, &format!("commit --quiet --message {branch}"));
    }
    git(root, "merge --quiet --no-edit alpha");
    let merged = tables(&crate_);
    for device in ["fake/fake_a/Alpha", "fake/fake_b/Beta"] {
        let rows = merged[0].matches(&format!("device = \"{device}\"")).count();
        assert_eq!(rows, 2, "{}", merged[0]);
    }
    // A merge appends the rows. The merged table is valid, and the next bake sorts it.
    expect_code(&mut crate_.tune("bake --check"), 0);
    bake_again(&crate_, "beta");
    let merged = tables(&crate_);
    // The cache contains both devices, and each bake replaces only the rows of its own device.
    let orders = [["alpha", "beta"], ["beta", "alpha"]].map(|order| {
        git(root, "checkout --quiet --force --detach main");
        order.iter().for_each(|name| bake_again(&crate_, name));
        let found = tables(&crate_);
        order.iter().for_each(|name| bake_again(&crate_, name));
        assert_eq!(found, tables(&crate_), "baking again changes nothing");
        found
    });
    assert_eq!(orders[0], orders[1], "either order gives the same bytes");
    assert_eq!(orders[0], merged, "as does a bake after merging");
    println!(
        "tables of two devices: the same {} bytes baked in either order, and merged by git",
        merged[0].len()
    );
}

#[test]
fn a_problem_that_is_declared_later_leaves_the_results_of_the_others_as_they_are() {
    let crate_ = Throwaway::new("adding", &ADDING);
    expect_code(&mut crate_.tune("init"), 0);
    bake_on(&crate_, "alpha.json");
    let declared = crate_.read("src/lib.rs");
    let more = declared.replacen("(n = 3000)", "(n = 3000), (n = 5000)", 1);
    assert_ne!(declared, more);
    crate_.write("src/lib.rs", &more);
    let script = crate_.path().join("alpha.json");
    let words = format!(
        "run --device fake:{} --budget full --json",
        script.display()
    );
    let report = stdout(&expect_code(&mut crate_.tune(&words), 0));
    let report: serde_json::Value =
        serde_json::from_str(&report).expect("the report should be JSON");
    let tasks = report["tasks"].as_array().expect("tasks");
    let state = |n: u32| {
        let problem = format!("n={n}");
        let task = tasks
            .iter()
            .find(|task| task["problem"] == problem.as_str());
        task.unwrap_or_else(|| panic!("{report:#}"))["state"].clone()
    };
    assert_eq!(
        [state(1000), state(3000), state(5000)],
        ["known", "known", "searched"],
        "{report:#}"
    );
    assert_eq!(report["totals"]["problems"], 3, "{report:#}");
    assert_eq!(report["totals"]["proven"], 3, "{report:#}");
}

fn bake_again(crate_: &Throwaway, name: &str) {
    let script = crate_.path().join(format!("{name}.json"));
    let words = format!("bake --write --device fake:{}", script.display());
    expect_code(&mut crate_.tune(&words), 0);
}

fn git(directory: &Path, words: &str) {
    let mut command = Command::new("git");
    command.current_dir(directory).args(words.split(' '));
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Test");
        command.env(format!("GIT_{who}_EMAIL"), "test@example.com");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null");
    expect_code(&mut command, 0);
}
