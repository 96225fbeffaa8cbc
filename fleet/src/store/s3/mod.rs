//! A store in a bucket of AWS S3, or of a server that speaks the same protocol.
//!
//! The store never relies on conditional requests, because some servers accept the condition and ignore it. Objects are
//! content-addressed, so two writers of one name write the same bytes. A write first checks whether the object exists,
//! then uploads it, then reads it back.

mod failure;
mod location;
mod pages;

use std::fmt;
use std::future::Future;
use std::time::Duration;

use futures_util::StreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::{BackoffConfig, ObjectStoreExt, PutPayload, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use super::{Listing, ObjectStore, StoreError, holds, name};
use failure::{failed, is_missing};
use location::Location;

/// Maximum number of retries of a request that failed for a reason that may be temporary.
const MAX_RETRIES: usize = 4;
/// Time after which a request is not retried.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest pause before a retry.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Pauses before an object is read again. An object is read again if it has other bytes than expected, or if its body
/// ended early.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(500),
];

/// A store in a bucket.
///
/// A request times out after 30 seconds, and a connection attempt after 5 seconds. `AWS_TIMEOUT` and
/// `AWS_CONNECT_TIMEOUT` set other limits.
pub struct S3 {
    store: AmazonS3,
    location: Location,
    runtime: Runtime,
}

impl fmt::Debug for S3 {
    /// Shows the location only, because some settings are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S3({})", self.location)
    }
}

impl S3 {
    /// Opens the store at `s3://bucket/prefix`. Credentials, region and endpoint come from the environment variables
    /// that `aws s3` reads: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`,
    /// `AWS_ENDPOINT_URL`. `AWS_ALLOW_HTTP=true` allows a server without TLS. Opening the store sends no request.
    ///
    /// # Errors
    /// The location is not a valid `s3://` location, or the settings are invalid.
    pub fn open(location: &str) -> Result<S3, StoreError> {
        S3::open_with(location, &[])
    }

    /// Like [`S3::open`], but `variables` (name and value) override variables of the environment.
    ///
    /// # Errors
    /// The errors of [`S3::open`], or a variable that the S3 client does not know.
    pub fn open_with(location: &str, variables: &[(&str, &str)]) -> Result<S3, StoreError> {
        let unusable = |why: String| StoreError::Bucket {
            location: location.into(),
            why,
        };
        let place = Location::parse(location).map_err(|why| unusable(why.into()))?;
        let mut builder = AmazonS3Builder::from_env();
        for (variable, value) in variables {
            let key: AmazonS3ConfigKey = variable
                .to_ascii_lowercase()
                .parse()
                .map_err(|_| unusable(format!("{variable} is not a setting of S3 stores")))?;
            builder = builder.with_config(key, *value);
        }
        // An error means that the program has already installed a cryptography provider for TLS, which is used instead.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = builder
            .with_bucket_name(&place.bucket)
            .with_retry(retries())
            .build()
            .map_err(|error| unusable(failure::why(&error)))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(S3 {
            store,
            location: place,
            runtime: runtime.map_err(|error| unusable(error.to_string()))?,
        })
    }

    fn path(&self, name: &str) -> Path {
        Path::from_iter(self.location.key(name).split('/'))
    }

    fn wait<T>(&self, request: impl Future<Output = T>) -> T {
        self.runtime.block_on(request)
    }

    /// Like [`holds`], but retries if the store returns other bytes. Some servers write an object in place. While
    /// another process writes the object, a reader may see only a part of it.
    fn holds_at_last(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        for pause in PAUSES {
            match holds(self, name, bytes) {
                Err(StoreError::Exists { .. }) => std::thread::sleep(pause),
                result => return result,
            }
        }
        holds(self, name, bytes)
    }

    /// Whether the object consists of the first of these bytes. If a writer is killed, a server that writes objects in
    /// place keeps the part that it received. No reader accepts this part, so the next writer replaces it.
    fn has_part_of(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let found = self.get(name, bytes.len())?;
        Ok(found.is_some_and(|found| bytes.starts_with(&found)))
    }

    /// Reads an object. If a server writes objects in place, the body may end early while another process writes the
    /// object. In this case, the object is read again.
    async fn read(&self, name: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, StoreError> {
        for pause in PAUSES {
            match self.read_once(name, max_bytes).await? {
                Read::Done(found) => return Ok(found),
                Read::Cut(_) => tokio::time::sleep(pause).await,
            }
        }
        match self.read_once(name, max_bytes).await? {
            Read::Done(found) => Ok(found),
            Read::Cut(error) => Err(error),
        }
    }

    async fn read_once(&self, name: &str, max_bytes: usize) -> Result<Read, StoreError> {
        let found = match self.store.get(&self.path(name)).await {
            Ok(found) => found,
            Err(error) if is_missing(&error) => return Ok(Read::Done(None)),
            Err(error) => return Err(failed("read", name, &error)),
        };
        let too_large = |bytes| StoreError::TooLarge {
            name: name.into(),
            bytes,
            most: max_bytes as u64,
        };
        if found.meta.size > max_bytes as u64 {
            return Err(too_large(found.meta.size));
        }
        let (mut bytes, mut parts) = (Vec::new(), found.into_stream());
        while let Some(part) = parts.next().await {
            match part {
                Ok(part) => bytes.extend_from_slice(&part),
                Err(error) => return Ok(Read::Cut(failed("read", name, &error))),
            }
            // The size that the server reported in advance may be wrong, so the received bytes are counted too.
            if bytes.len() > max_bytes {
                return Err(too_large(bytes.len() as u64));
            }
        }
        Ok(Read::Done(Some(bytes)))
    }
}

/// The result of one attempt to read an object.
enum Read {
    /// The object's bytes; `None` if the store does not have it.
    Done(Option<Vec<u8>>),
    /// The body ended too early.
    Cut(StoreError),
}

impl ObjectStore for S3 {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        name::check(name)?;
        match self.holds_at_last(name, bytes) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(StoreError::Exists {
                found, expected, ..
            }) if found < expected && self.has_part_of(name, bytes)? => {}
            Err(error) => return Err(error),
        }
        let path = self.path(name);
        let written = self.wait(self.store.put(&path, PutPayload::from(bytes.to_vec())));
        written.map_err(|error| failed("write", name, &error))?;
        // The server's acknowledgement is not sufficient, so the object is read back.
        match self.holds_at_last(name, bytes)? {
            true => Ok(()),
            false => Err(StoreError::Lost { name: name.into() }),
        }
    }

    fn get(&self, name: &str, max_bytes: usize) -> Result<Option<Vec<u8>>, StoreError> {
        name::check(name)?;
        self.wait(self.read(name, max_bytes))
    }

    fn list(&self, prefix: &str) -> Result<Listing, StoreError> {
        let folder = prefix.trim_end_matches('/');
        name::check(folder)?;
        let keys = format!("{}/", self.location.key(folder));
        let listed = self.wait(pages::all(&self.store, &keys));
        let found = listed.map_err(|error| failed("list", prefix, &error))?;
        Ok(found.listing(&self.location))
    }
}

fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            max_backoff: MAX_PAUSE,
            ..BackoffConfig::default()
        },
        max_retries: MAX_RETRIES,
        retry_timeout: RETRY_TIMEOUT,
    }
}
