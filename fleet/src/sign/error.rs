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
        "cannot read the key {path}: {source}\nhelp: create a key with `ssh-keygen -t ed25519 -f {path} -N ''`"
    )]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A private key is encrypted with a passphrase.
    #[error(
        "the key {path} is encrypted, but elements run unattended, so nobody can enter its passphrase\n\
         help: use a key without a passphrase: `ssh-keygen -t ed25519 -f KEYFILE -N ''`"
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
        "the key's algorithm is {algorithm}, but only ssh-ed25519 is supported\n\
         help: create a key with `ssh-keygen -t ed25519`"
    )]
    Algorithm {
        /// The key's algorithm.
        algorithm: String,
    },
    /// The signature is larger than [`MAX_SIGNATURE_BYTES`].
    #[error(
        "the signature has {bytes} bytes, but the maximum is {MAX_SIGNATURE_BYTES}\n\
         help: sign again with `ssh-keygen -Y sign -n {NAMESPACE}`"
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
        "the signature by {key} does not match the signed bytes\n\
         help: the bytes were changed after they were signed: fetch them and the signature again"
    )]
    OtherBytes {
        /// Fingerprint of the key that created the signature.
        key: String,
    },
    /// The bytes could not be signed.
    #[error(
        "cannot sign with {key}: {source}\nhelp: use a key that `ssh-keygen -t ed25519` created"
    )]
    Sign {
        /// Fingerprint of the key.
        key: String,
        /// The library's error.
        source: ssh_key::Error,
    },
    /// `ssh-keygen` did not sign.
    #[error(
        "`ssh-keygen -Y sign -f {path}` failed: {why}\n\
         help: load the key into your agent with `ssh-add`, or use a key without a passphrase"
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
