//! A lexer for C++ sources. It finds names, directives and braces, and reads comments, strings, raw strings and line
//! continuations correctly. It does not classify operators and keywords.

use std::borrow::Cow;

use thiserror::Error;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Identifier,
    /// A number, as the preprocessor defines it: `1.0f` or `0x1Fu` is one token.
    Number,
    /// A string literal with its prefix.
    Str,
    /// A character literal with its prefix.
    Char,
    /// One punctuation byte.
    Punct(u8),
    /// A whole preprocessor directive, from `#` to the end of its line and of all continuation lines.
    Directive,
}

/// One token of a source, as a byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind of the token.
    pub kind: TokenKind,
    /// The first byte of the token.
    pub start: usize,
    /// One past the last byte of the token.
    pub end: usize,
    /// The physical line of the first byte, from 1.
    pub line: u32,
}

impl Token {
    /// The text of the token, with line continuations removed.
    pub fn text<'s>(&self, source: &'s str) -> Cow<'s, str> {
        let text = &source[self.start..self.end];
        // A raw string keeps its text, because line continuations have no meaning in it.
        let raw =
            self.kind == TokenKind::Str && text.split('"').next().is_some_and(|p| p.ends_with('R'));
        if !raw && text.contains("\\\n") {
            Cow::Owned(text.replace("\\\n", ""))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Whether the token is the identifier `name`.
    pub fn is_name(&self, source: &str, name: &str) -> bool {
        self.kind == TokenKind::Identifier && self.text(source) == name
    }

    /// Whether the token is the punctuation `byte`.
    pub fn is_punct(&self, byte: u8) -> bool {
        self.kind == TokenKind::Punct(byte)
    }

    /// Whether the token is a preprocessor directive.
    pub fn is_directive(&self) -> bool {
        self.kind == TokenKind::Directive
    }
}

/// A literal or a comment that does not end.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unterminated {what}")]
pub struct LexError {
    /// A description of the literal or comment.
    pub what: &'static str,
    /// The physical line where the literal or comment begins, from 1.
    pub line: u32,
}

/// The tokens of a source. Each directive is a single token; [`lex_directive`] splits it.
///
/// A literal whose closing quote is missing ends at the end of the line, because such quotes occur in `#error` texts
/// and in skipped `#if` groups.
///
/// # Errors
/// If a block comment or a raw string is not terminated.
pub fn lex(source: &str) -> Result<Vec<Token>, LexError> {
    let mut lexer = Lexer::new(source, 0, source.len(), 1);
    let mut tokens = Vec::new();
    loop {
        let line_start = lexer.skip_blank(true)?;
        if lexer.peek(0).is_none() {
            return Ok(tokens);
        }
        let token = if line_start && lexer.peek(0) == Some(b'#') {
            lexer.directive()?
        } else {
            lexer.token()?
        };
        tokens.push(token);
    }
}

/// The tokens of a directive after its `#`: first its name, and then its operands.
pub fn lex_directive(source: &str, directive: &Token) -> Vec<Token> {
    let mut lexer = Lexer::new(source, directive.start, directive.end, directive.line);
    lexer.bump();
    let mut tokens = Vec::new();
    // `lex` has already read the whole directive without an error, so no error is expected here.
    while lexer.skip_blank(false).is_ok() && lexer.peek(0).is_some() {
        match lexer.token() {
            Ok(token) => tokens.push(token),
            Err(_) => break,
        }
    }
    tokens
}

struct Lexer<'s> {
    bytes: &'s [u8],
    pos: usize,
    line: u32,
    at_line_start: bool,
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit()
}

