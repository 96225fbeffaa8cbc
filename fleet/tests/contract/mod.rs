//! Checks that every kind of store must pass. Each check receives an empty store.
#![allow(dead_code, clippy::unwrap_used)]

use kiln_fleet::store::{Listing, ObjectStore, StoreError};

/// A check: what it checks, as a sentence, and its function.
pub type Check = (&'static str, fn(&dyn ObjectStore));

pub const CHECKS: [Check; 7] = [
    ("an object reads back and is never replaced", reads_back),
    ("an object that is too large is not read", is_bounded),
    ("an empty object is one", may_be_empty),
    ("the largest objects read back", may_be_large),
    ("a name that leaves the store is refused", refuses_names),
    ("a listing is sorted and has one folder only", lists),
    ("many writers of one object agree", takes_the_same_from_many),
];

pub fn reads_back(store: &dyn ObjectStore) {
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

pub fn is_bounded(store: &dyn ObjectStore) {
    store.put("a/b", b"bytes").unwrap();
    let error = store.get("a/b", 4).unwrap_err();
    let of_sizes = matches!(
        error,
        StoreError::TooLarge {
            bytes: 5,
            most: 4,
            ..
        }
    );
    assert!(of_sizes, "{error}");
}

pub fn may_be_empty(store: &dyn ObjectStore) {
    store.put("a/empty", b"").unwrap();
    store.put("a/empty", b"").unwrap();
    assert_eq!(store.get("a/empty", 0).unwrap().unwrap(), b"");
    assert_eq!(store.list("a/").unwrap().names, ["a/empty"]);
}

pub fn may_be_large(store: &dyn ObjectStore) {
    let bytes: Vec<u8> = (0..kiln_fleet::segment::MAX_SEGMENT_BYTES)
        .map(|n| (n % 251) as u8)
        .collect();
    store.put("a/large.seg", &bytes).unwrap();
    let read = store.get("a/large.seg", bytes.len()).unwrap().unwrap();
    assert!(read == bytes);
}

pub fn refuses_names(store: &dyn ObjectStore) {
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
        "a%2fb",
        "a?b",
        &"a".repeat(600),
    ] {
        let is_refused = |error| matches!(error, StoreError::Name { .. });
        assert!(is_refused(store.put(name, b"").unwrap_err()), "{name}");
        assert!(is_refused(store.get(name, 1).unwrap_err()), "{name}");
    }
}

pub fn lists(store: &dyn ObjectStore) {
    for name in ["p/b/2", "p/a/1", "p/c", "q/x", "pp/y", "p-/z"] {
        store.put(name, b"1").unwrap();
    }
    let listing = store.list("p/").unwrap();
    assert_eq!(listing.names, ["p/a/1", "p/b/2", "p/c"]);
    assert_eq!(listing.ignored, Vec::<String>::new());
    assert_eq!(store.list("p/a/").unwrap().names, ["p/a/1"]);
    assert_eq!(store.list("none/").unwrap(), Listing::default());
}

pub fn takes_the_same_from_many(store: &dyn ObjectStore) {
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
