//! Buckets: error responses of servers, and objects that other programs write.

use kiln_tests::s3::Kind;

use crate::places::{bucket, servers};

#[test]
fn a_listing_of_a_bucket_names_what_is_no_object_and_hides_nothing() {
    let test = "a_listing_of_a_bucket_names_what_is_no_object_and_hides_nothing";
    for server in servers(test) {
        let store = bucket(&server, "x");
        for name in ["p/a/1", "p/b/2", "p/c"] {
            store.put(name, b"1").unwrap();
        }
        for key in [
            "x/p/Foreign File",
            "x/p/a/ü&<",
            "x/p/%2e%2e",
            "y/p/other",
            "xp/1",
        ] {
            server.put(key, b"1");
        }
        // s3rver stores objects as files, and cannot store a file of this name.
        if server.kind == Kind::Moto {
            server.put("x/p/a//1", b"1");
            server.put("x/p/a/", b"");
        }
        let listing = store.list("p/").unwrap();
        assert_eq!(
            listing.names,
            ["p/a/1", "p/b/2", "p/c"],
            "{:?}",
            server.kind
        );
        let mut expected = vec!["p/%2e%2e", "p/Foreign File"];
        expected.extend((server.kind == Kind::Moto).then_some("p/a//1"));
        expected.push("p/a/\\u{fc}&<");
        assert_eq!(listing.ignored, expected, "{:?}", server.kind);
    }
}

#[test]
#[cfg(feature = "s3")]
fn a_request_that_fails_says_why_without_the_secret() {
    use std::time::{Duration, Instant};

    use kiln_fleet::{ObjectStore as _, S3, StoreError};

    const SECRET: &str = "do-not-print-this-secret";
    let fails = |store: &S3, says: &str| {
        let errors = [
            store.put("a/b", b"1").unwrap_err(),
            store.get("a/b", 1).unwrap_err(),
            store.list("a/").unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, StoreError::Request { .. }), "{error:?}");
            assert!(error.is_passing());
            for text in [
                error.to_string(),
                format!("{error:?}"),
                format!("{store:?}"),
            ] {
                assert!(!text.contains(SECRET), "{text}");
            }
            let text = error.to_string();
            assert!(text.contains(says) && text.contains("help: "), "{text}");
        }
    };
    for server in servers("a_request_that_fails_says_why_without_the_secret") {
        let variables = server.variables();
        let with = |location: &str, changed: &[(&str, &str)]| {
            let aws = variables
                .iter()
                .filter(|(name, _)| name.starts_with("AWS_"));
            let aws = aws.map(|(name, value)| (*name, value.as_str()));
            let aws: Vec<(&str, &str)> = aws.chain(changed.iter().copied()).collect();
            S3::open_with(location, &aws).unwrap()
        };
        let missing = with("s3://missing/x", &[]);
        fails(&missing, "NoSuchBucket");
        // moto has no users. Neither server checks signatures of this version.
        if server.kind == Kind::S3rver {
            let user = [
                ("AWS_ACCESS_KEY_ID", "nobody"),
                ("AWS_SECRET_ACCESS_KEY", SECRET),
                ("AWS_SESSION_TOKEN", SECRET),
            ];
            fails(&with(&server.location("x"), &user), "InvalidAccessKeyId");
        }
        let nobody = format!("http://127.0.0.1:{}", kiln_tests::s3::free_port());
        let start = Instant::now();
        let silent = with(&server.location("x"), &[("AWS_ENDPOINT_URL", &nobody)]);
        fails(&silent, "onnection refused");
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}

#[test]
#[cfg(feature = "s3")]
fn settings_of_a_bucket_that_cannot_be_used_are_refused_with_help() {
    use kiln_fleet::S3;

    for (location, variables) in [
        ("s3://B", vec![]),
        ("s3://bucket", vec![("AWS_NONSENSE", "1")]),
        ("s3://bucket", vec![("AWS_ALLOW_HTTP", "perhaps")]),
        (
            "s3://bucket",
            vec![("AWS_ENDPOINT_URL", "http://user:do-not-print@host:x")],
        ),
    ] {
        // Some of these mistakes are detected only by the first request.
        let error = match S3::open_with(location, &variables) {
            Ok(store) => kiln_fleet::ObjectStore::list(&store, "a/").unwrap_err(),
            Err(error) => error,
        };
        let text = error.to_string();
        assert!(
            text.contains("help: ") && !text.contains("do-not-print"),
            "{text}"
        );
    }
}
