//! Invalid files of other tuners. The message reports the file, the line and the field.

use super::case::{Case, case};

pub fn cases() -> Vec<Case> {
    let mut all = caches();
    all.extend(results());
    all.extend(definitions());
    all.extend(exports());
    all
}

fn replayed(name: &'static str, prepare: &'static str, says: &'static str) -> Case {
    case(name)
        .prepare(prepare)
        .runs("$TUNE replay --space r.json --strategy random --seeds 1..1")
        .says(says)
}

fn caches() -> Vec<Case> {
    vec![
        replayed(
            "a cache file with a time that is none",
            r#"printf '{"tune_params_keys": ["x"],\n"cache": {\n"1": {"time": 1},\n"2": {"time": [2]}}}' > r.json"#,
            "error: r.json:4: `2`: field `time`: [2] is neither a time nor a failure",
        ),
        replayed(
            "a cache file with a negative time of compiling",
            r#"printf '{"tune_params_keys": ["x"],\n"cache": {\n"1": {"time": 1, "compile_time": -3}}}' > r.json"#,
            "error: r.json:3: `1`: field `compile_time`: -3 is not a time",
        ),
        replayed(
            "a cache file with a value that is not listed",
            r#"printf '{"tune_params_keys": ["x"], "tune_params": {"x": [1, 2]},\n"cache": {"3": {"time": 1}}}' > r.json"#,
            "error: r.json:2: `3`: field `x`: the value `3` is not listed",
        ),
        replayed(
            "a cache file with the same config twice",
            r#"printf '{"tune_params_keys": ["x"],\n"cache": {"1": {"time": 1},\n"1": {"time": 2}}}' > r.json"#,
            "error: r.json:3: `1`: this config was recorded before",
        ),
        replayed(
            "a cache file with the same parameter twice",
            r#"printf '{\n"tune_params_keys": ["x", "x"],\n"cache": {"1,1": {"time": 1}}}' > r.json"#,
            "error: r.json:2: field `tune_params_keys`: `x` is listed twice",
        ),
        replayed(
            "a cache file with Python's NaN",
            r#"printf '{"tune_params_keys": ["x"],\n"cache": {\n"1": {"time": NaN}}}' > r.json"#,
            "error: r.json:3: the file: expected value, found `NaN`",
        ),
        replayed(
            "a cache file without a config",
            r#"printf '{"tune_params_keys": ["x"],\n"cache": {}}' > r.json"#,
            "error: r.json:2: field `cache`: no config is recorded",
        ),
        replayed(
            "a recording that is not JSON",
            "printf 'time\\n1\\n' > r.json",
            "error: r.json:1: the file: expected ident, found `time`",
        ),
    ]
}

fn results() -> Vec<Case> {
    vec![
        replayed(
            "a results file with an unknown invalidity",
            r#"printf '{"results": [\n{"configuration": {"x": 1}, "times": {}, "invalidity": "fine"}]}' > r.json"#,
            "error: r.json:2: `results[0]`: field `invalidity`: `fine` is not one of correct, timeout, compile, runtime, correctness, constraints",
        ),
        replayed(
            "a correct result without a time",
            r#"printf '{"results": [\n{"configuration": {"x": 1}, "times": {}, "invalidity": "correct"}]}' > r.json"#,
            "error: r.json:2: `results[0]`: field `measurements`: a correct result has a `time` above 0 in s, ms, us or ns",
        ),
        replayed(
            "a results file in an unknown unit",
            r#"printf '{"metadata": {\n"timeunit": "days"}, "results": []}' > r.json"#,
            "error: r.json:2: field `timeunit`: \"days\" is not a known unit",
        ),
        replayed(
            "a result without a parameter that others have",
            r#"printf '{"results": [\n{"configuration": {"x": 1, "y": 2}, "invalidity": "compile"},\n{"configuration": {"x": 1}, "invalidity": "compile"}]}' > r.json"#,
            "error: r.json:3: `results[1]`: field `configuration`: no `y`, which other results have",
        ),
        replayed(
            "a result without a field that must be there",
            r#"printf '{"results": [\n\n{"configuration": {"x": 1}}]}' > r.json"#,
            "error: r.json:3: `results[0]`: missing field `invalidity`",
        ),
    ]
}

fn defined(name: &'static str, prepare: &'static str, says: &'static str) -> Case {
    case(name)
        .prepare(prepare)
        .runs("$TUNE space --definition d.json")
        .says(says)
}

fn definitions() -> Vec<Case> {
    vec![
        defined(
            "a definition with a constraint on no parameter",
            r#"printf '{"params": [{"name": "a", "values": [1]}],\n"constraints": [\n"a < b"]}' > d.json"#,
            "error: d.json: line 3, `constraints[0]`: `b` is not a parameter",
        ),
        defined(
            "a T1 file whose values are not a list",
            r#"printf '{"ConfigurationSpace": {"TuningParameters": [\n{"Name": "a", "Type": "int", "Values": "7"}]}}' > d.json"#,
            "error: d.json: line 2, `Values` of a: not a list",
        ),
        defined(
            "a T1 file with a range without end",
            r#"printf '{"ConfigurationSpace": {"TuningParameters": [\n{"Name": "a", "Values": "range(10 ** 30)"}]}}' > d.json"#,
            "error: d.json: line 2, `Values` of a: a list of more than 1048576 items",
        ),
        defined(
            "a T1 file that calls a function",
            r#"printf '{"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": "[1]"}],\n"Conditions": [{"Expression": "exit(a)"}]}}' > d.json"#,
            "error: d.json: line 2, `Conditions[0]`: the function `exit` is not known here",
        ),
    ]
}

fn exports() -> Vec<Case> {
    vec![
        case("results of a kernel that was never measured")
            .runs("$TUNE export -k scale --format t4")
            .says("error: no trials of the current version of `scale` are stored for n=10000"),
        case("an export of no kernel")
            .runs("$TUNE export --format t4")
            .fails(2, "error: --format t4: an exported file describes one kernel"),
        case("a recording as a space with constraints")
            .runs("$TUNE export --space r.json --format t1")
            .fails(2, "error: --format t1: a recording has no constraints"),
        case("an export in an unknown format")
            .runs("$TUNE export -k scale --format xml")
            .fails(2, "error: invalid value 'xml' for '--format <FORMAT>'"),
        case("a value with a comma as a cache file")
            .prepare(r#"printf '{"results": [{"configuration": {"x": "1,2"}, "invalidity": "compile"}]}' > r.json"#)
            .runs("$TUNE export --space r.json --format kernel-tuner")
            .says("error: a cache file of Kernel Tuner cannot hold the value `1,2` of `x`, which has a comma"),
        case("a parameter with the name of a field of cache files")
            .prepare(r#"printf '{"results": [{"configuration": {"time": 1}, "invalidity": "compile"}]}' > r.json"#)
            .runs("$TUNE export --space r.json --format kernel-tuner")
            .says("error: a cache file of Kernel Tuner cannot hold a parameter `time`, which is a field of its own"),
        case("a replayed row for a GPU that is not known")
            .runs("$TUNE replay --space r.json --bake -k scale --target sm_1")
            .fails(3, "error: there is no target `sm_1` (known: sm_86, sm_89, sm_90, gfx1151)"),
        case("a replayed row of no kernel")
            .runs("$TUNE replay --space r.json --bake --target sm_86")
            .fails(2, "error: --bake 1: a replayed row comes from one recording and belongs to one kernel"),
        case("a replayed row without its target")
            .runs("$TUNE replay --space r.json --bake -k scale")
            .fails(2, "error: the following required arguments were not provided:\n  --target <ARCH>"),
    ]
}
