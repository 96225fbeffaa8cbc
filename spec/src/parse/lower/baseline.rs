//! Converts the baseline to its form in the spec: a config of the tuned entry, or a separate entry.

use super::Lower;
use super::config::Missing;
use crate::config::Config;
use crate::model::{Baseline, Geometry};
use crate::parse::declaration::BaselineDecl;

impl Lower<'_> {
    pub(super) fn baseline(&mut self, entry: &str) -> Baseline {
        let Some(decl) = &self.attr.baseline else {
            if !self.attr.params.is_empty() {
                let help = "add `baseline(..)` with a value for each parameter: the simplest correct version";
                self.report(self.name_span(), "the kernel has no baseline", help);
            }
            return Baseline {
                entry: entry.into(),
                config: Config::default(),
                geometry: None,
                constraints: Vec::new(),
            };
        };
        let other = decl.entry.as_ref().filter(|e| e.value != entry);
        Baseline {
            entry: other.map_or(entry, |e| &e.value).into(),
            config: self.baseline_config(decl, other.is_some()),
            geometry: self.own_geometry(decl, other.is_some()),
            constraints: super::constraints(&decl.constraints),
        }
    }

    fn baseline_config(&mut self, decl: &BaselineDecl, other_entry: bool) -> Config {
        // A separate entry reads few of the macros, so a parameter that its config does not set gets its first value.
        let missing = if other_entry {
            Missing::TakesFirst
        } else {
            Missing::IsAnError
        };
        self.config("the baseline", decl.span, &decl.values, missing)
    }

    fn own_geometry(&mut self, decl: &BaselineDecl, other_entry: bool) -> Option<Geometry> {
        let geometry = &decl.geometry;
        if !other_entry {
            let kinds = [
                ("a geometry", geometry.exprs().next()),
                ("constraints", decl.constraints.first()),
            ];
            for (what, first) in kinds {
                let Some(expr) = first else { continue };
                let message = format!("the baseline has {what}, but not an entry of its own");
                let help = "name the other entry with `entry = \"..\"`, or remove it";
                self.report(expr.span(), message, help);
            }
            return None;
        }
        match (&geometry.grid, &geometry.block) {
            (Some(_), Some(_)) => Some(self.geometry(geometry)),
            (None, None) if geometry.shared_bytes.is_none() => None,
            _ => {
                let help = "give `grid(..)` and `block(..)`, or neither to use the kernel's";
                self.report(
                    decl.span,
                    "the baseline has only a part of a geometry",
                    help,
                );
                None
            }
        }
    }
}
