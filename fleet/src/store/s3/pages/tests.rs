use std::sync::atomic::{AtomicUsize, Ordering};

use object_store::{ListResult, path::Path};

use super::*;

/// Sorted keys, listed as the library lists the keys of S3.
#[derive(Debug)]
struct Bucket {
    keys: Vec<String>,
    requests: AtomicUsize,
}

impl Bucket {
    fn of(keys: &[&str]) -> Bucket {
        let mut keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        keys.sort_unstable();
        Bucket {
            keys,
            requests: AtomicUsize::new(0),
        }
    }

    fn page(
        &self,
        prefix: &str,
        options: PaginatedListOptions,
    ) -> Result<PaginatedListResult, Error> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let after = options.page_token.or(options.offset);
        let mut keys = self.keys.iter().filter(|key| {
            key.starts_with(prefix) && after.as_ref().is_none_or(|after| *key > after)
        });
        let page: Vec<&String> = keys
            .by_ref()
            .take(options.max_keys.unwrap_or(PAGE))
            .collect();
        let page_token = keys.next().and(page.last()).map(|key| (*key).clone());
        let objects = page.into_iter().map(|key| {
            Ok(ObjectMeta {
                location: Path::parse(key)?,
                last_modified: Default::default(),
                size: u64::from(!key.ends_with('/')),
                e_tag: None,
                version: None,
            })
        });
        Ok(PaginatedListResult {
            result: ListResult {
                common_prefixes: Vec::new(),
                objects: objects.collect::<Result<_, path::Error>>()?,
                extensions: Default::default(),
            },
            page_token,
        })
    }
}

impl PaginatedListStore for Bucket {
    fn list_paginated<'s, 'p, 'f>(
        &'s self,
        prefix: Option<&'p str>,
        options: PaginatedListOptions,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<PaginatedListResult, Error>> + Send + 'f>>
    where
        's: 'f,
        'p: 'f,
        Self: 'f,
    {
        let page = self.page(prefix.unwrap_or_default(), options);
        Box::pin(std::future::ready(page))
    }
}

fn listed(bucket: &Bucket) -> Listing {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let location = Location::parse("s3://kiln/x").unwrap();
    runtime
        .block_on(all(bucket, "x/p/"))
        .unwrap()
        .listing(&location)
}

#[test]
fn a_listing_has_the_objects_of_every_page() {
    let keys: Vec<String> = (0..2500).map(|n| format!("x/p/{n:04}")).collect();
    let mut all: Vec<&str> = keys.iter().map(String::as_str).collect();
    all.extend(["x/q/1", "y/p/1"]);
    let bucket = Bucket::of(&all);
    let listing = listed(&bucket);
    assert_eq!(listing.names.len(), 2500);
    assert_eq!(
        (listing.names[2499].as_str(), listing.ignored.len()),
        ("p/2499", 0)
    );
    assert_eq!(bucket.requests.load(Ordering::Relaxed), 3);
}

#[test]
fn a_key_that_cannot_be_represented_is_ignored_and_hides_no_object() {
    let mut keys: Vec<String> = (0..1500).map(|n| format!("x/p/{n:04}")).collect();
    let odd = [
        "x/p/0000//a",
        "x/p/0700/../b",
        "x/p/0700/\u{1b}[2J",
        "x/p/0700/./c",
        "x/p/9//",
    ];
    keys.extend(odd.map(str::to_owned));
    keys.extend(["x/p/Foreign File".to_owned(), "x/p/ü".to_owned()]);
    let all: Vec<&str> = keys.iter().map(String::as_str).collect();
    let bucket = Bucket::of(&all);
    let listing = listed(&bucket);
    assert_eq!(listing.names.len(), 1500);
    let ignored = [
        "p/0000//a",
        "p/0700/../b",
        "p/0700/./c",
        "p/0700/\\u{1b}[2J",
        "p/9//",
        "p/Foreign File",
        "p/\\u{fc}",
    ];
    let mut expected = ignored.map(str::to_owned);
    expected.sort_unstable();
    assert_eq!(listing.ignored, expected);
    assert!(bucket.requests.load(Ordering::Relaxed) < 150);
}

#[test]
fn an_empty_object_for_a_folder_is_passed_over_and_one_with_bytes_is_not() {
    let listing = listed(&Bucket::of(&[
        "x/p/", "x/p/a/", "x/p/a/1", "x/p/b", "x/p/b/1",
    ]));
    assert_eq!(listing.names, ["p/a/1", "p/b", "p/b/1"]);
    assert_eq!(listing.ignored, Vec::<String>::new());
}
