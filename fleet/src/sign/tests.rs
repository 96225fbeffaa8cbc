use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::*;

/// Whether `ssh-keygen` is installed. If it is not, prints that the test is skipped.
fn has_keygen(test: &str) -> bool {
    let found = Command::new("ssh-keygen")
        .arg("-?")
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !found {
        println!("skipped: {test}: no ssh-keygen");
    }
    found
}

fn write_key(path: &Path, key: &PrivateKey) {
    fs::write(path, key.to_openssh().unwrap()).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_signature_is_one_of_its_bytes_key_and_namespace_alone() {
    let (key, other) = (
        PrivateKey::generate().unwrap(),
        PrivateKey::generate().unwrap(),
    );
    let signature = key.sign(b"bytes").unwrap();
    verify(b"bytes", &signature, &key.public()).unwrap();
    assert_eq!(signer(&signature).unwrap(), key.public());
    let error = verify(b"bytez", &signature, &key.public()).unwrap_err();
    assert!(matches!(error, SignError::OtherBytes { .. }), "{error}");
    let error = verify(b"bytes", &signature, &other.public()).unwrap_err();
    assert!(matches!(error, SignError::OtherKey { .. }), "{error}");
    let error = verify(b"bytes", "no signature", &key.public()).unwrap_err();
    assert!(matches!(error, SignError::NoSignature { .. }), "{error}");
    let error = verify(b"bytes", &"x".repeat(10_000), &key.public()).unwrap_err();
    assert!(
        matches!(error, SignError::TooLarge { bytes: 10_000 }),
        "{error}"
    );
}

#[test]
fn every_changed_character_of_a_signature_is_noticed() {
    let key = PrivateKey::generate().unwrap();
    let signature = key.sign(b"bytes").unwrap();
    for at in 0..signature.len() {
        let mut changed = signature.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        let result = verify(b"bytes", &changed, &key.public());
        assert!(result.is_err(), "{at}: {signature}{changed}");
    }
}

#[test]
fn ssh_keygen_verifies_our_signatures() {
    if !has_keygen("ssh_keygen_verifies_our_signatures") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let key = PrivateKey::generate().unwrap();
    let allowed = format!("fleet {}\n", key.public().to_openssh().unwrap());
    fs::write(folder.path().join("allowed"), allowed).unwrap();
    fs::write(folder.path().join("sig"), key.sign(b"some bytes").unwrap()).unwrap();
    let verified = |bytes: &[u8], namespace: &str| {
        fs::write(folder.path().join("bytes"), bytes).unwrap();
        let mut command = Command::new("ssh-keygen");
        command.args([
            "-Y", "verify", "-f", "allowed", "-I", "fleet", "-n", namespace, "-s", "sig",
        ]);
        command
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.stdin(fs::File::open(folder.path().join("bytes")).unwrap());
        command.status().unwrap().success()
    };
    assert!(verified(b"some bytes", NAMESPACE));
    assert!(!verified(b"other bytes", NAMESPACE));
    assert!(!verified(b"some bytes", "git"));
}

#[test]
fn signatures_of_ssh_keygen_verify_here() {
    if !has_keygen("signatures_of_ssh_keygen_verify_here") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let run = |arguments: &[&str]| {
        let mut command = Command::new("ssh-keygen");
        command.args(arguments).current_dir(folder.path());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().unwrap().success(), "{arguments:?}");
    };
    run(&["-q", "-t", "ed25519", "-N", "", "-f", "key"]);
    let key = PrivateKey::read(&path).unwrap();
    let line = fs::read_to_string(folder.path().join("key.pub")).unwrap();
    assert_eq!(PublicKey::parse(&line).unwrap(), key.public());
    for (namespace, good) in [(NAMESPACE, true), ("git", false)] {
        fs::write(folder.path().join("bytes"), b"some bytes").unwrap();
        run(&["-Y", "sign", "-f", "key", "-n", namespace, "bytes"]);
        let signature = fs::read_to_string(folder.path().join("bytes.sig")).unwrap();
        let result = verify(b"some bytes", &signature, &key.public());
        assert_eq!(result.is_ok(), good, "{result:?}");
        if let Err(error) = result {
            assert!(
                error.to_string().contains("`git`, not `kiln-fleet`"),
                "{error}"
            );
        }
        fs::remove_file(folder.path().join("bytes.sig")).unwrap();
    }
}

