use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn folder() -> (tempfile::TempDir, Folder) {
    let temporary = tempfile::tempdir().unwrap();
    let store = Folder::open(&temporary.path().join("store")).unwrap();
    (temporary, store)
}

#[test]
fn an_object_reads_back_and_is_never_replaced() {
    let (_temporary, store) = folder();
    assert_eq!(store.get("a/b.seg", 10).unwrap(), None);
    store.put("a/b.seg", b"bytes").unwrap();
    store.put("a/b.seg", b"bytes").unwrap();
    assert_eq!(store.get("a/b.seg", 5).unwrap().unwrap(), b"bytes");
    for other in [b"other".as_slice(), b"longer than it", b""] {
        let error = store.put("a/b.seg", other).unwrap_err();
        assert!(
            matches!(error, StoreError::Exists { found: 5, .. }),
            "{error}"
        );
    }
    assert_eq!(store.get("a/b.seg", 5).unwrap().unwrap(), b"bytes");
}

#[test]
fn an_object_that_is_too_large_is_not_read() {
    let (_temporary, store) = folder();
    store.put("a/b", b"bytes").unwrap();
    let error = store.get("a/b", 4).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::TooLarge {
                bytes: 5,
                most: 4,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_name_that_leaves_the_folder_is_refused() {
    let (_temporary, store) = folder();
    for name in [
        "../x",
        "a/../x",
        "/x",
        "a//b",
        "",
        "a/",
        "A",
        "a b",
        "a\\b",
        ".x",
        "a/.x",
        "ü",
        "a\0",
        &"a".repeat(600),
    ] {
        assert!(
            matches!(store.put(name, b""), Err(StoreError::Name { .. })),
            "{name}"
        );
        assert!(
            matches!(store.get(name, 1), Err(StoreError::Name { .. })),
            "{name}"
        );
    }
}

#[test]
fn a_listing_is_sorted_and_names_what_is_no_object() {
    let (temporary, store) = folder();
    for name in ["p/b/2", "p/a/1", "p/c", "q/x"] {
        store.put(name, b"1").unwrap();
    }
    let root = temporary.path().join("store");
    fs::write(root.join("p/Foreign File"), b"").unwrap();
    fs::write(root.join("p/.kiln-half"), b"half").unwrap();
    symlink("/etc/passwd", root.join("p/link")).unwrap();
    symlink("/etc", root.join("p/folder")).unwrap();
    let listing = store.list("p/").unwrap();
    assert_eq!(listing.names, ["p/a/1", "p/b/2", "p/c"]);
    assert_eq!(listing.ignored, ["p/Foreign File", "p/folder", "p/link"]);
    assert_eq!(store.get("p/link", 1 << 20).unwrap(), None);
    assert_eq!(store.get("p/folder/passwd", 1 << 20).unwrap(), None);
    assert_eq!(store.list("none/").unwrap(), Listing::default());
}

#[test]
fn many_writers_of_one_object_agree() {
    let (_temporary, store) = folder();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..20 {
                    store.put(&format!("a/{n}"), b"the same").unwrap();
                }
            });
        }
    });
    assert_eq!(store.list("a/").unwrap().names.len(), 20);
}

#[test]
fn a_location_without_a_store_is_refused_with_help() {
    for location in ["gs://bucket", "s3://bucket/prefix"] {
        let error = open(location).unwrap_err().to_string();
        assert!(
            error.contains(location) && error.contains("help: "),
            "{error}"
        );
    }
    let (temporary, _) = folder();
    let path = temporary.path().join("new/store");
    open(path.to_str().unwrap()).unwrap();
    assert!(path.is_dir());
}
