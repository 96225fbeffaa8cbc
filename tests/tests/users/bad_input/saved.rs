//! Files of saved kernels that have a wrong format, are damaged or have another version, and invalid arguments for
//! them.

use super::case::{Case, case};

/// Writes a file of saved kernels, `whole.json`.
const SAVE: &str = "$TUNE bench --device fake --save whole.json >said 2>&1";

pub fn cases() -> Vec<Case> {
    let mut all = files();
    all.extend(damaged());
    all.extend(words());
    all
}

fn files() -> Vec<Case> {
    vec![
        case("no file to compare with")
            .runs("$TUNE compare none.json")
            .says("error: cannot read none.json: No such file or directory (os error 2)"),
        case("a folder to compare with")
            .runs("$TUNE compare src")
            .says("error: cannot read src: Is a directory (os error 21)"),
        case("another file to compare with")
            .runs("$TUNE compare Cargo.toml")
            .says("error: Cargo.toml: not a file of saved kernels: expected value at line 1 column 2"),
        case("a file of another device")
            .prepare(SAVE)
            .runs("$TUNE compare whole.json --device cpu")
            .fails(3, "help: compare on a machine of that kind, or save again here with `tune bench --save`"),
        case("a file to save in no folder")
            .runs("$TUNE bench --device fake --save none/kernels.json")
            .says("error: cannot write none/kernels.json: No such file or directory (os error 2)"),
        case("a file to save that is a folder")
            .runs("$TUNE bench --device fake --save src")
            .says("error: cannot write src: is a directory"),
    ]
}

fn damaged() -> Vec<Case> {
    vec![
        case("a file that is cut off")
            .prepare("$TUNE bench --device fake --save whole.json >said 2>&1 && head -c 3000 whole.json > cut.json")
            .runs("$TUNE compare cut.json --device fake")
            .says("help: take an undamaged copy, or save again with `tune bench --save`"),
        case("a file with another word in it")
            .prepare("$TUNE bench --device fake --save whole.json >said 2>&1 && sed 's/\"hot\"/\"cold\"/' whole.json > other.json")
            .runs("$TUNE compare other.json --device fake")
            .says("help: take an undamaged copy, or save again with `tune bench --save`"),
        case("a file of a newer version")
            .prepare("$TUNE bench --device fake --save whole.json >said 2>&1 && sed 's/\"version\": 1/\"version\": 2/' whole.json > newer.json")
            .runs("$TUNE compare newer.json --device fake")
            .says("error: newer.json: a file of version 2, but this `tune` reads version 1"),
    ]
}

fn words() -> Vec<Case> {
    vec![
        case("a comparison with nothing")
            .runs("$TUNE compare")
            .fails(2, "error: the following required arguments were not provided:"),
        case("a threshold without a percent sign")
            .runs("$TUNE compare saved.json --fail-above 5")
            .fails(2, "error: --fail-above 5: a number needs a percent sign"),
        case("a negative threshold")
            .runs("$TUNE compare saved.json --fail-above -5%")
            .fails(2, "error: --fail-above -5%: not a number of percent"),
        case("a budget of a benchmark without a unit")
            .runs("$TUNE bench --budget 5")
            .fails(2, "error: --budget 5: a number needs a unit"),
        case("a benchmark on no such device")
            .runs("$TUNE bench --device cpu,none:7")
            .fails(3, "help: run `tune devices` to list the devices of this machine"),
        case("a benchmark of a problem that nobody declares")
            .runs("$TUNE bench --device fake --problem n=5")
            .says("error: no kernel declares the problem `n=5` (declared: n=10000)"),
        case("a comparison of a problem that nobody has")
            .prepare(SAVE)
            .runs("$TUNE compare whole.json --device fake --problem n=5")
            .says("error: whole.json contains none of the selected kernels and problems, so nothing can be compared"),
    ]
}
