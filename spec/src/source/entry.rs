//! A kernel of a source that can be tuned, and why another cannot.

use thiserror::Error;

use super::error::Location;
use super::kernel_function::{KernelFunction, Parameter};

/// Why a name is no entry.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EntryError {
    /// No `__global__` function of that name.
    #[error("no `__global__` function `{name}` in the source (found: {found})\nhelp: {help}")]
    Unknown {
        /// The name looked for.
        name: String,
        /// The names there are.
        found: String,
        /// What to do.
        help: String,
    },
    /// A form of kernel that is not supported.
    #[error("{at}: kernel `{name}` {what}\nhelp: {help}")]
    Unsupported {
        /// The kernel.
        name: String,
        /// Where it is.
        at: Location,
        /// What it is.
        what: &'static str,
        /// What to do instead.
        help: &'static str,
    },
    /// Prototypes only.
    #[error(
        "{at}: kernel `{name}` is declared but not defined\nhelp: its body must be in the source or in a file it includes"
    )]
    Undefined {
        /// The kernel.
        name: String,
        /// Where it is declared.
        at: Location,
    },
    /// Two definitions that are compiled together.
    #[error(
        "{second}: kernel `{name}` is defined twice, first at {first}\nhelp: give each kernel a name of its own"
    )]
    Twice {
        /// The kernel.
        name: String,
        /// The first definition.
        first: Location,
        /// The second definition.
        second: Location,
    },
}

/// A kernel that can be tuned: every declaration and definition of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'s> {
    /// Its name.
    pub name: &'s str,
    /// Its prototypes and definitions, in source order.
    pub sites: Vec<&'s KernelFunction>,
}

impl<'s> Entry<'s> {
    /// The parameters of its first definition.
    pub fn params(&self) -> &'s [Parameter] {
        let definition = self.sites.iter().find(|site| site.body_open.is_some());
        definition.map_or(&[], |site| &site.params)
    }
}

/// Why a declaration cannot be an entry's.
pub(super) fn unsupported(site: &KernelFunction) -> Option<EntryError> {
    let (what, help) = site.obstacle?.describe();
    Some(EntryError::Unsupported {
        name: site.name.clone(),
        at: site.at.clone(),
        what,
        help,
    })
}

/// Two definitions that are compiled together, if there are any.
pub(super) fn twice(definitions: &[&KernelFunction]) -> Option<EntryError> {
    let pairs = definitions
        .iter()
        .enumerate()
        .flat_map(|(i, one)| definitions[i + 1..].iter().map(move |other| (one, other)));
    let mut together = pairs.filter(|(one, other)| !one.conditions.excludes(&other.conditions));
    together.next().map(|(first, second)| EntryError::Twice {
        name: first.name.clone(),
        first: first.at.clone(),
        second: second.at.clone(),
    })
}
