//! Describes the search space of a kernel for a problem.

use kiln_spec::space::{Sampled, SearchSpace};
use kiln_spec::{DeviceLimits, Problem};
use serde::Serialize;

use super::listed::ListedSpace;
use crate::task::TaskError;
use kiln_project::TunedKernel;

/// The description of the search space of a kernel for a problem.
#[derive(Serialize)]
pub struct DescribedKernel {
    kernel: String,
    problem: String,
    product: String,
    /// The exact number of valid configs; null if it is not known or exceeds 64 bits.
    valid: Option<u64>,
    #[serde(flatten)]
    listed: Option<ListedSpace>,
    /// The description of the sample, for the text output.
    #[serde(skip)]
    sampled: Option<Sampled>,
    components: Vec<KernelComponent>,
    cuts: Vec<RuleCut>,
    dead_values: Vec<Dead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    configs: Option<Vec<String>>,
}

/// A group of parameters that depend on each other, with the number of valid combinations of their values.
#[derive(Serialize)]
struct KernelComponent {
    params: Vec<String>,
    valid: String,
}

/// The number of configs of the Cartesian product that one rule rejects, and the number of configs that only this rule
/// rejects. A number is missing if it takes too long to compute.
#[derive(Serialize)]
struct RuleCut {
    rule: String,
    configs: Option<String>,
    only: Option<String>,
}

/// Values of a parameter that do not occur in any valid config.
#[derive(Serialize)]
struct Dead {
    param: String,
    values: Vec<String>,
}

/// The output of `tune space --count` for a kernel and a problem.
#[derive(Serialize)]
pub struct KernelCount<'a> {
    kernel: &'a str,
    problem: &'a str,
    /// The exact number of valid configs; null if it is not known or exceeds 64 bits.
    valid: Option<u64>,
    product: &'a str,
}

impl<'a> KernelCount<'a> {
    /// The count of a described space.
    pub fn new(described: &'a DescribedKernel) -> KernelCount<'a> {
        KernelCount {
            kernel: &described.kernel,
            problem: &described.problem,
            valid: described.valid,
            product: &described.product,
        }
    }

    /// Whether the exact number is known.
    pub fn is_known(&self) -> bool {
        self.valid.is_some()
    }

    /// The line that `tune space --count` prints.
    pub fn to_text(&self) -> String {
        let valid = self
            .valid
            .map_or_else(|| "unknown".to_owned(), |valid| valid.to_string());
        format!("{} ({}): {valid}\n", self.kernel, self.problem)
    }
}

/// The exact number of valid configs; `None` if it is not known or exceeds 64 bits.
fn valid(space: &SearchSpace) -> Option<u64> {
    let valid = match space.sampled() {
        Some(sampled) => sampled.valid.exact()?,
        None => space.len() as u128,
    };
    u64::try_from(valid).ok()
}

fn components(space: &SearchSpace) -> Vec<KernelComponent> {
    let components = space.components().into_iter();
    let components = components.map(|(params, valid)| KernelComponent {
        params: params.into_iter().map(str::to_owned).collect(),
        valid: valid.to_string(),
    });
    components.collect()
}

fn cuts(space: &SearchSpace) -> Vec<RuleCut> {
    let cuts = space.rejections().iter().map(|cut| RuleCut {
        rule: cut.text.clone(),
        configs: cut.configs.map(|configs| configs.to_string()),
        only: cut.only.map(|only| only.to_string()),
    });
    cuts.collect()
}

fn dead_values(space: &SearchSpace) -> Vec<Dead> {
    let dead = space.dead_values().into_iter().map(|(param, values)| Dead {
        param: param.to_owned(),
        values: values.iter().map(ToString::to_string).collect(),
    });
    dead.collect()
}

impl DescribedKernel {
    /// Describes the space of a kernel for a problem, within the limits of a device. With `with_configs`, the
    /// description contains all enumerated configs.
    ///
    /// # Errors
    /// If the space cannot be built.
    pub fn new(
        kernel: &TunedKernel,
        problem: &Problem,
        limits: &DeviceLimits,
        with_configs: bool,
    ) -> Result<DescribedKernel, TaskError> {
        let space = SearchSpace::build(&kernel.spec, problem, limits);
        let space = space.map_err(|error| TaskError::Space {
            task: format!("{} ({problem})", kernel.spec.name),
            error,
        })?;
        let configs = with_configs.then(|| {
            (0..space.len())
                .map(|i| space.config(i).to_string())
                .collect()
        });
        Ok(DescribedKernel {
            kernel: kernel.spec.name.clone(),
            problem: problem.to_string(),
            product: space.product_len().to_string(),
            valid: valid(&space),
            listed: space.sampled().map(ListedSpace::from),
            sampled: space.sampled(),
            components: components(&space),
            cuts: cuts(&space),
            dead_values: dead_values(&space),
            configs,
        })
    }

    /// The output of `tune space`.
    pub fn to_text(&self) -> String {
        let mut text = format!("{} ({}): ", self.kernel, self.problem);
        if let Some(valid) = self.valid {
            text += &format!("{valid} valid of ");
        }
        text += &format!("{} configs\n", self.product);
        if let Some(sampled) = &self.sampled {
            text += &format!("  {sampled}\n");
        }
        for component in &self.components {
            let params = component.params.join(", ");
            text += &format!("  {:>12} valid of {params}\n", component.valid);
        }
        for cut in &self.cuts {
            text += &cut.to_text();
        }
        for dead in &self.dead_values {
            let values = dead.values.join(", ");
            text += &format!("  warning: no valid config has {} = {values}\n", dead.param);
        }
        for config in self.configs.iter().flatten() {
            text += &format!("  {config}\n");
        }
        text
    }
}

impl RuleCut {
    fn to_text(&self) -> String {
        let count = |count: &Option<String>| count.clone().unwrap_or_else(|| "?".into());
        let (configs, only) = (count(&self.configs), count(&self.only));
        let note = match (configs.as_str(), only.as_str()) {
            ("0", _) => "  (cuts nothing)".into(),
            (_, "0") => "  (others cut all of them)".into(),
            (_, "?") => String::new(),
            _ => format!("  ({only} by nothing else)"),
        };
        format!("  {configs:>12} cut by {}{note}\n", self.rule)
    }
}
