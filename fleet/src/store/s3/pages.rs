//! Listings of a bucket, page by page.

use std::collections::BTreeSet;

use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::{Error, ObjectMeta, path};

use super::location::Location;
use crate::store::{Listing, name};

/// The most keys of a page: that of S3.
const PAGE: usize = 1000;

/// What a listing found.
#[derive(Debug, Default)]
pub(super) struct Found {
    objects: Vec<ObjectMeta>,
    /// Keys that the library cannot represent: with an empty word, or control characters.
    odd_keys: Vec<String>,
}

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
enum From {
    Start,
    Token(String),
    After(String),
}

/// Lists all keys that begin with a prefix.
///
/// The library gives up a page with a key that it cannot represent, which anybody who writes to the store can put there.
/// Such a page is asked for in halves until the key is alone, and then passed over.
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
                    // The server goes on from where it was: there is no way past the key.
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

/// The key for which the library gave up a page.
fn odd_key(error: &Error) -> Option<String> {
    match error {
        Error::InvalidPath {
            source: path::Error::EmptySegment { path } | path::Error::BadSegment { path, .. },
        } => Some(path.clone()),
        _ => None,
    }
}

impl Found {
    /// The objects of a store, and the keys that are none.
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
                // Some tools write an empty object for a folder.
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

/// The folders that a name is in.
fn folders(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(end, _)| &name[..end])
}

#[cfg(test)]
mod tests;
