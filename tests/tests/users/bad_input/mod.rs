//! Bad input of every kind, given to the real `tune` program. Each case must end with one clear message, a help line
//! and the right exit code, without a panic and without changes to existing files.

mod case;
mod declarations;
mod exchange;
mod files;
mod first_hour;
mod flags;
mod kernels;
mod saved;
mod storage;
mod surroundings;
mod tables;

use case::Case;

fn all() -> Vec<Case> {
    let kinds = [
        declarations::cases(),
        flags::cases(),
        files::cases(),
        saved::cases(),
        tables::cases(),
        surroundings::cases(),
        storage::cases(),
        exchange::cases(),
        first_hour::cases(),
        kernels::cases(),
    ];
    kinds.into_iter().flatten().collect()
}

#[test]
fn bad_input_is_refused_with_a_clear_message_and_nothing_is_lost() {
    let name = "bad_input_is_refused_with_a_clear_message_and_nothing_is_lost";
    if !kiln_tests::capability::have(name, &[kiln_tests::capability::Need::HostCompiler]) {
        return;
    }
    let cases = all();
    let wrong: Vec<String> = cases.iter().filter_map(|case| case.run().err()).collect();
    let panics = wrong
        .iter()
        .filter(|text| text.contains("panicked"))
        .count();
    println!(
        "bad input: {} cases, {} with the exact message and exit code, {panics} panics",
        cases.len(),
        cases.len() - wrong.len()
    );
    assert!(cases.len() >= 40, "only {} cases", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n==========\n"));
}
