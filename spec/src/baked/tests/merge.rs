//! Tests that merge tables with git.

use std::process::Command;

use super::*;

/// Merges two texts as git does for files with `merge=union`.
fn union(base: &str, ours: &str, theirs: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (ours, base, theirs) = (
        write("ours", ours),
        write("base", base),
        write("theirs", theirs),
    );
    let merged = Command::new("git")
        .args(["merge-file", "--union", "--stdout"])
        .args([ours, base, theirs])
        .output()
        .expect("git should run");
    assert!(merged.status.success(), "{merged:?}");
    String::from_utf8(merged.stdout).unwrap()
}

/// Merges the tables of two branches, and compares the result with the expected rows.
#[track_caller]
fn merges(base: &[Row], ours: &[Row], theirs: &[Row], merged: &[Row]) {
    let [base, ours, theirs] = [base, ours, theirs].map(|rows| table(rows).to_text());
    let text = union(&base, &ours, &theirs);
    let parsed = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(parsed, table(merged), "{text}");
}

/// The same row with another config.
fn changed(row: &Row) -> Row {
    Row {
        config: OTHER.into(),
        ..row.clone()
    }
}

/// The same row with another problem.
fn larger(row: &Row) -> Row {
    Row {
        problem: LARGE.into(),
        ..row.clone()
    }
}

fn three_devices() -> [Row; 3] {
    let spec = gemm();
    [L4, RTX, STRIX].map(|device| row(&spec, device, SMALL, WINNER))
}

#[test]
fn two_machines_that_add_the_first_sections_merge_in_git() {
    let [l4, rtx, _] = three_devices();
    let both = [l4.clone(), rtx.clone()];
    let [l4, rtx] = [[l4], [rtx]];
    merges(&[], &l4, &rtx, &both);
    // If both branches create the file, the common ancestor is empty.
    let text = union("", &table(&l4).to_text(), &table(&rtx).to_text());
    assert_eq!(parse(&text).unwrap(), table(&both), "{text}");
}

#[test]
fn two_machines_that_bake_neighbouring_sections_again_merge_in_git() {
    let [l4, rtx, _] = &three_devices();
    let row = Row::clone;
    merges(
        &[row(l4), row(rtx)],
        &[changed(l4), row(rtx)],
        &[row(l4), changed(rtx)],
        &[changed(l4), changed(rtx)],
    );
}

#[test]
fn a_row_and_a_section_after_it_merge_in_git_whoever_adds_which() {
    let [l4, _, strix] = &three_devices();
    let row = Row::clone;
    let base = [row(l4)];
    let more_rows = [row(l4), larger(l4)];
    let more_sections = [row(l4), row(strix)];
    let merged = [row(l4), larger(l4), row(strix)];
    merges(&base, &more_rows, &more_sections, &merged);
    merges(&base, &more_sections, &more_rows, &merged);
}

#[test]
fn sections_added_at_the_same_place_merge_in_git() {
    let [l4, rtx, strix] = &three_devices();
    let row = Row::clone;
    merges(
        &[row(l4)],
        &[row(l4), row(rtx), row(strix)],
        &[row(l4), larger(strix)],
        &[row(l4), row(rtx), row(strix), larger(strix)],
    );
}

#[test]
fn a_section_removed_beside_an_added_one_stays_which_does_no_harm() {
    let [l4, rtx, strix] = &three_devices();
    let row = Row::clone;
    merges(
        &[row(l4), row(rtx)],
        &[row(rtx)],
        &[row(l4), row(rtx), row(strix)],
        &[row(l4), row(rtx), row(strix)],
    );
}

#[test]
fn one_device_baked_on_two_branches_merges_to_a_duplicate_that_is_reported() {
    let spec = gemm();
    let base = row(
        &spec,
        L4,
        SMALL,
        "BLOCK_M=16,BLOCK_N=16,BLOCK_K=8,VECTOR_WIDTH=1,THREADS=64",
    );
    let (ours, theirs) = (row(&spec, L4, SMALL, WINNER), row(&spec, L4, SMALL, OTHER));
    let [base, ours, theirs] = [base, ours, theirs].map(|r| table(&[r]).to_text());
    let error = parse(&union(&base, &ours, &theirs)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 8: a second row of `cuda/sm_89/NVIDIA L4` for m=512,n=512,k=512\n\
         help: delete one of the lines, or run `tune bake` on that device (with `--write` for a cpu)"
    );
}

#[test]
fn indexes_of_two_branches_merge_in_git() {
    let index = |kernels: &[&str]| {
        let mut index = Index::new();
        for kernel in kernels {
            index.insert(kernel).unwrap();
        }
        index
    };
    let text = union(
        &index(&["gemm"]).to_text(),
        &index(&["gelu", "gemm", "softmax"]).to_text(),
        &index(&["attention", "gemm"]).to_text(),
    );
    let merged = Index::parse(text.as_bytes()).unwrap();
    assert_eq!(merged, index(&["attention", "gelu", "gemm", "softmax"]));
    assert_eq!(merged.file("gelu"), Some("gelu.toml"));
}
