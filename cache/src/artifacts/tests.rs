use std::fs;

use super::*;

fn request(n: u64) -> Hash {
    Hash::of("test", &n.to_le_bytes())
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("artifacts");
    (folder, path)
}

fn size_on_disk(path: &Path) -> u64 {
    let sizes = path
        .read_dir()
        .unwrap()
        .map(|e| e.unwrap().metadata().unwrap().len());
    sizes.sum()
}

#[test]
fn what_is_put_is_got_and_another_request_misses() {
    let (_folder, path) = folder();
    let artifacts = Artifacts::open(&path, 1 << 20).unwrap();
    let content = artifacts.put(request(1), b"\x7fELF code").unwrap();
    let got = artifacts.get(request(1)).unwrap().unwrap();
    assert_eq!(
        (got.content, &got.bytes[..]),
        (content, &b"\x7fELF code"[..])
    );
    assert_eq!(artifacts.get(request(2)).unwrap(), None);
    let again = Artifacts::open(&path, 1 << 20).unwrap();
    assert_eq!(again.get(request(1)).unwrap(), Some(got));
    artifacts.put(request(3), b"").unwrap();
    assert_eq!(artifacts.get(request(3)).unwrap().unwrap().bytes, b"");
}

#[test]
fn every_flipped_bit_and_every_truncation_is_a_miss_that_is_counted() {
    let (_folder, path) = folder();
    let artifacts = Artifacts::open(&path, 1 << 20).unwrap();
    artifacts.put(request(1), b"code").unwrap();
    let file = artifacts.path(request(1));
    let sound = fs::read(&file).unwrap();
    let flips = (0..sound.len() * 8).map(|bit| {
        let mut damaged = sound.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        damaged
    });
    let cuts = (0..sound.len()).map(|length| sound[..length].to_vec());
    let mut tried = 0;
    for damaged in flips.chain(cuts) {
        fs::write(&file, damaged).unwrap();
        assert_eq!(artifacts.get(request(1)).unwrap(), None);
        assert!(!file.exists());
        tried += 1;
        assert_eq!(artifacts.damaged(), tried);
    }
}

#[test]
fn an_artifact_moved_to_another_request_is_a_miss() {
    let (_folder, path) = folder();
    let artifacts = Artifacts::open(&path, 1 << 20).unwrap();
    artifacts.put(request(1), b"code").unwrap();
    fs::rename(artifacts.path(request(1)), artifacts.path(request(2))).unwrap();
    assert_eq!(artifacts.get(request(2)).unwrap(), None);
}

#[test]
fn the_folder_stays_below_its_bytes_and_the_least_used_goes_first() {
    let (_folder, path) = folder();
    let artifacts = Artifacts::open(&path, 5_000).unwrap();
    for n in 0..4 {
        artifacts.put(request(n), &[n as u8; 1000]).unwrap();
        std::thread::sleep(Duration::from_millis(15));
    }
    assert!(artifacts.get(request(0)).unwrap().is_some());
    artifacts.put(request(4), &[4; 1000]).unwrap();
    let kept: Vec<_> = (0..5)
        .filter(|n| artifacts.path(request(*n)).exists())
        .collect();
    assert_eq!(kept, [0, 2, 3, 4]);
    for n in 5..50 {
        artifacts
            .put(request(n), &vec![0; (n * 37 % 2000) as usize])
            .unwrap();
        assert!(size_on_disk(&path) <= 5_000);
        assert!(artifacts.get(request(n)).unwrap().is_some());
    }
    Artifacts::open(&path, 1_500).unwrap();
    assert!(size_on_disk(&path) <= 1_500);
}

#[test]
fn an_artifact_larger_than_the_folder_may_be_is_not_kept() {
    let (_folder, path) = folder();
    let artifacts = Artifacts::open(&path, 1_000).unwrap();
    artifacts.put(request(1), b"small").unwrap();
    artifacts.put(request(2), &[0; 2_000]).unwrap();
    assert_eq!(artifacts.get(request(2)).unwrap(), None);
    assert!(artifacts.get(request(1)).unwrap().is_some());
}

#[test]
fn replacing_an_artifact_counts_it_once() {
    let (_folder, path) = folder();
    let artifacts = Artifacts::open(&path, 5_000).unwrap();
    artifacts.put(request(1), &[1; 1_000]).unwrap();
    for n in 0..50 {
        artifacts.put(request(2), &[n; 1_000]).unwrap();
    }
    assert!(artifacts.get(request(1)).unwrap().is_some());
    assert_eq!(
        artifacts.get(request(2)).unwrap().unwrap().bytes,
        [49; 1_000]
    );
}

#[test]
fn threads_never_see_half_an_artifact() {
    let (_folder, path) = folder();
    let artifacts = Artifacts::open(&path, 1 << 20).unwrap();
    std::thread::scope(|scope| {
        for byte in 0..8_u8 {
            let artifacts = &artifacts;
            scope.spawn(move || {
                for _ in 0..50 {
                    artifacts.put(request(1), &[byte; 10_000]).unwrap();
                    let got = artifacts.get(request(1)).unwrap().unwrap();
                    assert!(got.bytes.iter().all(|b| *b == got.bytes[0]));
                }
            });
        }
    });
    assert_eq!(artifacts.damaged(), 0);
}

#[test]
fn a_file_in_place_of_the_folder_is_an_error_with_advice() {
    let (_folder, path) = folder();
    fs::write(&path, "x").unwrap();
    let error = Artifacts::open(&path, 1).unwrap_err();
    assert!(error.to_string().contains("help: "), "{error}");
}
