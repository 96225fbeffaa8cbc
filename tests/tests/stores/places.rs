//! The places of stores: a folder, and a bucket on each S3 server that is installed.

use std::fs;
use std::time::Duration;

use kiln_fleet::ObjectStore;
use kiln_tests::capability::{Need, have};
use kiln_tests::s3::{Kind, Server};
use tempfile::TempDir;

use crate::damage::Spoiled;

/// The place of a store.
pub enum Place {
    Folder(TempDir),
    Server(Server),
}

/// A folder, and all S3 servers that are installed.
pub fn all(test: &str) -> Vec<Place> {
    let folder = tempfile::tempdir().expect("a temporary directory should be had");
    let servers = servers(test).into_iter().map(Place::Server);
    std::iter::once(Place::Folder(folder))
        .chain(servers)
        .collect()
}

/// Starts all S3 servers that are installed.
pub fn servers(test: &str) -> Vec<Server> {
    if !have(test, &[Need::S3]) {
        return Vec::new();
    }
    let here = |kind: &Kind| have(test, &[Need::S3Server(*kind)]);
    Kind::ALL
        .into_iter()
        .filter(here)
        .map(Server::start)
        .collect()
}

impl Place {
    pub fn name(&self) -> &'static str {
        match self {
            Place::Folder(_) => "folder",
            Place::Server(server) => server.kind.name(),
        }
    }

    /// The location of the store with this prefix.
    pub fn location(&self, prefix: &str) -> String {
        match self {
            Place::Folder(folder) => folder.path().join(prefix).to_string_lossy().into_owned(),
            Place::Server(server) => server.location(prefix),
        }
    }

    /// The environment variables with which `tune` accesses this place.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        match self {
            Place::Folder(_) => Vec::new(),
            Place::Server(server) => server.variables().into(),
        }
    }

    pub fn open(&self, prefix: &str) -> Box<dyn ObjectStore> {
        match self {
            Place::Folder(_) => kiln_fleet::create(&self.location(prefix)).unwrap().0,
            Place::Server(server) => bucket(server, prefix),
        }
    }

    /// The store with this prefix, and a way to change its contents arbitrarily.
    pub fn spoiled(&self, prefix: &'static str) -> Spoilable<'_> {
        Spoilable {
            place: self,
            prefix,
            store: self.open(prefix),
        }
    }
}

/// The store of a server with this prefix.
#[cfg(feature = "s3")]
pub fn bucket(server: &Server, prefix: &str) -> Box<dyn ObjectStore> {
    let variables = server.variables();
    let aws = variables
        .iter()
        .filter(|(name, _)| name.starts_with("AWS_"));
    let aws: Vec<(&str, &str)> = aws.map(|(name, value)| (*name, value.as_str())).collect();
    Box::new(kiln_fleet::S3::open_with(&server.location(prefix), &aws).unwrap())
}

#[cfg(not(feature = "s3"))]
pub fn bucket(_: &Server, _: &str) -> Box<dyn ObjectStore> {
    unreachable!("no server is started without the feature s3")
}

/// A store whose contents can be changed arbitrarily.
pub struct Spoilable<'a> {
    place: &'a Place,
    prefix: &'static str,
    store: Box<dyn ObjectStore>,
}

impl Spoiled for Spoilable<'_> {
    fn store(&self) -> &dyn ObjectStore {
        &*self.store
    }

    fn overwrite(&self, name: &str, bytes: &[u8]) {
        match self.place {
            Place::Folder(folder) => {
                let path = folder.path().join(self.prefix).join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
            Place::Server(server) => {
                server.put(&format!("{}/{name}", self.prefix), bytes);
                // s3rver may return the earlier bytes for a moment after it has acknowledged new ones.
                let found = || self.store.get(name, bytes.len()).ok().flatten();
                let is_there = (0..2_000).any(|tried| {
                    std::thread::sleep(Duration::from_millis(tried.min(5)));
                    found().as_deref() == Some(bytes)
                });
                assert!(is_there, "{name} does not change");
            }
        }
    }

    fn remove(&self, name: &str) {
        match self.place {
            Place::Folder(folder) => {
                fs::remove_file(folder.path().join(self.prefix).join(name)).unwrap();
            }
            Place::Server(server) => server.remove(&format!("{}/{name}", self.prefix)),
        }
    }
}
