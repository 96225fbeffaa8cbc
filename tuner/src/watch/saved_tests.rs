use super::*;

fn saved() -> Saved {
    let mut saved = Saved::new(1_700_000_000);
    let prelude = saved.keep_prelude(&[("kiln_cpu.h", "#pragma once\n"), ("empty.h", "")]);
    let unit = saved.keep_text("// entry add, config THREADS=32, add_00\n");
    saved.sections.push(Section {
        device: "cpu/x86-64-v3/Some CPU".parse().unwrap(),
        compiler: "clang++".into(),
        compiler_version: "19.1.7".into(),
        flags: vec!["-O3".into()],
        prelude,
        regime: "hot".into(),
        kernels: vec![SavedKernel {
            package: "shop".into(),
            kernel: "add".into(),
            problem: "n=8".into(),
            spec: serde_json::json!({"name": "add", "tolerance": 1e-5}),
            source: "00".into(),
            entry: "add".into(),
            config: "THREADS=32".into(),
            baseline: false,
            plan: LaunchPlan {
                grid: [1; 3],
                block: [32, 1, 1],
                shared_bytes: 0,
            },
            unit,
            symbol_hash: "000000000000000f".into(),
            config_hash: "00000000000000ff".into(),
            fibers: false,
            recorded: Some(Recorded {
                median_ns: 10,
                low_ns: Some(9),
                high_ns: None,
            }),
        }],
    });
    saved
}

fn written(name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    saved().write(&path).unwrap();
    // There is no other file in the folder.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(Saved::read(&path).unwrap(), saved());
    fs::read(&path).unwrap()
}

#[test]
fn a_file_reads_back_packed_and_plain() {
    let plain = written("kernels.json");
    let packed = written("kernels.json.gz");
    assert!(plain.starts_with(b"{") && packed.starts_with(&[0x1f, 0x8b]));
}

#[test]
fn headers_come_back_with_their_texts() {
    let saved = saved();
    let headers = saved.headers(&saved.sections[0].prelude).unwrap();
    assert_eq!(headers[0], ("kiln_cpu.h".into(), "#pragma once\n".into()));
    assert_eq!(headers[1], ("empty.h".into(), String::new()));
    assert!(
        saved
            .headers("none")
            .unwrap_err()
            .to_string()
            .contains("not contain prelude")
    );
}

#[test]
fn white_space_and_line_ends_of_a_checkout_are_no_damage() {
    let text = String::from_utf8(written("kernels.json")).unwrap();
    let read = Saved::parse(text.replace('\n', "\r\n").as_bytes());
    assert_eq!(read.unwrap(), saved());
}

#[test]
fn every_flipped_byte_is_an_error_or_changes_nothing() {
    for name in ["kernels.json", "kernels.json.gz"] {
        let whole = written(name);
        for at in 0..whole.len() {
            for bit in [0, 2, 5] {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                match Saved::parse(&bytes) {
                    Ok(read) => assert_eq!(read, saved(), "{name}: bit {bit} of byte {at}"),
                    Err(error) => assert!(error.to_string().contains("\nhelp: "), "{error}"),
                }
            }
        }
    }
}

#[test]
fn a_file_cut_off_anywhere_is_an_error() {
    for name in ["kernels.json", "kernels.json.gz"] {
        let whole = written(name);
        // The last byte of the plain text is a line end.
        for length in 0..whole.len() - 1 {
            let error = Saved::parse(&whole[..length]).unwrap_err().to_string();
            assert!(
                error.contains("\nhelp: "),
                "{name} cut at {length}: {error}"
            );
        }
    }
}

#[test]
fn a_newer_version_and_other_json_are_refused_by_name() {
    let text = String::from_utf8(written("kernels.json")).unwrap();
    let newer = text.replace("\"version\": 1", "\"version\": 2");
    let error = Saved::parse(newer.as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with("a file of version 2"), "{error}");
    let error = Saved::parse(b"{\"format\": \"other\", \"version\": 1}")
        .unwrap_err()
        .to_string();
    assert!(error.contains("its format is `other`"), "{error}");
    assert!(
        Saved::parse(b"[]")
            .unwrap_err()
            .to_string()
            .starts_with("not a file of saved kernels")
    );
}
