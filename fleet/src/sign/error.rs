//! Why a key or a signature was rejected.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::{MAX_SIGNATURE_BYTES, NAMESPACE};

impl SignError {
    /// The error for a key that could not be read, because its algorithm is not supported or its text is malformed.
    pub(super) fn of_key(source: ssh_key::Error) -> SignError {
        match source {
            ssh_key::Error::AlgorithmUnknown => SignError::Algorithm {
                algorithm: "unknown here".into(),
            },
            ssh_key::Error::AlgorithmUnsupported { algorithm } => SignError::Algorithm {
                algorithm: algorithm.to_string(),
            },
            source => SignError::NoKey { source },
        }
    }
}

/// Why a key or a signature was rejected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SignError {
    /// The file of a key could not be read.
    #[error(
        "cannot read the key {path}: {source}\nhelp: make one with `ssh-keygen -t ed25519 -f {path} -N ''`"
    )]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A private key is encrypted with a passphrase.
    #[error(
        "the key {path} is encrypted, and elements run without anybody to ask\nhelp: give a key without a passphrase: `ssh-keygen -t ed25519 -f KEYFILE -N ''`"
    )]
    Encrypted {
        /// Path of the file.
        path: PathBuf,
    },
    /// The text is not an OpenSSH key.
    #[error(
        "not an OpenSSH key: {source}\nhelp: give a line as in `~/.ssh/id_ed25519.pub`, or a file that `ssh-keygen` wrote"
    )]
    NoKey {
        /// The decoder's error.
        source: ssh_key::Error,
    },
    /// The key is of an algorithm other than ed25519.
    #[error(
        "the key is of algorithm {algorithm}, not ssh-ed25519\nhelp: make one with `ssh-keygen -t ed25519`"
    )]
    Algorithm {
        /// The key's algorithm.
        algorithm: String,
    },
    /// The signature is larger than [`MAX_SIGNATURE_BYTES`].
    #[error(
        "the signature has {bytes} bytes, more than the {MAX_SIGNATURE_BYTES} that are read\nhelp: sign again with `ssh-keygen -Y sign -n {NAMESPACE}`"
    )]
    TooLarge {
        /// Length of the signature, in bytes.
        bytes: usize,
    },
    /// The text is not an OpenSSH signature.
    #[error(
        "not an OpenSSH signature: {source}\nhelp: sign with `ssh-keygen -Y sign -n {NAMESPACE}`"
    )]
    NoSignature {
        /// The decoder's error.
        source: ssh_key::Error,
    },
    /// The signature was created with another key than expected.
    #[error(
        "signed by {found}, not by {expected}\nhelp: sign with the key that the plan or `allowed_signers` names"
    )]
    OtherKey {
        /// Fingerprint of the key that created the signature.
        found: String,
        /// Fingerprint of the expected key.
        expected: String,
    },
    /// The signature was created for another namespace.
    #[error(
        "signed for the namespace `{found}`, not `{NAMESPACE}`\nhelp: sign with `ssh-keygen -Y sign -n {NAMESPACE}`"
    )]
    Namespace {
        /// The signature's namespace.
        found: String,
    },
    /// The signature does not match the bytes.
    #[error(
        "the signature by {key} is not one of these bytes\nhelp: they were changed after they were signed: fetch both again"
    )]
    OtherBytes {
        /// Fingerprint of the key that created the signature.
        key: String,
    },
    /// The bytes could not be signed.
    #[error("cannot sign with {key}: {source}\nhelp: use a key of `ssh-keygen -t ed25519`")]
    Sign {
        /// Fingerprint of the key.
        key: String,
        /// The library's error.
        source: ssh_key::Error,
    },
    /// `ssh-keygen` did not sign.
    #[error(
        "`ssh-keygen -Y sign -f {path}` failed: {why}\nhelp: load the key into your agent with `ssh-add`, or give a key without a passphrase"
    )]
    Program {
        /// The file of the key.
        path: PathBuf,
        /// The message of `ssh-keygen`, or why it could not be run.
        why: String,
    },
    /// A line of an `allowed_signers` file is invalid.
    #[error(
        "line {line} of allowed_signers: {why}\nhelp: a line is `principal [namespaces=\"{NAMESPACE}\"] ssh-ed25519 KEY`, see `man ssh-keygen`"
    )]
    AllowedSigners {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong.
        why: &'static str,
    },
}