#[test]
fn keys_that_cannot_be_used_are_refused_with_help() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let error = PrivateKey::read(&path).unwrap_err().to_string();
    assert!(error.contains("help: "), "{error}");
    fs::write(&path, "no key").unwrap();
    let error = PrivateKey::read(&path).unwrap_err().to_string();
    assert!(error.contains("help: "), "{error}");
    if !has_keygen("keys_that_cannot_be_used_are_refused_with_help") {
        return;
    }
    for (kind, phrase, expected) in [
        ("ed25519", "secret", "is encrypted"),
        ("ecdsa", "", "only ssh-ed25519"),
    ] {
        let _ = fs::remove_file(&path);
        let mut command = Command::new("ssh-keygen");
        command
            .args(["-q", "-t", kind, "-N", phrase, "-f"])
            .arg(&path);
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
        let error = PrivateKey::read(&path).unwrap_err().to_string();
        assert!(
            error.contains(expected) && error.contains("help: "),
            "{error}"
        );
    }
}

#[test]
fn a_written_key_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let key = PrivateKey::generate().unwrap();
    write_key(&folder.path().join("key"), &key);
    let read = PrivateKey::read(&folder.path().join("key")).unwrap();
    assert_eq!(read.public(), key.public());
    assert_eq!(
        format!("{read:?}"),
        format!("PrivateKey({})", key.public().fingerprint())
    );
    assert_ne!(random_name(), random_name());
}

#[test]
fn allowed_signers_are_read_as_openssh_reads_them() {
    let keys: Vec<PrivateKey> = (0..7).map(|_| PrivateKey::generate().unwrap()).collect();
    let line = |n: usize| keys[n].public().to_openssh().unwrap();
    let text = format!(
        "# who may sign\n\nana@example.org {}\n\
         \"ben,ci\" namespaces=\"git,kiln-*\" {} a comment\n\
         eve namespaces=\"git\" {}\n\
         old valid-before=\"20200101\" {}\n\
         new valid-after=\"20270102030405Z\",valid-before=\"21000101\" {}\n\
         ca cert-authority {}\n\
         ecdsa ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHwf2HMM5TRXvo2SQJjsNkiDD5KqiiNjrGVv3UUh+mMT5RHxiRtOnlqvjhQtBq0VpmpCV/PwUdhOig4vkbqAcEc=\n",
        line(0),
        line(1),
        line(2),
        line(3),
        line(4),
        line(5)
    );
    let allowed = AllowedSigners::parse(&text).unwrap();
    let at = 1_798_858_000;
    let who = |n: usize, now| allowed.who(&keys[n].public(), now).map(str::to_owned);
    assert_eq!(who(0, at).as_deref(), Some("ana@example.org"));
    assert_eq!(who(1, at).as_deref(), Some("ben"));
    assert_eq!(
        [who(2, at), who(3, at), who(5, at), who(6, at)],
        [const { None }; 4]
    );
    assert_eq!(who(3, 1_577_836_799).as_deref(), Some("old"));
    assert_eq!(who(3, 1_577_836_800), None);
    // 2027-01-02T03:04:05Z.
    assert_eq!(who(4, 1_798_859_044), None);
    assert_eq!(who(4, 1_798_859_045).as_deref(), Some("new"));
}

#[test]
fn a_line_that_is_none_is_named_with_its_number() {
    let key = PrivateKey::generate()
        .unwrap()
        .public()
        .to_openssh()
        .unwrap();
    for bad in [
        "ana".to_owned(),
        format!("ana unknown-option {key}"),
        format!("ana valid-before=\"tomorrow\" {key}"),
        format!("ana valid-before=\"20271301\" {key}"),
        "ana ssh-ed25519 AAAA".to_owned(),
    ] {
        let error = AllowedSigners::parse(&format!("# first\n{bad}\n")).unwrap_err();
        assert!(
            error.to_string().contains("line 2 of allowed_signers"),
            "{error}"
        );
    }
}

#[test]
fn a_key_out_of_a_secret_or_a_clipboard_reads_back() {
    let key = PrivateKey::generate().unwrap();
    let text = key.to_openssh().unwrap();
    for pasted in [
        format!("{text}\n"),
        format!("\n\n{text}"),
        text.trim_end().to_owned(),
        text.replace('\n', "\r\n"),
    ] {
        let read = PrivateKey::parse(&pasted).unwrap();
        assert_eq!(read.public(), key.public(), "{pasted:?}");
    }
}
