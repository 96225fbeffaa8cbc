//! Tests that unusable files and folders cause an error with advice, or a warning, but never a panic or a hang.
#![allow(clippy::unwrap_used)]

mod children;
mod samples;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use kiln_cache::{Cache, CacheError, OpenOptions, ProbeCommand, Warning};
use samples::{key, trial};

const STORE: &str = "store.sled";

/// A closed cache with one trial.
fn with_one_trial() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let cache = samples::open(folder.path());
    cache.remember_key(&key(1)).unwrap();
    cache.finish(trial(&key(1), 1)).unwrap();
    cache.close().unwrap();
    folder
}

fn assert_has_the_trial(cache: &Cache) {
    let expected = trial(&key(1), 1);
    assert_eq!(cache.trial(&expected.id()).unwrap(), Some(expected));
    assert!(cache.verify().unwrap().is_sound());
}

/// Starts a child that keeps the database open, and returns when it is open.
fn hold(folder: &Path) -> std::process::Child {
    let mut holder = children::spawn("hold_store", &folder.join(STORE));
    let mut output = BufReader::new(holder.stdout.take().unwrap()).lines();
    let held = |line: String| children::said(&line) == Some("held");
    assert!(
        output.any(|line| held(line.unwrap())),
        "the child does not hold it"
    );
    holder
}

#[test]
fn a_database_held_by_another_process_is_in_use_and_is_waited_for() {
    let folder = with_one_trial();
    let mut holder = hold(folder.path());
    let short = || {
        OpenOptions::new()
            .probe(children::probe())
            .deadline(Duration::from_millis(300))
    };
    let error = Cache::open(folder.path(), short()).err().unwrap();
    let CacheError::InUse { path, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(*path, folder.path().join(STORE));
    assert!(error.to_string().contains("help: "), "{error}");

    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        holder.kill().unwrap();
        holder.wait().unwrap();
    });
    let patient = OpenOptions::new()
        .probe(children::probe())
        .deadline(Duration::from_secs(60));
    let (cache, warnings) = Cache::open(folder.path(), patient).unwrap();
    assert_eq!(warnings, []);
    assert_has_the_trial(&cache);
    killer.join().unwrap();
}

fn assert_set_aside(probe: ProbeCommand, deadline: Duration, why: &str) {
    let folder = with_one_trial();
    let options = OpenOptions::new().probe(probe).deadline(deadline);
    let (cache, warnings) = Cache::open(folder.path(), options).unwrap();
    let aside = folder.path().join("store.sled.corrupt-1");
    let Warning::StoreSetAside {
        moved_to,
        reason,
        entries: 2,
    } = &warnings[0]
    else {
        panic!("{warnings:?}");
    };
    assert_eq!(*moved_to, aside);
    assert!(reason.contains(why), "{reason}");
    assert!(aside.is_dir());
    assert_has_the_trial(&cache);
    assert_eq!(cache.stats().unwrap().set_aside, [aside]);
}

#[test]
fn a_probe_that_never_ends_is_killed_and_the_database_set_aside() {
    assert_set_aside(
        children::probe_by("never_end"),
        Duration::from_millis(300),
        "could not be opened within",
    );
}

#[test]
fn a_probe_that_crashes_sets_the_database_aside() {
    // On a busy machine a process may need a long time to crash.
    let patience = Duration::from_secs(60);
    assert_set_aside(children::probe_by("abort"), patience, "signal: 6");
}

#[test]
fn a_probe_that_cannot_be_started_is_told_and_done_without() {
    let folder = with_one_trial();
    let probe = ProbeCommand {
        program: "/nonexistent/tune".into(),
        args: vec![],
    };
    let (cache, warnings) = Cache::open(folder.path(), OpenOptions::new().probe(probe)).unwrap();
    assert!(
        matches!(warnings[..], [Warning::ProbeNotRun { .. }]),
        "{warnings:?}"
    );
    assert_has_the_trial(&cache);
}

