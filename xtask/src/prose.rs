//! Finds wording that docs/style.md rules out. It finds only the phrases that a program can recognise.

/// Words that may follow "is no": comparisons and idioms.
const ALLOWED: [&str; 22] = [
    "longer",
    "more",
    "less",
    "better",
    "worse",
    "faster",
    "slower",
    "smaller",
    "larger",
    "higher",
    "lower",
    "likelier",
    "sooner",
    "later",
    "wider",
    "different",
    "other",
    "such",
    "good",
    "way",
    "one",
    "doubt",
];

/// The phrases of a line that docs/style.md rules out, each with its replacement.
pub fn found(line: &str) -> Vec<(String, &'static str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut found = Vec::new();
    for (i, pair) in words.windows(2).enumerate() {
        let (first, second) = (pair[0], word(pair[1]));
        if matches!(first, "is" | "are" | "was" | "were") && second == "no" {
            let before = i.checked_sub(1).map_or("", |before| words[before]);
            let next = words.get(i + 2).map_or("", |next| word(next));
            let counts = before.to_lowercase().ends_with("there");
            if !counts && !next.is_empty() && !ALLOWED.contains(&next) {
                found.push((format!("{first} no {next}"), "is not a"));
            }
        }
        if first == "of" && matches!(second, "now" | "then") {
            found.push((format!("of {second}"), "current, saved"));
        }
    }
    let names = line.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
    for name in names {
        if name.starts_with("MOST_") {
            found.push((name.to_owned(), "MAX_"));
        }
        if name.starts_with("LEAST_") {
            found.push((name.to_owned(), "MIN_"));
        }
    }
    found
}

/// A word without the punctuation around it.
fn word(text: &str) -> &str {
    text.trim_matches(|c: char| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(line: &str) -> Vec<String> {
        found(line).into_iter().map(|(phrase, _)| phrase).collect()
    }

    #[test]
    fn what_the_style_rules_out_is_found() {
        assert_eq!(phrases("// 65 is no value of it"), ["is no value"]);
        assert_eq!(
            phrases("the kernels of now, of then"),
            ["of now", "of then"]
        );
        assert_eq!(phrases("These are no files."), ["are no files"]);
        assert_eq!(phrases("const MOST_BYTES: u64 = 1;"), ["MOST_BYTES"]);
    }

    #[test]
    fn usual_english_is_let_through() {
        for line in [
            "there is no device here",
            "There are no rows",
            "it is no longer used",
            "it is no faster than that",
            "as of November",
            "it is not a value",
        ] {
            assert!(phrases(line).is_empty(), "{line}");
        }
    }
}
