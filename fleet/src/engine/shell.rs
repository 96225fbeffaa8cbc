//! Quoting for a POSIX shell.

use super::JobOptions;

/// Quotes a text as one word of a POSIX shell.
pub(super) fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/:=@%+,-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The command that runs an element. `element` is the element's number as a word of the shell.
pub(super) fn command(options: &JobOptions, element: &str) -> String {
    let JobOptions {
        tune,
        plan_path,
        store,
        key,
        ..
    } = options;
    // `tune` would read a path that begins with `-` as an option.
    let plan_path = if plan_path.starts_with('-') {
        format!("./{plan_path}")
    } else {
        plan_path.clone()
    };
    format!(
        "{} fleet work {} --element {element} --store={} --key={}",
        quote(tune),
        quote(&plan_path),
        quote(store),
        quote(key)
    )
}
