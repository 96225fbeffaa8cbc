//! How much of the product each rule rejects.

use super::rules::{Rule, Rules};
use crate::csp::Budget;
use crate::limits::DeviceLimits;
use crate::model::KernelSpec;

/// How much of the product one rule rejects. Several rules may reject the same config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The rule.
    pub rule: Rule,
    /// The constraint as written, or the limit in words.
    pub text: String,
    /// Configs of the product that it rejects, whatever other rules say; `None` where counting them takes too long.
    pub configs: Option<u128>,
    /// Configs that no other rule rejects: how many more would be valid without it; `None` where counting them takes too
    /// long.
    pub only: Option<u128>,
}

impl Rejection {
    /// Whether it is known to reject nothing.
    pub fn cuts_nothing(&self) -> bool {
        self.configs == Some(0)
    }
}

/// How much each rule rejects of `product` configs, of which `valid` are left.
pub(super) fn rejections(
    rules: &Rules,
    spec: &KernelSpec,
    limits: &DeviceLimits,
    product: u128,
    valid: u128,
) -> Vec<Rejection> {
    let count = |wanted: &dyn Fn(usize) -> bool| {
        let solved = rules
            .model
            .solve_where(Budget::default(), |i| wanted(rules.rule_of[i]));
        solved.ok().map(|set| set.len())
    };
    let each = rules.rules.iter().enumerate();
    each.map(|(number, rule)| Rejection {
        rule: rule.clone(),
        text: rule.text(spec, limits),
        configs: count(&|other| other == number).map(|met| product - met),
        only: count(&|other| other != number).map(|met| met - valid),
    })
    .collect()
}
