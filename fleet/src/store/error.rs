//! Why an operation on a store failed.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why an operation on a store failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An operation on a file or folder of the store failed.
    #[error(
        "cannot {what} {path}: {source}\nhelp: check that the store's folder is mounted and writable, then run the command again"
    )]
    Io {
        /// The attempted operation.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The store's folder does not exist.
    #[error(
        "there is no store at {}: the folder does not exist\nhelp: check the path, and that the share is mounted; `tune fleet plan` and `tune cache push` create a store", .path.display()
    )]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The name is not a valid name of an object.
    #[error(
        "`{name}` is not the name of a store object (words of a-z, 0-9, `.`, `_`, `-` between slashes)\n\
         help: this is a bug of the caller: names come from `kiln_fleet::object`"
    )]
    Name {
        /// The name, escaped and cut after 80 characters.
        name: String,
    },
    /// The store has another object under the same name.
    #[error(
        "{name} is already in the store with different content ({found} bytes; the new object has {expected})\n\
         help: somebody replaced the object: move it away, then publish again"
    )]
    Exists {
        /// The name.
        name: String,
        /// Length of the object in the store, in bytes.
        found: u64,
        /// Length of the object that was to be written, in bytes.
        expected: u64,
    },
    /// An object is larger than the largest object of its kind.
    #[error(
        "{name} has {bytes} bytes, but the maximum is {most}\n\
         help: Kiln does not write objects of this size: remove it from the store"
    )]
    TooLarge {
        /// The name.
        name: String,
        /// Length of the object, in bytes.
        bytes: u64,
        /// The largest number of bytes that is read.
        most: u64,
    },
    /// A request to a server failed, and a few retries failed too.
    #[error(
        "cannot {what} {name}: {why}\nhelp: check the network, AWS_ENDPOINT_URL, AWS_REGION, and that the credentials may use the bucket; then run the command again"
    )]
    Request {
        /// The attempted operation.
        what: &'static str,
        /// Name of the object or, for a listing, the prefix of the listed names.
        name: String,
        /// The server's error, or why the server could not be reached.
        why: String,
    },
    /// A server acknowledged a write, but does not have the object.
    #[error(
        "the server accepted {name}, but does not have it\n\
         help: the server does not keep every object that it accepts: use another server, or a folder"
    )]
    Lost {
        /// The name.
        name: String,
    },
    /// The location or the settings of a bucket are invalid.
    #[error(
        "cannot use `{location}`: {why}\nhelp: write s3://BUCKET/PREFIX, and set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL as for `aws s3`; AWS_ALLOW_HTTP=true allows a server without TLS"
    )]
    Bucket {
        /// The location.
        location: String,
        /// What is wrong.
        why: String,
    },
    /// The location is a bucket, but the program was built without the feature `s3`.
    #[error(
        "`{location}` is a bucket, but this `tune` was built without the feature `s3`\n\
         help: install it with `cargo install --locked --features s3 --git https://github.com/kiln-tune/kiln \
         kiln-tuner`, or give the path of a folder: `rclone mount` and `aws s3 sync` make a folder of a bucket"
    )]
    WithoutS3 {
        /// The location.
        location: String,
    },
    /// The location is neither a folder nor a bucket.
    #[error(
        "`{location}` is not a store: a store is a folder, or a bucket written as s3://BUCKET/PREFIX\n\
         help: give the path of a folder that all machines see; `rclone mount` makes a folder of most object stores"
    )]
    Scheme {
        /// The location.
        location: String,
    },
}

impl StoreError {
    /// Whether another attempt may succeed, because the store did not answer or lost an object.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            StoreError::Io { .. }
                | StoreError::NoFolder { .. }
                | StoreError::Request { .. }
                | StoreError::Lost { .. }
        )
    }
}
