//! Code that the tests run in another process. The test binary starts itself to run one of these functions.
//!
//! The functions are tests that are marked as ignored, so only [`command`] runs them. Their last argument is a folder.
// Every test binary uses only a part of this module.
#![allow(dead_code)]

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kiln_cache::store::SledStore;
use kiln_cache::{Begin, Cache, OpenOptions, ProbeCommand};

use crate::samples::{key, trial};

fn arguments(name: &str) -> Vec<OsString> {
    let name = format!("children::{name}");
    [
        "--exact",
        "--ignored",
        "--nocapture",
        "--test-threads=2",
        &name,
    ]
    .map(Into::into)
    .into()
}

/// The command of a probe, like the one that `tune` uses.
pub fn probe() -> ProbeCommand {
    probe_by("run_probe")
}

/// The command of a probe that runs one of the functions below.
pub fn probe_by(name: &str) -> ProbeCommand {
    ProbeCommand {
        program: std::env::current_exe().unwrap(),
        args: arguments(name),
    }
}

/// Starts a child for a folder. Its output is piped.
pub fn spawn(name: &str, folder: &Path) -> Child {
    command(name, folder).spawn().unwrap()
}

/// The command of a child for a folder.
pub fn command(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(arguments(name))
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// The text that a child printed with [`say`], from a line of its output.
pub fn said(line: &str) -> Option<&str> {
    line.split("say: ").nth(1)
}

fn say(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "say: {text}").unwrap();
    out.flush().unwrap();
}

fn folder() -> PathBuf {
    std::env::args_os().next_back().unwrap().into()
}

#[test]
#[ignore = "a child of other tests"]
fn run_probe() {
    std::process::exit(kiln_cache::probe::run(&folder()));
}

#[test]
#[ignore = "a child of other tests"]
fn never_end() {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
#[ignore = "a child of other tests"]
fn abort() {
    std::process::abort();
}

/// Keeps the database in the folder open until it is killed.
#[test]
#[ignore = "a child of other tests"]
fn hold_store() {
    let _store = SledStore::open(&folder()).unwrap();
    say("held");
    never_end();
}

/// Begins and finishes trials without end, and prints which ones the cache has acknowledged.
#[test]
#[ignore = "a child of other tests"]
fn write_for_ever() {
    let options = OpenOptions::new().probe(probe());
    let (cache, _) = Cache::open(&folder(), options).unwrap();
    cache.remember_key(&key(1)).unwrap();
    let first = cache.trials(key(1).hash()).unwrap().len() as u64;
    for n in first.. {
        // A trial that was running at the last kill has a strike, and may be quarantined. It is finished anyway.
        match cache.begin(&trial(&key(1), n).id()) {
            Ok(Begin::Go { .. }) => say(format_args!("begun {n}")),
            Ok(Begin::Quarantined { .. }) => {}
            Err(error) => return say(format_args!("failed {error}")),
        }
        match cache.finish(trial(&key(1), n)) {
            Ok(()) => say(format_args!("finished {n}")),
            Err(error) => return say(format_args!("failed {error}")),
        }
    }
}

/// Begins a trial and aborts its process.
#[test]
#[ignore = "a child of other tests"]
fn begin_and_die() {
    let (cache, _) = Cache::open(&folder(), OpenOptions::new()).unwrap();
    cache.remember_key(&key(1)).unwrap();
    cache.begin(&trial(&key(1), 0).id()).unwrap();
    std::process::abort();
}

/// Waits for the lock, and finishes ten trials. The folder `folder/<n>` means writer `n` of the cache `folder`.
#[test]
#[ignore = "a child of other tests"]
fn write_ten() {
    let folder = folder();
    let writer: u64 = folder
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    let options = OpenOptions::new().probe(probe()).wait(None, |_| {});
    let (cache, _) = Cache::open(folder.parent().unwrap(), options).unwrap();
    cache.remember_key(&key(1)).unwrap();
    for n in writer * 10..writer * 10 + 10 {
        cache.finish(trial(&key(1), n)).unwrap();
    }
    cache.close().unwrap();
    say("done");
}
