//! Why a plan cannot be made, worked on or merged.

use std::path::{Path, PathBuf};

use kiln_fleet::{CollectError, PushError, StoreError};
use thiserror::Error;

use crate::error::code::{FAILED, NO_DEVICE, OTHER_SOURCES, TRY_AGAIN};
use kiln_lab::atomic_file::without_path;

/// Why a plan cannot be made, worked on or merged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FleetError {
    /// A kind that no device can have.
    #[error(
        "`{kind}` is not a kind of device: {why}\nhelp: write `backend/arch/name` or the start of it, such as `cuda/sm_89`; \
         `tune devices` prints those of this machine"
    )]
    Kind {
        /// The kind.
        kind: String,
        /// Why not.
        why: String,
    },
    /// Nothing is left to plan.
    #[error("no kernel of the package has a problem on {kind}\nhelp: run `tune list`")]
    NoProblem {
        /// The kind.
        kind: String,
    },
    /// Nothing is left of a plan for another one.
    #[error(
        "nothing is left for another plan: no problem waits for a final or another device\nhelp: elements that are missing are those of \
         the same plan: `tune fleet job --missing`"
    )]
    NothingLeft,
    /// A plan is invalid.
    #[error("{}: {error}", .path.display())]
    Plan {
        /// Its file.
        path: PathBuf,
        /// Why.
        error: kiln_fleet::PlanError,
    },
    /// A plan would be invalid.
    #[error("cannot make the plan: {0}")]
    Invalid(kiln_fleet::PlanError),
    /// A key or a signature cannot be used.
    #[error(transparent)]
    Sign(#[from] kiln_fleet::SignError),
    /// No key was named, and the default one does not exist.
    #[error(
        "there is no key to sign with: {} does not exist\nhelp: name one with --sign, or make one with `ssh-keygen -t ed25519`",
        .path.display()
    )]
    NoSigningKey {
        /// The default.
        path: PathBuf,
    },
    /// The worker key is not one of the plan's.
    #[error(
        "{} is not a worker key of {}: it is {found}\nhelp: use the file that `tune fleet plan` wrote next to the plan",
        .key.display(), .plan.display()
    )]
    ForeignWorkerKey {
        /// The file of the key.
        key: PathBuf,
        /// The plan.
        plan: PathBuf,
        /// Its fingerprint.
        found: String,
    },
    /// The plan is signed by nobody who may sign plans.
    #[error(
        "{} is not signed by anybody in {}: {why}\nhelp: add the signer's public key to that file, or sign the plan again",
        .plan.display(), .signers.display()
    )]
    NotAllowed {
        /// The plan.
        plan: PathBuf,
        /// The file of allowed signers.
        signers: PathBuf,
        /// Why.
        why: String,
    },
    /// The plan has expired.
    #[error(
        "{} expired {ago_s} s ago, and its worker key with it\nhelp: write a new plan with `tune fleet plan`; what was merged before is kept",
        .plan.display()
    )]
    Expired {
        /// The plan.
        plan: PathBuf,
        /// How long ago, in seconds.
        ago_s: u64,
    },
    /// A store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Results cannot be published.
    #[error(transparent)]
    Publish(#[from] kiln_fleet::PublishError),
    /// What a store holds cannot be collected.
    #[error(transparent)]
    Collect(#[from] CollectError),
    /// A statement cannot be made.
    #[error(transparent)]
    Statement(#[from] kiln_fleet::StatementError),
    /// A proof cannot be used.
    #[error(transparent)]
    Proof(#[from] kiln_fleet::proof::ProofError),
    /// A job file cannot be written.
    #[error(transparent)]
    Engine(#[from] kiln_fleet::EngineError),
    /// The plan has fewer elements.
    #[error(
        "there is no element {element}: {} has {count}, counted from 0\nhelp: `tune fleet status` lists them", .plan.display()
    )]
    NoElement {
        /// The plan.
        plan: PathBuf,
        /// The wanted element.
        element: u32,
        /// How many there are.
        count: usize,
    },
    /// The plan has other kinds.
    #[error("{} has no kind `{wanted}`\nhelp: it has {}", .plan.display(), .known.join(", "))]
    NoKind {
        /// The plan.
        plan: PathBuf,
        /// The wanted kind.
        wanted: String,
        /// Its kinds.
        known: Vec<String>,
    },
    /// A kernel is not what it was when the plan was made.
    #[error(
        "`{kernel}` is not what the plan says: its {part} is {found}, planned is {planned}\nhelp: check out the commit of the plan, or \
         write a new plan"
    )]
    OtherSources {
        /// The kernel.
        kernel: String,
        /// What differs: spec or source.
        part: &'static str,
        /// The hash of the checked-out one.
        found: String,
        /// The hash in the plan.
        planned: String,
    },
    /// The plan names a regime that does not exist.
    #[error(
        "the plan's regime is `{found}`, and there are `cold` and `hot`\nhelp: write a new plan with `tune fleet plan`"
    )]
    Regime {
        /// The name.
        found: String,
    },
    /// `tune` is of another version than the plan's.
    #[error(
        "this is `tune` {found}, the plan was made by {planned}\nhelp: install that version on every node, or write a new plan"
    )]
    OtherVersion {
        /// The running version.
        found: String,
        /// The plan's.
        planned: String,
    },
    /// The device is of another kind than the element's.
    #[error(
        "element {element} needs {wanted}, and `{device}` is {found}\nhelp: run it on another node, or name a device with --device"
    )]
    OtherKind {
        /// The element.
        element: u32,
        /// The kind.
        wanted: String,
        /// The device.
        device: String,
        /// Its kind.
        found: String,
    },
    /// The device has proven the config before.
    #[error(
        "element {element} confirms what another device has proven, and `{device}` is that device\nhelp: the scheduler should run it on \
         another node (exit code 75)"
    )]
    SameDevice {
        /// The element.
        element: u32,
        /// The device.
        device: String,
    },
    /// The machine has no device of the element's kind.
    #[error("element {element} needs {wanted}; here is {here}\nhelp: run it on another node")]
    NoSuchKind {
        /// The element.
        element: u32,
        /// The kind.
        wanted: String,
        /// The devices of this machine.
        here: String,
    },
    /// The scratch folder cannot be used.
    #[error(
        "cannot use {} for the element's cache: {}\nhelp: name a folder on a local disk with --scratch",
        .folder.display(), without_path(.error)
    )]
    Scratch {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The scratch folder is on a network file system.
    #[error(
        "{} is on {name}, a network file system, on which a cache is slow and its lock may not hold\nhelp: name a folder on a local \
         disk with --scratch, SLURM_TMPDIR or TMPDIR",
        .folder.display()
    )]
    NetworkScratch {
        /// The folder.
        folder: PathBuf,
        /// The file system.
        name: &'static str,
    },
    /// Results were measured and could not be published.
    #[error(
        "the results of element {element} could not be published: {why}\nhelp: the scheduler should run it again (exit code 75); its \
         cache is in {}", .folder.display()
    )]
    Unpublished {
        /// The element.
        element: u32,
        /// Why.
        why: String,
        /// The cache, which is kept.
        folder: PathBuf,
    },
    /// A journal cannot be pushed.
    #[error(transparent)]
    Push(#[from] PushError),
    /// The cache has no results.
    #[error(
        "nothing can be pushed: {} has no results\nhelp: `tune` measures some; KILN_CACHE names another cache", .folder.display()
    )]
    NothingToPush {
        /// The cache.
        folder: PathBuf,
    },
}

impl FleetError {
    /// For `map_err`: a plan that cannot be used.
    pub fn plan(path: &Path) -> impl FnOnce(kiln_fleet::PlanError) -> FleetError {
        let path = path.to_owned();
        move |error| FleetError::Plan { path, error }
    }

    /// The exit code of this failure.
    pub fn code(&self) -> u8 {
        match self {
            FleetError::OtherSources { .. } | FleetError::OtherVersion { .. } => OTHER_SOURCES,
            FleetError::OtherKind { .. } | FleetError::NoSuchKind { .. } => NO_DEVICE,
            FleetError::Unpublished { .. }
            | FleetError::Publish(_)
            | FleetError::SameDevice { .. } => TRY_AGAIN,
            // A store that does not answer, not one that was named wrongly.
            FleetError::Store(error)
            | FleetError::Collect(CollectError::Store(error))
            | FleetError::Push(PushError::Store(error))
                if error.is_passing() =>
            {
                TRY_AGAIN
            }
            FleetError::Push(PushError::Publish(_)) => TRY_AGAIN,
            _ => FAILED,
        }
    }
}