#[test]
fn garbage_in_place_of_the_database_is_set_aside() {
    let folder = with_one_trial();
    fs::remove_dir_all(folder.path().join(STORE)).unwrap();
    fs::write(folder.path().join(STORE), "not a database").unwrap();
    let options = OpenOptions::new().probe(children::probe());
    let (cache, warnings) = Cache::open(folder.path(), options).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_has_the_trial(&cache);
}

#[test]
fn a_file_in_place_of_the_folder_and_a_folder_that_cannot_be_made_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    // Nobody, not even root, can create folders below `/proc`.
    for path in [file.as_path(), &file.join("below"), Path::new("/proc/kiln")] {
        let error = Cache::open(path, OpenOptions::new()).err().unwrap();
        assert!(matches!(error, CacheError::Folder { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(path.to_str().unwrap()), "{text}");
        assert!(text.contains("help: set KILN_CACHE"), "{text}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
}

#[test]
fn a_folder_in_place_of_the_journal_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("journal.kiln")).unwrap();
    let error = Cache::open(folder.path(), OpenOptions::new())
        .err()
        .unwrap();
    assert!(error.to_string().contains("help: "), "{error}");
}

/// Runs a writer until it fails because there is no space. No acknowledged record may be lost, and the message must
/// have the reason.
fn assert_full(mut writer: Command, folder: &Path, reason: &str) {
    let output = writer.stderr(Stdio::inherit()).output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let said: Vec<_> = output.lines().filter_map(children::said).collect();
    let acknowledged = said.iter().filter(|s| s.starts_with("finished")).count() as u64;
    let failure = output.split("say: failed ").nth(1).unwrap_or_default();
    assert!(failure.contains(reason), "{output}");
    assert!(failure.contains("help: free disk space"), "{output}");
    let view = Cache::view(folder).unwrap();
    // The part of the failed record that was written was removed.
    assert!(view.verify().unwrap().is_sound());
    for n in 0..acknowledged {
        let expected = trial(&key(1), n);
        assert_eq!(view.trial(&expected.id()).unwrap(), Some(expected));
    }
    println!("{reason}: {acknowledged} trials acknowledged, 0 lost");
    assert!(acknowledged > 0);
}

#[test]
fn a_full_disk_is_a_clear_error_and_costs_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    // The cache is created without a limit, so the database exists and only the journal reaches the limit.
    samples::open(folder.path()).close().unwrap();
    let writer = children::command("write_for_ever", folder.path());
    let mut limited = Command::new("sh");
    // The limit is 40 KiB per file. Exceeding it raises a signal; if the signal is ignored, it is an error like a full
    // disk.
    let script = "trap '' XFSZ; ulimit -f 80; exec \"$0\" \"$@\"";
    limited.args(["-c", script]).arg(writer.get_program());
    limited.args(writer.get_args()).stdin(Stdio::null());
    assert_full(limited, folder.path(), "File too large");
    let (cache, _) = samples::reopen(folder.path());
    assert!(cache.verify().unwrap().is_sound());
}

#[test]
fn a_full_file_system_is_a_clear_error_and_costs_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mount = |arguments: &[&str], what: &str| {
        let status = Command::new(what)
            .args(arguments)
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    let path = folder.path().to_str().unwrap();
    if !mount(
        &["-t", "tmpfs", "-o", "size=2m,mode=700", "none", path],
        "mount",
    ) {
        println!("skipped: no right to mount a small file system here");
        return;
    }
    let writer = children::command("write_for_ever", folder.path());
    let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        assert_full(writer, folder.path(), "No space left on device");
        let read_only = mount(&["-o", "remount,ro", path], "mount");
        if read_only {
            let error = Cache::open(folder.path(), OpenOptions::new())
                .err()
                .unwrap();
            assert!(
                error.to_string().contains("Read-only file system"),
                "{error}"
            );
            assert!(
                error.to_string().contains("help: set KILN_CACHE"),
                "{error}"
            );
            assert!(Cache::view(folder.path()).is_ok());
        }
    }));
    assert!(mount(&[path], "umount"));
    checked.unwrap();
}
