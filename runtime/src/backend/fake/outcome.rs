//! Which rules of a script decide the behaviour of one entry.

use super::compiler::Unit;
use super::script::{
    CompileOutcome, LaunchOutcome, Noise, OutputOutcome, ReceiptOutcome, Rule, Script, Time, When,
};

/// The behaviour of one entry of one config, all rules applied.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Behaviour {
    pub(super) time: Time,
    pub(super) noise: Noise,
    pub(super) launch: LaunchOutcome,
    pub(super) output: OutputOutcome,
    pub(super) receipt: ReceiptOutcome,
}

impl Script {
    pub(super) fn compile_outcome(&self, unit: &Unit) -> CompileOutcome {
        let rules = self.rules.iter().rev();
        rules
            .filter(|rule| rule.when.matches(unit, None))
            .find_map(|rule| rule.compile.clone())
            .unwrap_or(CompileOutcome::Works)
    }

    pub(super) fn behaviour(&self, unit: &Unit, receipt: bool) -> Behaviour {
        let matching: Vec<&Rule> = self
            .rules
            .iter()
            .rev()
            .filter(|rule| rule.when.matches(unit, Some(receipt)))
            .collect();
        fn last<T: Clone>(rules: &[&Rule], field: fn(&Rule) -> &Option<T>) -> Option<T> {
            rules.iter().find_map(|rule| field(rule).clone())
        }
        Behaviour {
            time: last(&matching, |rule| &rule.time).unwrap_or_else(|| self.time.clone()),
            noise: last(&matching, |rule| &rule.noise).unwrap_or_else(|| self.noise.clone()),
            launch: last(&matching, |rule| &rule.launch).unwrap_or(LaunchOutcome::Works),
            output: last(&matching, |rule| &rule.output).unwrap_or(OutputOutcome::Right),
            receipt: last(&matching, |rule| &rule.receipt).unwrap_or(ReceiptOutcome::Honest),
        }
    }
}

impl When {
    /// Whether it matches; a compile (`receipt` is `None`) makes both entries.
    fn matches(&self, unit: &Unit, receipt: Option<bool>) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        let symbol = match receipt {
            Some(true) => format!("{}_receipt", unit.release),
            _ => unit.release.clone(),
        };
        is(&self.entry, &unit.entry)
            && is(&self.symbol, &symbol)
            && (self.receipt.is_none() || receipt.is_none() || self.receipt == receipt)
            && self
                .config
                .iter()
                .all(|(name, value)| unit.config.get(name) == Some(value))
    }
}
