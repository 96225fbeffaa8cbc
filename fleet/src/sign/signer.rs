//! Signers of plans and segments. A signer signs in this process, or runs `ssh-keygen` if the private key has a
//! passphrase or is held by an agent.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{NAMESPACE, PrivateKey, PublicKey, SignError, verify};

/// Signs plans and segments.
#[derive(Clone, Debug)]
pub enum Signer {
    /// A private key without a passphrase, which signs in this process.
    Key(PrivateKey),
    /// A key that `ssh-keygen` signs with, as for git: the key is in an agent, has a passphrase, or is on a security
    /// token.
    Program(ProgramKey),
}

/// A key with which `ssh-keygen -Y sign` signs.
#[derive(Clone, Debug)]
pub struct ProgramKey {
    path: PathBuf,
    public: PublicKey,
}

impl From<PrivateKey> for Signer {
    fn from(key: PrivateKey) -> Signer {
        Signer::Key(key)
    }
}

impl Signer {
    /// Creates the signer for a user's key. `path` is the file of the private key, or the file of the public key if an
    /// agent has the private key. A private key without a passphrase signs in this process. For any other key,
    /// `ssh-keygen` asks the agent, then the user.
    ///
    /// # Errors
    /// The file cannot be read, or is not an ed25519 key.
    pub fn read(path: &Path) -> Result<Signer, SignError> {
        let text = std::fs::read(path).map_err(|source| SignError::Read {
            path: path.into(),
            source,
        })?;
        let text = String::from_utf8_lossy(&text);
        let program = |public| {
            let path = path.into();
            Signer::Program(ProgramKey { path, public })
        };
        if !text.contains("PRIVATE KEY") {
            return PublicKey::parse(&text).map(program);
        }
        match PrivateKey::parse(&text) {
            Ok(key) => Ok(Signer::Key(key)),
            Err(error) => match PublicKey::of_private(&text) {
                Ok(public) => Ok(program(public)),
                Err(_) => Err(error),
            },
        }
    }

    /// The public key that verifies this signer's signatures.
    pub fn public(&self) -> PublicKey {
        match self {
            Signer::Key(key) => key.public(),
            Signer::Program(key) => key.public.clone(),
        }
    }

    /// Signs bytes for the namespace `kiln-fleet`. The result is armored text, as `ssh-keygen -Y sign` writes it.
    ///
    /// # Errors
    /// No signature could be created.
    pub fn sign(&self, bytes: &[u8]) -> Result<String, SignError> {
        match self {
            Signer::Key(key) => key.sign(bytes),
            Signer::Program(key) => key.sign(bytes),
        }
    }
}

impl ProgramKey {
    fn sign(&self, bytes: &[u8]) -> Result<String, SignError> {
        let failed = |why: String| SignError::Program {
            path: self.path.clone(),
            why,
        };
        let mut keygen = Command::new("ssh-keygen");
        keygen
            .args(["-Y", "sign", "-n", NAMESPACE, "-f"])
            .arg(&self.path);
        // `ssh-keygen` asks for a passphrase on the terminal, so its standard input can carry the bytes to sign.
        keygen
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = keygen.spawn().map_err(|error| failed(error.to_string()))?;
        let input = child.stdin.take();
        // A failed write is ignored, because a program that ends early reports the reason in its output.
        let _ = input.map(|mut input| input.write_all(bytes));
        let output = child
            .wait_with_output()
            .map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
            return Err(failed(lines.join("; ")));
        }
        let signature = String::from_utf8_lossy(&output.stdout).into_owned();
        verify(bytes, &signature, &self.public)?;
        Ok(signature)
    }
}
