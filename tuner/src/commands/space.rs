//! `tune space`: counts, and which constraints cut how much.

use std::process::ExitCode;

use kiln_spec::space::SearchSpace;
use serde::Serialize;

use super::{checked, print, print_json};
use crate::cli::SpaceArgs;
use crate::exit::Failure;
use crate::machine;
use crate::project::Project;

#[derive(Serialize)]
struct Described {
    kernel: String,
    problem: String,
    product: String,
    valid: usize,
    cuts: Vec<Cut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    configs: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Cut {
    rule: String,
    configs: String,
}

pub(super) fn run(args: &SpaceArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.definition {
        return super::definition::run(path, args);
    }
    let project = Project::read(&args.package)?;
    let (_, device) = machine::open_device(args.device.device.as_deref())?;
    let mut described = Vec::new();
    for kernel in &project.kernels {
        for problem in &kernel.spec.problems {
            let space = SearchSpace::build(&kernel.spec, problem, &device.info().limits);
            let space = space.map_err(|error| {
                Failure::Other(format!("{} ({problem}): {error}", kernel.spec.name))
            })?;
            let cuts = space.rejections().iter();
            let cuts = cuts.map(|cut| Cut {
                rule: cut.text.clone(),
                configs: cut.configs.to_string(),
            });
            let configs = args.configs.then(|| {
                (0..space.len())
                    .map(|i| space.config(i).to_string())
                    .collect()
            });
            described.push(Described {
                kernel: kernel.spec.name.clone(),
                problem: problem.to_string(),
                product: space.product_len().to_string(),
                valid: space.len(),
                cuts: cuts.collect(),
                configs,
            });
        }
    }
    if args.output.json {
        print_json(&described)?;
    } else {
        print(
            &described
                .iter()
                .map(Described::to_text)
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }
    Ok(checked(true))
}

impl Described {
    fn to_text(&self) -> String {
        let mut text = format!(
            "{} ({}): {} valid of {} configs\n",
            self.kernel, self.problem, self.valid, self.product
        );
        for cut in &self.cuts {
            let note = if cut.configs == "0" {
                "  (cuts nothing)"
            } else {
                ""
            };
            text += &format!("  {:>12} cut by {}{note}\n", cut.configs, cut.rule);
        }
        for config in self.configs.iter().flatten() {
            text += &format!("  {config}\n");
        }
        text
    }
}
