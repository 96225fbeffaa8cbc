//! Counts the combinations of parameter values that each rule rejects.

use super::configs::Configs;
use super::rules::{Rule, Rules};
use crate::csp::LayerBudget;
use crate::device::limits::DeviceLimits;
use crate::model::KernelSpec;

/// How many combinations of parameter values one rule rejects. Several rules may reject the same combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The rule that rejects the combinations.
    pub rule: Rule,
    /// The constraint as written, or the device limit in words.
    pub text: String,
    /// Number of combinations that the rule rejects, whether or not other rules reject them. `None` if counting takes
    /// too long.
    pub configs: Option<u128>,
    /// Number of combinations that only this rule rejects. These combinations would be valid without the rule. `None`
    /// if counting takes too long, or if the number of valid configs is only estimated.
    pub only: Option<u128>,
}

impl Rejection {
    /// Whether the rule is known to reject nothing.
    pub fn cuts_nothing(&self) -> bool {
        self.configs == Some(0)
    }
}

/// In a sampled space, counting may be expensive for many rules, so each rule gets this fraction (1 / `OF_MANY`) of the
/// budget.
const OF_MANY: u64 = 16;

/// For each rule, how many of the `product` combinations it rejects.
pub(super) fn rejections(
    rules: &Rules,
    spec: &KernelSpec,
    limits: &DeviceLimits,
    product: u128,
    configs: &Configs,
) -> Vec<Rejection> {
    let budget = match configs {
        Configs::Exact(_) => LayerBudget::default(),
        Configs::Listed(_) => LayerBudget::default().share(OF_MANY),
    };
    let valid = configs.valid();
    let count = |wanted: &dyn Fn(usize) -> bool| {
        let solved = rules
            .model
            .solve_where(budget, |i| wanted(rules.rule_of[i]));
        solved.ok().map(|set| set.len())
    };
    let each = rules.rules.iter().enumerate();
    each.map(|(number, rule)| Rejection {
        rule: rule.clone(),
        text: rule.text(spec, limits),
        configs: count(&|other| other == number).map(|met| product - met),
        only: valid.and_then(|valid| Some(count(&|other| other != number)? - valid)),
    })
    .collect()
}

/// The rules as text, each with the number of combinations that it rejects, largest number first.
pub(super) fn in_words(mut rejections: Vec<Rejection>) -> Vec<String> {
    rejections.sort_by_key(|rejection| std::cmp::Reverse(rejection.configs));
    let rejected = rejections
        .iter()
        .filter(|rejection| !rejection.cuts_nothing());
    let line = |rejection: &Rejection| match rejection.configs {
        Some(configs) => format!("`{}` rejects {configs}", rejection.text),
        None => format!("`{}` rejects an unknown number", rejection.text),
    };
    rejected.map(line).collect()
}
