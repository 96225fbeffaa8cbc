//! Servers that respond with wrong data, or with correct data only after some requests.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use kiln_fleet::{ObjectStore as _, S3, StoreError};

/// The response to a request. The arguments are the method, and the number of earlier requests with this method.
type Script = fn(&str, usize) -> String;

/// A server on the loopback interface that responds as a script specifies.
struct Liar {
    gets: Arc<AtomicUsize>,
    puts: Arc<AtomicUsize>,
    store: S3,
}

impl Liar {
    fn new(script: Script) -> Liar {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (gets, puts) = (Arc::default(), Arc::default());
        let counts: [Arc<AtomicUsize>; 2] = [Arc::clone(&gets), Arc::clone(&puts)];
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), script, &counts);
            }
        });
        let variables = [
            ("AWS_ACCESS_KEY_ID", "user"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ];
        let store = S3::open_with("s3://kiln", &variables).unwrap();
        Liar { gets, puts, store }
    }

    fn counts(&self) -> (usize, usize) {
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        (count(&self.gets), count(&self.puts))
    }
}

/// Reads one request, and responds to it.
fn answer(mut stream: TcpStream, script: Script, [gets, puts]: &[Arc<AtomicUsize>; 2]) {
    let (mut said, mut part) = (Vec::new(), [0; 4096]);
    let wanted = |said: &[u8]| {
        let text = String::from_utf8_lossy(said).to_lowercase();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        Some(length.saturating_sub(body.len()))
    };
    while wanted(&said) != Some(0) {
        let read = stream.read(&mut part).unwrap();
        if read == 0 {
            return;
        }
        said.extend_from_slice(&part[..read]);
    }
    let method = if said.starts_with(b"PUT") {
        "PUT"
    } else {
        "GET"
    };
    let number = if method == "PUT" { puts } else { gets }.fetch_add(1, Ordering::Relaxed);
    // The client may close the connection before it has read the whole response, so an error is ignored.
    let _ = stream.write_all(script(method, number).as_bytes());
}

fn found(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{REST}{body}",
        body.len()
    )
}

fn missing() -> String {
    format!("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n{REST}")
}

fn broken() -> String {
    let body = "<Error><Code>InternalError</Code><Message>Try again.</Message></Error>";
    format!(
        "HTTP/1.1 500 Oops\r\nContent-Length: {}\r\n{REST}{body}",
        body.len()
    )
}

/// The last lines of a response's head.
const REST: &str =
    "ETag: \"1\"\r\nLast-Modified: Tue, 01 Jan 2030 00:00:00 GMT\r\nConnection: close\r\n\r\n";

#[test]
fn a_server_that_takes_an_object_and_does_not_have_it_is_not_believed() {
    let liar = Liar::new(|method, _| match method {
        "PUT" => found(""),
        _ => missing(),
    });
    let error = liar.store.put("a/b", b"bytes").unwrap_err();
    assert!(
        matches!(error, StoreError::Lost { .. }) && error.is_passing(),
        "{error}"
    );
    assert!(error.to_string().contains("help: "), "{error}");
    assert_eq!(liar.counts(), (2, 1));
}

#[test]
fn an_object_that_another_writer_has_half_written_is_looked_at_again() {
    let liar = Liar::new(|_, number| found(if number < 2 { "byt" } else { "bytes" }));
    liar.store.put("a/b", b"bytes").unwrap();
    assert_eq!(liar.counts(), (3, 0));
    // If the object remains different, it is a different object.
    let liar = Liar::new(|_, _| found("byt"));
    let error = liar.store.put("a/b", b"bytes").unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Exists {
                found: 3,
                expected: 5,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn an_object_of_which_a_killed_writer_left_a_part_is_completed() {
    static IS_COMPLETE: AtomicBool = AtomicBool::new(false);
    let liar = Liar::new(|method, _| {
        if method == "PUT" {
            IS_COMPLETE.store(true, Ordering::Relaxed);
            return found("");
        }
        found(if IS_COMPLETE.load(Ordering::Relaxed) {
            "bytes"
        } else {
            "byt"
        })
    });
    liar.store.put("a/b", b"bytes").unwrap();
    assert_eq!(liar.counts().1, 1);
    // Other bytes are never replaced.
    liar.store.put("a/b", b"other").unwrap_err();
    assert_eq!(liar.counts().1, 1);
}

#[test]
fn a_body_that_ends_too_early_is_read_again() {
    let liar = Liar::new(|_, number| match number {
        0..4 => format!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n{REST}byt"),
        _ => found("bytes"),
    });
    let read = liar.store.get("a/b", 10).unwrap().unwrap();
    assert_eq!(read, b"bytes");
    let liar = Liar::new(|_, _| format!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n{REST}byt"));
    let error = liar.store.get("a/b", 10).unwrap_err();
    assert!(matches!(error, StoreError::Request { .. }), "{error:?}");
}

#[test]
fn a_request_that_fails_is_repeated_a_few_times() {
    let liar = Liar::new(|method, number| match (method, number) {
        (_, 0 | 1) => broken(),
        ("GET", 2) => missing(),
        ("PUT", _) => found(""),
        _ => found("bytes"),
    });
    liar.store.put("a/b", b"bytes").unwrap();
    assert_eq!(liar.counts(), (4, 3));
    let liar = Liar::new(|_, _| broken());
    let error = liar.store.get("a/b", 10).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("the server says InternalError: Try again."),
        "{text}"
    );
    assert_eq!(liar.counts(), (5, 0));
}

#[test]
fn a_body_without_a_length_is_not_read() {
    let liar = Liar::new(|_, _| {
        let chunks = "5\r\nbytes\r\n".repeat(1000);
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{REST}{chunks}0\r\n\r\n")
    });
    let error = liar.store.get("a/b", 1 << 20).unwrap_err();
    assert!(matches!(error, StoreError::Request { .. }), "{error:?}");
}

#[test]
fn an_object_that_is_too_large_is_not_fetched() {
    let liar = Liar::new(|_, _| {
        let bytes = "x".repeat(100);
        format!("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n{REST}{bytes}")
    });
    let error = liar.store.get("a/b", 10).unwrap_err();
    let is_told = matches!(
        error,
        StoreError::TooLarge {
            bytes: 1_000_000_000,
            most: 10,
            ..
        }
    );
    assert!(is_told, "{error:?}");
}
