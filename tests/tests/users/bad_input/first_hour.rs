//! Mistakes in a user's first hour. Each message states the problem, its position and the next step.

use super::case::{Case, INDEX, LIB, TABLE, case};

pub fn cases() -> Vec<Case> {
    let mut all = tables();
    all.extend(stale());
    all.extend(rejected());
    all.extend(hidden());
    all.extend(lists());
    all.extend(runs());
    all
}

fn tables() -> Vec<Case> {
    vec![
        case("a kernel that is not baked")
            .prepare("$TUNE init")
            .runs("$TUNE bake --check")
            .prints("warning: <root>/tuned/index.toml: scale: it is not baked: builds launch its baseline, and fail with KILN_STRICT=1\n1 kernels (1 not baked), 0 baked rows: up to date"),
        case("a kernel that is not baked, in a strict build")
            .prepare("$TUNE init")
            .runs("KILN_STRICT=1 $TUNE bake --check")
            .says("1 kernels (1 not baked), 0 baked rows: not up to date\nhelp: run `tune run -k scale` on the GPU it is for; for this machine's cpu, `tune run -k scale --device cpu --write`"),
        case("a strict check of a kernel that may be untuned")
            .prepare("$TUNE init")
            .edit(LIB, "problems(", "untuned = allow, problems(")
            .runs("KILN_STRICT=1 $TUNE bake --check")
            .prints("1 kernels (1 not baked), 0 baked rows: up to date"),
        case("a strict check of a kernel that may be untuned, without an index")
            .edit(LIB, "problems(", "untuned = allow, problems(")
            .runs("KILN_STRICT=yes $TUNE bake --check")
            .prints("1 kernels (1 not baked), 0 baked rows: up to date"),
        case("a kernel that is not baked, listed")
            .prepare("$TUNE init")
            .runs("$TUNE list")
            .prints("  baked      nothing: builds launch the baseline"),
        case("a table that the index lost")
            .baked()
            .edit(INDEX, "scale = \"scale.toml\"\n", "")
            .runs("$TUNE bake --check")
            .says("error: <root>/tuned/scale.toml: scale: index.toml does not list it: builds do not use it\n1 kernels (1 not baked), 0 baked rows: not up to date\nhelp: run `tune init`, which lists every table of the folder"),
        case("a table that the index lost, listed again")
            .baked()
            .edit(INDEX, "scale = \"scale.toml\"\n", "")
            .prepare("$TUNE init | grep -x \"listed $ROOT/tuned/scale.toml in index.toml\"")
            .runs("$TUNE bake --check")
            .prints("1 kernels, 1 baked rows: up to date"),
        case("nothing proven to bake")
            .runs("$TUNE bake --device cpu")
            .says("scale: nothing is proven on this device\nhelp: run `tune run -k scale --device cpu --write`"),
    ]
}

fn stale() -> Vec<Case> {
    let stale = |name| {
        case(name)
            .baked()
            .prepare("sed -i 's/2.0f/3.0f/' src/scale.cu")
    };
    vec![
        stale("a stale row, checked")
            .runs("$TUNE bake --check")
            .says("1 kernels, 1 baked rows: not up to date\nhelp: run `tune run -k scale --device cpu --write` on that machine"),
        case("a stale row whose renewal is not baked yet")
            .baked()
            .prepare("sed -i 's/2.0f/3.0f/' src/scale.cu; $TUNE run --device cpu --trials 1 --budget full")
            .runs("$TUNE bake --check --device cpu")
            .says("1 kernels, 1 baked rows: not up to date\nhelp: run `tune bake` (with `--write` for a cpu)"),
        case("a run that decides nothing beside a fresh row")
            .prepare("echo '{}' > fast.json; echo '{\"rules\": [{\"when\": {}, \"compile\": {\"slow_ms\": 1500}}]}' > slow.json; \
                      $TUNE run --device fake:fast.json --trials 1 --budget full --write; rm -r cache")
            .runs("$TUNE run --device fake:slow.json --budget 1s 2>/dev/null | grep -c 'builds launch the baseline'; true")
            .prints("0"),
        stale("a stale row, listed")
            .runs("$TUNE list")
            .prints("  baked      <device> (n=10000): THREADS=32,ITEMS=1, baseline kept; stale because its source changed, and not used: run `tune run -k scale --device cpu --write` on that machine"),
        stale("a stale row, baked without a search")
            .runs("$TUNE bake --device cpu")
            .says("scale: its row of `<device>` for n=10000 is stale because its source changed, and nothing has been proven since\nhelp: run `tune run -k scale --device cpu --write`"),
        case("a comment in the source")
            .baked()
            .prepare("sed -i '1i // What it does.' src/scale.cu; sed -i 's/unsigned first/  unsigned first/' src/scale.cu")
            .runs("$TUNE bake --check")
            .prints("1 kernels, 1 baked rows: up to date"),
    ]
}

