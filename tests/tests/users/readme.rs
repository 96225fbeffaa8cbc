//! Follows README.md: writes the files of its program to a new crate, and runs its commands.

use std::process::Command;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout, tune};
use kiln_tests::throwaway::Throwaway;

const README: &str = include_str!("../../../README.md");
const SECTION: &str = "## A kernel, from spec to receipt\n";

/// A fenced block, with the name in backticks at the start of the line above the block.
struct Block {
    named: Option<&'static str>,
    language: &'static str,
    text: String,
}

/// The blocks of the section that describes the program.
fn blocks() -> Vec<Block> {
    let section = README
        .split_once(SECTION)
        .expect("README has the section")
        .1;
    let section = section.split("\n## ").next().unwrap_or(section);
    let mut blocks = Vec::new();
    let mut above = "";
    let mut lines = section.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let inside = lines.by_ref().take_while(|line| *line != "```");
            let text = inside.map(|line| format!("{line}\n")).collect();
            let named = above.split('`').nth(1);
            blocks.push(Block {
                named,
                language,
                text,
            });
            above = "";
        } else if !line.is_empty() {
            above = line;
        }
    }
    blocks
}

/// The commands of a block, without their comments.
fn commands(text: &str) -> Vec<&str> {
    let commands = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or(line).trim());
    commands.filter(|command| !command.is_empty()).collect()
}

/// A command of README.md, as a user types it in the crate.
fn command(crate_: &Throwaway, words: &str) -> Command {
    let mut words = words.split(' ');
    let mut command = match words.next() {
        Some("tune") => tune(crate_.path(), &crate_.path().join("cache")),
        Some("cargo") => crate_.cargo(),
        other => panic!("README starts {other:?}, which is neither cargo nor tune"),
    };
    command.args(words);
    command
}

#[test]
fn the_program_of_the_readme_is_tuned_tested_and_run_as_written() {
    let name = "the_program_of_the_readme_is_tuned_tested_and_run_as_written";
    if !have(name, &[Need::HostCompiler]) {
        return;
    }
    let blocks = blocks();
    let files = blocks.iter().filter(|block| !block.language.is_empty());
    let files = files.map(|block| (block.named.expect("a file has a name"), &*block.text));
    let files: Vec<_> = files.collect();
    let paths: Vec<_> = files.iter().map(|(path, _)| *path).collect();
    assert_eq!(paths, ["src/scale_add.cu", "src/main.rs"]);
    let crate_ = Throwaway::new("scaling", &files);

    let plain = blocks.iter().filter(|block| block.language.is_empty());
    let typed: Vec<_> = plain.flat_map(|block| commands(&block.text)).collect();
    let printed: Vec<_> = typed
        .iter()
        .map(|words| stdout(&expect_code(&mut command(&crate_, words), 0)))
        .collect();
    let [initialised, report, test, run] = &printed[..] else {
        panic!("README has other commands than before: {typed:?}");
    };
    assert!(initialised.contains("tuned/index.toml"), "{initialised}");
    assert!(report.contains("tuned/scale_add.toml"), "{report}");
    assert!(crate_.read("tuned/index.toml").contains("scale_add.toml"));
    assert!(test.contains("1 passed"), "{test}");
    assert_eq!(run, "1.5\n");
    println!("{report}\n{test}");
}
