//! Parses the name of a kernel in a spec: `kernel`, `space::kernel`, `kernel<float, 256>`.

use super::lexer::{TokenKind, lex};

/// The name of a kernel, with its namespaces and template arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPath {
    /// The enclosing namespaces, outermost first.
    pub namespaces: Vec<String>,
    /// The kernel's name, without namespaces and template arguments.
    pub name: String,
    /// The template arguments as written; `None` for a kernel that is not a template.
    pub arguments: Option<Vec<String>>,
}

impl EntryPath {
    /// Parses a name. `None` if the text is not the name of a kernel.
    pub fn parse(text: &str) -> Option<EntryPath> {
        let text = text.trim();
        let (path, arguments) = match text.split_once('<') {
            None => (text, None),
            Some((path, rest)) => (path, Some(arguments(rest.strip_suffix('>')?)?)),
        };
        let mut names: Vec<String> = path.split("::").map(|name| name.trim().into()).collect();
        if !names.iter().all(|name| is_identifier(name)) {
            return None;
        }
        Some(EntryPath {
            name: names.pop()?,
            namespaces: names,
            arguments,
        })
    }

    /// The name without namespaces and template arguments. Symbols start with this name.
    pub fn base_name(text: &str) -> &str {
        let path = text.split('<').next().unwrap_or(text);
        path.rsplit("::").next().unwrap_or(path).trim()
    }

    /// Whether a template argument contains this name, which is that of a tunable parameter or type parameter.
    pub fn mentions(&self, name: &str) -> bool {
        self.argument_names().any(|found| found == name)
    }

    /// Every name in the template arguments.
    pub fn argument_names(&self) -> impl Iterator<Item = String> + '_ {
        let arguments = self.arguments.iter().flatten();
        arguments.flat_map(|text| {
            let tokens = lex(text).unwrap_or_default();
            let names = tokens
                .into_iter()
                .filter(|token| token.kind == TokenKind::Identifier);
            names.map(move |token| token.text(text).into_owned())
        })
    }
}

/// The template arguments, split at top-level commas. `None` if a bracket is not closed or a character is not
/// allowed.
fn arguments(text: &str) -> Option<Vec<String>> {
    let mut pieces = vec![String::new()];
    let mut depth = 0_u32;
    for c in text.chars() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                pieces.push(String::new());
                continue;
            }
            ' ' | ',' | ':' | '+' | '-' | '*' | '/' | '%' | '&' | '_' => {}
            _ if c.is_ascii_alphanumeric() => {}
            _ => return None,
        }
        pieces.last_mut()?.push(c);
    }
    let pieces: Vec<String> = pieces.iter().map(|piece| piece.trim().into()).collect();
    match &pieces[..] {
        [only] if only.is_empty() => Some(Vec::new()),
        _ => (depth == 0 && pieces.iter().all(|piece| !piece.is_empty())).then_some(pieces),
    }
}

fn is_identifier(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_namespaces_and_template_arguments_are_told_apart() {
        let path = EntryPath::parse("a::b::k<float, Pair<int, 2>, (N + 1)>").unwrap();
        assert_eq!(path.namespaces, ["a", "b"]);
        assert_eq!(path.name, "k");
        let arguments = path.arguments.clone().unwrap();
        assert_eq!(arguments, ["float", "Pair<int, 2>", "(N + 1)"]);
        assert!(path.mentions("N") && path.mentions("Pair") && !path.mentions("k"));
        assert_eq!(EntryPath::base_name("a::b::k<float>"), "k");
        assert_eq!(EntryPath::parse("k").unwrap().arguments, None);
        assert_eq!(EntryPath::parse("k<>").unwrap().arguments, Some(vec![]));
    }

    #[test]
    fn what_is_not_a_name_is_refused() {
        for text in [
            "", "1k", "a::", "::k", "k<", "k<float", "k<a,,b>", "k<a)>", "k<\"x\">", "k<a;b>",
            "k x",
        ] {
            assert_eq!(EntryPath::parse(text), None, "{text}");
        }
    }
}