/// Tables that a build rejects or does not use.
fn rejected() -> Vec<Case> {
    let empty = |name| {
        case(name)
            .baked()
            .prepare("sed -i '/^  { device/d' tuned/scale.toml")
    };
    vec![
        empty("a table without rows, in a strict check")
            .runs("KILN_STRICT=1 $TUNE bake --check")
            .says("error: <root>/tuned/scale.toml: scale: it has no rows: builds launch its baseline, and fail with KILN_STRICT=1"),
        empty("a table without rows")
            .runs("$TUNE bake --check")
            .prints("warning: <root>/tuned/scale.toml: scale: it has no rows: builds launch its baseline, and fail with KILN_STRICT=1"),
        case("the table of the kernel's old name, written again")
            .baked()
            .edit(TABLE, "kernel = \"scale\"", "kernel = \"old\"")
            .prepare("$TUNE run --device cpu --trials 1 --budget full --write")
            .runs("$TUNE bake --check")
            .prints("1 kernels, 1 baked rows: up to date"),
        case("a symbol that the source does not give, listed")
            .baked()
            .prepare("sed -i 's/scale_[0-9a-f]\\{16\\}/scale_0000000000000000/' tuned/scale.toml")
            .runs("$TUNE list")
            .prints("  error      <root>/tuned/scale.toml: row of `<device>`: `symbol` is `scale_<hash>`, but the source gives `scale_<hash>`: run `tune run -k scale --device cpu --write` on that machine"),
        case("a table that the index lists but that is not there, listed")
            .baked()
            .prepare("rm tuned/scale.toml")
            .runs("$TUNE list")
            .prints("  error      <root>/tuned/scale.toml: the index lists it, but it is not there: restore the file, or run `tune bake` on that device (with `--write` for a cpu)"),
        case("an unknown value of KILN_STRICT")
            .baked()
            .runs("KILN_STRICT=ture $TUNE bake --check")
            .says("error: KILN_STRICT is `ture`, which is neither on (`1`, `true`, `yes`, `on`) nor off (`0`, `false`, `no`, `off`, empty)"),
        case("a feature that the package does not have")
            .runs("$TUNE list --features nonsense")
            .says("error: no feature `nonsense` in tiny (features: none)"),
    ]
}

/// Adds a second kernel, which exists only with the feature `gpu`.
const BEHIND: &str = "sed 's/pub fn scale(/pub fn other(/; s/source = /entry = \"scale\", source = /' src/lib.rs > src/other.rs; \
    sed -i '1i #[cfg(feature = \"gpu\")] mod other;' src/lib.rs; printf '[features]\\ngpu = []\\n' >> Cargo.toml";

