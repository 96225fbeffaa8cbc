//! Converts the arguments of the command line to validated options.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::RunArgs;
use crate::error::UsageError;
use crate::run::RunOptions;

/// The default time budget of a run.
pub const DEFAULT_BUDGET: Duration = Duration::from_secs(300);
/// The default number of trials per kernel and problem.
pub const DEFAULT_TRIALS: usize = 200;

/// Converts the arguments of `tune run` to its options.
///
/// # Errors
/// If a flag has an invalid value. The error names the first such flag.
pub fn run_options(args: &RunArgs) -> Result<RunOptions, UsageError> {
    let jobs = jobs(args.jobs)?;
    // By default, a run that launches nothing has no limits.
    let (budget, trials) = if args.compile_only {
        (None, None)
    } else {
        (Some(DEFAULT_BUDGET), Some(DEFAULT_TRIALS))
    };
    Ok(RunOptions {
        budget: args.budget.as_deref().map_or(Ok(budget), parse_budget)?,
        trials: args
            .search
            .trials
            .as_deref()
            .map_or(Ok(trials), parse_trials)?,
        problems: problems(&args.search.problems),
        strategy: strategy_name(&args.search.strategy)?,
        transfer: !args.no_transfer,
        transfer_from: args.transfer_from.clone(),
        regime: args.regime.regime,
        seed: args.search.seed,
        write: args.write,
        jobs,
        dry_run: args.dry_run,
        element: Vec::new(),
        claims: None,
        bake: true,
    })
}

/// Splits the values of `--problem` into problems. Commas separate the sizes of a problem, and also one problem from
/// the next. A new problem begins when a size name repeats: `n=100,n=200` are two problems, and so are
/// `m=1,n=2,m=3,n=4`.
pub fn problems(words: &[String]) -> Vec<String> {
    let mut problems: Vec<String> = Vec::new();
    for word in words {
        let mut names = BTreeSet::new();
        problems.push(String::new());
        for size in word.split(',') {
            let name = size.split('=').next().unwrap_or_default();
            if !names.insert(name) {
                names = BTreeSet::from([name]);
                problems.push(String::new());
            }
            if let Some(problem) = problems.last_mut() {
                *problem += if problem.is_empty() { "" } else { "," };
                *problem += size;
            }
        }
    }
    problems
}

/// The number of compile threads: the value of `--jobs`, or one per core without it.
///
/// # Errors
/// If the number is not in the range 1 to 1024.
pub fn jobs(given: Option<usize>) -> Result<usize, UsageError> {
    match given {
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
        Some(jobs @ 1..=1024) => Ok(jobs),
        Some(jobs) => Err(UsageError {
            flag: "--jobs",
            value: jobs.to_string(),
            reason: "not a number of threads from 1 to 1024".into(),
            help: "leave it out to use all cores",
        }),
    }
}

/// Parses a time budget such as `90s`, `5m` or `1h`. Returns `None` for `full`, which means no limit.
///
/// # Errors
/// If the text does not have that form, or the time is 0 or more than 30 days.
pub fn budget(text: &str) -> Result<Option<Duration>, UsageError> {
    parse_budget(text)
}

/// Parses a share such as `5%` or `2.5%` to a fraction. A number without a percent sign is an error, because its unit
/// would be ambiguous.
///
/// # Errors
/// If the text does not have that form, or the share is more than 1000 %.
pub fn share(flag: &'static str, text: &str) -> Result<f64, UsageError> {
    let error = |reason: &str| UsageError {
        flag,
        value: text.into(),
        reason: reason.into(),
        help: "write a number and a percent sign, such as `5%`",
    };
    let number = text
        .strip_suffix('%')
        .ok_or_else(|| error("a number needs a percent sign"))?;
    let plain = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    match number.parse::<f64>() {
        Ok(percent) if plain && (0.0..=1000.0).contains(&percent) => Ok(percent / 100.0),
        Ok(_) if plain => Err(error("more than 1000 percent")),
        _ => Err(error("not a number of percent")),
    }
}

/// Parses `90s`, `5m`, `1h` or `full`. A number without a unit is an error, because it could mean seconds or minutes.
fn parse_budget(text: &str) -> Result<Option<Duration>, UsageError> {
    if text == "full" {
        return Ok(None);
    }
    let error = |reason: String| UsageError {
        flag: "--budget",
        value: text.into(),
        reason,
        help: "write a time such as `90s`, `5m` or `1h`, or `full` for no limit",
    };
    let unit = text.chars().last().filter(char::is_ascii_alphabetic);
    let Some(unit) = unit else {
        return Err(error("a number needs a unit".into()));
    };
    let seconds_per_unit = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        other => return Err(error(format!("unknown unit `{other}`"))),
    };
    let number: u64 = text[..text.len() - 1]
        .parse()
        .map_err(|_| error("not a whole number and a unit".into()))?;
    let seconds = number
        .checked_mul(seconds_per_unit)
        .filter(|&s| s <= 30 * 24 * 3600);
    match seconds {
        None => Err(error("more than 30 days".into())),
        Some(0) => Err(error("no time at all".into())),
        Some(seconds) => Ok(Some(Duration::from_secs(seconds))),
    }
}

