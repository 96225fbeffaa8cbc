//! The tokens of Python expressions.

use kiln_spec::csp::Value;

use super::error::ParseError;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PythonToken {
    Number(Value),
    Text(String),
    /// A name or a keyword.
    Name(String),
    /// An operator or bracket.
    Symbol(&'static str),
}

/// All symbols. Longer ones come first, because the tokenizer uses the first match.
const SYMBOLS: [&str; 24] = [
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "<", ">", "(", ")",
    "[", "]", ",", "{", "}", ":", "=",
];

/// The largest number of tokens in an expression.
const MAX_WORDS: usize = 1 << 16;

/// Splits a text into tokens.
///
/// # Errors
/// A part of the text is not a token, or there are too many tokens.
pub(crate) fn tokens(text: &str) -> Result<Vec<PythonToken>, ParseError> {
    let mut rest = text.trim_start();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '0'..='9' | '.' => number(rest)?,
            '\'' | '"' => quoted(rest, first)?,
            _ if first.is_alphabetic() || first == '_' => {
                let name: String = rest
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                let length = name.len();
                (PythonToken::Name(name), length)
            }
            _ => match SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
                Some(symbol) => (PythonToken::Symbol(symbol), symbol.len()),
                None => return Err(ParseError::Character { found: first }),
            },
        };
        tokens.push(token);
        if tokens.len() > MAX_WORDS {
            return Err(ParseError::TooManyWords { limit: MAX_WORDS });
        }
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn quoted(text: &str, quote: char) -> Result<(PythonToken, usize), ParseError> {
    let inner = &text[1..];
    let end = inner.find(quote).ok_or(ParseError::UnterminatedString)?;
    if inner[..end].contains('\\') {
        return Err(ParseError::Backslash);
    }
    Ok((PythonToken::Text(inner[..end].into()), end + 2))
}

/// Reads a decimal integer or a floating-point number.
fn number(text: &str) -> Result<(PythonToken, usize), ParseError> {
    let mut length = 0;
    let mut previous = ' ';
    for c in text.chars() {
        let sign = (c == '-' || c == '+') && (previous == 'e' || previous == 'E');
        if !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || sign) {
            break;
        }
        length += c.len_utf8();
        previous = c;
    }
    let written = &text[..length];
    let digits = written.replace('_', "");
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    let value = if is_integer {
        let parsed = digits.parse::<i128>();
        Value::Int(parsed.map_err(|_| ParseError::IntegerTooLarge {
            text: written.into(),
        })?)
    } else {
        let parsed = digits.parse::<f64>().ok().filter(|x| x.is_finite());
        let starts = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        Value::Float(
            parsed
                .filter(|_| starts)
                .ok_or_else(|| ParseError::NotANumber {
                    text: written.into(),
                })?,
        )
    };
    Ok((PythonToken::Number(value), length))
}
