//! Errors of creating a plan, working on it, and merging its results.

use std::path::{Path, PathBuf};

use kiln_fleet::{CollectError, PushError, StoreError};
use thiserror::Error;

use crate::error::code::{FAILED, NO_DEVICE, OTHER_SOURCES, TRY_AGAIN};
use kiln_project::atomic_file::without_path;

/// Why a plan cannot be created, worked on or merged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The text is not a valid kind of device.
    #[error(
        "`{kind}` is not a kind of device: {why}\nhelp: write `backend/arch/name` or the start of it, such as `cuda/sm_89`; \
         `tune devices` prints those of this machine"
    )]
    Kind {
        /// The text.
        kind: String,
        /// Why the text is not valid.
        why: String,
    },
    /// No kernel of the package has a problem for this kind of device.
    #[error("no kernel of the package has a problem on {kind}\nhelp: run `tune list`")]
    NoProblem {
        /// The kind of device.
        kind: String,
    },
    /// No work remains for a plan that continues another plan.
    #[error(
        "nothing is left for another plan: no problem waits for a final or another device\n\
         help: missing elements belong to the current plan: run `tune fleet job --missing`"
    )]
    NothingLeft,
    /// The file of a new plan already exists.
    #[error(
        "{} is there already, and is not replaced because the elements of that plan could not go on\n\
         help: name another file with `-o` or `--next`, or remove the old plan with its `.sig` and `.key` first",
        .path.display()
    )]
    PlanExists {
        /// The path of the plan or of its worker key.
        path: PathBuf,
    },
    /// A plan file is invalid.
    #[error("{}: {error}", .path.display())]
    Plan {
        /// The path of the plan.
        path: PathBuf,
        /// Why the plan is invalid.
        error: kiln_fleet::PlanError,
    },
    /// The plan that should be written would be invalid.
    #[error("cannot create the plan: {0}")]
    Invalid(kiln_fleet::PlanError),
    /// A key or a signature cannot be used.
    #[error(transparent)]
    Sign(#[from] kiln_fleet::SignError),
    /// No key is specified, and the default key does not exist.
    #[error(
        "there is no key to sign with: {} does not exist\n\
         help: name a key with --sign, or create one with `ssh-keygen -t ed25519`",
        .path.display()
    )]
    NoSigningKey {
        /// The path of the default key.
        path: PathBuf,
    },
    /// The worker key does not belong to the plan.
    #[error(
        "{} is not a worker key of {}: its fingerprint is {found}\n\
         help: use the file that `tune fleet plan` wrote next to the plan",
        .key.display(), .plan.display()
    )]
    ForeignWorkerKey {
        /// The path of the key.
        key: PathBuf,
        /// The path of the plan.
        plan: PathBuf,
        /// The fingerprint of the key.
        found: String,
    },
    /// The plan's signature does not belong to any of the allowed signers.
    #[error(
        "{} is not signed by anybody in {}: {why}\nhelp: add the signer's public key to that file, or sign the plan again",
        .plan.display(), .signers.display()
    )]
    NotAllowed {
        /// The path of the plan.
        plan: PathBuf,
        /// The file of allowed signers.
        signers: PathBuf,
        /// Why the signature is not accepted.
        why: String,
    },
    /// The plan has expired.
    #[error(
        "{} expired {ago_s} s ago, and its worker key with it\nhelp: write a new plan with `tune fleet plan`; what was merged before is kept",
        .plan.display()
    )]
    Expired {
        /// The path of the plan.
        plan: PathBuf,
        /// The number of seconds since the plan expired.
        ago_s: u64,
    },
    /// A store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Results cannot be published.
    #[error(transparent)]
    Publish(#[from] kiln_fleet::PublishError),
    /// The content of a store cannot be collected.
    #[error(transparent)]
    Collect(#[from] CollectError),
    /// A statement about a proven result cannot be created.
    #[error(transparent)]
    Statement(#[from] kiln_fleet::StatementError),
    /// A proof next to a table cannot be used.
    #[error(transparent)]
    Proof(#[from] kiln_fleet::proof::ProofError),
    /// A job file for a scheduler cannot be written.
    #[error(transparent)]
    Engine(#[from] kiln_fleet::EngineError),
    /// The plan has no element with this number.
    #[error(
        "there is no element {element}: {} has {count} elements, counted from 0\n\
         help: `tune fleet status` lists them", .plan.display()
    )]
    NoElement {
        /// The path of the plan.
        plan: PathBuf,
        /// The number of the requested element.
        element: u32,
        /// The number of elements in the plan.
        count: usize,
    },
    /// The plan does not contain this kind of device.
    #[error(
        "{} has no kind of device `{wanted}`\nhelp: choose one of its kinds: {}",
        .plan.display(), .known.join(", ")
    )]
    NoKind {
        /// The path of the plan.
        plan: PathBuf,
        /// The requested kind.
        wanted: String,
        /// The kinds in the plan.
        known: Vec<String>,
    },
    /// A kernel has changed since the plan was created.
    #[error(
        "`{kernel}` has changed since the plan was created: the hash of its {part} is {found}, but the plan has \
         {planned}\n\
         help: check out the commit of the plan, or write a new plan"
    )]
    OtherSources {
        /// The name of the kernel.
        kernel: String,
        /// The part that differs: `spec` or `source`.
        part: &'static str,
        /// The hash of this part in the checked-out sources.
        found: String,
        /// The hash of this part in the plan.
        planned: String,
    },
    /// The plan specifies a regime that does not exist.
    #[error(
        "the plan's regime is `{found}`, but the known regimes are `cold` and `hot`\n\
         help: write a new plan with `tune fleet plan`"
    )]
    Regime {
        /// The name of the regime.
        found: String,
    },
    /// The version of `tune` differs from the version that created the plan.
    #[error(
        "this is `tune` {found}, but the plan was created by `tune` {planned}\n\
         help: install that version on every node, or write a new plan"
    )]
    OtherVersion {
        /// The running version.
        found: String,
        /// The version that created the plan.
        planned: String,
    },
    /// The device is not of the element's kind.
    #[error(
        "element {element} needs {wanted}, but `{device}` is {found}\n\
         help: run it on another node, or name a device with --device"
    )]
    OtherKind {
        /// The number of the element.
        element: u32,
        /// The kind that the element needs.
        wanted: String,
        /// The name of the device.
        device: String,
        /// The kind of the device.
        found: String,
    },
    /// The device has already proven the config, and the element needs a proof from another device.
    #[error(
        "element {element} must confirm a config on a second device, but `{device}` is the device that has proven \
         it\n\
         help: the scheduler should run it on another node (exit code 75)"
    )]
    SameDevice {
        /// The number of the element.
        element: u32,
        /// The name of the device.
        device: String,
    },
    /// This machine has no device of the element's kind.
    #[error(
        "element {element} needs {wanted}, but this machine has {here}\nhelp: run it on another node"
    )]
    NoSuchKind {
        /// The number of the element.
        element: u32,
        /// The kind that the element needs.
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
        /// The path of the folder.
        folder: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The scratch folder is on a network file system.
    #[error(
        "{} is on {name}, a network file system, on which a cache is slow and its lock may not hold\nhelp: name a folder on a local \
         disk with --scratch, SLURM_TMPDIR or TMPDIR",
        .folder.display()
    )]
    NetworkScratch {
        /// The path of the folder.
        folder: PathBuf,
        /// The type of the file system.
        name: &'static str,
    },
    /// Results were measured but could not be published.
    #[error(
        "the results of element {element} could not be published: {why}\nhelp: the scheduler should run it again (exit code 75); its \
         cache is in {}", .folder.display()
    )]
    Unpublished {
        /// The number of the element.
        element: u32,
        /// Why the results could not be published.
        why: String,
        /// The folder of the element's cache, which is not deleted.
        folder: PathBuf,
    },
    /// A journal cannot be pushed to a store.
    #[error(transparent)]
    Push(#[from] PushError),
    /// The cache contains no results to push.
    #[error(
        "nothing can be pushed: {} has no results\n\
         help: run `tune run` first, or name another cache with KILN_CACHE", .folder.display()
    )]
    NothingToPush {
        /// The folder of the cache.
        folder: PathBuf,
    },
}

impl FleetError {
    /// Returns a closure for `map_err` that reports that the plan at `path` cannot be used.
    pub fn plan(path: &Path) -> impl FnOnce(kiln_fleet::PlanError) -> FleetError {
        let path = path.to_owned();
        move |error| FleetError::Plan { path, error }
    }

    /// The exit code of the command that fails with this error.
    pub fn code(&self) -> u8 {
        match self {
            FleetError::OtherSources { .. } | FleetError::OtherVersion { .. } => OTHER_SOURCES,
            FleetError::OtherKind { .. } | FleetError::NoSuchKind { .. } => NO_DEVICE,
            FleetError::Unpublished { .. }
            | FleetError::Publish(_)
            | FleetError::SameDevice { .. } => TRY_AGAIN,
            // A store that does not respond may recover, unlike a store whose location is wrong.
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
