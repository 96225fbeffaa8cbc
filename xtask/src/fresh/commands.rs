//! Reads the commands in the README that must work on a new machine.

use super::options::Only;
use crate::step;

/// The two commands of the README, or one of them.
///
/// # Errors
/// If the README cannot be read, or if its section `## Two commands` does not contain one of these commands.
pub fn of_readme(only: Option<Only>) -> Result<Vec<String>, String> {
    let path = step::root().join("README.md");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("fresh: {}: {error}", path.display()))?;
    let wanted: &[&str] = match only {
        None => &["cargo tune", "cargo xtask test"],
        Some(Only::Tune) => &["cargo tune"],
        Some(Only::Test) => &["cargo xtask test"],
    };
    let commands = two_commands(&text);
    let found = wanted.iter().map(|wanted| {
        let command = commands.iter().find(|command| command == wanted);
        command
            .cloned()
            .ok_or_else(|| format!("fresh: the README has no `{wanted}` under `## Two commands`"))
    });
    found.collect()
}

/// The lines of the first code block under `## Two commands`, without their comments.
fn two_commands(readme: &str) -> Vec<String> {
    let section = readme.split("## Two commands").nth(1).unwrap_or_default();
    let block = section.split("```").nth(1).unwrap_or_default();
    let lines = block.lines().map(|line| {
        let command = line.split('#').next().unwrap_or_default();
        command.trim().to_owned()
    });
    lines.filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_both_commands() {
        assert_eq!(
            of_readme(None),
            Ok(vec!["cargo tune".into(), "cargo xtask test".into()])
        );
    }
}