/// Parses a number of configs. Returns `None` for `all`, which means the whole space.
///
/// # Errors
/// If the text is not `all` or a number from 1 to 100,000,000.
pub fn parse_trials(text: &str) -> Result<Option<usize>, UsageError> {
    if text == "all" {
        return Ok(None);
    }
    match text.parse() {
        Ok(count @ 1..=100_000_000) => Ok(Some(count)),
        _ => Err(UsageError {
            flag: "--trials",
            value: text.into(),
            reason: "not a number of configs".into(),
            help: "write a whole number from 1, or `all` for the whole space",
        }),
    }
}

/// The strategies of `tune run`. Annealing, local search and tabu search are worse than random sampling on recorded
/// spaces (docs/search.md), so only `tune replay` offers them, for comparison.
const STRATEGIES: [&str; 7] = [
    "auto",
    "differential-evolution",
    "exhaustive",
    "genetic",
    "latin-hypercube",
    "particle-swarm",
    "random",
];

/// Checks that `tune run` has a strategy with this name, and returns the name.
///
/// # Errors
/// If `tune run` does not have the strategy.
pub fn strategy_name(text: &str) -> Result<String, UsageError> {
    if STRATEGIES.contains(&text) {
        return Ok(text.into());
    }
    let reason = match kiln_search::NAMES.contains(&text) {
        true => "worse than random sampling, so only `tune replay` supports it",
        false => "no such strategy",
    };
    Err(UsageError {
        flag: "--strategy",
        value: text.into(),
        reason: reason.into(),
        help: "leave it out to have one chosen, or choose one that `tune run --help` lists",
    })
}

/// Checks the names of strategies for `tune replay`. The name `all` stands for all strategies.
///
/// # Errors
/// If a name is not the name of a strategy.
pub fn strategies(names: &[String]) -> Result<Vec<String>, UsageError> {
    if names.iter().any(|name| name == "all") {
        return Ok(kiln_search::NAMES.map(str::to_owned).to_vec());
    }
    match names
        .iter()
        .find(|name| !kiln_search::NAMES.contains(&name.as_str()))
    {
        None => Ok(names.to_vec()),
        Some(name) => Err(UsageError {
            flag: "--strategy",
            value: name.to_owned(),
            reason: "no such strategy".into(),
            help: "write names that `tune run --help` lists, with commas between, or `all`",
        }),
    }
}

/// Maximum number of seeds, and therefore of searches, per space.
const MAX_SEEDS: u64 = 100_000;

/// Parses a range of seeds such as `1..50`, which includes both ends, or a single seed.
///
/// # Errors
/// If the text does not have that form, or the range has more than 100,000 seeds.
pub fn seeds(text: &str) -> Result<RangeInclusive<u64>, UsageError> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    match (first.parse(), last.trim_start_matches('=').parse()) {
        (Ok(first), Ok(last)) if first <= last && last - first < MAX_SEEDS => Ok(first..=last),
        _ => Err(UsageError {
            flag: "--seeds",
            value: text.to_owned(),
            reason: "no seeds, or more than 100,000".into(),
            help: "the first and the last, such as 1..50",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_have_a_unit_and_a_bound() {
        assert_eq!(parse_budget("5m"), Ok(Some(Duration::from_secs(300))));
        assert_eq!(parse_budget("full"), Ok(None));
        for bad in [
            "",
            "5",
            "5x",
            "m",
            "-1s",
            "0s",
            "1.5m",
            "99999999999999999999h",
            "800h",
        ] {
            assert!(parse_budget(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn problems_have_commas_within_and_between_them() {
        let split = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            problems(&words)
        };
        assert_eq!(split(&["n=1"]), ["n=1"]);
        assert_eq!(split(&["n=1,n=2", "n=3"]), ["n=1", "n=2", "n=3"]);
        assert_eq!(
            split(&["T=f32,m=1,n=2,T=f16,m=1,n=2"]),
            ["T=f32,m=1,n=2", "T=f16,m=1,n=2"]
        );
        assert_eq!(split(&["m=1", "n=2"]), ["m=1", "n=2"]);
        assert!(split(&[]).is_empty());
    }

    #[test]
    fn shares_have_a_percent_sign_and_a_bound() {
        let share = |text| share("--fail-above", text);
        assert_eq!((share("5%"), share("0%")), (Ok(0.05), Ok(0.0)));
        assert_eq!(share("2.5%"), Ok(0.025));
        for bad in [
            "", "5", "0.05", "%", "-5%", "5 %", "1e1%", "nan%", "inf%", "1001%", "5%%",
        ] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn trials_are_a_count_or_all() {
        assert_eq!(parse_trials("7"), Ok(Some(7)));
        assert_eq!(parse_trials("all"), Ok(None));
        assert!(parse_trials("0").is_err());
        assert!(parse_trials("many").is_err());
    }
}
