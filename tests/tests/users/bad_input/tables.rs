//! Invalid baked tables, such as a bad merge or a manual edit can produce.

use super::case::{Case, INDEX, TABLE, case};

pub fn cases() -> Vec<Case> {
    let mut all = values();
    all.extend(rows());
    all.extend(whole_files());
    all.into_iter()
        .map(|case| case.runs("$TUNE bake --check"))
        .collect()
}

fn table(name: &'static str) -> Case {
    case(name).baked()
}

/// A table whose row has a config other than the baseline, but no speed-up.
fn tuned_row(name: &'static str, config: &str) -> Case {
    let proven = "evidence = \"proven\", ";
    let speedup = format!("{proven}speedup_ppm = [1100000, 1200000, 1300000], ");
    table(name).edit(TABLE, proven, speedup).edit(
        TABLE,
        ", config = \"THREADS=32",
        format!(", config = \"{config}"),
    )
}

fn values() -> Vec<Case> {
    vec![
        table("an integer beyond 64 bits in a row")
            .edit(TABLE, "grid = [313,", "grid = [99999999999999999999,")
            .says("error: <root>/tuned/scale.toml: line 7: `grid` is `99999999999999999999`, which is not a decimal integer of this field's range"),
        table("a negative integer in a row")
            .edit(TABLE, "grid = [313,", "grid = [-1,")
            .says("error: <root>/tuned/scale.toml: line 7: `grid` is `-1`, which is not a decimal integer of this field's range"),
        table("a NaN in a row")
            .edit(TABLE, "shared_bytes = 0", "shared_bytes = nan")
            .says("error: <root>/tuned/scale.toml: line 7: `shared_bytes` takes an integer"),
        table("an unknown evidence")
            .edit(TABLE, "\"proven\"", "\"certain\"")
            .says("error: <root>/tuned/scale.toml: line 7: `evidence` is `certain`, which is not `proven`, `replayed` or `predicted`"),
        table("an unknown key")
            .edit(TABLE, "evidence =", "evidense =")
            .says("error: <root>/tuned/scale.toml: line 7: unknown key `evidense`"),
        table("a missing key")
            .edit(TABLE, "shared_bytes = 0, ", "")
            .says("error: <root>/tuned/scale.toml: line 7: no `shared_bytes`"),
        table("an index that leads out of its folder")
            .edit(INDEX, "\"scale.toml\"", "\"../../scale.toml\"")
            .says("error: <root>/tuned/index.toml: line 5: `kernels` is `../../scale.toml`, which is not a plain file name ending in `.toml`"),
        table("an index that leads anywhere")
            .edit(INDEX, "\"scale.toml\"", "\"/etc/passwd\"")
            .says("error: <root>/tuned/index.toml: line 5: `kernels` is `/etc/passwd`, which is not a plain file name ending in `.toml`"),
    ]
}

fn rows() -> Vec<Case> {
    vec![
        table("a row twice")
            .prepare("sed -i 7p tuned/scale.toml")
            .says("error: <root>/tuned/scale.toml: line 8: a second row of `<device>` for n=10000"),
        table("a row in another device's section")
            .prepare("sed -i '6s/.*/\"cuda\\/sm_89\\/L4\" = [/' tuned/scale.toml")
            .says("error: <root>/tuned/scale.toml: line 7: the row is for `<device>`, but it is in the section of `cuda/sm_89/L4`"),
        tuned_row("a config outside the space", "THREADS=65")
            .says("error: <root>/tuned/scale.toml: scale n=10000: row of `<device>` for n=10000: `65` is not a value of `THREADS`"),
        tuned_row("a config with an unknown parameter", "THREDS=32")
            .says("error: <root>/tuned/scale.toml: scale n=10000: row of `<device>` for n=10000: unknown tunable parameter `THREDS`"),
        table("another plan than the spec's")
            .edit(TABLE, "block = [32,", "block = [128,")
            .says("error: <root>/tuned/scale.toml: scale n=10000: row of `<device>` for n=10000: `plan` is `grid=(313,1,1) block=(128,1,1) shared=0`, but the spec gives `grid=(313,1,1) block=(32,1,1) shared=0`"),
        table("another symbol than the source's")
            .prepare("sed -i 's/scale_[0-9a-f]\\{16\\}/scale_0000000000000000/' tuned/scale.toml")
            .says("error: <root>/tuned/scale.toml: scale n=10000: row of `<device>`: `symbol` is `scale_<hash>`, but the source gives `scale_<hash>`"),
        table("a stale row")
            .prepare("sed -i 's/2.0f/3.0f/' src/scale.cu")
            .says("error: <root>/tuned/scale.toml: scale n=10000: row of `<device>` is stale: the hash of its source was <hash> when it was baked, and is <hash> now"),
        table("the table of another kernel")
            .edit(TABLE, "kernel = \"scale\"", "kernel = \"other\"")
            .says("error: <root>/tuned/scale.toml: scale: it belongs to the kernel `other`"),
    ]
}

fn whole_files() -> Vec<Case> {
    vec![
        case("no index").says("error: <root>/tuned: scale: there is no index"),
        table("a table that is listed but not there")
            .prepare("rm tuned/scale.toml")
            .says("error: <root>/tuned/scale.toml: scale: the index lists it, but it is not there"),
        table("a table of a newer Kiln")
            .edit(TABLE, "format = 1", "format = 999")
            .says("error: <root>/tuned/scale.toml: the table has format 999, but this Kiln reads up to 1"),
        table("an index of a newer Kiln")
            .edit(INDEX, "format = 1", "format = 999")
            .says("error: <root>/tuned/index.toml: the table has format 999, but this Kiln reads up to 1"),
        table("a table that is not text")
            .prepare("printf '\\377\\376' >> tuned/scale.toml")
            .says("error: <root>/tuned/scale.toml: line 9: not UTF-8 text"),
        table("a table of more than 16 MiB")
            .prepare("rm tuned/scale.toml; head -c 17000000 /dev/zero | tr '\\0' '#' > tuned/scale.toml")
            .says("error: <root>/tuned/scale.toml: the table has 17000000 bytes, but the maximum is 16777216"),
        table("a merge that was not resolved")
            .edit(TABLE, "[devices]", "<<<<<<< HEAD\n[devices]")
            .says("error: <root>/tuned/scale.toml: line 5: key with no value, expected `=`"),
        table("a hundred thousand brackets")
            .prepare("printf 'a=' > tuned/scale.toml; head -c 100000 /dev/zero | tr '\\0' '[' >> tuned/scale.toml")
            .says("error: <root>/tuned/scale.toml: line 1: cannot recurse further; max recursion depth met"),
        table("an empty table")
            .prepare(": > tuned/scale.toml")
            .says("error: <root>/tuned/scale.toml: line 1: no `format`"),
        table("an index that is a folder")
            .prepare("rm tuned/index.toml; mkdir tuned/index.toml")
            .says("error: cannot read <root>/tuned/index.toml: Is a directory (os error 21)"),
    ]
}
