//! Splits PTX text into tokens (PTX ISA 4, "Syntax").

use super::ParseError;

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, a directive, or an opcode with its suffixes: letters, digits, `_ $ % .` and `::`.
    Word,
    /// A number, which begins with a digit.
    Number,
    /// A string. The token text excludes the quotation marks.
    Text,
    /// One character of punctuation.
    Mark,
    /// The end of the text.
    End,
}

/// A token, and the line on which it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub line: u32,
}

/// Splits a text into tokens. The last token is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut lexer = Lexer {
        text,
        at: 0,
        line: 1,
    };
    let mut all = Vec::new();
    while let Some(token) = lexer.next()? {
        all.push(token);
    }
    all.push(Token {
        kind: Kind::End,
        text: "",
        line: lexer.line,
    });
    Ok(all)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    fn byte(&self, ahead: usize) -> u8 {
        *self.text.as_bytes().get(self.at + ahead).unwrap_or(&0)
    }

    fn error(&self, message: &str) -> ParseError {
        ParseError {
            line: self.line,
            message: message.to_owned(),
        }
    }

    fn skip_blanks(&mut self) -> Result<(), ParseError> {
        loop {
            match (self.byte(0), self.byte(1)) {
                (b'\n', _) => {
                    self.line += 1;
                    self.at += 1;
                }
                (b' ' | b'\t' | b'\r', _) => self.at += 1,
                (b'/', b'/') => {
                    while self.at < self.text.len() && self.byte(0) != b'\n' {
                        self.at += 1;
                    }
                }
                (b'/', b'*') => {
                    let rest = &self.text[self.at..];
                    let end = rest
                        .find("*/")
                        .ok_or_else(|| self.error("a comment has no end"))?;
                    self.line += rest[..end].matches('\n').count() as u32;
                    self.at += end + 2;
                }
                _ => return Ok(()),
            }
        }
    }

    fn next(&mut self) -> Result<Option<Token<'a>>, ParseError> {
        self.skip_blanks()?;
        let start = self.at;
        if start >= self.text.len() {
            return Ok(None);
        }
        let line = self.line;
        let token = |kind, text| Some(Token { kind, text, line });
        let first = self.byte(0);
        if first.is_ascii_digit() {
            while is_word(self.byte(0))
                || (matches!(self.byte(0), b'+' | b'-') && self.exponent(start))
            {
                self.at += 1;
            }
            return Ok(token(Kind::Number, &self.text[start..self.at]));
        }
        if is_word(first) {
            loop {
                match (self.byte(0), self.byte(1)) {
                    (b':', b':') if is_word(self.byte(2)) => self.at += 2,
                    (byte, _) if is_word(byte) => self.at += 1,
                    _ => break,
                }
            }
            return Ok(token(Kind::Word, &self.text[start..self.at]));
        }
        if first == b'"' {
            let rest = &self.text[start + 1..];
            let end = rest
                .find(['"', '\n'])
                .ok_or_else(|| self.error("a text has no end"))?;
            self.at = start + end + 2;
            return Ok(token(Kind::Text, &rest[..end]));
        }
        if !first.is_ascii_graphic() {
            return Err(self.error("a character outside comments and texts is not ASCII"));
        }
        self.at += 1;
        Ok(token(Kind::Mark, &self.text[start..self.at]))
    }

    /// Whether a sign belongs to the exponent of a decimal number such as `1.5e-3`.
    fn exponent(&self, start: usize) -> bool {
        let so_far = &self.text.as_bytes()[start..self.at];
        matches!(so_far.last(), Some(b'e' | b'E')) && so_far.contains(&b'.')
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opcode_with_colons_is_one_word_and_a_label_is_a_word_and_a_mark() {
        let text = "$L1: @!%p1 st.async.mbarrier::complete_tx::bytes [%r1+4], 0f3F800000; // x";
        let all = tokens(text).unwrap();
        let texts: Vec<_> = all.iter().map(|token| token.text).collect();
        let opcode = "st.async.mbarrier::complete_tx::bytes";
        let expected = [
            "$L1",
            ":",
            "@",
            "!",
            "%p1",
            opcode,
            "[",
            "%r1",
            "+",
            "4",
            "]",
            ",",
            "0f3F800000",
            ";",
            "",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn lines_count_through_comments() {
        let all = tokens("/* a\nb */ x // y\nz").unwrap();
        assert_eq!([all[0].line, all[1].line], [2, 3]);
    }

    #[test]
    fn a_comment_without_an_end_is_an_error_with_its_line() {
        assert_eq!(tokens("\n/* x").unwrap_err().line, 2);
    }
}
