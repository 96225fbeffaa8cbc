//! Converts errors of requests. The result contains the server's code and message, but not the parts of the request
//! that the server repeats in its answer, because they may contain the key that signed the request.

use std::error::Error;

use crate::store::StoreError;

/// Largest number of characters of a server's text that an error contains.
const MAX_WORDS: usize = 300;

/// Whether the error means that the object does not exist. A missing bucket is a failure, not a missing object.
pub(super) fn is_missing(error: &object_store::Error) -> bool {
    let not_found = matches!(error, object_store::Error::NotFound { .. });
    not_found && element(&deepest(error).to_string(), "Code") != Some("NoSuchBucket")
}

pub(super) fn failed(what: &'static str, name: &str, error: &object_store::Error) -> StoreError {
    StoreError::Request {
        what,
        name: name.into(),
        why: why(error),
    }
}

/// The server's code and message, or the innermost cause if the server sent none. Outer causes are left out because
/// they contain the address of the request, and a body may repeat the key that signed the request.
pub(super) fn why(error: &object_store::Error) -> String {
    let text = deepest(error).to_string();
    let said = match (element(&text, "Code"), element(&text, "Message")) {
        (Some(code), Some(message)) => format!("the server says {code}: {message}"),
        (Some(code), None) => format!("the server says {code}"),
        (None, _) => text,
    };
    let one_line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let printable = one_line.chars().filter(|c| !c.is_control());
    printable.take(MAX_WORDS).collect()
}

fn deepest(error: &object_store::Error) -> &dyn Error {
    let mut deepest: &dyn Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest
}

/// The text of the XML element `name` in a server's error; `None` if there is no such element.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> object_store::Error {
        object_store::Error::NotFound {
            path: "secret/path".into(),
            source: format!("Server returned non-2xx status code: 404 Not Found: {body}").into(),
        }
    }

    #[test]
    fn the_servers_code_and_message_are_passed_on_and_nothing_that_it_repeats() {
        let error = refused(
            "<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code>\n<Message>It\u{1b}[2J differs.</Message>\
             <AWSAccessKeyId>AKIA</AWSAccessKeyId><StringToSign>GET</StringToSign></Error>",
        );
        assert_eq!(
            why(&error),
            "the server says SignatureDoesNotMatch: It[2J differs."
        );
        let long = refused(&"x".repeat(10_000));
        assert_eq!(why(&long).chars().count(), MAX_WORDS);
    }

    #[test]
    fn a_missing_bucket_is_not_a_missing_object() {
        assert!(is_missing(&refused(
            "<Error><Code>NoSuchKey</Code></Error>"
        )));
        assert!(is_missing(&refused("")));
        assert!(!is_missing(&refused(
            "<Error><Code>NoSuchBucket</Code></Error>"
        )));
    }
}
