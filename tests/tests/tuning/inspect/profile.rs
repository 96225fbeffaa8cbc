//! `tune inspect --profile` on a kernel whose costs are known by hand, for one GPU of each family.

use std::fs;
use std::path::Path;

use kiln_tests::command::{expect_code, stderr, stdout, tune_alone};
use serde_json::Value;
use tempfile::TempDir;

const SOURCE: &str = include_str!("../../../fixtures/costs/src/costs.cu");

fn package() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let root = folder.path();
    fs::create_dir(root.join("src")).expect("a folder should be made");
    let files = [
        (
            "Cargo.toml",
            "[package]\nname = \"costs\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        ),
        (
            "src/lib.rs",
            include_str!("../../../fixtures/costs/src/lib.rs"),
        ),
        ("src/costs.cu", SOURCE),
    ];
    for (path, text) in files {
        fs::write(root.join(path), text).expect("a file should be written");
    }
    folder
}

/// The profile of a config on a target.
fn profile(root: &Path, arch: &str, config: &str) -> Value {
    let mut command = tune_alone(root, &root.join("cache"));
    let words = ["inspect", "--profile", "--json", "--target", arch];
    let output = expect_code(command.args(words).args(["--config", config]), 0);
    let rows: Value = serde_json::from_str(&stdout(&output)).expect("rows should be printed");
    rows[0]["profile"].clone()
}

/// The worst source line of a cost: the number at the end of the line, and the figures.
fn worst(profile: &Value, kind: &str) -> Option<(String, String)> {
    let all = profile["worst"].as_array().expect("a list");
    let worst = all.iter().find(|one| one["kind"] == kind)?;
    let number = worst["line"]["number"].as_u64().expect("a line") as usize;
    // The line may belong to a header instead.
    let line = SOURCE.lines().nth(number - 1).unwrap_or_default();
    let mark = line.rsplit("// ").next().unwrap_or_default();
    Some((
        mark.to_owned(),
        worst["detail"].as_str().expect("a text").to_owned(),
    ))
}

#[test]
fn the_worst_line_of_each_cost_is_named() {
    for known in super::targets("the_worst_line_of_each_cost_is_named") {
        if !["sm_86", "gfx1151"].contains(&known.arch) {
            continue;
        }
        let package = package();
        let of = |config: &str| profile(package.path(), known.arch, config);
        let rounded = |value: &Value| value.as_f64().map(|value| (value * 10.0).round() / 10.0);
        let check = |config: &str, sectors: f64, use_percent: f64, least: f64| {
            let profile = of(config);
            let found = [
                &profile["sectors_per_request"],
                &profile["sector_use_percent"],
                &profile["moved_over_least"],
            ];
            let found = found.map(rounded);
            let wanted = [Some(sectors), Some(use_percent), Some(least)];
            assert_eq!(found, wanted, "{} {config}: {profile}", known.arch);
            profile
        };
        // A warp reads and writes 128 bytes, which are 4 sectors each.
        let plain = check("WAY=0,STRIDE=1", 4.0, 100.0, 1.0);
        assert_eq!(plain["worst"].as_array().map(Vec::len), Some(0), "{plain}");
        assert_eq!(
            (&plain["blocks"], &plain["executed_blocks"]),
            (&16.into(), &8.into())
        );
        assert_eq!(plain["global_requests"], 8 * 8 * 2);
        // A warp reads a word from each of 32 sectors, and writes 4 sectors. 8 of the 36 sectors would be enough.
        let strided = check("WAY=1,STRIDE=1", 18.0, 22.2, 4.5);
        let detail = "32.0 sectors per request, 4.0 would hold the bytes";
        assert_eq!(worst(&strided, "global"), Some(("1".into(), detail.into())));
        let inlined = check("WAY=6,STRIDE=1", 18.0, 22.2, 4.5);
        assert_eq!(worst(&inlined, "global"), Some(("6".into(), detail.into())));
        let called_at = |profile: &Value| profile["worst"][0]["line"]["called_at"].clone();
        let call = called_at(&inlined)["number"].as_u64().expect("a call");
        assert!(
            SOURCE
                .lines()
                .nth(call as usize - 1)
                .is_some_and(|line| line.ends_with("// the call")),
            "{}: line {call}",
            known.arch
        );
        assert_eq!(called_at(&strided), Value::Null);
        // The 32 words of a warp are in the same bank.
        let shared = check("WAY=2,STRIDE=32", 4.0, 100.0, 1.0);
        let detail = "31.00 bank conflicts per request";
        assert_eq!(worst(&shared, "shared"), Some(("2".into(), detail.into())));
        let divergent = of("WAY=3,STRIDE=1");
        let (_, detail) = worst(&divergent, "divergence").expect("lanes wait");
        assert_eq!(detail, "8.0 of 32 lanes", "{}: {divergent}", known.arch);
        let private = of("WAY=4,STRIDE=1");
        let requests = private["private_requests"].as_u64();
        assert!(requests >= Some(64), "{}: {private}", known.arch);
        let products = of("WAY=5,STRIDE=1");
        let hot = &products["hot_loop"];
        assert_eq!(hot["inner_loops"], 0, "{hot}");
        // Eight multiply-adds, the counter, the comparison, the branch, and delay hints on AMD GPUs.
        let share = hot["multiply_adds_per_100"].as_f64();
        assert!(share > Some(40.0), "{}: {hot}", known.arch);
        assert!(hot["share_percent"].as_f64() > Some(90.0), "{hot}");
    }
}

#[test]
fn the_table_names_the_line_and_what_is_not_simulated_is_refused() {
    let name = "the_table_names_the_line_and_what_is_not_simulated_is_refused";
    let package = package();
    let root = package.path();
    let run = |words: &str, code| {
        let mut command = tune_alone(root, &root.join("cache"));
        expect_code(command.args(words.split(' ')), code)
    };
    let refused = stderr(&run("inspect --profile --target cpu", 2));
    assert!(
        refused.contains("the cpu device is not simulated"),
        "{refused}"
    );
    assert!(refused.contains("help: name a GPU"), "{refused}");
    let unused = stderr(&run("inspect --blocks 4", 2));
    assert!(unused.contains("--profile"), "{unused}");
    for known in super::targets(name).into_iter().take(1) {
        let words = format!(
            "inspect --profile --target {} --config WAY=2,STRIDE=32",
            known.arch
        );
        let text = stdout(&run(&words, 0));
        assert!(
            text.contains("shared memory: 31.00 bank conflicts per request at costs.cu:16"),
            "{text}"
        );
        assert!(text.contains("8 of 16 blocks"), "{text}");
        let rows = stdout(&run(&format!("{words} --json"), 0));
        fs::write(root.join("profiles.json"), rows).expect("a file should be written");
        let drawn = root.join("page.html").display().to_string();
        let rows = root.join("profiles.json").display().to_string();
        run(&format!("report --profiles {rows} --out {drawn}"), 0);
        let page = fs::read_to_string(drawn).expect("the page should be there");
        for part in ["31.00 bank conflicts per request", "costs.cu:16"] {
            assert!(page.contains(part), "{part}");
        }
    }
}
