//! Checks the promises in documentation. A promise is a command with its output, in a block fenced as `console`.
//!
//! A line that starts with `$ ` is a command. The lines after it are its output. In the output, `…` stands for any
//! text, and a line that is only `…` stands for any number of lines.

/// A command and the output that the documentation promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The command, without `$ `.
    pub command: String,
    /// The lines of its output.
    pub output: Vec<String>,
}

/// The placeholder for any text.
const ANYTHING: &str = "…";

/// The promises of a page, in the order of the page.
pub fn promises(markdown: &str) -> Vec<Promise> {
    let mut found: Vec<Promise> = Vec::new();
    for (language, text) in blocks(markdown) {
        if language != "console" {
            continue;
        }
        for line in text.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => found.push(Promise {
                    command: command.into(),
                    output: Vec::new(),
                }),
                None => {
                    let promise = found.last_mut();
                    let promise = promise.expect("a console block should begin with a command");
                    promise.output.push(line.into());
                }
            }
        }
    }
    found
}

/// The fenced blocks of a page: for each, the text after the opening fence, and the content.
fn blocks(markdown: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in markdown.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => found.push(block),
            (Some(language), None) => open = Some((language.into(), String::new())),
            (None, Some((language, text))) => open = Some((language, text + line + "\n")),
            (None, None) => {}
        }
    }
    found
}

/// The files on a page, in order: the path and the content of each. A file is a block after a line that has only a path
/// in backticks and a colon.
pub fn files(markdown: &str) -> Vec<(String, String)> {
    let name_above = |at: usize| {
        let above = markdown.lines().take(at).collect::<Vec<_>>();
        let above = above.into_iter().rev().find(|line| !line.is_empty())?;
        let name = above.strip_prefix('`')?.strip_suffix("`:")?;
        (!name.contains('`')).then(|| name.to_owned())
    };
    let fences = markdown.lines().enumerate();
    let fences = fences.filter(|(_, line)| line.starts_with("```"));
    // Every second fence closes a block.
    let names = fences.step_by(2).map(|(at, _)| name_above(at));
    let named = names.zip(blocks(markdown));
    named
        .filter_map(|(name, (_, text))| Some((name?, text)))
        .collect()
}

/// The documentation at the top of a Rust file.
pub fn module_documentation(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n")
        .collect()
}

impl Promise {
    /// Compares the promised output with the actual output.
    ///
    /// # Errors
    /// Both outputs, if they differ.
    pub fn check(&self, printed: &str) -> Result<(), String> {
        let promised: Vec<&str> = self.output.iter().map(|line| line.trim_end()).collect();
        let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
        let blank = |line: &&&str| line.is_empty();
        let behind = promised.iter().rev().take_while(blank).count();
        let promised = &promised[..promised.len() - behind];
        if all_match(promised, &lines) {
            return Ok(());
        }
        Err(format!(
            "`{}` should print\n{}\nbut it prints\n{printed}",
            self.command,
            promised.join("\n")
        ))
    }
}

fn all_match(promised: &[&str], printed: &[&str]) -> bool {
    match promised.split_first() {
        None => printed.is_empty(),
        Some((&ANYTHING, rest)) => (0..=printed.len()).any(|at| all_match(rest, &printed[at..])),
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, printed)| line_matches(first, line) && all_match(rest, printed)),
    }
}

fn line_matches(promised: &str, line: &str) -> bool {
    let mut parts = promised.split(ANYTHING);
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            return false;
        };
        rest = behind;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "text\n\n`a/b.rs`:\n\n```rust\nfn f() {}\n```\n\nOutput of `x`:\n\n```console\n$ x 1\none …\n…\n\
                        end\n$ y\n```\n\n```text\nno file\n```\n";

    #[test]
    fn a_page_has_files_and_promises() {
        assert_eq!(
            files(PAGE),
            [("a/b.rs".to_owned(), "fn f() {}\n".to_owned())]
        );
        let promises = promises(PAGE);
        assert_eq!(promises.len(), 2);
        assert_eq!(promises[0].command, "x 1");
        assert_eq!(promises[0].output, ["one …", "…", "end"]);
        assert_eq!(promises[1].output, [""; 0]);
    }

    #[test]
    fn an_ellipsis_stands_for_any_text_and_alone_for_any_lines() {
        let promise = &promises(PAGE)[0];
        for good in ["one 1\nend", "one x\n2\n3\nend\n"] {
            assert_eq!(promise.check(good), Ok(()), "{good}");
        }
        for bad in ["", "one 1", "two\nend", "one 1\nend\nmore", "one 1\n2"] {
            assert!(promise.check(bad).is_err(), "{bad}");
        }
        assert!(line_matches("a … b … c", "a 1 b b 2 c"));
        assert!(!line_matches("a…a", "a"));
        assert!(!line_matches("plain", "plainer"));
    }

    #[test]
    fn documentation_ends_where_the_code_begins() {
        let source = "//! # T\n//!\n//!   x\nuse y;\n//! z\n";
        assert_eq!(module_documentation(source), "# T\n\n  x\n");
    }
}
