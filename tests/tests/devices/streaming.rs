//! Long-running commands print each result at once, so an interrupted command has already printed the earlier results.
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{tune, workspace};
use kiln_tests::script::write_script;
use serde_json::Value;

/// A compiler that delays every unit of `tensor_mul` until the file `go` exists. After five minutes without this file,
/// it creates the file `late`.
fn held_back(folder: &Path) -> PathBuf {
    let path = folder.join("compiler");
    let folder = folder.display();
    let script = format!(
        "for file in \"$@\"; do case \"$file\" in *.cpp|*.cc|*.cu)\n  \
         if grep -q tensor_mul \"$file\" 2>/dev/null; then\n    \
         turns=0; while [ ! -e {folder}/go ]; do\n      \
         turns=$((turns + 1)); if [ $turns -gt 3000 ]; then touch {folder}/late {folder}/go; fi; sleep 0.1\n    \
         done\n  fi;;\nesac; done\n\
         for compiler in g++ clang++ clang++-22 clang++-19; do\n  \
         if command -v $compiler > /dev/null; then exec $compiler \"$@\"; fi\n\
         done\n"
    );
    write_script(&path, &script)
}

/// Runs a command on `tensor_add` and then on `tensor_mul`, and returns all lines. The compiler of `tensor_mul` waits
/// until the first line was read.
fn lines(words: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder should be made");
    let mut command = tune(&workspace(), &folder.path().join("cache"));
    command
        .args(words)
        .args(["-p", "kiln-kernels", "-k", "tensor_add,tensor_mul"]);
    command.args(["--device", "cpu", "--problem", "T=f32,n=1000003"]);
    command.env("KILN_CXX", held_back(folder.path()));
    command.stdout(Stdio::piped());
    let mut child = command.spawn().expect("tune should start");
    let mut output = BufReader::new(child.stdout.take().expect("its output is piped"));
    let mut first = String::new();
    output.read_line(&mut first).expect("a line should be read");
    fs::write(folder.path().join("go"), "").expect("a file should be written");
    let mut rest = String::new();
    output
        .read_to_string(&mut rest)
        .expect("the rest should be read");
    let status = child.wait().expect("it should end");
    assert!(status.success(), "{status}\n{first}{rest}");
    let late = folder.path().join("late").exists();
    assert!(
        !late,
        "nothing was printed before the second kernel was compiled"
    );
    assert!(first.contains("tensor_add"), "{first}");
    assert!(!first.contains("tensor_mul"), "{first}");
    [first]
        .into_iter()
        .chain(rest.lines().map(str::to_owned))
        .collect()
}

#[test]
fn smoke_tests_are_told_one_by_one() {
    if !have("smoke_tests_are_told_one_by_one", &[Need::HostCompiler]) {
        return;
    }
    let text = lines(&["smoke"]);
    assert!(
        text[0].starts_with("passed   tensor_add baseline (T=f32,n=1000003): "),
        "{text:?}"
    );
    assert!(
        text.last()
            .is_some_and(|last| last.contains("passed, 0 failed")),
        "{text:?}"
    );
    for line in lines(&["smoke", "--json-lines"]) {
        let one: Value = serde_json::from_str(&line).expect("each line should be JSON");
        assert!(
            one["state"] == "passed" || one["state"] == "not run",
            "{one}"
        );
    }
}

#[test]
fn benches_are_told_one_by_one() {
    if !have("benches_are_told_one_by_one", &[Need::HostCompiler]) {
        return;
    }
    let lines = lines(&["bench", "--json-lines", "--budget", "20s"]);
    let kernels: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).expect("each line should be JSON"))
        .collect();
    let names: Vec<&str> = kernels
        .iter()
        .filter_map(|line| line["kernel"]["kernel"].as_str())
        .collect();
    assert_eq!(names, ["tensor_add", "tensor_mul"], "{lines:?}");
    assert!(kernels.iter().all(|line| line["device"].is_string()));
}
