use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::contract;

fn folder() -> (tempfile::TempDir, Folder) {
    let temporary = tempfile::tempdir().unwrap();
    let store = Folder::create(&temporary.path().join("store")).unwrap().0;
    (temporary, store)
}

fn keeps(check: fn(&dyn ObjectStore)) {
    let (_temporary, store) = folder();
    check(&store);
}

#[test]
fn an_object_reads_back_and_is_never_replaced() {
    keeps(contract::reads_back);
}

#[test]
fn an_object_that_is_too_large_is_not_read() {
    keeps(contract::is_bounded);
}

#[test]
fn an_empty_object_and_the_largest_read_back() {
    keeps(contract::may_be_empty);
    keeps(contract::may_be_large);
}

#[test]
fn a_name_that_leaves_the_folder_is_refused() {
    keeps(contract::refuses_names);
}

#[test]
fn many_writers_of_one_object_agree() {
    keeps(contract::takes_the_same_from_many);
}

#[test]
fn a_listing_is_sorted_and_names_what_is_no_object() {
    keeps(contract::lists);
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
}

#[test]
fn a_location_without_a_store_is_refused_with_help() {
    let refused = |location: &str| {
        let error = open(location).unwrap_err();
        assert!(!error.is_passing(), "{error}");
        let error = error.to_string();
        assert!(
            error.contains(location) && error.contains("help: "),
            "{error}"
        );
        error
    };
    refused("gs://bucket");
    refused("s3://");
    let error = refused(if cfg!(feature = "s3") {
        "s3://B/prefix"
    } else {
        "s3://bucket/prefix"
    });
    assert_eq!(error.contains("--features s3"), cfg!(not(feature = "s3")));
    let (temporary, _) = folder();
    let path = temporary.path().join("new");
    create(path.to_str().unwrap()).unwrap();
    assert!(path.is_dir());
}

#[test]
fn a_folder_that_does_not_exist_is_created_only_on_request_and_only_below_one_that_does() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("store");
    assert!(matches!(
        Folder::open(&path),
        Err(StoreError::NoFolder { .. })
    ));
    assert!(!path.exists());
    let below = path.join("deeper");
    assert!(matches!(Folder::create(&below), Err(StoreError::Io { .. })));
    assert!(Folder::create(&path).unwrap().1);
    assert!(!Folder::create(&path).unwrap().1);
    Folder::open(&path).unwrap();
}
