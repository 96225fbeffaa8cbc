//! Repeats a past incident: a config with 384 threads was tuned for an L4, but a launch with 128 threads ran. Here,
//! without that GPU, the row of the L4 is launched on the cpu device, and the receipt proves which launch ran.

use std::path::Path;
use std::process::Output;

use kiln_spec::baked::{BakedTable, Evidence, Index, Row, Speedup};
use kiln_spec::{Backend, DeviceKey};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stderr, stdout};
use kiln_tests::tables;
use kiln_tests::throwaway::Throwaway;

const FILES: [(&str, &str); 2] = [
    (
        "src/lib.rs",
        include_str!("../fixtures/attention/src/lib.rs"),
    ),
    (
        "src/attend.cu",
        include_str!("../fixtures/attention/src/attend.cu"),
    ),
];
const TABLE: &str = "tuned/attend.toml";

#[test]
fn a_row_of_a_gpu_that_is_not_here_is_launched_with_its_own_block() {
    let name = "a_row_of_a_gpu_that_is_not_here_is_launched_with_its_own_block";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let crate_ = crate_with_a_row_of_an_l4();
    let test = expect_code(crate_.cargo().args(["test", "--", "--nocapture"]), 0);
    let row = line_of_the_l4(&test, "launched as intended");
    assert!(row.contains("block=(384,1,1)"), "{row}");
    let smoke = expect_code(&mut crate_.tune("smoke --device cpu"), 0);
    let row = line_of_the_l4(&smoke, "receipts as intended");
    assert!(row.contains("block=(384,1,1)"), "{row}");
}

#[test]
fn a_row_of_a_gpu_that_is_not_here_is_launched_from_the_code_of_that_gpu() {
    let name = "a_row_of_a_gpu_that_is_not_here_is_launched_from_the_code_of_that_gpu";
    if !have(name, &[Need::HostCompiler, Need::Nvrtc]) {
        return;
    }
    let crate_ = crate_with_a_row_of_an_l4();
    let smoke = expect_code(&mut crate_.tune("smoke --device sim:sm_89"), 0);
    let row = line_of_the_l4(&smoke, "receipts as intended");
    assert!(row.contains("block=(384,1,1)"), "{row}");
    let table = crate_.read(TABLE);
    crate_.write(
        TABLE,
        &table.replace("block = [384, 1, 1]", "block = [128, 1, 1]"),
    );
    let smoke = expect_code(&mut crate_.tune("smoke --device sim:sm_89"), 1);
    let text = stdout(&smoke) + &stderr(&smoke);
    let names_both = |line: &str| {
        ["(128,1,1)", "(384,1,1)"]
            .iter()
            .all(|block| line.contains(block))
    };
    assert!(text.lines().any(names_both), "{text}");
}

#[test]
fn a_simulated_device_is_never_timed() {
    let crate_ = crate_with_a_row_of_an_l4();
    for command in ["run --device sim:sm_89", "bench --device sim:sm_89"] {
        let said = stderr(&expect_code(&mut crate_.tune(command), 3));
        assert!(
            said.contains("`sim:sm_89` is simulated and has no clock"),
            "{said}"
        );
        assert!(
            said.contains("help: `tune smoke --device sim:sm_89`"),
            "{said}"
        );
    }
}

#[test]
fn a_row_whose_block_is_not_that_of_its_config_fails_naming_both() {
    let name = "a_row_whose_block_is_not_that_of_its_config_fails_naming_both";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let crate_ = crate_with_a_row_of_an_l4();
    let table = crate_.read(TABLE);
    let wrong = table.replace("block = [384, 1, 1]", "block = [128, 1, 1]");
    assert_ne!(table, wrong, "the table should state its block");
    crate_.write(TABLE, &wrong);
    let test = expect_code(crate_.cargo().args(["test", "--", "--nocapture"]), 101);
    let smoke = expect_code(&mut crate_.tune("smoke --device cpu"), 1);
    for (what, output) in [("cargo test", test), ("tune smoke", smoke)] {
        let text = stdout(&output) + &stderr(&output);
        let blocks = ["block=(128,1,1)", "block=(384,1,1)"];
        let names_both = |line: &&str| blocks.iter().all(|block| line.contains(block));
        match text.lines().find(names_both) {
            Some(line) => println!("{what}: {}", line.trim()),
            None => panic!("{what} does not name both blocks:\n{text}"),
        }
    }
}

/// The line of the output that reports the row of the L4.
fn line_of_the_l4(output: &Output, what: &str) -> String {
    let text = stdout(output);
    let line = text
        .lines()
        .find(|line| line.contains("NVIDIA L4") && line.contains(what));
    let line = line.unwrap_or_else(|| panic!("no such line in:\n{text}"));
    println!("{line}");
    line.to_owned()
}

fn crate_with_a_row_of_an_l4() -> Throwaway {
    let crate_ = Throwaway::new("attention", &FILES);
    expect_code(&mut crate_.tune("init"), 0);
    let mut index = Index::new();
    index.insert("attend").expect("the kernel should be listed");
    crate_.write("tuned/index.toml", &index.to_text());
    crate_.write(TABLE, &table_of_an_l4(crate_.path()));
    crate_
}

/// The table that `tune bake` on an L4 would write for 384 threads.
fn table_of_an_l4(root: &Path) -> String {
    let kernel = tables::kernel(&root.join("Cargo.toml"), "attend", &[]);
    let device = DeviceKey {
        backend: Backend::Cuda,
        arch: "sm_89".into(),
        name: "NVIDIA L4".into(),
    };
    let row = Row {
        evidence: Evidence::Proven,
        speedup: Some(Speedup {
            low_ppm: 1_600_000,
            speedup_ppm: 1_700_000,
            high_ppm: 1_800_000,
        }),
        ..tables::row(&kernel, &device, "THREADS=384")
    };
    let mut table = BakedTable::new("attend");
    table
        .replace_device(&device, vec![row])
        .expect("the row should be one that tables hold");
    table.to_text()
}
