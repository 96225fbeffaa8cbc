//! Invalid flags and arguments.

use super::case::{Case, case};

pub fn cases() -> Vec<Case> {
    let mut all = values();
    all.extend(words());
    all.extend(names());
    all
}

fn values() -> Vec<Case> {
    vec![
        case("a budget without a unit")
            .runs("$TUNE run --budget 5")
            .fails(2, "error: --budget 5: a number needs a unit"),
        case("a budget in an unknown unit")
            .runs("$TUNE run --budget 5x")
            .fails(2, "error: --budget 5x: unknown unit `x`"),
        case("a negative budget")
            .runs("$TUNE run --budget -1s")
            .fails(2, "error: --budget -1s: not a whole number and a unit"),
        case("no budget at all")
            .runs("$TUNE run --budget 0s")
            .fails(2, "error: --budget 0s: no time at all"),
        case("a budget of a century")
            .runs("$TUNE run --budget 999999h")
            .fails(2, "error: --budget 999999h: more than 30 days"),
        case("no trials")
            .runs("$TUNE run --trials 0")
            .fails(2, "error: --trials 0: not a number of configs"),
        case("negative trials")
            .runs("$TUNE run --trials -3")
            .fails(2, "error: --trials -3: not a number of configs"),
        case("no jobs")
            .runs("$TUNE run --jobs 0")
            .fails(2, "error: --jobs 0: not a number of threads from 1 to 1024"),
        case("jobs that are not a number")
            .runs("$TUNE run --jobs x")
            .fails(2, "error: invalid value 'x' for '--jobs <COUNT>': invalid digit found in string"),
        case("an unknown strategy")
            .runs("$TUNE run --strategy simulated")
            .fails(2, "error: --strategy simulated: no such strategy"),
        case("a strategy for comparison only")
            .runs("$TUNE run --strategy tabu")
            .fails(2, "error: --strategy tabu: worse than random sampling, so only `tune replay` supports it"),
        case("a seed beyond 64 bits")
            .runs("$TUNE run --seed 99999999999999999999999")
            .fails(2, "error: invalid value '99999999999999999999999' for '--seed <NUMBER>': number too large to fit in target type"),
    ]
}

fn words() -> Vec<Case> {
    vec![
        case("an unknown subcommand")
            .runs("$TUNE fly")
            .fails(2, "error: unrecognized subcommand 'fly'"),
        case("an unknown flag")
            .runs("$TUNE run --bogus")
            .fails(2, "error: unexpected argument '--bogus' found"),
        case("options of run before another subcommand")
            .runs("$TUNE --budget 5m list")
            .fails(
                2,
                "error: the subcommand 'list' cannot be used with '--budget <TIME>'",
            ),
        case("a flag twice")
            .runs("$TUNE run --write --write")
            .fails(
                2,
                "error: the argument '--write' cannot be used multiple times",
            ),
        case("a flag without its value")
            .runs("$TUNE run --device")
            .fails(
                2,
                "error: a value is required for '--device <DEVICE>' but none was supplied",
            ),
        case("clearing the cache without meaning it")
            .runs("$TUNE cache clear")
            .says("error: this deletes every trial and winner in <root>/cache"),
    ]
}

fn names() -> Vec<Case> {
    vec![
        case("an unknown device")
            .runs("$TUNE run --device toaster 2>&1 | cut -d: -f1-2; $TUNE run --device toaster 2>/dev/null")
            .fails(3, "error: device `toaster` was not found"),
        case("an unknown device to check tables for")
            .baked()
            .runs("$TUNE bake --check --device toaster")
            .fails(3, "help: run `tune devices` to list the devices of this machine"),
        case("a script of the fake device that is not there")
            .runs("$TUNE run --device fake:none.json")
            .fails(3, "error: fake device script none.json was not found: No such file or directory (os error 2)"),
        case("a script of the fake device that is none")
            .runs("$TUNE run --device fake:Cargo.toml")
            .says("error: Cargo.toml is not a script of a fake device: expected value at line 1 column 2"),
        case("an unknown kernel")
            .runs("$TUNE run --kernel scala")
            .says("error: no kernel `scala` (found: scale)"),
        case("two kernels where one is meant")
            .runs("$TUNE why scale -k other")
            .fails(2, "error: --kernel other: the command already names `scale`"),
        case("an unknown kernel to explain")
            .runs("$TUNE why scala")
            .says("error: no kernel `scala` (found: scale)"),
        case("an unknown package")
            .runs("$TUNE run --package nope")
            .says("error: the workspace has no package `nope` (it has: tiny)"),
        case("a problem of another dimension")
            .runs("$TUNE why scale m=3 --device cpu")
            .says("error: problem `m=3`: unknown dimension `m`"),
        case("a problem beyond its type")
            .runs("$TUNE why scale n=99999999999999999999 --device cpu")
            .says("error: problem `n=99999999999999999999`: `99999999999999999999` is not a value of `n`"),
    ]
}
