//! Lists the keys of a bucket, page by page.

use std::collections::BTreeSet;

use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::{Error, ObjectMeta, path};

use super::location::Location;
use crate::store::{Listing, name};

/// Largest number of keys in a page; S3 has the same limit.
const PAGE: usize = 1000;

/// The result of a listing.
#[derive(Debug, Default)]
pub(super) struct Found {
    objects: Vec<ObjectMeta>,
    /// Keys that the library cannot represent, because a part of them is empty, `.` or `..`, or has control characters.
    odd_keys: Vec<String>,
}

/// Where a page of the listing begins.
#[derive(Clone, Debug, PartialEq, Eq)]
enum From {
    Start,
    Token(String),
    After(String),
}

/// Lists all keys that begin with `prefix`.
///
/// The library fails on a page that contains a key that it cannot represent, and anybody who can write to the store can
/// create such a key. This function halves the page until it consists of that key alone, and then skips the key.
pub(super) async fn all<S: PaginatedListStore>(store: &S, prefix: &str) -> Result<Found, Error> {
    let mut found = Found::default();
    let (mut from, mut keys) = (From::Start, PAGE);
    loop {
        let page = match store
            .list_paginated(Some(prefix), options(&from, keys))
            .await
        {
            Ok(page) => page,
            Err(error) => {
                let Some(key) = odd_key(&error) else {
                    return Err(error);
                };
                if keys > 1 {
                    keys /= 2;
                } else if from == From::After(key.clone()) {
                    // The server continued at the same key, so the listing cannot get past it.
                    return Err(error);
                } else {
                    from = From::After(key.clone());
                    found.odd_keys.push(key);
                }
                continue;
            }
        };
        let PaginatedListResult { result, page_token } = page;
        found.objects.extend(result.objects);
        match page_token {
            Some(token) => from = From::Token(token),
            None => return Ok(found),
        }
        keys = (keys * 2).min(PAGE);
    }
}

fn options(from: &From, keys: usize) -> PaginatedListOptions {
    let mut options = PaginatedListOptions {
        max_keys: Some(keys),
        ..PaginatedListOptions::default()
    };
    match from {
        From::Start => {}
        From::Token(token) => options.page_token = Some(token.clone()),
        From::After(key) => options.offset = Some(key.clone()),
    }
    options
}

/// The key that the library cannot represent; `None` if the error has another reason.
fn odd_key(error: &Error) -> Option<String> {
    match error {
        Error::InvalidPath {
            source: path::Error::EmptySegment { path } | path::Error::BadSegment { path, .. },
        } => Some(path.clone()),
        _ => None,
    }
}

impl Found {
    /// Splits the keys into names of objects and ignored keys.
    pub fn listing(self, location: &Location) -> Listing {
        let mut listing = Listing::default();
        let names: Vec<(&str, u64)> = self
            .objects
            .iter()
            .filter_map(|object| Some((location.name(object.location.as_ref())?, object.size)))
            .collect();
        let folders: BTreeSet<&str> = names.iter().flat_map(|(name, _)| folders(name)).collect();
        for (name, size) in &names {
            match () {
                // Some tools create an empty object for each folder. Such an object is not listed.
                () if *size == 0 && folders.contains(name) => {}
                () if name::is_name(name) => listing.names.push((*name).to_owned()),
                () => listing.ignored.push(name.escape_default().collect()),
            }
        }
        let odd = self.odd_keys.iter().filter_map(|key| location.name(key));
        listing
            .ignored
            .extend(odd.map(|key| key.escape_default().to_string()));
        for names in [&mut listing.names, &mut listing.ignored] {
            names.sort_unstable();
            names.dedup();
        }
        listing
    }
}

/// All folders above a name, outermost first.
fn folders(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(end, _)| &name[..end])
}

#[cfg(test)]
mod tests;
