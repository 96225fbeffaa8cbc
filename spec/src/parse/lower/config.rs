//! Converts configs that the author writes (the baseline's config and the configs to try first) to their form in the
//! spec.

use super::Lower;
use crate::config::{Config, ParamValue};
use crate::parse::declaration::{Name, NamedValues, Spanned};
use crate::parse::values::quoted;
use crate::text::diagnostic::SpanRange;
use crate::text::spelling::nearest;

/// What happens to a parameter that a config does not set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// The parameter gets the first value of its list.
    TakesFirst,
    /// The missing parameter is reported as a mistake.
    IsAnError,
}

type Value = (Name, Spanned<ParamValue>);

impl Lower<'_> {
    /// The configs in `try_first(..)`.
    pub(super) fn try_first(&mut self) -> Vec<Config> {
        let attr = self.attr;
        let decls = attr.try_first.iter();
        decls
            .map(|decl| {
                self.given_once(&decl.values);
                let who = "a config to try first";
                self.config(who, decl.span, &decl.values, Missing::IsAnError)
            })
            .collect()
    }

    fn given_once(&mut self, values: &[Value]) {
        for (place, (name, _)) in values.iter().enumerate() {
            if values[..place].iter().any(|(n, _)| n.value == name.value) {
                let message = format!("`{}` is given twice in one config", name.value);
                self.report(name.span, message, "give each parameter one value");
            }
        }
    }

    /// Converts a config. `who` describes the config in messages.
    pub(super) fn config(
        &mut self,
        who: &str,
        span: SpanRange,
        values: &[Value],
        missing: Missing,
    ) -> Config {
        for (name, value) in values {
            self.value(who, name, value);
        }
        let given = |param: &NamedValues<ParamValue>| {
            let found = values
                .iter()
                .find(|(name, _)| name.value == param.name.value);
            found.map(|(_, value)| value.value.clone())
        };
        let params = &self.attr.params;
        let absent: Vec<_> = params.iter().filter(|p| given(p).is_none()).collect();
        if !absent.is_empty() && missing == Missing::IsAnError {
            let names = quoted(absent.iter().map(|p| &*p.name.value));
            let message = format!("{who} gives no value for {names}");
            self.report(span, message, "give every tunable parameter a value");
        }
        Config::new(params.iter().filter_map(|param| {
            let value = given(param).or_else(|| Some(param.values.first()?.value.clone()))?;
            Some((param.name.value.clone(), value))
        }))
    }

    fn value(&mut self, who: &str, name: &Name, value: &Spanned<ParamValue>) {
        let attr = self.attr;
        let Some(param) = attr.params.iter().find(|p| p.name.value == name.value) else {
            let names = || attr.params.iter().map(|p| &*p.name.value);
            let help = match nearest(&name.value, names().chain(["entry"])) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("parameters are {}", quoted(names())),
            };
            let message = format!("{who} sets `{}`, which is not a parameter", name.value);
            self.report(name.span, message, &help);
            return;
        };
        if !param.values.is_empty() && !param.has(&value.value) {
            let values = quoted(param.values.iter().map(|v| v.value.to_string()));
            // The message starts with "baseline outside the space" or "a config to try first outside the space".
            let what = who.strip_prefix("the ").unwrap_or(who);
            let message = format!(
                "{what} outside the space: {} is not a value of `{}`",
                value.value, name.value
            );
            self.report(value.span, message, &format!("its values are {values}"));
        }
    }
}
