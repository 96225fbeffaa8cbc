//! Job files: the same command for every element of a plan, for the scheduler that starts them.
//!
//! All that Kiln assumes of a scheduler: it starts the command for every element, in any order, once or more, maybe
//! two at a time, on one device of the kind, and may kill it at any moment. It is never asked what is done: the store
//! says. The exit codes are 0 for done, 75 for "try again elsewhere", and anything else for "do not try again".

mod github;
mod kubernetes;
mod parallel;
mod ranges;
mod shell;
mod slurm;

use thiserror::Error;

use crate::plan::Plan;
use crate::text::is_plain;

/// The exit code of an element that another device, or a later time, may still do (`EX_TEMPFAIL` of sysexits.h).
pub const TRY_AGAIN: i32 = 75;

/// A scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A Slurm job array.
    Slurm,
    /// A Kubernetes Indexed Job.
    Kubernetes,
    /// A matrix job of GitHub Actions.
    GitHub,
    /// GNU parallel, on this machine or over ssh.
    Parallel,
}

/// The rest of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOptions {
    /// Path of the plan on the nodes.
    pub plan_path: String,
    /// Location of the store, as the nodes see it.
    pub store: String,
    /// Path of the worker's private key on the nodes.
    pub key: String,
    /// The command `tune` on the nodes.
    pub tune: String,
    /// Slurm: the generic resource of an element, `gpu:h100:1`; `None` for none.
    pub gres: Option<String>,
    /// Slurm: the partition; `None` for the default one.
    pub partition: Option<String>,
    /// Slurm: the most time of an element, in minutes.
    pub minutes: u32,
    /// Slurm, Kubernetes, GitHub and parallel: the most elements at a time; `None` for no limit.
    pub at_once: Option<u32>,
    /// Kubernetes: the image of the container.
    pub image: String,
    /// Kubernetes: the resource of a device, `nvidia.com/gpu`; `None` for none.
    pub resource: Option<String>,
    /// Kubernetes: labels of the nodes of the kind.
    pub node_selector: Vec<(String, String)>,
    /// Kubernetes: the secret with the worker's key in its field `key`; GitHub: the secret with the key.
    pub secret: String,
    /// GitHub: labels of the runners of the kind.
    pub runner: Vec<String>,
}

impl Default for JobOptions {
    fn default() -> JobOptions {
        JobOptions {
            plan_path: "fleet.plan".into(),
            store: "fleet-store".into(),
            key: "fleet.key".into(),
            tune: "tune".into(),
            gres: None,
            partition: None,
            minutes: 60,
            at_once: None,
            image: "kiln".into(),
            resource: None,
            node_selector: Vec::new(),
            secret: "kiln-fleet-key".into(),
            runner: vec!["self-hosted".into()],
        }
    }
}

/// Why a job file could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// There is nothing to run.
    #[error(
        "no element is left to run\nhelp: `tune fleet merge` writes the rows, or plans what is missing"
    )]
    NoElements,
    /// The plan has no such element.
    #[error(
        "the plan has no element {element}, it has {elements}\nhelp: `tune fleet status` lists them"
    )]
    NoElement {
        /// The element.
        element: u32,
        /// Number of elements.
        elements: usize,
    },
    /// The elements are more than one job of the scheduler takes.
    #[error(
        "{engine} takes {most} elements in one job, there are {elements}\nhelp: print several jobs with `tune fleet job --elements FIRST-LAST`"
    )]
    TooMany {
        /// The scheduler.
        engine: &'static str,
        /// Number of elements.
        elements: usize,
        /// The most that it takes.
        most: usize,
    },
    /// An option has characters that a job file cannot have.
    #[error(
        "{option} `{text}` has characters that a job file cannot have\nhelp: use letters, digits and `._:/=-`"
    )]
    Option {
        /// The option.
        option: &'static str,
        /// Its text.
        text: String,
    },
    /// The elements are of several kinds of devices.
    #[error(
        "the elements are of {kinds} kinds of devices, one job asks for one\nhelp: print a job for each with `tune fleet job --kind KIND`"
    )]
    Kinds {
        /// Number of kinds.
        kinds: usize,
    },
}

/// The job file of some elements of a plan: all of one kind of device.
///
/// # Errors
/// No elements, some that the plan does not have or that need different devices, more than the scheduler takes, or
/// an option that a job file cannot have.
pub fn render(
    plan: &Plan,
    engine: Engine,
    elements: &[u32],
    options: &JobOptions,
) -> Result<String, EngineError> {
    let mut elements = elements.to_vec();
    elements.sort_unstable();
    elements.dedup();
    let mut kinds = std::collections::BTreeSet::new();
    for number in &elements {
        let element = plan.element(*number).ok_or(EngineError::NoElement {
            element: *number,
            elements: plan.elements.len(),
        })?;
        kinds.insert(element.kind);
    }
    match kinds.len() {
        0 => return Err(EngineError::NoElements),
        1 => {}
        kinds => return Err(EngineError::Kinds { kinds }),
    }
    plain(options)?;
    let job = Job {
        name: job_name(plan),
        elements: &elements,
        options,
    };
    match engine {
        Engine::Slurm => slurm::render(&job),
        Engine::Kubernetes => kubernetes::render(&job),
        Engine::GitHub => github::render(&job),
        Engine::Parallel => parallel::render(&job),
    }
}

/// What the job files of all schedulers have.
struct Job<'a> {
    /// `kiln-` and the start of the plan's identity.
    name: String,
    /// The elements, sorted.
    elements: &'a [u32],
    options: &'a JobOptions,
}

fn job_name(plan: &Plan) -> String {
    let id = plan.id();
    format!("kiln-{}", id.get(..12).unwrap_or_default())
}

impl Job<'_> {
    /// Refuses more elements than the scheduler takes.
    fn limit(&self, engine: &'static str, most: usize) -> Result<(), EngineError> {
        let elements = self.elements.len();
        if elements <= most {
            return Ok(());
        }
        Err(EngineError::TooMany {
            engine,
            elements,
            most,
        })
    }
}

/// Refuses text with control characters, which would end a line of a job file.
fn plain(options: &JobOptions) -> Result<(), EngineError> {
    let named = [
        ("the plan", &options.plan_path),
        ("the store", &options.store),
        ("the key", &options.key),
        ("the command", &options.tune),
        ("the image", &options.image),
    ];
    match named.into_iter().find(|(_, text)| !is_plain(text)) {
        Some((option, text)) => {
            let text = text.escape_default().to_string();
            Err(EngineError::Option { option, text })
        }
        None => Ok(()),
    }
}

/// Refuses text that is not safe in a line of a job file that no shell reads.
fn safe(option: &'static str, text: &str) -> Result<(), EngineError> {
    let fit = |c: char| c.is_ascii_alphanumeric() || "._:/=-@+,".contains(c);
    if !text.is_empty() && text.chars().all(fit) {
        return Ok(());
    }
    let text = text.escape_default().to_string();
    Err(EngineError::Option { option, text })
}

#[cfg(test)]
mod tests;
