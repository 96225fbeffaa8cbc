//! A fleet on this machine: a package, a plan, fake devices of the same kind, and a store.

mod cluster;
mod engines;
mod interrupted;
mod keys;
mod refused;
mod rows;

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

use kiln_cache::Record;
use kiln_cache::journal::RawFrame;
use kiln_fleet::Segment;
use kiln_tests::command::{expect_code, stdout, tune_program};
use kiln_tests::scale_package::{FASTEST, LARGE, SMALL, ScalePackage};
use kiln_tests::script::write_script;
use serde_json::Value;

/// A package and a store in a folder. Plans must be signed with the key `planner`.
struct Fleet {
    package: ScalePackage,
}

impl Deref for Fleet {
    type Target = ScalePackage;

    fn deref(&self) -> &ScalePackage {
        &self.package
    }
}

impl Fleet {
    fn new(problems: &[u32]) -> Fleet {
        Fleet::with_space(SMALL, problems)
    }

    /// A fleet whose kernel has this search space and these problems.
    fn with_space(space: &str, problems: &[u32]) -> Fleet {
        let package = ScalePackage::new(space, problems, &["planner"]);
        Fleet { package }
    }

    /// Writes a shell script. In the body, `TUNE` and `ROOT` stand for paths.
    fn program(&self, name: &str, body: &str) {
        let root = self.root().to_string_lossy().into_owned();
        let body = body
            .replace("TUNE", &tune_program().to_string_lossy())
            .replace("ROOT", &root);
        write_script(&self.path(name), &body);
    }

    /// The command `tune` with these words, in which `STORE` stands for the store.
    fn tune(&self, words: &str) -> Command {
        let store = self.path("store").to_string_lossy().into_owned();
        self.package.tune("cache", &store, words)
    }

    /// Runs `tune`, which must succeed, and returns its output.
    fn run(&self, words: &str) -> String {
        stdout(&expect_code(&mut self.tune(words), 0))
    }

    /// Writes a plan.
    fn plan(&self, more: &str) -> String {
        let words = "fleet plan --kind fake --store STORE --budget full --sign ROOT/planner -o ROOT/fleet.plan";
        let trials = if more.contains("--trials") {
            ""
        } else {
            "--trials 20"
        };
        self.run(&format!("{words} {trials} {more}"))
    }

    /// The command that runs an element of a plan on a device.
    fn work(&self, plan: &str, element: usize, device: &str) -> Command {
        self.tune(&format!(
            "fleet work ROOT/{plan} --element {element} --store STORE --device fake:ROOT/{device}.json"
        ))
    }

    /// Merges a plan, and returns the decisions as JSON. The exit code must be `code`.
    fn merge(&self, plan: &str, more: &str, code: i32) -> Value {
        let mut merge = self.tune(&format!(
            "fleet merge ROOT/{plan} --store STORE --json{more}"
        ));
        let said = stdout(&expect_code(&mut merge, code));
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// The published records of each journal, in order.
    fn records(&self) -> BTreeMap<u64, Vec<Record>> {
        let mut all: BTreeMap<u64, Vec<Record>> = BTreeMap::new();
        for path in files(&self.path("store/kiln-fleet/1/seg"), ".seg") {
            let bytes = fs::read(&path).expect("a segment should be there");
            let name = kiln_fleet::object::name_of(&bytes);
            let segment = Segment::parse(&bytes, &name).expect("it should be a segment");
            let records = segment.records.iter();
            let records = records.map(|placed| Record::clone(&placed.record));
            all.entry(segment.journal).or_default().extend(records);
        }
        all
    }
}

/// For each attempt that was killed or still runs, the number of its trials that the store does not have. If the
/// attempt was killed, another attempt repeats these trials.
fn unpublished_trials(fleet: &Fleet) -> Vec<usize> {
    let published = fleet.records();
    let scratch = files(fleet.root(), "/journal.kiln").into_iter();
    // The scratch folder of an attempt that ends by itself is removed.
    let scratch = scratch.filter(|path| path.to_string_lossy().contains("/kiln-fleet-"));
    let lost = |path: PathBuf| {
        let bytes = fs::read(&path).expect("a journal should be there");
        let mut rest = bytes.as_slice();
        let mut trials = 0;
        while let Some(frame) = RawFrame::first_of(rest) {
            let known = published.get(&frame.journal).map_or(0, Vec::len) as u64;
            let record = serde_json::from_str(frame.payload).expect("a record should be JSON");
            let is_trial = matches!(record, Record::End(_));
            trials += usize::from(is_trial && frame.sequence > known);
            rest = &rest[frame.bytes.len()..];
        }
        trials
    };
    scratch.map(lost).collect()
}

/// The states of the tasks in the result of a merge.
fn states(merged: &Value) -> Vec<&str> {
    let tasks = merged["tasks"].as_array().expect("there should be tasks");
    tasks
        .iter()
        .map(|task| task["state"].as_str().expect("a state is text"))
        .collect()
}

/// The files in a folder and its subfolders whose names have this ending, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files(&path, ending)),
            false if path.to_string_lossy().ends_with(ending) => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}
