//! The text of `tune list`: the kernels with their declarations and their baked rows.

use kiln_spec::baked::{Evidence, Row};
use serde::Serialize;

use crate::error::Failure;
use crate::tables::check::{self, Finding};
use kiln_project::TunedKernel;

/// A kernel with its declaration and its baked rows.
#[derive(Serialize)]
pub struct Listed {
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
    baked: Vec<Baked>,
    /// The faults of the table that make a build fail or ignore the table.
    faults: Vec<String>,
}

/// A row of the kernel's committed table.
#[derive(Serialize)]
pub struct Baked {
    device: String,
    problem: String,
    config: String,
    evidence: &'static str,
    /// The part that has changed since the row was baked: `spec`, `source`, `prelude` or `flags`; null if none has.
    stale: Option<&'static str>,
    /// The command that replaces a stale row.
    #[serde(skip)]
    help: String,
    /// Whether the row keeps the baseline.
    #[serde(skip)]
    kept: bool,
}

impl Baked {
    /// Creates the description of a row, and compares the row with the current kernel.
    pub fn new(kernel: &TunedKernel, row: &Row) -> Baked {
        Baked {
            stale: kernel.stale_part(row),
            help: row.renewal(&kernel.spec.name),
            device: row.device.to_string(),
            problem: row.problem.clone(),
            config: row.config.clone(),
            evidence: row.evidence.name(),
            kept: row.evidence == Evidence::Proven && row.speedup.is_none(),
        }
    }

    /// The row as text, with its evidence and whether builds use it.
    pub fn to_text(&self) -> String {
        let remark = match self.evidence {
            "proven" => "",
            _ => ", never measured with this kernel",
        };
        let stale = self.stale.map_or_else(String::new, |which| {
            format!(
                "; stale because its {which} changed, and not used: {}",
                self.help
            )
        });
        // A row that keeps the baseline is proven only in the sense that no other config was right and faster.
        let evidence = if self.kept {
            "baseline kept"
        } else {
            self.evidence
        };
        format!(
            "{} ({}): {}, {evidence}{remark}{stale}",
            self.device, self.problem, self.config
        )
    }
}

impl Listed {
    /// Creates the description of a kernel.
    ///
    /// # Errors
    /// If the kernel's table cannot be read.
    pub fn new(kernel: &TunedKernel) -> Result<Listed, Failure> {
        let spec = &kernel.spec;
        let values = |param: &kiln_spec::TunableParam| {
            let values: Vec<_> = param.values.iter().map(ToString::to_string).collect();
            format!("{} in [{}]", param.name, values.join(", "))
        };
        Ok(Listed {
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
            baked: kernel
                .committed_rows()?
                .iter()
                .map(|row| Baked::new(kernel, row))
                .collect(),
            faults: check::kernel_faults(kernel)?
                .iter()
                .map(Finding::what)
                .collect(),
        })
    }

    /// The text that `tune list` prints for the kernel.
    pub fn to_text(&self) -> String {
        let reference = self.reference.as_deref().unwrap_or("none (the baseline)");
        let column = |lines: &[String]| lines.join("\n             ");
        let baked: Vec<String> = self.baked.iter().map(Baked::to_text).collect();
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
        text += &match baked.as_slice() {
            [] if !self.faults.is_empty() => String::new(),
            [] => "  baked      nothing: builds launch the baseline\n".to_owned(),
            rows => format!("  baked      {}\n", column(rows)),
        };
        if !self.faults.is_empty() {
            text += &format!("  error      {}\n", column(&self.faults));
        }
        text
    }
}
