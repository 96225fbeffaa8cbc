//! Runs the program `tune`. Cargo builds the program for this test, and therefore for the whole test suite.

use std::process::Command;

#[test]
fn the_program_says_its_version_and_its_commands() {
    let said = |words: &[&str]| {
        let program = env!("CARGO_BIN_EXE_tune");
        let output = Command::new(program).args(words).output();
        let output = output.expect("tune should start");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let version = said(&["--version"]);
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    let help = said(&["--help"]);
    for command in ["run", "bake", "smoke", "bench", "compare", "report"] {
        assert!(
            help.contains(&format!("\n  {command} ")),
            "{command}: {help}"
        );
    }
}
