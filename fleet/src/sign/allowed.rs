//! OpenSSH's `allowed_signers` files, which list who may sign, for which namespaces and in which period (`man
//! ssh-keygen`, ALLOWED SIGNERS).

use super::{NAMESPACE, PublicKey, SignError};

/// Largest number of lines that are read. Further lines are ignored.
const MAX_LINES: usize = 100_000;

/// The keys that may sign for a fleet.
#[derive(Clone, Debug, Default)]
pub struct AllowedSigners {
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    /// The first principal of the line.
    principal: String,
    key: PublicKey,
    /// Start of the key's validity, in seconds since 1970; `None` for no limit.
    valid_after_unix_s: Option<u64>,
    /// End of the key's validity, in seconds since 1970; `None` for no limit.
    valid_before_unix_s: Option<u64>,
}

impl AllowedSigners {
    /// Reads an `allowed_signers` file. Lines are ignored if they are for other namespaces, for certificate
    /// authorities, or for algorithms other than ed25519.
    ///
    /// # Errors
    /// A line is invalid. The error contains the line's number.
    pub fn parse(text: &str) -> Result<AllowedSigners, SignError> {
        let mut lines = Vec::new();
        for (number, line) in text.lines().enumerate().take(MAX_LINES) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parsed = parse_line(line).map_err(|why| SignError::AllowedSigners {
                line: number + 1,
                why,
            })?;
            lines.extend(parsed);
        }
        Ok(AllowedSigners { lines })
    }

    /// The principal of `key`; `None` if the key may not sign for a fleet at the time `now_unix_s` (in seconds since
    /// 1970).
    pub fn who(&self, key: &PublicKey, now_unix_s: u64) -> Option<&str> {
        let mut lines = self.lines.iter();
        let valid = |line: &&Line| {
            line.key == *key
                && line
                    .valid_after_unix_s
                    .is_none_or(|from| now_unix_s >= from)
                && line.valid_before_unix_s.is_none_or(|end| now_unix_s < end)
        };
        lines.find(valid).map(|line| line.principal.as_str())
    }
}

/// Why a line is invalid.
type Wrong = &'static str;

fn parse_line(line: &str) -> Result<Option<Line>, Wrong> {
    let (principals, rest) = word(line);
    let principal = principals.trim_matches('"').split(',').next();
    let principal = principal.filter(|name| !name.is_empty());
    let principal = principal.ok_or("it has no principal")?;
    let (mut options, mut key) = ("", rest);
    if !is_algorithm(word(rest).0) {
        (options, key) = word(rest);
    }
    if !is_algorithm(word(key).0) {
        return Err("it has no key");
    }
    let mut parsed = Line {
        principal: principal.to_owned(),
        key: match PublicKey::parse(key) {
            Ok(key) => key,
            Err(SignError::Algorithm { .. }) => return Ok(None),
            Err(_) => return Err("its key cannot be read"),
        },
        valid_after_unix_s: None,
        valid_before_unix_s: None,
    };
    for option in split_quoted(options, ',') {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = value.trim_matches('"');
        match name.to_ascii_lowercase().as_str() {
            "cert-authority" => return Ok(None),
            "namespaces" if !value.split(',').any(|pattern| matches(pattern, NAMESPACE)) => {
                return Ok(None);
            }
            "namespaces" => {}
            "valid-after" => parsed.valid_after_unix_s = Some(time(value)?),
            "valid-before" => parsed.valid_before_unix_s = Some(time(value)?),
            _ => return Err("it has an unknown option"),
        }
    }
    Ok(Some(parsed))
}

fn is_algorithm(word: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-"]
        .iter()
        .any(|start| word.starts_with(start))
}

/// The first word and the rest. White space in quotes does not end a word.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let mut quoted = false;
    let end = text.find(|c: char| {
        quoted ^= c == '"';
        c.is_ascii_whitespace() && !quoted
    });
    text.split_at(end.unwrap_or(text.len()))
}

/// The non-empty parts of a text between separators that are not in quotes.
fn split_quoted(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let parts = text.split(move |c: char| {
        quoted ^= c == '"';
        c == separator && !quoted
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// Whether `text` matches an OpenSSH pattern, in which `*` is any text and `?` is one character.
fn matches(pattern: &str, text: &str) -> bool {
    let Some(first) = pattern.chars().next() else {
        return text.is_empty();
    };
    let rest = &pattern[first.len_utf8()..];
    match (first, text.chars().next()) {
        ('*', None) => matches(rest, text),
        ('*', Some(c)) => matches(rest, text) || matches(pattern, &text[c.len_utf8()..]),
        ('?', Some(c)) => matches(rest, &text[c.len_utf8()..]),
        (first, Some(c)) if first == c => matches(rest, &text[c.len_utf8()..]),
        _ => false,
    }
}

/// Reads a time of the form `YYYYMMDD` or `YYYYMMDDHHMM[SS]`, with or without a final `Z`, as seconds since 1970. The
/// time is in UTC.
///
/// OpenSSH reads a time without `Z` as local time. Kiln reads it as UTC, because the result of a check must not depend
/// on the time zone of the machine.
fn time(text: &str) -> Result<u64, Wrong> {
    const FORM: Wrong = "a time is not YYYYMMDD or YYYYMMDDHHMM[SS][Z]";
    let digits = text.strip_suffix('Z').unwrap_or(text);
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(FORM);
    }
    let part = |from: usize, to: usize| {
        let part = digits.get(from..to).unwrap_or("0");
        part.parse::<u64>().map_err(|_| FORM)
    };
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let (hour, minute, second) = (part(8, 10)?, part(10, 12)?, part(12, 14)?);
    let in_range = year >= 1970 && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !in_range || hour > 23 || minute > 59 || second > 60 {
        return Err(FORM);
    }
    let days = days_since_1970(year, month, day);
    Ok(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// Days from 1970-01-01 to a date (H. Hinnant, "chrono-compatible low-level date algorithms").
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    days.saturating_sub(719_468)
}
