//! The baseline: a config of the tuned entry, or another entry.

use super::Lower;
use crate::config::{Config, ParamValue};
use crate::model::{Baseline, Geometry};
use crate::parse::declaration::{Axis, BaselineDecl, Name, Spanned};
use crate::parse::values::quoted;
use crate::spelling::nearest;

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
            };
        };
        let other = decl.entry.as_ref().filter(|e| e.value != entry);
        for (name, value) in &decl.values {
            self.baseline_value(name, value);
        }
        Baseline {
            entry: other.map_or(entry, |e| &e.value).into(),
            config: self.baseline_config(decl, other.is_some()),
            geometry: self.own_geometry(decl, other.is_some()),
        }
    }

    fn baseline_value(&mut self, name: &Name, value: &Spanned<ParamValue>) {
        let attr = self.attr;
        let Some(param) = attr.params.iter().find(|p| p.name.value == name.value) else {
            let names = || attr.params.iter().map(|p| &*p.name.value);
            let help = match nearest(&name.value, names().chain(["entry"])) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("parameters are {}", quoted(names())),
            };
            let message = format!("the baseline sets `{}`, which is no parameter", name.value);
            self.report(name.span, message, &help);
            return;
        };
        if !param.values.is_empty() && !param.has(&value.value) {
            let values = quoted(param.values.iter().map(|v| v.value.to_string()));
            let message = format!(
                "baseline outside the space: {} is no value of `{}`",
                value.value, name.value
            );
            self.report(value.span, message, &format!("its values are {values}"));
        }
    }

    fn baseline_config(&mut self, decl: &BaselineDecl, other_entry: bool) -> Config {
        let given = |param: &Axis<ParamValue>| {
            let mut values = decl.values.iter();
            let found = values.find(|(name, _)| name.value == param.name.value);
            found.map(|(_, value)| value.value.clone())
        };
        let params = &self.attr.params;
        let missing: Vec<_> = params.iter().filter(|p| given(p).is_none()).collect();
        if !missing.is_empty() && !other_entry {
            let names = quoted(missing.iter().map(|p| &*p.name.value));
            let message = format!("the baseline gives no value for {names}");
            self.report(decl.span, message, "give every tunable parameter a value");
        }
        // Another entry reads few of the macros: what it does not name takes its first value.
        Config::new(params.iter().filter_map(|param| {
            let value = given(param).or_else(|| Some(param.values.first()?.value.clone()))?;
            Some((param.name.value.clone(), value))
        }))
    }

    fn own_geometry(&mut self, decl: &BaselineDecl, other_entry: bool) -> Option<Geometry> {
        let geometry = &decl.geometry;
        if !other_entry {
            if let Some(expr) = geometry.exprs().next() {
                let help = "name the other entry with `entry = \"..\"`, or remove it";
                self.report(
                    expr.span(),
                    "geometry of a baseline that is no entry of its own",
                    help,
                );
            }
            return None;
        }
        match (&geometry.grid, &geometry.block) {
            (Some(_), Some(_)) => Some(self.geometry(geometry)),
            (None, None) if geometry.shared_bytes.is_none() => None,
            _ => {
                let help = "give `grid(..)` and `block(..)`, or neither to use the kernel's";
                self.report(decl.span, "half a geometry in the baseline", help);
                None
            }
        }
    }
}
