//! Applies the rules of a script to one entry.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::compiler::FakeUnit;
use super::script::{
    CompileOutcome, FakeNoise, LaunchOutcome, OutputOutcome, ReceiptOutcome, Script, ScriptRule,
    Time, When,
};

/// The behaviour of one entry of one config, after all rules are applied.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Behaviour {
    pub(super) time: Time,
    pub(super) noise: FakeNoise,
    pub(super) launch: LaunchOutcome,
    pub(super) output: OutputOutcome,
    pub(super) receipt: ReceiptOutcome,
}

impl Script {
    pub(super) fn compile_outcome(&self, unit: &FakeUnit) -> CompileOutcome {
        let rules = self.rules.iter().rev();
        rules
            .filter(|rule| rule.when.matches(unit, None))
            .find_map(|rule| rule.compile.clone())
            .unwrap_or(CompileOutcome::Works)
    }

    pub(super) fn behaviour(&self, unit: &FakeUnit, receipt: bool) -> Behaviour {
        let rules = self.rules.iter().enumerate().rev();
        let matching: Vec<&ScriptRule> = rules
            .filter(|(_, rule)| rule.when.matches(unit, Some(receipt)))
            .filter(|(number, rule)| self.has_begun(*number, rule, unit))
            .map(|(_, rule)| rule)
            .collect();
        fn last<T: Clone>(
            rules: &[&ScriptRule],
            field: fn(&ScriptRule) -> &Option<T>,
        ) -> Option<T> {
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

impl Script {
    /// Whether a rule applies in this process. A rule with `from_process` applies only from that process on.
    fn has_begun(&self, number: usize, rule: &ScriptRule, unit: &FakeUnit) -> bool {
        let Some(from) = rule.when.from_process else {
            return true;
        };
        let file = self.file.as_ref();
        file.is_some_and(|file| process_number(file, number, unit) >= from)
    }
}

/// The number of this process, counted from 1, among the processes that loaded an entry of a rule. Each process appends
/// a byte to a file that belongs to the rule and the entry. Returns 0 if the file cannot be written.
fn process_number(script: &Path, rule: usize, unit: &FakeUnit) -> u64 {
    static KNOWN: Mutex<BTreeMap<PathBuf, u64>> = Mutex::new(BTreeMap::new());
    let path = script.with_extension(format!("{rule}.{}", unit.release));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(path).or_insert_with_key(|path| {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let count = file.and_then(|mut file| {
            file.write_all(b".")?;
            file.metadata()
        });
        count.map_or(0, |metadata| metadata.len())
    })
}

impl When {
    /// Whether the rule matches. `receipt` is `None` for a compile, which builds both entries.
    fn matches(&self, unit: &FakeUnit, receipt: Option<bool>) -> bool {
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
