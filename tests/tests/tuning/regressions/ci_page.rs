//! Checks that the examples in docs/ci.md are valid YAML, and that `tune` accepts every `tune` command in them.

use clap::Parser as _;
use kiln_tuner::cli::Cli;
use saphyr::{LoadableYamlNode as _, Yaml};

const PAGE: &str = include_str!("../../../../docs/ci.md");
const REGRESSIONS: &str = include_str!("../../../../docs/regressions.md");

/// The contents of a page's fenced blocks in a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fences = page.split("\n```").skip(1).step_by(2);
    fences
        .filter_map(|block| block.split_once('\n'))
        .filter(|(of, _)| *of == language)
        .map(|(_, text)| text)
        .collect()
}

/// The shell commands of a job: `run` for GitHub, `script` and `before_script` for GitLab.
fn commands(node: &Yaml<'_>, lines: &mut Vec<String>) {
    if let Some(mapping) = node.as_mapping() {
        for (key, value) in mapping {
            let is_shell = matches!(key.as_str(), Some("run" | "script" | "before_script"));
            if is_shell {
                texts(value, lines);
            } else {
                commands(value, lines);
            }
        }
    } else if let Some(sequence) = node.as_sequence() {
        sequence.iter().for_each(|one| commands(one, lines));
    }
}

fn texts(node: &Yaml<'_>, lines: &mut Vec<String>) {
    if let Some(text) = node.as_str() {
        lines.extend(text.lines().map(str::to_owned));
    } else if let Some(sequence) = node.as_sequence() {
        sequence.iter().for_each(|one| texts(one, lines));
    } else {
        panic!("a shell command is a text: {node:?}");
    }
}

/// The arguments of a line that begins with `tune` or `cargo tune`, without shell redirections. `None` for other lines.
fn tune_words(line: &str) -> Option<Vec<String>> {
    let line = line.split(" > ").next().unwrap_or(line).trim();
    let words = line
        .strip_prefix("cargo tune")
        .or_else(|| line.strip_prefix("tune"))?;
    let words = words.split_whitespace().map(str::to_owned);
    Some(std::iter::once("tune".to_owned()).chain(words).collect())
}

/// Checks the `tune` commands among the lines, and returns them.
fn understood<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found = Vec::new();
    for words in lines.filter_map(tune_words) {
        let text = words.join(" ");
        if let Err(error) = Cli::try_parse_from(&words) {
            panic!("docs/ci.md says `{text}`:\n{error}");
        }
        found.push(text);
    }
    found
}

#[test]
fn every_example_is_yaml_and_its_commands_are_understood() {
    let examples = blocks(PAGE, "yaml");
    assert_eq!(
        examples.len(),
        3,
        "GitHub without and with a GPU, and GitLab"
    );
    for example in examples {
        let documents = Yaml::load_from_str(example);
        let documents = documents.unwrap_or_else(|error| panic!("{error}\n{example}"));
        let [document] = &documents[..] else {
            panic!("an example is one file");
        };
        let mut lines = Vec::new();
        commands(document, &mut lines);
        let found = understood(lines.iter().map(String::as_str));
        for needed in [
            "tune bake --check",
            "tune smoke --device ",
            "tune bench --device ",
            "tune compare ",
        ] {
            let has = found.iter().any(|command| command.starts_with(needed));
            assert!(has, "an example lacks `{needed}`: {found:?}");
        }
        let gate = found
            .iter()
            .any(|command| command.contains("--fail-above 5%"));
        assert!(gate, "{found:?}");
    }
}

#[test]
fn commands_outside_of_the_examples_are_understood_too() {
    for page in [PAGE, REGRESSIONS] {
        let shell = blocks(page, "sh").into_iter().flat_map(str::lines);
        assert!(!understood(shell).is_empty());
        // Commands in backticks. Only those with an option are checked, because others may be incomplete.
        let quoted = page.split('`').skip(1).step_by(2).filter(|text| {
            !text.contains('\n') && (text.starts_with("cargo tune ") || text.starts_with("tune "))
        });
        let whole = quoted.filter(|text| text.contains(" --"));
        understood(whole.map(|text| text.strip_suffix(" --save").unwrap_or(text)));
    }
}
