//! Signatures in OpenSSH's format (`PROTOCOL.sshsig`), which `ssh-keygen -Y` can also check without Kiln.

mod allowed;
mod error;
mod key;
mod signer;

pub use allowed::AllowedSigners;
pub use error::SignError;
pub use key::{PrivateKey, PublicKey, random_name};
pub use signer::{ProgramKey, Signer};

use ssh_key::{LineEnding, SshSig};

/// The namespace of all signatures of a fleet. A signature that was created for git or for a login has another
/// namespace, so it is not valid here.
pub const NAMESPACE: &str = "kiln-fleet";
/// Longest signature that is read, in bytes of its text.
pub const MAX_SIGNATURE_BYTES: usize = 8 << 10;

/// Checks that `signature` is a signature of `bytes` by `key`.
///
/// # Errors
/// The text is not a signature, or it is a signature by another key, for another namespace, or of other bytes.
pub fn verify(bytes: &[u8], signature: &str, key: &PublicKey) -> Result<(), SignError> {
    let signature = parse(signature)?;
    let signer = PublicKey::of(signature.public_key().clone());
    if signer != *key {
        return Err(SignError::OtherKey {
            found: signer.fingerprint(),
            expected: key.fingerprint(),
        });
    }
    if signature.namespace() != NAMESPACE {
        return Err(SignError::Namespace {
            found: signature.namespace().escape_default().take(80).collect(),
        });
    }
    let verified = key.openssh().verify(NAMESPACE, bytes, &signature);
    verified.map_err(|_| SignError::OtherBytes {
        key: key.fingerprint(),
    })
}

/// The key that a signature claims as its signer. Nothing is verified.
///
/// # Errors
/// The text is not a signature.
pub fn signer(signature: &str) -> Result<PublicKey, SignError> {
    Ok(PublicKey::of(parse(signature)?.public_key().clone()))
}

fn parse(signature: &str) -> Result<SshSig, SignError> {
    let bytes = signature.len();
    if bytes > MAX_SIGNATURE_BYTES {
        return Err(SignError::TooLarge { bytes });
    }
    let no_signature = |source| SignError::NoSignature { source };
    let parsed = SshSig::from_pem(signature).map_err(no_signature)?;
    // The decoder ignores fields that it does not need, so several texts can decode to the same signature. This
    // comparison accepts only one of them.
    let text = parsed.to_pem(LineEnding::LF).map_err(no_signature)?;
    let dense = |text: &str| text.split_ascii_whitespace().collect::<String>();
    let plain = parsed.version() == SshSig::VERSION && parsed.reserved().is_empty();
    if plain && dense(&text) == dense(signature) {
        return Ok(parsed);
    }
    Err(no_signature(ssh_key::Error::FormatEncoding))
}

#[cfg(test)]
mod tests;
