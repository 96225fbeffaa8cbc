//! `tune list`: the kernels of a package and what is declared of them.

use std::process::ExitCode;

use serde::Serialize;

use super::{checked, print, print_json};
use crate::cli::ListArgs;
use crate::exit::Failure;
use crate::project::{Project, TunedKernel};

#[derive(Serialize)]
struct Listed {
    kernel: String,
    package: String,
    file: String,
    source: String,
    entry: String,
    baseline: String,
    parameters: Vec<String>,
    problems: Vec<String>,
    gpu_problems: Vec<String>,
    reference: Option<String>,
}

pub(super) fn run(args: &ListArgs) -> Result<ExitCode, Failure> {
    let project = Project::read(&args.package)?;
    let listed: Vec<Listed> = project.kernels.iter().map(Listed::new).collect();
    if args.output.json {
        print_json(&listed)?;
    } else {
        print(
            &listed
                .iter()
                .map(Listed::to_text)
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }
    Ok(checked(true))
}

impl Listed {
    fn new(kernel: &TunedKernel) -> Listed {
        let spec = &kernel.spec;
        let values = |param: &kiln_spec::TunableParam| {
            let values: Vec<_> = param.values.iter().map(ToString::to_string).collect();
            format!("{} in [{}]", param.name, values.join(", "))
        };
        Listed {
            kernel: spec.name.clone(),
            package: kernel.package.clone(),
            file: kernel.file.display().to_string(),
            source: spec.source.clone(),
            entry: spec.entry.clone(),
            baseline: if spec.baseline_is_another_entry() {
                format!("entry {}", spec.baseline.entry)
            } else {
                spec.baseline.config.to_string()
            },
            parameters: spec.params.iter().map(values).collect(),
            problems: spec.problems.iter().map(ToString::to_string).collect(),
            gpu_problems: spec.gpu_problems.iter().map(ToString::to_string).collect(),
            reference: spec.reference.as_ref().map(|reference| match reference {
                kiln_spec::Reference::Rust(path) => path.clone(),
                kiln_spec::Reference::Entry(entry) => format!("entry {entry}"),
            }),
        }
    }

    fn to_text(&self) -> String {
        let reference = self.reference.as_deref().unwrap_or("none (the baseline)");
        let column = |lines: &[String]| lines.join("\n             ");
        let mut text = format!(
            "{} ({})\n  declared   {}\n  source     {}, entry {}\n  baseline   {}\n  reference  {reference}\n  parameters {}\n  problems   {}\n",
            self.kernel,
            self.package,
            self.file,
            self.source,
            self.entry,
            self.baseline,
            column(&self.parameters),
            column(&self.problems),
        );
        if !self.gpu_problems.is_empty() {
            text += &format!("  on GPUs    {}\n", column(&self.gpu_problems));
        }
        text
    }
}
