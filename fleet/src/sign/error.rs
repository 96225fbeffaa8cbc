//! Why a key or a signature was refused.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::{MAX_SIGNATURE_BYTES, NAMESPACE};

impl SignError {
    /// Why a key was not read: its algorithm, or its form.
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

/// Why a key or a signature was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SignError {
    /// The file of a key could not be read.
    #[error(
        "cannot read the key {path}: {source}\nhelp: make one with `ssh-keygen -t ed25519 -f {path} -N ''`"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A private key is locked by a passphrase.
    #[error(
        "the key {path} is encrypted, and elements run without anybody to ask\nhelp: give a key without a passphrase: `ssh-keygen -t ed25519 -f KEYFILE -N ''`"
    )]
    Encrypted {
        /// The file.
        path: PathBuf,
    },
    /// A text is not an OpenSSH key.
    #[error(
        "not an OpenSSH key: {source}\nhelp: give a line as in `~/.ssh/id_ed25519.pub`, or a file that `ssh-keygen` wrote"
    )]
    NoKey {
        /// Why.
        source: ssh_key::Error,
    },
    /// A key of an algorithm that is not verified here.
    #[error(
        "the key is of algorithm {algorithm}, not ssh-ed25519\nhelp: make one with `ssh-keygen -t ed25519`"
    )]
    Algorithm {
        /// Its algorithm.
        algorithm: String,
    },
    /// A signature is larger than any that is read.
    #[error(
        "the signature has {bytes} bytes, more than the {MAX_SIGNATURE_BYTES} that are read\nhelp: sign again with `ssh-keygen -Y sign -n {NAMESPACE}`"
    )]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// A text is not a signature.
    #[error(
        "not an OpenSSH signature: {source}\nhelp: sign with `ssh-keygen -Y sign -n {NAMESPACE}`"
    )]
    NoSignature {
        /// Why.
        source: ssh_key::Error,
    },
    /// The signature is by another key.
    #[error(
        "signed by {found}, not by {expected}\nhelp: sign with the key that the plan or `allowed_signers` names"
    )]
    OtherKey {
        /// The fingerprint of its key.
        found: String,
        /// The fingerprint of the key it should be by.
        expected: String,
    },
    /// The signature was made for another purpose.
    #[error(
        "signed for the namespace `{found}`, not `{NAMESPACE}`\nhelp: sign with `ssh-keygen -Y sign -n {NAMESPACE}`"
    )]
    Namespace {
        /// Its namespace.
        found: String,
    },
    /// The signature is one of other bytes.
    #[error(
        "the signature by {key} is not one of these bytes\nhelp: they were changed after they were signed: fetch both again"
    )]
    OtherBytes {
        /// The fingerprint of its key.
        key: String,
    },
    /// No signature could be made.
    #[error("cannot sign with {key}: {source}\nhelp: use a key of `ssh-keygen -t ed25519`")]
    Sign {
        /// The fingerprint of the key.
        key: String,
        /// Why.
        source: ssh_key::Error,
    },
    /// `ssh-keygen` did not sign.
    #[error(
        "`ssh-keygen -Y sign -f {path}` failed: {why}\nhelp: load the key into your agent with `ssh-add`, or give a key without a passphrase"
    )]
    Program {
        /// The file of the key.
        path: PathBuf,
        /// What it says.
        why: String,
    },
    /// A line of an `allowed_signers` file is none.
    #[error(
        "line {line} of allowed_signers: {why}\nhelp: a line is `principal [namespaces=\"{NAMESPACE}\"] ssh-ed25519 KEY`, see `man ssh-keygen`"
    )]
    AllowedSigners {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        why: &'static str,
    },
}
