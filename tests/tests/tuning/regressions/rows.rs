//! Everything else that can happen to a saved kernel. Each case is a separate row, with the documented exit code.

use kiln_spec::Hash;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{stderr, stdout, workspace};
use kiln_tuner::watch::saved::Saved;
use serde_json::Value;

use crate::regressions::shop::{Shop, row};

const KERNELS: [(&str, &str); 4] = [
    ("tensor_add", "(T = f32, n = 4096)"),
    ("tensor_mul", "(T = f32, n = 4096), (T = f32, n = 5000)"),
    ("gelu", "(T = f32, n = 4096, form = 1)"),
    ("transpose", "(T = f32, rows = 64, cols = 64)"),
];

fn saved() -> (Shop, String) {
    let shop = Shop::of_library(&KERNELS);
    let device = shop.fake("plain.json", &[]);
    shop.tune(&format!("bench --device {device} --save saved.json"), 0);
    (shop, device)
}

fn verdicts(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = report["rows"]
        .as_array()
        .expect("the report should have rows");
    let mut found: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                format!("{} {}", text(&row["kernel"]), text(&row["problem"])),
                text(&row["verdict"]),
            )
        })
        .collect();
    found.sort();
    found
}

#[test]
fn new_gone_and_changed_kernels_are_rows_of_their_own() {
    let (shop, device) = saved();
    // Nothing has changed. Identical code is not measured.
    let report = shop.json(
        &format!("compare saved.json --device {device} --fail-above 5%"),
        0,
    );
    let all = verdicts(&report);
    assert_eq!(all.len(), 5);
    assert!(all.iter().all(|(_, verdict)| verdict == "same"), "{all:?}");
    // Removes a kernel, replaces a problem by another, and renames an argument.
    shop.edit("src/lib.rs", |text| {
        text.replace("pub mod transpose;\n", "")
    });
    shop.edit("src/tensor_mul/mod.rs", |text| {
        text.replace("n = 5000", "n = 6000")
    });
    shop.edit("src/gelu/mod.rs", |text| {
        text.replace("#[len(n)]", "#[len(n + 0)]")
    });
    shop.remark("gelu");
    let words = format!("compare saved.json --device {device} --fail-above 5%");
    let report = shop.json(&words, 0);
    let expected = [
        ("gelu T=f32,n=4096,form=1", "changed"),
        ("tensor_add T=f32,n=4096", "same"),
        ("tensor_mul T=f32,n=4096", "same"),
        ("tensor_mul T=f32,n=5000", "gone"),
        ("tensor_mul T=f32,n=6000", "new"),
        ("transpose T=f32,rows=64,cols=64", "gone"),
    ];
    let found = verdicts(&report);
    let found: Vec<_> = found
        .iter()
        .map(|(name, verdict)| (name.as_str(), verdict.as_str()))
        .collect();
    assert_eq!(found, expected);
    // Inconclusive rows fail only if requested.
    let strict = shop.json(&format!("{words} --fail-inconclusive"), 1);
    let failing = strict["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["fails"] == true);
    assert_eq!(failing.count(), 3, "gone twice and changed once");
    // A kernel that was not selected is not reported as removed.
    let one = shop.json(&format!("{words} -k tensor_add --fail-inconclusive"), 0);
    assert_eq!(verdicts(&one).len(), 1);
    let text = stdout(&shop.tune(&words, 0));
    assert!(
        text.contains("2 gone") && text.contains("1 changed"),
        "{text}"
    );
}

#[test]
fn a_comparison_in_which_every_saved_kernel_is_gone_is_an_error() {
    let (shop, device) = saved();
    shop.edit("src/lib.rs", |_| "pub mod layer_norm;\n".to_owned());
    let library = workspace().join("kernels/src/layer_norm");
    for file in ["mod.rs", "reference.rs", "layer_norm.cu"] {
        let text = std::fs::read_to_string(library.join(file)).expect("the kernel should be there");
        shop.write(&format!("src/layer_norm/{file}"), &text);
    }
    let output = shop.tune(&format!("compare saved.json --device {device}"), 1);
    let said = stderr(&output);
    assert!(said.contains("nothing can be compared"), "{said}");
}

#[test]
fn a_saved_source_that_no_longer_compiles_is_broken_and_the_others_are_compared() {
    let name = "a_saved_source_that_no_longer_compiles_is_broken_and_the_others_are_compared";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let shop = Shop::of_library(&KERNELS[..2]);
    shop.tune("bench --device cpu --save saved.json", 0);
    let path = shop.path("saved.json");
    let mut saved = Saved::read(&path).expect("the file should be read");
    let kernel = saved.sections[0]
        .kernels
        .iter_mut()
        .find(|kernel| kernel.kernel == "tensor_add");
    let kernel = kernel.expect("it was saved");
    let text = format!("{}\n#error of another time\n", saved.texts[&kernel.unit]);
    kernel.unit = Hash::of("kiln saved text", text.as_bytes()).to_string();
    saved.texts.insert(kernel.unit.clone(), text);
    saved.write(&path).expect("the file should be written");
    // Changes the kernel, because identical code would not run.
    shop.remark("tensor_mul");
    let words = "compare saved.json --device cpu --budget full --fail-above 5%";
    let report = shop.json(words, 0);
    let add = row(&report, "tensor_add");
    assert_eq!(add["verdict"], "broken", "{add:#}");
    let reason = add["reason"].as_str().expect("a reason");
    assert!(reason.contains("of another time"), "{reason}");
    let mul = row(&report, "tensor_mul");
    let verdict = mul["verdict"].as_str().expect("a verdict");
    assert!(["same", "inconclusive"].contains(&verdict), "{mul:#}");
    assert!(mul["measured"]["processes"].as_u64() >= Some(6), "{mul:#}");
}

#[test]
fn a_kernel_of_now_that_computes_something_else_fails_whatever_it_takes() {
    let name = "a_kernel_of_now_that_computes_something_else_fails_whatever_it_takes";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let shop = Shop::of_library(&KERNELS[..1]);
    shop.tune("bench --device cpu --save saved.json", 0);
    shop.edit("src/tensor_add/tensor_add.cu", |text| {
        text.replace("x + y", "x - y")
    });
    let report = shop.json("compare saved.json --device cpu", 1);
    let add = row(&report, "tensor_add");
    assert_eq!(
        (&add["verdict"], &add["fails"]),
        (&"failed".into(), &true.into()),
        "{add:#}"
    );
    assert!(add["measured"].is_null(), "what is wrong is not timed");
    let reason = add["reason"].as_str().expect("a reason");
    for part in [
        "its outputs differ from those of the saved kernel, and no plain-Rust reference tells which are right: ",
        "saved kernel incorrect: c[",
        "help: if the new outputs are right, save them with `tune bench --save`",
    ] {
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn a_saved_kernel_is_built_with_the_prelude_and_the_flags_of_then() {
    let name = "a_saved_kernel_is_built_with_the_prelude_and_the_flags_of_then";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let shop = Shop::of_library(&KERNELS[..1]);
    shop.tune("bench --device cpu --save saved.json", 0);
    // Changes the file as if it had been saved with an older prelude, which defines another macro that the kernel can
    // see.
    let path = shop.path("saved.json");
    let mut saved = Saved::read(&path).expect("the file should be read");
    let headers = saved
        .headers(&saved.sections[0].prelude)
        .expect("the prelude should be whole");
    let edited = headers.iter().map(|(name, text)| match name.as_str() {
        "kiln_cpu.h" => (
            name.as_str(),
            format!("{text}\n#define KILN_OF_ANOTHER_TIME 1\n"),
        ),
        name => (name, text.clone()),
    });
    let edited: Vec<_> = edited.collect();
    let borrowed: Vec<_> = edited
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let prelude = saved.keep_prelude(&borrowed);
    saved.sections[0].prelude = prelude;
    saved.sections[0].flags.push("-DKILN_FLAG_OF_THEN=1".into());
    let kernel = saved.sections[0].kernels[0].clone();
    let text = format!(
        "{}\n#if !defined KILN_OF_ANOTHER_TIME || !defined KILN_FLAG_OF_THEN\n#error not as it was\n#endif\n",
        saved.texts[&kernel.unit]
    );
    saved.sections[0].kernels[0].unit = saved.keep_text(&text);
    saved.write(&path).expect("the file should be written");
    let report = shop.json("compare saved.json --device cpu", 0);
    let add = row(&report, "tensor_add");
    let verdict = add["verdict"].as_str().expect("a verdict");
    assert!(["same", "inconclusive"].contains(&verdict), "{add:#}");
    assert_eq!(
        add["reason"]
            .as_str()
            .map(|reason| reason.ends_with("changed: prelude")),
        Some(true)
    );
    assert!(add["measured"]["processes"].as_u64() >= Some(6), "{add:#}");
}

#[test]
fn devices_that_are_not_here_are_rows_and_none_at_all_is_an_error() {
    let (shop, device) = saved();
    let other = serde_json::json!({"arch": "fake_2", "name": "Another Fake"});
    shop.write("other.json", &other.to_string());
    let other = format!("fake:{}", shop.path("other.json").display());
    let output = shop.tune(&format!("compare saved.json --device {other}"), 3);
    let text = stderr(&output);
    assert!(
        text.contains("nothing can be compared") && text.contains("help: "),
        "{text}"
    );
    // A file with two devices. The unselected device is omitted, and the unavailable device is a row.
    shop.tune(
        &format!("bench --device {device},cpu -k gelu --save both.json"),
        0,
    );
    let count = |words: &str, code: i32| {
        let found = verdicts(&shop.json(words, code));
        let of = |verdict: &str| found.iter().filter(|(_, found)| found == verdict).count();
        (of("other_device"), of("same"), of("new"))
    };
    let named = format!("compare both.json --device {device} --fail-above 5% --fail-inconclusive");
    assert_eq!(count(&named, 0), (0, 1, 4));
    let all = "compare both.json -k gelu";
    assert_eq!(count(all, 0), (1, 1, 0));
    assert_eq!(count(&format!("{all} --fail-inconclusive"), 1), (1, 1, 0));
}

#[test]
fn too_little_time_leaves_rows_open_and_loses_nothing() {
    let (shop, _) = saved();
    for (kernel, _) in KERNELS {
        shop.remark(kernel);
    }
    let slow = serde_json::json!({"rules": [{"when": {}, "compile": {"slow_ms": 700}}]});
    shop.write("slow.json", &slow.to_string());
    let device = format!("fake:{}", shop.path("slow.json").display());
    let words = format!("compare saved.json --device {device} --budget 1s --fail-above 5%");
    let report = shop.json(&words, 0);
    let found = verdicts(&report);
    assert_eq!(found.len(), 5);
    assert!(
        found.iter().any(|(_, verdict)| verdict == "inconclusive"),
        "{found:?}"
    );
    shop.json(&format!("{words} --fail-inconclusive"), 1);
}

#[test]
fn a_kernel_that_is_saved_again_replaces_the_file_whole() {
    let (shop, device) = saved();
    let before = Saved::read(&shop.path("saved.json")).expect("the file should be read");
    let words = format!("bench --device {device} -k gelu --save saved.json");
    let said = stderr(&shop.tune(&words, 0));
    assert!(said.contains("saved 1 kernels to saved.json"), "{said}");
    let after = Saved::read(&shop.path("saved.json")).expect("the file should be read");
    assert_eq!(
        (
            before.sections[0].kernels.len(),
            after.sections[0].kernels.len()
        ),
        (5, 1)
    );
    let saved = &after.sections[0].kernels[0];
    let unit = after.text(&saved.unit).expect("the unit should be kept");
    assert!(
        unit.contains(&format!("gelu_{}", saved.symbol_hash)),
        "the text is the kernel's own"
    );
}
