//! `tune report`: renders a run as one HTML page.

use std::path::Path;
use std::process::ExitCode;

use kiln_cache::Cache;
use kiln_exchange::curves::Curves;
use kiln_exchange::fleet::PlanStatus;
use kiln_exchange::profiles::ProfileRow;
use kiln_report::{
    CurveFigures, Records, RunLine, RunSelector, curves_page, gather, page, plan_page,
    profiles_page,
};
use serde::Serialize;

use super::output::{checked, print, print_json};
use crate::cli::ReportArgs;
use crate::error::Failure;
use kiln_project::atomic_file;

pub(super) fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.curves {
        return curves(args, path);
    }
    if let Some(path) = &args.profiles {
        return profiles(args, path);
    }
    if let Some(path) = &args.fleet {
        return fleet(args, path);
    }
    let folder = kiln_cache::location::from_environment()?;
    // Reads only the journal and takes no lock, so a run in progress can be viewed.
    let cache = Cache::view(&folder)?;
    let records = Records::read(&cache)?;
    if args.list {
        return list(&records.lines(), args.output.json);
    }
    let wanted = RunSelector {
        run: args.run,
        kernels: args.kernels.clone(),
        device: args.device.clone(),
    };
    let run = records.find(&wanted)?;
    let figures = gather(&cache, &records, run, &wanted.kernels)?;
    let trials: u64 = figures.tasks.iter().map(|task| task.trials).sum();
    let told = format!(
        "run {}, {} tasks, {trials} configs tried in it",
        figures.run,
        figures.tasks.len()
    );
    let default = format!("tune-report-{}.html", figures.run);
    hand_out(args, &figures, &default, || page(&figures), &told)
}

/// Writes the page of recorded searches.
fn curves(args: &ReportArgs, path: &Path) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::file("read", path))?;
    let curves = Curves::parse(&text).map_err(|error| Failure::Curves {
        path: path.to_owned(),
        error,
    })?;
    let figures = CurveFigures::new(&curves);
    let told = format!(
        "{} spaces, {} searches",
        figures.spaces.len(),
        curves.runs.len()
    );
    let page = || curves_page(&figures);
    hand_out(args, &figures, "tune-report-curves.html", page, &told)
}

/// Writes the page of profiles.
fn profiles(args: &ReportArgs, path: &Path) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::file("read", path))?;
    let rows = ProfileRow::parse_all(&text).map_err(|error| Failure::Profiles {
        path: path.to_owned(),
        error,
    })?;
    let told = format!("{} profiles", rows.len());
    let page = || profiles_page(&rows);
    hand_out(args, &rows, "tune-report-profiles.html", page, &told)
}

/// Writes the page of a fleet's plan.
fn fleet(args: &ReportArgs, path: &Path) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::file("read", path))?;
    let status = PlanStatus::parse(&text).map_err(|error| Failure::PlanStatus {
        path: path.to_owned(),
        error,
    })?;
    let told = format!("{} problems", status.tasks.len());
    let page = || plan_page(&status);
    hand_out(args, &status, "tune-report-fleet.html", page, &told)
}

/// Prints the figures as JSON, writes the page, or does both, as the flags request. `told` summarizes the page.
fn hand_out(
    args: &ReportArgs,
    figures: &impl Serialize,
    default: &str,
    page: impl Fn() -> String,
    told: &str,
) -> Result<ExitCode, Failure> {
    if args.output.json {
        print_json(figures)?;
        if args.out.is_none() {
            return Ok(checked(true));
        }
    }
    let path = args.out.clone().unwrap_or_else(|| default.into());
    atomic_file::write(&path, page().as_bytes()).map_err(Failure::file("write", &path))?;
    if !args.output.json {
        print(&format!("wrote {}: {told}\n", path.display()));
    }
    Ok(checked(true))
}

fn list(lines: &[RunLine], json: bool) -> Result<ExitCode, Failure> {
    if json {
        print_json(&lines)?;
        return Ok(checked(true));
    }
    if lines.is_empty() {
        print("the cache contains no runs\nhelp: run `tune run`\n");
        return Ok(checked(true));
    }
    let mut text = format!(
        "{:>5}  {:<23}  {:<8}  {:>6}  kernels\n",
        "run", "began", "device", "trials"
    );
    for line in lines {
        let device = line.device.as_deref().unwrap_or("?");
        let cut_off = if line.ended { "" } else { "  (not ended)" };
        text += &format!(
            "{:>5}  {:<23}  {device:<8}  {:>6}  {}{cut_off}\n",
            line.run,
            line.began,
            line.trials,
            line.kernels.join(" ")
        );
    }
    print(&text);
    Ok(checked(true))
}
