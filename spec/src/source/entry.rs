//! Kernels of a source that can be tuned, and why others cannot.

use thiserror::Error;

use super::error::Location;
use super::kernel_function::{KernelFunction, Parameter};

/// Why a name is not an entry.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EntryError {
    /// No `__global__` function has that name.
    #[error("no `__global__` function `{name}` in the source (found: {found})\nhelp: {help}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The existing names.
        found: String,
        /// The help.
        help: String,
    },
    /// A form of kernel that is not supported.
    #[error("{at}: kernel `{name}` {what}\nhelp: {help}")]
    Unsupported {
        /// The kernel.
        name: String,
        /// Its place.
        at: Location,
        /// The form.
        what: String,
        /// The help.
        help: String,
    },
    /// The kernel only has prototypes.
    #[error(
        "{at}: kernel `{name}` is declared but not defined\nhelp: its body must be in the source or in a file it includes"
    )]
    Undefined {
        /// The kernel.
        name: String,
        /// The place of the declaration.
        at: Location,
    },
    /// Two definitions are compiled together.
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
    /// The arguments of its template, as in the spec.
    pub arguments: Option<Vec<String>>,
}

impl<'s> Entry<'s> {
    /// The parameters of its first definition.
    pub fn params(&self) -> &'s [Parameter] {
        let definition = self.sites.iter().find(|site| site.body_open.is_some());
        definition.map_or(&[], |site| &site.params)
    }
}

/// Why a declaration cannot be that of an entry.
pub(super) fn unsupported(site: &KernelFunction) -> Option<EntryError> {
    let (what, help) = site.obstacle?.describe();
    Some(refused(site, what, help))
}

fn refused(site: &KernelFunction, what: &str, help: impl Into<String>) -> EntryError {
    EntryError::Unsupported {
        name: site.name.clone(),
        at: site.at.clone(),
        what: what.into(),
        help: help.into(),
    }
}

/// The error if a kernel is named without its namespaces, or with other ones.
pub(super) fn in_another_namespace(site: &KernelFunction) -> EntryError {
    if let Some(error) = unsupported(site) {
        return error;
    }
    let (name, spaces) = (&site.name, site.namespaces.join("::"));
    if spaces.is_empty() {
        return refused(
            site,
            "is declared in no namespace",
            format!("name it `{name}`"),
        );
    }
    let help = format!("name it with its namespace: `entry = \"{spaces}::{name}\"`");
    refused(site, "is declared in a namespace", help)
}

/// Why template arguments do not fit a kernel; `None` if they do.
pub(super) fn wrong_arguments(
    site: &KernelFunction,
    arguments: Option<&[String]>,
) -> Option<EntryError> {
    match (&site.template, arguments) {
        (None, None) => None,
        (None, Some(_)) => {
            let help = format!("name it without arguments: `{}`", site.name);
            Some(refused(site, "is not a template", help))
        }
        (Some(template), None) => {
            let help = format!(
                "name an instantiation, as in `entry = \"{}<float, 256>\"`; it is `template {}`",
                site.name, template.text
            );
            Some(refused(site, "is a template", help))
        }
        (Some(template), Some(_)) if template.params.is_none() => {
            let help = "write a plain `__global__` function that calls a `__device__` template";
            Some(refused(
                site,
                "has a template parameter that is a pack, a template or without a name",
                help,
            ))
        }
        (Some(template), Some(arguments)) => {
            let help = format!("it is `template {}`", template.text);
            let fits = template.with(arguments).is_some();
            (!fits).then(|| refused(site, "has another number of template parameters", help))
        }
    }
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
