//! Merges by git itself.

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

#[test]
fn tables_of_two_machines_merge_in_git_whatever_they_changed() {
    let spec = gemm();
    let (l4, rtx, strix) = (
        row(&spec, L4, SMALL, WINNER),
        row(&spec, RTX, SMALL, WINNER),
        row(&spec, STRIX, SMALL, WINNER),
    );
    let changed = |r: &Row| Row {
        config: OTHER.into(),
        ..r.clone()
    };
    let larger = |r: &Row| Row {
        problem: LARGE.into(),
        ..r.clone()
    };
    let cases: [(&str, Vec<Row>, Vec<Row>, Vec<Row>, Vec<Row>); 6] = [
        (
            "both add the first section",
            vec![],
            vec![l4.clone()],
            vec![rtx.clone()],
            vec![l4.clone(), rtx.clone()],
        ),
        (
            "both bake neighbouring sections again",
            vec![l4.clone(), rtx.clone()],
            vec![changed(&l4), rtx.clone()],
            vec![l4.clone(), changed(&rtx)],
            vec![changed(&l4), changed(&rtx)],
        ),
        (
            "one adds a row, one a section after it",
            vec![l4.clone()],
            vec![l4.clone(), larger(&l4)],
            vec![l4.clone(), strix.clone()],
            vec![l4.clone(), larger(&l4), strix.clone()],
        ),
        (
            "one adds a section, one a row before it",
            vec![l4.clone()],
            vec![l4.clone(), strix.clone()],
            vec![l4.clone(), larger(&l4)],
            vec![l4.clone(), larger(&l4), strix.clone()],
        ),
        (
            "both add sections at the same place",
            vec![l4.clone()],
            vec![l4.clone(), rtx.clone(), strix.clone()],
            vec![l4.clone(), larger(&strix)],
            vec![l4.clone(), rtx.clone(), strix.clone(), larger(&strix)],
        ),
        // Where one side removes what stands beside an addition, git keeps both: a row too many is
        // harmless (it is stale, or valid).
        (
            "one removes a section, one adds another beside it",
            vec![l4.clone(), rtx.clone()],
            vec![rtx.clone()],
            vec![l4.clone(), rtx.clone(), strix.clone()],
            vec![l4.clone(), rtx.clone(), strix.clone()],
        ),
    ];
    for (what, base, ours, theirs, merged) in cases {
        let texts = [&base, &ours, &theirs].map(|rows| table(rows).to_text());
        let text = union(&texts[0], &texts[1], &texts[2]);
        let parsed = parse(&text).unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
        assert_eq!(parsed, table(&merged), "{what}\n{text}");
    }
    // Both branches create the file: the common ancestor is empty.
    let (ours, theirs) = (
        table(&[l4.clone()]).to_text(),
        table(&[rtx.clone()]).to_text(),
    );
    let text = union("", &ours, &theirs);
    assert_eq!(parse(&text).unwrap(), table(&[l4, rtx]), "{text}");
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
         help: delete one of the lines, or run `tune bake` on that device"
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
