//! Job files. A job file makes a scheduler run one command for every element of a plan.
//!
//! Kiln assumes only that the scheduler runs the command for every element, on a device of the element's kind. The
//! scheduler may run elements in any order and more than once, even two copies of an element at the same time, and it
//! may kill an element at any moment. The store, not the scheduler, records which elements are done. Exit code 0 means
//! done, 75 means "try again, later or on another device", and any other code means "do not try again".

mod github;
mod kubernetes;
mod parallel;
mod ranges;
mod shell;
mod slurm;

use thiserror::Error;

use crate::plan::Plan;
use crate::text::is_plain;

/// The exit code of an element that may still succeed on another device or at a later time (`EX_TEMPFAIL` of
/// sysexits.h).
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

/// The options of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOptions {
    /// Path of the plan on the nodes.
    pub plan_path: String,
    /// Location of the store, as the nodes access it.
    pub store: String,
    /// Path of the worker's private key on the nodes.
    pub key: String,
    /// The command `tune` on the nodes, by name or path.
    pub tune: String,
    /// Slurm: the generic resource (GRES) of an element, such as `gpu:h100:1`; `None` for none.
    pub gres: Option<String>,
    /// Slurm: the partition; `None` for the default one.
    pub partition: Option<String>,
    /// Slurm and GitHub: time limit of an element, in minutes.
    pub minutes: u32,
    /// All schedulers: largest number of elements that run at the same time. `None` means 1 for GNU parallel, and no
    /// limit for the others.
    pub at_once: Option<u32>,
    /// Kubernetes: the image of the container.
    pub image: String,
    /// Kubernetes: the resource that requests a device, such as `nvidia.com/gpu`; `None` for none.
    pub resource: Option<String>,
    /// Kubernetes: names and values of the labels of the nodes that have the kind of device.
    pub node_selector: Vec<(String, String)>,
    /// Kubernetes: name of the secret that has the worker's key in its field `key`. GitHub: name of the secret that has
    /// the key.
    pub secret: String,
    /// GitHub: labels of the runners that have the kind of device.
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
    /// The list of elements is empty.
    #[error(
        "no element is left to run\nhelp: `tune fleet merge` writes the rows, or plans what is missing"
    )]
    NoElements,
    /// The plan has no such element.
    #[error(
        "the plan has no element {element}: it has {elements} elements, counted from 0\n\
         help: `tune fleet status` lists them"
    )]
    NoElement {
        /// Number of the element.
        element: u32,
        /// Number of elements that the plan has.
        elements: usize,
    },
    /// There are more elements than one job of the scheduler can have.
    #[error(
        "{engine} takes at most {most} elements in one job, but {elements} are requested\n\
         help: print several jobs with `tune fleet job --elements FIRST-LAST`"
    )]
    TooMany {
        /// The scheduler.
        engine: &'static str,
        /// Number of elements that were requested.
        elements: usize,
        /// The largest number that one job can have.
        most: usize,
    },
    /// The numbers of the elements are too far apart for the indexes of a Slurm job array.
    #[error(
        "elements {first} to {last} do not fit in one Slurm job array, whose indexes are 0 to {max_index}\n\
         help: print several jobs with `tune fleet job --elements FIRST-LAST`"
    )]
    TooFarApart {
        /// The number of the first element.
        first: u32,
        /// The number of the last element.
        last: u32,
        /// The highest index of a job array.
        max_index: u32,
    },
    /// An option is empty, or has characters that a job file cannot have.
    #[error(
        "{option} `{text}` has characters that a job file cannot have\nhelp: use letters, digits and `._:/=-`"
    )]
    Option {
        /// Name of the option.
        option: &'static str,
        /// The option's text, escaped.
        text: String,
    },
    /// The elements need different kinds of devices.
    #[error(
        "the selected elements need {kinds} different kinds of device, but one job can request only one kind\n\
         help: print a job for each kind with `tune fleet job --kind KIND`"
    )]
    Kinds {
        /// Number of kinds.
        kinds: usize,
    },
}

/// The text of the job file that runs `elements` of a plan. All of them must need the same kind of device.
///
/// # Errors
/// There are no elements, the plan lacks one of them, they need different kinds of devices, they are too many for one
/// job, or an option has text that a job file cannot have.
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

/// The content that the job files of all schedulers share.
struct Job<'a> {
    /// `kiln-` and the first 12 digits of the plan's identity.
    name: String,
    /// Numbers of the elements, sorted.
    elements: &'a [u32],
    options: &'a JobOptions,
}

fn job_name(plan: &Plan) -> String {
    let id = plan.id();
    format!("kiln-{}", id.get(..12).unwrap_or_default())
}

impl Job<'_> {
    /// Returns an error if there are more elements than the scheduler's limit.
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

/// Returns an error for text with control characters, because a line feed would end a line of the job file.
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

/// Returns an error for text that is not safe in a line of a job file that no shell parses.
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