fn hidden() -> Vec<Case> {
    let gated = |name| {
        case(name)
            .edit(LIB, "#[tuned_kernel(", "#[cfg(feature = \"gpu\")]\n#[tuned_kernel(")
            .prepare("printf '[features]\\ngpu = []\\n' >> Cargo.toml")
            .says("error: `scale` is behind the feature `gpu` (<root>/src/lib.rs)\nhelp: add `--features gpu`")
    };
    vec![
        gated("no kernel but behind a feature"),
        gated("a kernel behind a feature, by name").runs("$TUNE list -k scale"),
        case("a kernel behind a feature beside another")
            .prepare(BEHIND)
            .runs("$TUNE list")
            .prints("note: left out: `other` is behind the feature `gpu` (<root>/src/other.rs); `--features gpu` brings it in"),
        case("a kernel behind a feature, with it")
            .prepare(BEHIND)
            .runs("$TUNE list --features gpu | grep '^other '")
            .prints("other (tiny)"),
        case("a kernel in a file that no module names")
            .prepare("mv src/lib.rs src/old.rs; echo '//! Nothing.' > src/lib.rs")
            .says("error: no `#[tuned_kernel]` in package `tiny`\n<root>/src/old.rs has a `#[tuned_kernel]`, but no `mod` leads to it"),
        case("a kernel by name beside a wrong one")
            .prepare("sed 's/pub fn scale(/pub fn wrong(/; s/THREADS = 32/THREADS = 33/' src/lib.rs > src/other.rs; sed -i '1i mod other;' src/lib.rs")
            .runs("$TUNE list -k scale 2>&1 >/dev/null | cut -d: -f1-3; $TUNE list -k scale 2>/dev/null | grep '^scale '")
            .prints("scale (tiny)"),
    ]
}

fn lists() -> Vec<Case> {
    vec![
        case("kernels with a comma between")
            .runs("$TUNE list -k scale,scala")
            .says("error: no kernel `scala` (found: scale)"),
        case("problems with a comma between")
            .runs("$TUNE run --device cpu --problem n=10000,n=5")
            .says("error: no kernel declares the problem `n=5` (declared: n=10000)"),
        case("targets without a comma, and a kernel")
            .runs("$TUNE inspect --target sm_86 sm_89 scala")
            .says("error: no kernel `scala` (found: scale)"),
        case("counts of kernels as JSON")
            .runs("$TUNE space --device cpu --count --json | tr -d ' \\n'; echo")
            .prints(
                "[{\"kernel\":\"scale\",\"problem\":\"n=10000\",\"valid\":6,\"product\":\"6\"}]",
            ),
        case("counts of kernels")
            .runs("$TUNE space --device cpu --count")
            .prints("scale (n=10000): 6"),
        case("a problem to explain, as an option")
            .runs("$TUNE why scale --problem n=10000 --device cpu")
            .prints("nothing is stored for this kernel\nhelp: run `tune run`"),
        case("a problem to explain, twice")
            .runs("$TUNE why scale n=10000 --problem n=10000 --device cpu")
            .fails(
                2,
                "error: the argument '[SIZES]' cannot be used with '--problem <SIZES>'",
            ),
    ]
}

fn runs() -> Vec<Case> {
    vec![
        case("a folder of local tables that cannot be made")
            .prepare("mkdir target; touch target/kiln")
            .runs("$TUNE run --device cpu --trials 1")
            .says("error: cannot write tables into <root>/target/kiln/tuned/tiny: Not a directory (os error 20)\nhelp: make <root>/target/kiln a writable folder; nothing was measured yet"),
        case("a run that is interrupted")
            .prepare("echo '{\"rules\": [{\"when\": {}, \"compile\": {\"slow_ms\": 600000}}]}' > slow.json; mkdir cache")
            .runs("$TUNE run --device fake:slow.json --verbose 2> cache/said & while [ ! -s cache/said ]; do sleep 0.1; done; kill -TERM $!; wait $!; code=$?; cat cache/said; exit $code")
            .fails(143, "tune: interrupted; what was measured is kept\nhelp: run the same command again to go on"),
        case("tables that were deleted")
            .prepare("$TUNE run --device cpu --trials 1 --write; rm -r tuned; $TUNE bake --device cpu --write")
            .runs("ls -A tuned; $TUNE why scale --device cpu | grep -c '^winner: THREADS=32,ITEMS=1 (baseline kept: '")
            .prints(".gitattributes\nindex.toml\nscale.toml\n1"),
    ]
}
