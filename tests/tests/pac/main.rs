//! Phase-amplitude coupling: compared with TensorPAC, and within its memory.

mod budget;
mod npy;
mod tensorpac;

use kiln::Stream;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{cargo, expect_code, profile, stdout, workspace};

/// A stream of the cpu device, if it has a compiler.
fn stream(test: &str) -> Option<Stream> {
    have(test, &[Need::HostCompiler])
        .then(|| Stream::default_of(kiln::open("cpu").expect("the cpu device is always there")))
}

#[test]
fn the_application_finds_the_bands_that_couple() {
    let name = "the_application_finds_the_bands_that_couple";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let mut run = cargo(&workspace());
    run.args(["run", "--offline", "--quiet", "--profile", profile()]);
    // Not by its package, whose dependencies would be built once more with other features.
    run.args(["--bin", "pac", "--", "cpu"]);
    let said = stdout(&expect_code(&mut run, 0));
    for channel in [0, 1] {
        let found = format!("channel {channel}: 6..8 Hz with 70..90 Hz, modulation index 0.");
        assert!(said.contains(&found), "{said}");
    }
}
