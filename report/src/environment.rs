//! The part of the page that shows the settings of a run and the conditions under which it measured.

use std::time::Duration;

use kiln_spec::time::Nanoseconds;
use maud::{Markup, html};

use super::figures::{RunFigures, TaskFigures};

/// The fields of the tuning key that the page shows as conditions, each as its name in the key and its name on the
/// page. The tuning key contains everything on which a result depends.
const CONDITIONS: [(&str, &str); 9] = [
    ("compiler", "compiler"),
    ("compiler_version", "compiler version"),
    ("flags", "compiler flags"),
    ("driver", "driver"),
    ("runtime", "runtime library"),
    ("generator", "kiln"),
    ("regime", "caches"),
    ("threads", "host threads"),
    ("tolerance", "tolerance"),
];

/// The conditions in a tuning key, as pairs of name and value. Empty values are omitted.
pub(super) fn conditions(key: &kiln_cache::TuningKey) -> Vec<(String, String)> {
    let field = |(field, name): (&str, &str)| {
        let value = key.field(field);
        (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    };
    CONDITIONS.into_iter().filter_map(field).collect()
}

/// Draws the settings of the run, and the conditions that are equal for all its tasks.
pub(super) fn draw(figures: &RunFigures) -> Markup {
    let rows = settings(figures);
    html! {
        dl {
            @for (name, value) in rows.iter().chain(&shared(&figures.tasks)) {
                dt { (name) } dd { (value) }
            }
        }
    }
}

fn settings(figures: &RunFigures) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_owned(), value));
    if let Some(settings) = &figures.settings {
        row("command", settings.command.clone());
        row("machine", settings.machine.clone());
        for (name, value) in &settings.observer {
            row(name, value.clone());
        }
    }
    let mut devices: Vec<&str> = figures
        .tasks
        .iter()
        .map(|task| task.device.as_str())
        .collect();
    devices.dedup();
    row("device", devices.join(", "));
    if let Some(settings) = &figures.settings {
        let budget = settings
            .budget_ns
            .map_or("no limit".to_owned(), |ns| Nanoseconds(ns).to_string());
        let trials = settings
            .trials
            .map_or("no limit".to_owned(), |trials| trials.to_string());
        row("budget", format!("{budget}; configs per task: {trials}"));
        row(
            "strategy",
            format!("{}, seed {}", settings.strategy, figures.seed),
        );
        row("compile threads", settings.jobs.to_string());
    } else {
        row("seed", figures.seed.to_string());
    }
    row("tune", figures.version.clone());
    row("began", utc(figures.began_unix_s));
    let took = figures.elapsed_ns.map_or_else(
        || "not recorded as ended: it was cut off, or is still going on".to_owned(),
        |ns| Nanoseconds::from(Duration::from_nanos(ns)).to_string(),
    );
    row("took", took);
    rows
}

/// The conditions that are equal for all tasks.
fn shared(tasks: &[TaskFigures]) -> Vec<(String, String)> {
    let Some((first, others)) = tasks.split_first() else {
        return Vec::new();
    };
    let in_all = |condition: &&(String, String)| {
        others
            .iter()
            .all(|task| task.conditions.contains(condition))
    };
    first.conditions.iter().filter(in_all).cloned().collect()
}

/// The conditions of a task that differ between the tasks.
pub(super) fn own(task: &TaskFigures, tasks: &[TaskFigures]) -> Vec<(String, String)> {
    let shared = shared(tasks);
    let own = task
        .conditions
        .iter()
        .filter(|condition| !shared.contains(condition));
    own.cloned().collect()
}

/// Formats seconds since 1970 as a date and a time of day in UTC.
pub(super) fn utc(unix_s: u64) -> String {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    // This is the algorithm "civil from days". It uses years that begin in March, so that a leap day is the last day of
    // a year.
    let era_day = days + 719_468;
    let era = era_day / 146_097;
    let day_of_era = era_day % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn seconds_become_the_date_that_calendars_say() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_399), "2000-02-28 23:59:59 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_700_000_000), "2023-11-14 22:13:20 UTC");
        assert_eq!(utc(4_107_542_400), "2100-03-01 00:00:00 UTC");
    }
}
