//! Keys in OpenSSH's formats. Only ed25519 keys are supported.

use std::fmt;
use std::path::Path;

use ssh_key::private::KeypairData;
use ssh_key::public::KeyData;
use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, HashAlg, LineEnding};

use super::{NAMESPACE, SignError};

/// A public key, which verifies signatures.
#[derive(Clone, Debug)]
pub struct PublicKey(ssh_key::PublicKey);

impl PartialEq for PublicKey {
    /// Compares the keys, but not their comments.
    fn eq(&self, other: &PublicKey) -> bool {
        self.0.key_data() == other.0.key_data()
    }
}

impl Eq for PublicKey {}

impl PublicKey {
    /// Reads a public key from a line as in `id_ed25519.pub`: algorithm, key, comment.
    ///
    /// # Errors
    /// The text is not a public key, or the key is of another algorithm than ed25519 (or its variant for security
    /// keys).
    pub fn parse(line: &str) -> Result<PublicKey, SignError> {
        let key = ssh_key::PublicKey::from_openssh(line.trim());
        PublicKey::checked(key.map_err(SignError::of_key)?)
    }

    fn checked(key: ssh_key::PublicKey) -> Result<PublicKey, SignError> {
        match key.algorithm() {
            Algorithm::Ed25519 | Algorithm::SkEd25519 => Ok(PublicKey(key)),
            other => Err(SignError::Algorithm {
                algorithm: other.to_string(),
            }),
        }
    }

    /// Reads the public key from a private key's file. The public key is not encrypted, even if the private key is.
    pub(super) fn of_private(text: &str) -> Result<PublicKey, SignError> {
        let key = ssh_key::PrivateKey::from_openssh(without_blank_lines(text));
        let key = key.map_err(SignError::of_key)?;
        PublicKey::checked(key.public_key().clone())
    }

    pub(super) fn of(data: KeyData) -> PublicKey {
        PublicKey(ssh_key::PublicKey::new(data, ""))
    }

    pub(super) fn openssh(&self) -> &ssh_key::PublicKey {
        &self.0
    }

    /// The fingerprint `SHA256:…`, as `ssh-keygen -l` prints it.
    pub fn fingerprint(&self) -> String {
        self.0.fingerprint(HashAlg::Sha256).to_string()
    }

    /// The key as a line of `id_ed25519.pub`, without a line feed.
    ///
    /// # Errors
    /// The key cannot be encoded.
    pub fn to_openssh(&self) -> Result<String, SignError> {
        let line = self.0.to_openssh();
        line.map_err(|source| SignError::NoKey { source })
    }
}

/// A private key, which creates signatures. Its `Debug` shows the fingerprint only.
#[derive(Clone)]
pub struct PrivateKey(ssh_key::PrivateKey);

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.public().fingerprint())
    }
}

impl PrivateKey {
    /// Creates an ed25519 key from the system's random numbers.
    ///
    /// # Errors
    /// The key cannot be generated.
    pub fn generate() -> Result<PrivateKey, SignError> {
        let key = ssh_key::PrivateKey::random(&mut OsRng, Algorithm::Ed25519);
        Ok(PrivateKey(
            key.map_err(|source| SignError::NoKey { source })?,
        ))
    }

    /// Reads an OpenSSH private key file, as `ssh-keygen -t ed25519 -N ''` writes it.
    ///
    /// # Errors
    /// The file is unreadable or not a private key, or the key is encrypted or of another algorithm.
    pub fn read(path: &Path) -> Result<PrivateKey, SignError> {
        let text = std::fs::read(path).map_err(|source| SignError::Read {
            path: path.into(),
            source,
        })?;
        let text = without_blank_lines(&String::from_utf8_lossy(&text));
        let key = ssh_key::PrivateKey::from_openssh(text);
        let key = key.map_err(SignError::of_key)?;
        if key.is_encrypted() {
            let path = path.into();
            return Err(SignError::Encrypted { path });
        }
        PrivateKey::checked(key)
    }

    /// Reads a private key from the text of an OpenSSH private key file.
    ///
    /// # Errors
    /// The text is not a private key, or the key is encrypted or of another algorithm.
    pub fn parse(text: &str) -> Result<PrivateKey, SignError> {
        let key = ssh_key::PrivateKey::from_openssh(without_blank_lines(text));
        let key = key.map_err(SignError::of_key)?;
        PrivateKey::checked(key)
    }

    fn checked(key: ssh_key::PrivateKey) -> Result<PrivateKey, SignError> {
        let key = PrivateKey(key);
        match key.0.key_data() {
            KeypairData::Ed25519(_) => Ok(key),
            _ => Err(SignError::Algorithm {
                algorithm: key.0.algorithm().to_string(),
            }),
        }
    }

    /// The text of the key's OpenSSH file. Write it only to a file that nobody else can read (mode 600).
    ///
    /// # Errors
    /// The key cannot be encoded.
    pub fn to_openssh(&self) -> Result<String, SignError> {
        let text = self.0.to_openssh(LineEnding::LF);
        let text = text.map_err(|source| SignError::NoKey { source })?;
        Ok(text.to_string())
    }

    /// The public key that verifies this key's signatures.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.public_key().clone())
    }

    /// Signs bytes for the namespace `kiln-fleet`. The result is armored text, as `ssh-keygen -Y sign` writes it.
    ///
    /// # Errors
    /// The bytes could not be signed.
    pub fn sign(&self, bytes: &[u8]) -> Result<String, SignError> {
        let signed = self.0.sign(NAMESPACE, HashAlg::Sha512, bytes);
        let text = signed.and_then(|signature| signature.to_pem(LineEnding::LF));
        text.map_err(|source| SignError::Sign {
            key: self.public().fingerprint(),
            source,
        })
    }
}

/// 128 random bits as 32 hexadecimal digits, which identify an attempt at an element.
pub fn random_name() -> String {
    use ssh_key::rand_core::RngCore;
    let mut bits = [0; 16];
    OsRng.fill_bytes(&mut bits);
    format!("{:032x}", u128::from_le_bytes(bits))
}

/// Removes blank lines, and white space at both ends of each line, from the text of a key file. CI secrets and
/// clipboards add them.
fn without_blank_lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    lines.join("\n") + "\n"
}
