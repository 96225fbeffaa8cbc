//! Two packages outside the workspace, built from the packaged crates: a library with a kernel, and a program.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

#[path = "outside/mod.rs"]
mod packages;

use packages::{HEADER, Outside, SOURCE, stderr, stdout, succeed};

#[test]
fn packaged_crates_build_launch_and_smoke_test_outside_the_workspace() {
    let outside = Outside::new();
    let run = succeed(outside.cargo("program", &["run", "--quiet"], &[]));
    assert_eq!(stdout(&run).trim(), "sum 3283500, 1 rows");
    let smoke = succeed(outside.cargo("squares", &["test", "--", "--nocapture"], &[]));
    // The L4's row of 384 threads really ran here.
    assert!(
        stdout(&smoke).contains("block=(384,1,1)"),
        "{}",
        stdout(&smoke)
    );
    a_failed_smoke_test_says_why_once(&outside);
    programs_carry_no_parser(&outside);
    rebuilds_exactly_when_something_it_depends_on_changed(&outside);
}

fn a_failed_smoke_test_says_why_once(outside: &Outside) {
    let header = HEADER.replace("i * i", "i * i + 1u");
    outside.write("squares/src/cu/square.cuh", &header);
    let smoke = outside.cargo("squares", &["test"], &[]);
    assert!(!smoke.status.success());
    let said = stdout(&smoke) + &stderr(&smoke);
    let why = "out[0] is 1e0, it should be 0e0";
    assert_eq!(said.matches(why).count(), 1, "{said}");
    outside.write("squares/src/cu/square.cuh", HEADER);
}

fn programs_carry_no_parser(outside: &Outside) {
    let args = [
        "tree",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
    ];
    let tree = stdout(&succeed(outside.cargo("program", &args, &[])));
    assert!(tree.contains("kiln-spec"), "{tree}");
    for package in ["syn", "toml", "sled", "indicatif", "kiln-macros"] {
        let carried = tree
            .lines()
            .any(|line| line.split(' ').next() == Some(package));
        assert!(!carried, "a program carries {package}:\n{tree}");
    }
}

/// A change, and whether the library is compiled again.
type Case<'a> = (&'a str, &'a dyn Fn(&Outside), bool);

fn rebuilds_exactly_when_something_it_depends_on_changed(outside: &Outside) {
    let cases: [Case; 9] = [
        ("nothing", &|_| {}, false),
        (
            "a file it does not read",
            &|o| o.write("squares/README.md", "Changed.\n"),
            false,
        ),
        (
            "its source",
            &|o| o.write("squares/src/cu/fill.cu", &SOURCE.replace("% 100", "% 100u")),
            true,
        ),
        ("nothing after that", &|_| {}, false),
        (
            "an included header",
            &|o| {
                o.write(
                    "squares/src/cu/square.cuh",
                    &HEADER.replace("i * i", "i * i * 1u"),
                )
            },
            true,
        ),
        (
            "its table",
            &|o| o.bake(&["cuda/sm_89/NVIDIA L4", "cpu/x86-64/Some CPU"]),
            true,
        ),
        (
            "the index",
            &|o| o.write("squares/tuned/index.toml", "format = 1\n[kernels]\n"),
            true,
        ),
        (
            "the index again",
            &|o| o.bake(&["cuda/sm_89/NVIDIA L4"]),
            true,
        ),
        ("nothing at the end", &|_| {}, false),
    ];
    succeed(outside.cargo("squares", &["build"], &[]));
    for (what, change, expected) in cases {
        // File times are compared by the second on some systems.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        change(outside);
        let build = succeed(outside.cargo("squares", &["build"], &[]));
        let compiled = stderr(&build).contains("Compiling squares");
        assert_eq!(compiled, expected, "{what}: {}", stderr(&build));
    }
    what_is_not_fresh_warns_or_fails(outside);
}

fn what_is_not_fresh_warns_or_fails(outside: &Outside) {
    outside.write("squares/src/cu/square.cuh", HEADER);
    let build = succeed(outside.cargo("squares", &["build"], &[]));
    let said = stderr(&build);
    assert!(
        said.contains("1 baked row of `fill_squares` is stale and not used"),
        "{said}"
    );
    let run = succeed(outside.cargo("program", &["run", "--quiet"], &[]));
    assert!(stdout(&run).contains("0 rows"), "{}", stdout(&run));
    // The variable alone makes cargo build again.
    let strict = outside.cargo("squares", &["build"], &[("KILN_STRICT", "1")]);
    assert!(!strict.status.success());
    assert!(
        stderr(&strict).contains("error: 1 baked row of `fill_squares` is stale"),
        "{}",
        stderr(&strict)
    );
    outside.remove("squares/tuned/index.toml");
    let build = outside.cargo("squares", &["build"], &[]);
    assert!(!build.status.success());
    assert!(
        stderr(&build).contains("run `tune init` in this package"),
        "{}",
        stderr(&build)
    );
    outside.write("squares/other/index.toml", "format = 1\n[kernels]\n");
    let elsewhere = outside.cargo("squares", &["build"], &[("KILN_TUNED", "other")]);
    assert!(stderr(&succeed(elsewhere)).contains("kernel `fill_squares` is not baked"));
}
