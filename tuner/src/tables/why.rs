//! The text of `tune why`: the key of a result, its baked row, and how the key differs from the keys of stored results.

use std::collections::BTreeMap;

use kiln_cache::record::Verdict;
use kiln_cache::{Cache, TuningKey, Winner};
use kiln_spec::Problem;
use serde::Serialize;

use crate::error::Failure;
use crate::tables::listing::Baked;
use crate::task::{self, Conditions};
use kiln_project::TunedKernel;

/// The key of a result and the results that are stored under the key. If there are none, the differences between the
/// key and the nearest key with stored results.
#[derive(Serialize)]
pub struct Why {
    kernel: String,
    package: String,
    problem: String,
    key: String,
    fields: BTreeMap<String, String>,
    stored: bool,
    trials: usize,
    winner: Option<Winner>,
    nearest: Option<Nearest>,
    /// The baked row for the problem on this device; null if there is none.
    baked: Option<Baked>,
}

#[derive(Serialize)]
struct Nearest {
    key: String,
    differences: Vec<Different>,
}

#[derive(Serialize)]
struct Different {
    field: String,
    stored: String,
    now: String,
}

/// The decision as text.
fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::Proven {
            speedup_ppm,
            low_ppm,
            high_ppm,
        } => {
            let [speedup, low, high] = [speedup_ppm, low_ppm, high_ppm].map(|ppm| ppm as f64 / 1e6);
            format!("proven {speedup:.2}x the baseline [{low:.2}, {high:.2}]")
        }
        Verdict::BaselineKept { reason } => format!("baseline kept: {reason}"),
    }
}

fn nearest(cache: &Cache, key: &TuningKey) -> Result<Option<Nearest>, Failure> {
    let Some(explanation) = cache.explain(key)? else {
        return Ok(None);
    };
    let differences = explanation.differences.iter().map(|difference| Different {
        field: difference.field.clone(),
        stored: difference.stored.clone().unwrap_or_default(),
        now: difference.wanted.clone().unwrap_or_default(),
    });
    Ok(Some(Nearest {
        key: explanation.nearest.hash().to_string(),
        differences: differences.collect(),
    }))
}

impl Why {
    /// Looks up a kernel and a problem in the cache, under the key for `conditions` (device, compiler and regime).
    ///
    /// # Errors
    /// If the cache or the kernel's table cannot be read.
    pub fn of(
        kernel: &TunedKernel,
        problem: &Problem,
        conditions: &Conditions<'_>,
        cache: &Cache,
    ) -> Result<Why, Failure> {
        let key = task::key(kernel, problem, conditions);
        let winner = cache.winner(key.hash())?;
        let trials = cache.trials(key.hash())?.len();
        let stored = trials > 0 || winner.is_some();
        let nearest = if stored { None } else { nearest(cache, &key)? };
        Ok(Why {
            kernel: kernel.spec.name.clone(),
            package: kernel.package.clone(),
            problem: problem.to_string(),
            key: key.hash().to_string(),
            fields: key.fields().clone(),
            stored,
            trials,
            winner,
            nearest,
            baked: kernel
                .rows_of(&conditions.info.key)?
                .iter()
                .find(|row| row.problem == problem.to_string())
                .map(|row| Baked::new(kernel, row)),
        })
    }

    /// The text that `tune why` prints.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "{} of {} ({})\nkey {}\n",
            self.kernel, self.package, self.problem, self.key
        );
        for (name, value) in &self.fields {
            text += &format!("  {name:<28} {value}\n");
        }
        match (&self.stored, &self.nearest) {
            (true, _) => text += &format!("stored: {} trials\n", self.trials),
            (false, None) => text += "nothing is stored for this kernel\nhelp: run `tune run`\n",
            (false, Some(nearest)) => {
                text += &format!(
                    "nothing is stored under this key; the nearest stored key is {}, which differs in:\n",
                    nearest.key
                );
                for difference in &nearest.differences {
                    text += &format!(
                        "  {}: stored `{}`, now `{}`\n",
                        difference.field, difference.stored, difference.now
                    );
                }
            }
        }
        if let Some(winner) = &self.winner {
            text += &format!("winner: {} ({})\n", winner.config, verdict(winner.verdict));
        }
        if let Some(baked) = &self.baked {
            text += &format!("baked: {}\n", baked.to_text());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_told_in_words() {
        let proven = Verdict::Proven {
            speedup_ppm: 1_500_000,
            low_ppm: 1_400_000,
            high_ppm: 1_600_000,
        };
        assert_eq!(verdict(proven), "proven 1.50x the baseline [1.40, 1.60]");
        let kept = Verdict::BaselineKept {
            reason: kiln_cache::record::KeptReason::NotProven,
        };
        assert_eq!(
            verdict(kept),
            "baseline kept: the finalist was not proven faster"
        );
    }
}
