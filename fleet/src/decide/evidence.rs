//! Combines the findings of all sources about one task into a decision.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use kiln_cache::Winner;
use kiln_cache::record::Verdict;

use super::Decision;
use super::finding::Finding;
use super::observers::of_sources;
use crate::fold::Source;
use crate::plan::{Plan, Stage};

/// The findings of all sources about one task under one tuning key.
pub(super) struct Evidence<'a> {
    /// All proofs, by config.
    proofs: BTreeMap<&'a str, Vec<Proof<'a>>>,
    /// The config that each source proved last. If the source of a final (an element that races the winners of
    /// searches) proved a config, only sources of finals are considered.
    nominated: BTreeSet<&'a str>,
    /// Whether the nominated configs are winners of finals.
    by_final: bool,
    /// Configs that were tested and not proven, each with the first source (in order of sources) that did not prove it.
    refuted: BTreeMap<&'a str, &'a Source>,
    /// Whether any source has decided the task.
    decided: bool,
}

/// A decision that proved a config, and its source.
#[derive(Clone, Copy)]
struct Proof<'a> {
    source: &'a Source,
    winner: &'a Winner,
}

impl<'a> Evidence<'a> {
    pub fn of(findings: impl Iterator<Item = &'a Finding<'a>>) -> Evidence<'a> {
        let findings: Vec<_> = findings.collect();
        let nominated = |stage: Option<Stage>| -> BTreeSet<&str> {
            let of_stage = findings
                .iter()
                .filter(|f| stage.is_none_or(|s| f.stage == s));
            of_stage
                .filter_map(|f| f.nominated)
                .map(|w| w.config.as_str())
                .collect()
        };
        let finals = nominated(Some(Stage::Final));
        let mut evidence = Evidence {
            proofs: BTreeMap::new(),
            by_final: !finals.is_empty(),
            nominated: if finals.is_empty() {
                nominated(None)
            } else {
                finals
            },
            refuted: BTreeMap::new(),
            decided: findings.iter().any(|finding| finding.decided),
        };
        for finding in findings {
            let source = finding.source;
            for winner in finding.proven.iter().copied() {
                let proofs = evidence.proofs.entry(&winner.config).or_default();
                proofs.push(Proof { source, winner });
            }
            for config in &finding.refuted {
                let first = evidence.refuted.entry(config).or_insert(source);
                *first = source.min(*first);
            }
        }
        evidence
    }

    pub fn decide(&self, plan: &Plan) -> Decision {
        if !self.decided {
            return Decision::Missing;
        }
        let live = |config: &&&str| !self.refuted.contains_key(**config);
        let live: Vec<&str> = self.nominated.iter().filter(live).copied().collect();
        match live.as_slice() {
            [] => self.none_left(),
            [config] => self.single(plan, config),
            // Several finals chose different configs. The decision uses the config that the most observers have proven.
            [..] if self.by_final => {
                let observers = |config: &&str| Reverse(self.observers(plan, config).len());
                let first = live
                    .iter()
                    .min_by_key(|config| (observers(config), **config));
                first.map_or(Decision::Missing, |config| self.single(plan, config))
            }
            [..] => Decision::Searched {
                finalists: live.into_iter().map(str::to_owned).collect(),
            },
        }
    }

    /// The decision if every nominated config is refuted, or none was nominated.
    fn none_left(&self) -> Decision {
        let stopped = self.nominated.iter().find_map(|config| {
            let source = self.refuted.get(config)?;
            Some(Decision::Stopped {
                config: (*config).to_owned(),
                why: format!(
                    "its confirmation on {} did not prove it faster",
                    place(source)
                ),
            })
        });
        stopped.unwrap_or(Decision::Kept)
    }

    /// The decision if one config is left.
    fn single(&self, plan: &Plan, config: &str) -> Decision {
        let proofs = self
            .proofs
            .get(config)
            .map(Vec::as_slice)
            .unwrap_or_default();
        if let Some(what) = contradiction(proofs) {
            return Decision::Stopped {
                config: config.into(),
                why: format!(
                    "its observers contradict each other: their winners differ in the {what}"
                ),
            };
        }
        let observers = self.observers(plan, config);
        let enough = usize::try_from(plan.replicas).is_ok_and(|wanted| observers.len() >= wanted);
        match least_favourable(proofs) {
            Some(winner) if enough => Decision::Proven {
                config: config.into(),
                winner: Box::new(winner),
                observers,
            },
            _ => Decision::NeedsReplica {
                config: config.into(),
                have: observers.len(),
            },
        }
    }

    fn observers(&self, plan: &Plan, config: &str) -> Vec<super::ObserverId> {
        let proofs = self.proofs.get(config).into_iter().flatten();
        of_sources(proofs.map(|proof| proof.source), plan.distinct)
    }
}

/// Returns the name of a property that differs between proofs of one config under one tuning key, although the config
/// and the key should determine this property; `None` if all proofs agree.
fn contradiction(proofs: &[Proof<'_>]) -> Option<&'static str> {
    let first = proofs.first()?.winner;
    let differs = |what: fn(&Winner, &Winner) -> bool| proofs.iter().any(|p| what(p.winner, first));
    match () {
        () if differs(|a, b| a.symbol != b.symbol) => Some("symbol"),
        () if differs(|a, b| a.plan != b.plan) => Some("launch"),
        () if differs(|a, b| a.baseline != b.baseline) => Some("baseline"),
        () => None,
    }
}

/// Returns the winner of the proof with the lowest speed-up; `None` without proofs. The winner's interval is widened to
/// the lowest low end and the highest high end of all proofs, and its grade (how outputs were verified) becomes the
/// weakest grade of all proofs.
fn least_favourable(proofs: &[Proof<'_>]) -> Option<Winner> {
    let figures = |winner: &Winner| match winner.verdict {
        Verdict::Proven {
            speedup_ppm,
            low_ppm,
            high_ppm,
        } => Some((speedup_ppm, low_ppm, high_ppm)),
        Verdict::BaselineKept { .. } => None,
    };
    let all: Vec<_> = proofs
        .iter()
        .filter_map(|p| Some((figures(p.winner)?, p)))
        .collect();
    let ((speedup_ppm, ..), least) = all.iter().min_by_key(|(figures, p)| (*figures, p.source))?;
    Some(Winner {
        verdict: Verdict::Proven {
            speedup_ppm: *speedup_ppm,
            low_ppm: all.iter().map(|((_, low, _), _)| *low).min()?,
            high_ppm: all.iter().map(|((.., high), _)| *high).max()?,
        },
        grade: proofs.iter().map(|p| p.winner.grade).max()?,
        ..least.winner.clone()
    })
}

/// The name of a source in a report: host, uuid and element.
fn place(source: &Source) -> String {
    let known = ["host", "uuid"]
        .iter()
        .filter_map(|name| source.observer.get(*name));
    let known: Vec<&str> = known.map(String::as_str).collect();
    let device = if known.is_empty() {
        "a device".into()
    } else {
        known.join(" ")
    };
    format!("{device} (element {})", source.element)
}
