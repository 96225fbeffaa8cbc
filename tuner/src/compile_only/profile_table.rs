//! The tables of `tune inspect --profile` as text.

use kiln_exchange::profiles::{Executed, FIGURES, Profile, ProfileRow};

use crate::columns::columns;

/// Formats rows as text. Each config has a table, followed by its main loop in machine code and its worst source lines.
pub fn to_text(rows: &[ProfileRow], title: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    let mut last = None;
    for row in rows {
        if last != Some(row.target.as_str()) {
            text += &format!(
                "{}{}\n",
                if last.is_some() { "\n" } else { "" },
                title(&row.target)
            );
            last = Some(row.target.as_str());
        }
        text += &format!(
            "\n{} ({}), {}: {}\n",
            row.kernel, row.problem, row.what, row.config
        );
        match (&row.profile, &row.error) {
            (Some(profile), _) => text += &of_profile(profile),
            (None, error) => {
                let error = error.as_deref().unwrap_or("not run");
                text += &format!("  {}\n", error.replace('\n', "\n  "));
            }
        }
    }
    text
}

fn of_profile(profile: &Profile) -> String {
    let headings = FIGURES.iter().map(|(heading, _)| *heading);
    let headings = [""].into_iter().chain(headings).chain(["moved"]);
    let mut lines = vec![headings.map(str::to_owned).collect()];
    let part = match profile.executed_blocks == profile.blocks {
        true => format!("all {} blocks", profile.blocks),
        false => format!("{} of {} blocks", profile.executed_blocks, profile.blocks),
    };
    let mut whole = cells(part, &profile.executed);
    whole.push(profile.moved());
    lines.push(whole);
    if let Some(hot) = &profile.hot_loop {
        let line = hot
            .line
            .as_ref()
            .map_or_else(String::new, |line| format!(" to {line}"));
        let inner = match hot.inner_loops {
            0 => String::new(),
            count => format!(", {count} inside"),
        };
        lines.push(cells(format!("main loop{line}{inner}"), &hot.executed));
    }
    let table = columns(&lines);
    let mut text: String = table.lines().map(|line| format!("  {line}\n")).collect();
    match (&profile.machine_code, &profile.no_machine_code) {
        (Some(code), _) => text += &format!("    machine code, main loop: {code}\n"),
        (None, Some(why)) => text += &format!("    machine code: not read: {why}\n"),
        (None, None) => {}
    }
    for worst in &profile.worst {
        let place = worst
            .line
            .as_ref()
            .map_or_else(|| "no line".into(), ToString::to_string);
        text += &format!(
            "    {}: {} at {place} (`{}`), {:.0} % of this cost\n",
            worst.kind, worst.detail, worst.instruction, worst.share_percent
        );
    }
    text
}

fn cells(name: String, executed: &Executed) -> Vec<String> {
    let figures = executed.figures().map(|(_, text)| text);
    [name].into_iter().chain(figures).collect()
}
