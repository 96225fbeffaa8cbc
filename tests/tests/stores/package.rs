//! A package whose machines share a store.

use std::process::Command;

use kiln_tests::command::{expect_code, stderr, stdout};
use kiln_tests::scale_package::{SMALL, ScalePackage};
use serde_json::Value;

use crate::places::Place;

/// A package and its store. The keys `key-a` and `key-b` are allowed to sign.
pub struct Package<'p> {
    pub files: ScalePackage,
    place: &'p Place,
}

impl<'p> Package<'p> {
    pub fn new(place: &'p Place) -> Package<'p> {
        let files = ScalePackage::new(SMALL, &[10_000, 20_000], &["key-a", "key-b"]);
        Package { files, place }
    }

    /// The command `tune` on a machine with its own cache. In `words`, `STORE` stands for the store and `ROOT` for the
    /// folder.
    pub fn tune(&self, machine: &str, words: &str) -> Command {
        let cache = format!("cache-{machine}");
        let mut tune = self
            .files
            .tune(&cache, &self.place.location("fleet"), words);
        tune.envs(self.place.variables());
        tune
    }

    /// Runs `tune`, which must succeed, and returns its output.
    pub fn run(&self, machine: &str, words: &str) -> String {
        stdout(&expect_code(&mut self.tune(machine, words), 0))
    }

    /// Runs `tune`, which must end with this exit code, and returns the JSON in its output.
    pub fn json(&self, machine: &str, words: &str, code: i32) -> Value {
        let said = stdout(&expect_code(
            &mut self.tune(machine, &format!("{words} --json")),
            code,
        ));
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// Runs `tune`, which must end with this exit code and a help line, and returns its messages.
    pub fn fails(&self, machine: &str, words: &str, code: i32) -> String {
        let said = stderr(&expect_code(&mut self.tune(machine, words), code));
        assert!(said.contains("help: "), "{said}");
        said
    }
}