impl<'s> Lexer<'s> {
    fn new(source: &'s str, start: usize, end: usize, line: u32) -> Lexer<'s> {
        Lexer {
            bytes: &source.as_bytes()[..end],
            pos: start,
            line,
            at_line_start: true,
        }
    }

    /// Skips line continuations, so that `pos` is at a byte that is not part of one.
    fn skip_continuations(&mut self) {
        while self.bytes[self.pos..].starts_with(b"\\\n") {
            self.pos += 2;
            self.line += 1;
        }
    }

    /// The byte `ahead` bytes after the current one, not counting line continuations.
    fn peek(&self, ahead: usize) -> Option<u8> {
        let mut pos = self.pos;
        for left in (0..=ahead).rev() {
            while self.bytes[pos..].starts_with(b"\\\n") {
                pos += 2;
            }
            if left > 0 {
                self.bytes.get(pos)?;
                pos += 1;
            }
        }
        self.bytes.get(pos).copied()
    }

    fn bump(&mut self) {
        self.skip_continuations();
        if let Some(&byte) = self.bytes.get(self.pos) {
            self.pos += 1;
            self.line += u32::from(byte == b'\n');
        }
    }

    /// Skips white space and comments, including newlines if `newlines` is set. Returns whether the next token is the
    /// first one of its line.
    fn skip_blank(&mut self, newlines: bool) -> Result<bool, LexError> {
        loop {
            self.skip_continuations();
            match (self.peek(0), self.peek(1)) {
                (Some(b'\n'), _) => {
                    if !newlines {
                        return Ok(false);
                    }
                    self.at_line_start = true;
                    self.bump();
                }
                (Some(byte), _) if byte.is_ascii_whitespace() || byte == 0x0b => self.bump(),
                (Some(b'/'), Some(b'/')) => {
                    while self.peek(0).is_some_and(|byte| byte != b'\n') {
                        self.bump();
                    }
                }
                (Some(b'/'), Some(b'*')) => self.block_comment()?,
                _ => return Ok(std::mem::take(&mut self.at_line_start)),
            }
        }
    }

    fn block_comment(&mut self) -> Result<(), LexError> {
        let line = self.line;
        self.bump();
        self.bump();
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b'*'), Some(b'/')) => break,
                (None, _) => {
                    let what = "block comment";
                    return Err(LexError { what, line });
                }
                _ => self.bump(),
            }
        }
        self.bump();
        self.bump();
        Ok(())
    }

    fn directive(&mut self) -> Result<Token, LexError> {
        let (start, line) = (self.pos, self.line);
        self.bump();
        let mut end = self.pos;
        loop {
            self.skip_blank(false)?;
            match self.peek(0) {
                None | Some(b'\n') => break,
                Some(_) => end = self.token()?.end,
            }
        }
        // A comment at the end of the line belongs to the directive.
        end = end.max(self.pos);
        Ok(Token {
            kind: TokenKind::Directive,
            start,
            end,
            line,
        })
    }

    fn token(&mut self) -> Result<Token, LexError> {
        self.skip_continuations();
        let (start, line) = (self.pos, self.line);
        let kind = match self.peek(0) {
            Some(byte) if is_name_start(byte) => self.name_or_literal(start)?,
            Some(byte) if byte.is_ascii_digit() => self.number(),
            Some(b'.') if self.peek(1).is_some_and(|b| b.is_ascii_digit()) => self.number(),
            Some(b'"') => self.quoted(b'"', TokenKind::Str),
            Some(b'\'') => self.quoted(b'\'', TokenKind::Char),
            other => {
                self.bump();
                TokenKind::Punct(other.unwrap_or(b' '))
            }
        };
        Ok(Token {
            kind,
            start,
            end: self.pos,
            line,
        })
    }

    fn name_or_literal(&mut self, start: usize) -> Result<TokenKind, LexError> {
        while self.peek(0).is_some_and(is_name_part) {
            self.bump();
        }
        let prefix = &self.bytes[start..self.pos];
        match (prefix, self.peek(0)) {
            (b"R" | b"LR" | b"uR" | b"UR" | b"u8R", Some(b'"')) => self.raw_string(),
            (b"L" | b"u" | b"U" | b"u8", Some(b'"')) => Ok(self.quoted(b'"', TokenKind::Str)),
            (b"L" | b"u" | b"U" | b"u8", Some(b'\'')) => Ok(self.quoted(b'\'', TokenKind::Char)),
            _ => Ok(TokenKind::Identifier),
        }
    }

    fn number(&mut self) -> TokenKind {
        let mut previous = 0;
        loop {
            match self.peek(0) {
                Some(byte) if is_name_part(byte) || byte == b'.' => previous = byte,
                Some(b'+' | b'-') if matches!(previous, b'e' | b'E' | b'p' | b'P') => previous = 0,
                Some(b'\'') if self.peek(1).is_some_and(is_name_part) => previous = 0,
                _ => return TokenKind::Number,
            }
            self.bump();
        }
    }

    fn quoted(&mut self, quote: u8, kind: TokenKind) -> TokenKind {
        self.bump();
        while let Some(byte) = self.peek(0) {
            if byte == b'\n' {
                break;
            }
            self.bump();
            if byte == quote {
                break;
            }
            if byte == b'\\' && self.peek(0).is_some_and(|b| b != b'\n') {
                self.bump();
            }
        }
        kind
    }

    /// A raw string, `R"delimiter( … )delimiter"`. Line continuations have no meaning in it.
    fn raw_string(&mut self) -> Result<TokenKind, LexError> {
        let unterminated = LexError {
            what: "raw string",
            line: self.line,
        };
        self.bump();
        let rest = &self.bytes[self.pos..];
        let open = rest
            .iter()
            .position(|&byte| byte == b'(')
            .ok_or_else(|| unterminated.clone())?;
        let closing = [b")", &rest[..open], b"\""].concat();
        let body = &rest[open + 1..];
        let length = body
            .windows(closing.len())
            .position(|window| window == closing)
            .ok_or(unterminated)?;
        let end = self.pos + open + 1 + length + closing.len();
        let newlines = self.bytes[self.pos..end].iter().filter(|&&b| b == b'\n');
        self.line += u32::try_from(newlines.count()).unwrap_or(u32::MAX);
        self.pos = end;
        Ok(TokenKind::Str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        let tokens = lex(source).expect("the source should lex");
        let texts = tokens.iter().map(|t| t.text(source).into_owned());
        texts.collect()
    }

    #[test]
    fn comments_and_white_space_are_no_tokens() {
        assert_eq!(
            words("a /* b */ c // d \\\n still a comment\ne"),
            ["a", "c", "e"]
        );
    }

    #[test]
    fn strings_hide_what_looks_like_code() {
        let source = r#"f("a // b /* c", '"', "\"x", u8"é") g"#;
        let kinds: Vec<_> = lex(source).unwrap().iter().map(|t| t.kind).collect();
        assert_eq!(
            kinds.iter().filter(|&&k| k == TokenKind::Str).count(),
            3,
            "{kinds:?}"
        );
        assert_eq!(words(source).last().unwrap(), "g");
    }

    #[test]
    fn raw_strings_end_at_their_own_delimiter() {
        let source = "R\"x( \" )\" // \\\n )x\" after";
        assert_eq!(words(source), ["R\"x( \" )\" // \\\n )x\"", "after"]);
        let after = lex(source).unwrap()[1];
        assert_eq!((after.is_name(source, "after"), after.line), (true, 2));
    }

    #[test]
    fn a_continued_name_is_one_name() {
        let source = "__glo\\\nbal__ void";
        assert!(lex(source).unwrap()[0].is_name(source, "__global__"));
        assert_eq!(lex(source).unwrap()[1].line, 2);
    }

    #[test]
    fn numbers_take_separators_exponents_and_suffixes() {
        assert_eq!(
            words("1'000 0x1.8p-3f 1e+5 .5f x-1"),
            ["1'000", "0x1.8p-3f", "1e+5", ".5f", "x", "-", "1"]
        );
    }

    #[test]
    fn a_directive_is_one_token_with_its_continued_lines_and_comments() {
        let source = "a\n  # define X /* over\nlines */ 1 \\\n + 2 // end\nb # c";
        let tokens = lex(source).unwrap();
        assert_eq!(
            tokens.len(),
            5,
            "`#` inside a line is not a directive: {tokens:?}"
        );
        assert!(tokens[1].is_directive());
        let inner: Vec<_> = lex_directive(source, &tokens[1])
            .iter()
            .map(|t| t.text(source).into_owned())
            .collect();
        assert_eq!(inner, ["define", "X", "1", "+", "2"]);
        assert_eq!(tokens[2].line, 5);
    }

    #[test]
    fn an_apostrophe_in_skipped_text_ends_with_its_line() {
        assert_eq!(
            words("#if 0\ndon't\n#endif\nint x;"),
            ["#if 0", "don", "'t", "#endif", "int", "x", ";"]
        );
    }

    #[test]
    fn unterminated_comments_and_raw_strings_name_their_line() {
        let comment = lex("a\n/* b").unwrap_err();
        assert_eq!((comment.what, comment.line), ("block comment", 2));
        let raw = lex("\n\nR\"( x").unwrap_err();
        assert_eq!((raw.what, raw.line), ("raw string", 3));
    }

    proptest::proptest! {
        #[test]
        fn any_text_lexes_into_ordered_ranges_or_an_error(source in "[ -~\\n\\\\é]{0,80}") {
            if let Ok(tokens) = lex(&source) {
                let mut last = 0;
                for token in tokens {
                    proptest::prop_assert!(last <= token.start && token.start < token.end);
                    let _ = token.text(&source);
                    last = token.end;
                    if token.is_directive() {
                        let _ = lex_directive(&source, &token);
                    }
                }
            }
        }
    }
}
