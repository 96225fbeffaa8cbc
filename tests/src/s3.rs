//! S3 servers on the loopback interface: moto, and s3rver, which accepts conditional requests but ignores the
//! condition.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The name of the bucket on every server.
const BUCKET: &str = "kiln";
/// The only user of s3rver, and also the password. moto accepts any user.
const USER: &str = "S3RVER";
/// Maximum time that a server may take to start.
const DEADLINE: Duration = Duration::from_secs(120);

/// The kind of an S3 server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `moto_server` from the Python package `moto[server,s3]`.
    Moto,
    /// `s3rver` from npm.
    S3rver,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 2] = [Kind::Moto, Kind::S3rver];

    /// The name of the server's program.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Moto => "moto_server",
            Kind::S3rver => "s3rver",
        }
    }

    /// The program: the value of `KILN_MOTO_SERVER` or `KILN_S3RVER`, the program that `cargo xtask bars` installs, or
    /// a program on the path.
    pub fn program(self) -> Option<PathBuf> {
        let (variable, made) = match self {
            Kind::Moto => ("KILN_MOTO_SERVER", "target/s3/moto/bin/moto_server"),
            Kind::S3rver => ("KILN_S3RVER", "target/s3/node_modules/.bin/s3rver"),
        };
        let given = std::env::var_os(variable).map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).map(|folder| folder.join(self.name()));
        let made = crate::command::workspace().join(made);
        let mut places = given.into_iter().chain([made]).chain(on_path);
        places.find(|file| file.is_file())
    }
}

/// A running server with an empty bucket. Dropping it ends the server.
#[derive(Debug)]
pub struct Server {
    /// The kind of this server.
    pub kind: Kind,
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Server {
    /// Starts a server, and waits until it responds.
    ///
    /// # Panics
    /// If the server is not installed, or does not start.
    pub fn start(kind: Kind) -> Server {
        let program = kind.program();
        let program = program.unwrap_or_else(|| panic!("{} is not installed", kind.name()));
        let folder = tempfile::tempdir().expect("a temporary directory should be had");
        let port = free_port();
        let mut command = Command::new(program);
        match kind {
            Kind::Moto => command.args(["-H", "127.0.0.1", "-p", &port.to_string()]),
            Kind::S3rver => command
                .args(["--address", "127.0.0.1", "--port", &port.to_string()])
                .arg("--silent")
                .arg("--directory")
                .arg(folder.path().join("objects"))
                // s3rver encrypts its page tokens with a cipher that OpenSSL 3 calls legacy.
                .env("NODE_OPTIONS", "--openssl-legacy-provider"),
        };
        let log = fs::File::create(folder.path().join("log")).expect("a file should be made");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let process = command.spawn().expect("the server should start");
        let mut server = Server {
            kind,
            process,
            port,
            _folder: folder,
        };
        server.wait();
        let made = server.request("PUT", "", b"").unwrap_or_default();
        assert!(made.starts_with("HTTP/1.1 200"), "{made}");
        server
    }

    fn wait(&mut self) {
        let start = Instant::now();
        while self.request("GET", "", b"").is_none() {
            let ended = self.process.try_wait().expect("a child has a state");
            let log = fs::read_to_string(self._folder.path().join("log")).unwrap_or_default();
            let late = start.elapsed() > DEADLINE;
            assert!(ended.is_none() && !late, "{}: {log}", self.kind.name());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The location of a store in the bucket.
    pub fn location(&self, prefix: &str) -> String {
        format!("s3://{BUCKET}/{prefix}")
    }

    /// The environment variables that make a client use this server.
    pub fn variables(&self) -> [(&'static str, String); 6] {
        [
            ("AWS_ACCESS_KEY_ID", USER.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", USER.to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            (
                "AWS_ENDPOINT_URL",
                format!("http://127.0.0.1:{}", self.port),
            ),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("NO_PROXY", "127.0.0.1".to_owned()),
        ]
    }

    /// Writes an object without a client, so any key is possible.
    ///
    /// # Panics
    /// If the server rejects the object.
    pub fn put(&self, key: &str, bytes: &[u8]) {
        let said = self.request("PUT", key, bytes).unwrap_or_default();
        assert!(said.starts_with("HTTP/1.1 200"), "{key}: {said}");
    }

    /// Removes an object.
    ///
    /// # Panics
    /// If the server does not remove the object.
    pub fn remove(&self, key: &str) {
        let said = self.request("DELETE", key, b"").unwrap_or_default();
        assert!(said.starts_with("HTTP/1.1 20"), "{key}: {said}");
    }

    /// Sends a request without a client. `None` if the server does not respond.
    fn request(&self, method: &str, key: &str, bytes: &[u8]) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let path = match key {
            "" => format!("/{BUCKET}"),
            key => format!("/{BUCKET}/{}", encoded(key)),
        };
        // moto accepts changes only from an owner, but does not check signatures. s3rver accepts unsigned requests.
        let who = match self.kind {
            Kind::Moto => format!(
                "Authorization: AWS4-HMAC-SHA256 Credential={USER}/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0\r\n"
            ),
            Kind::S3rver => String::new(),
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{who}Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            bytes.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(bytes).ok()?;
        let mut said = Vec::new();
        stream.read_to_end(&mut said).ok()?;
        Some(String::from_utf8_lossy(&said).into_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port should be free");
    listener.local_addr().map_or(0, |at| at.port())
}

fn encoded(key: &str) -> String {
    let mut text = String::new();
    for byte in key.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' => {
                text.push(char::from(byte));
            }
            byte => text += &format!("%{byte:02X}"),
        }
    }
    text
}
