//! `tune smoke`: launches every baked row and every baseline on the selected device, and compares the device's receipt
//! with the intended launch.

use std::process::ExitCode;

use kiln::Kernel;

use super::output::{checked, print, print_json, print_json_line, read_project};
use crate::cli::{SmokeArgs, options};
use crate::error::Failure;
use crate::smoke::{Smoke, Smoked, tests_of};
use crate::task::check_declared;
use kiln_lab::device_session::DeviceSession;
use kiln_lab::machine;
use kiln_lab::scratch::temporary_folder;

pub(super) fn run(
    args: &SmokeArgs,
    catalogue: &'static [&'static Kernel],
) -> Result<ExitCode, Failure> {
    let project = read_project(&args.package)?;
    let problems = options::problems(&args.problems);
    check_declared(&project.problems(), &problems)?;
    let (name, device) = machine::open_device(args.device.device.as_deref())?;
    let folder = temporary_folder("smoke")?;
    let cache = kiln_cache::location::from_environment()?;
    let session = DeviceSession::open(&name, &*device, &cache)?;
    let smoke = Smoke {
        session: &session,
        workshop: &session.workshop(folder.path()),
        catalogue,
        folder: folder.path(),
        limit: kiln::smoke::deadline_of_user(),
    };
    let mut tests = Vec::new();
    for kernel in &project.kernels {
        tests.extend(tests_of(kernel, &project.local_tables(kernel), &problems)?);
    }
    let mut printer = Printer::new(args);
    smoke.run_all(&tests, &mut |one| printer.add(one))?;
    printer.finish()
}

/// Prints the result of each row as soon as it is known, so the results are visible even if the command is interrupted.
struct Printer {
    json: bool,
    json_lines: bool,
    smoked: Vec<Smoked>,
}

impl Printer {
    fn new(args: &SmokeArgs) -> Printer {
        Printer {
            json: args.output.json,
            json_lines: args.lines.json_lines,
            smoked: Vec::new(),
        }
    }

    fn add(&mut self, one: Smoked) -> Result<(), Failure> {
        if self.json_lines {
            print_json_line(&one)?;
        } else if !self.json {
            print(&one.to_text());
        }
        self.smoked.push(one);
        Ok(())
    }

    fn finish(self) -> Result<ExitCode, Failure> {
        let count = |state| self.smoked.iter().filter(|one| one.state == state).count();
        let failed = count("failed");
        if self.json {
            print_json(&self.smoked)?;
        } else if !self.json_lines {
            print(&format!(
                "{} passed, {failed} failed, {} not run\n",
                count("passed"),
                count("not run")
            ));
        }
        Ok(checked(failed == 0))
    }
}
