//! Finds the kernels of a source that can be tuned, and reports why other kernels cannot.

use thiserror::Error;

use super::error::Location;
use super::kernel_function::{KernelFunction, Parameter};

/// The reason why a name is not an entry (a kernel that can be tuned).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The source has no `__global__` function with this name.
    #[error("no `__global__` function `{name}` in the source (found: {found})\nhelp: {help}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The names of the `__global__` functions that the source has.
        found: String,
        /// How to correct the name, as the help text.
        help: String,
    },
    /// The kernel has a form that Kiln does not support.
    #[error("{at}: kernel `{name}` {what}\nhelp: {help}")]
    Unsupported {
        /// The name of the kernel.
        name: String,
        /// The file and line of the kernel.
        at: Location,
        /// What is not supported, as the end of a sentence that starts with the kernel's name.
        what: String,
        /// How to write the kernel instead.
        help: String,
    },
    /// The source declares the kernel but does not define it.
    #[error(
        "{at}: kernel `{name}` is declared but not defined\nhelp: its body must be in the source or in a file it includes"
    )]
    Undefined {
        /// The name of the kernel.
        name: String,
        /// The file and line of the declaration.
        at: Location,
    },
    /// The compiler would see two definitions of the kernel.
    #[error(
        "{second}: kernel `{name}` is defined twice, first at {first}{conditions}\nhelp: {help}"
    )]
    Twice {
        /// The name of the kernel.
        name: String,
        /// The file and line of the first definition.
        first: Box<Location>,
        /// The file and line of the second definition.
        second: Location,
        /// The conditions of the two definitions, as the end of the sentence. Empty if there are no conditions.
        conditions: Box<str>,
        /// How to define the kernel once.
        help: &'static str,
    },
}

/// A kernel that can be tuned, with all declarations and definitions that have its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'s> {
    /// The kernel's name, without namespaces and template arguments.
    pub name: &'s str,
    /// The kernel's prototypes and definitions, in source order.
    pub sites: Vec<&'s KernelFunction>,
    /// The template arguments from the spec; `None` if the kernel is not a template.
    pub arguments: Option<Vec<String>>,
}

impl<'s> Entry<'s> {
    /// The parameters of the kernel's first definition.
    pub fn params(&self) -> &'s [Parameter] {
        let definition = self.sites.iter().find(|site| site.body_open.is_some());
        definition.map_or(&[], |site| &site.params)
    }
}

/// The reason why a declaration has an unsupported form; `None` if it can belong to an entry.
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

/// The error for a kernel that the spec names without its namespaces or with other namespaces.
pub(super) fn in_another_namespace(site: &KernelFunction) -> EntryError {
    if let Some(error) = unsupported(site) {
        return error;
    }
    let (name, spaces) = (&site.name, site.namespaces.join("::"));
    if spaces.is_empty() {
        return refused(
            site,
            "is not declared in a namespace",
            format!("name it `{name}`"),
        );
    }
    let help = format!("name it with its namespace: `entry = \"{spaces}::{name}\"`");
    refused(site, "is declared in a namespace", help)
}

/// The reason why template arguments do not match a kernel; `None` if they match.
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
            (!fits).then(|| refused(site, "has a different number of template parameters", help))
        }
    }
}

/// The error for two definitions that the compiler would see together; `None` if there are no such definitions.
pub(super) fn twice(definitions: &[&KernelFunction]) -> Option<EntryError> {
    let pairs = definitions
        .iter()
        .enumerate()
        .flat_map(|(i, one)| definitions[i + 1..].iter().map(move |other| (one, other)));
    let mut together = pairs.filter(|(one, other)| !one.conditions.excludes(&other.conditions));
    together
        .next()
        .map(|(first, second)| twice_error(first, second))
}

fn twice_error(first: &KernelFunction, second: &KernelFunction) -> EntryError {
    let condition = |site: &KernelFunction| {
        let (directive, at) = site.conditions.innermost()?;
        Some(format!("`{directive}` ({at})"))
    };
    let (conditions, help) = match (condition(first), condition(second)) {
        (Some(one), Some(other)) => (
            format!(": {one} and {other} may both be true"),
            "write both definitions in one `#if .. #else .. #endif`, or give each kernel a name of its own",
        ),
        (Some(one), None) | (None, Some(one)) => (
            format!(": the condition {one} does not exclude the other definition"),
            "put the other definition into the `#else` of that condition, or give each kernel a name of its own",
        ),
        (None, None) => (String::new(), "give each kernel a name of its own"),
    };
    EntryError::Twice {
        name: first.name.clone(),
        first: Box::new(first.at.clone()),
        second: second.at.clone(),
        conditions: conditions.into(),
        help,
    }
}
