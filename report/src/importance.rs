//! The importance of each parameter for the time, estimated from the trials. [`super::permuting`] describes the
//! method.

use kiln_cache::Trial;
use maud::{Markup, html};
use serde::Serialize;

use super::params::Params;
use super::permuting::permute;
use super::svg::{WIDTH, short};

/// Minimum number of valid trials for an estimate.
const MIN_TRIALS: usize = 20;
/// Minimum number of valid trials per varied parameter.
const MIN_A_PARAM: usize = 4;

/// Minimum share of the variance that the model must explain, for trials that it was not fitted to.
const MIN_EXPLAINED: f64 = 0.3;

/// Maximum number of trials to which the model is fitted. If there are more, evenly spaced ones are chosen.
const MAX_TRIALS: usize = 256;

/// The importance of the parameters, or the reason why it cannot be estimated.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Importance {
    /// The importance could be estimated.
    Told {
        /// Number of valid trials that the estimate is based on.
        trials: usize,
        /// Share of the variance that the model explains, from 0 to 1, for trials that it was not fitted to.
        explained: f64,
        /// The parameters, the most important first.
        params: Vec<ParamImportance>,
    },
    /// There are too few valid trials.
    TooFew {
        /// Number of valid trials.
        trials: usize,
        /// Number of valid trials that an estimate needs.
        needed: usize,
    },
    /// The model explains too little of the variance of trials that it was not fitted to.
    Unexplained {
        /// Number of valid trials.
        trials: usize,
        /// Share of the variance that the model explains. It is negative if the model is worse than the mean.
        explained: f64,
    },
    /// All valid trials have the same values of all parameters.
    NothingVaried,
}

/// The importance of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParamImportance {
    /// The name of the parameter.
    pub name: String,
    /// Share of the variance of the logarithm of the time to which the parameter contributes, alone or together with
    /// others.
    pub importance: f64,
    /// Standard deviation of the importance over shuffles.
    pub deviation: f64,
}

impl Importance {
    /// Estimates the importance from those of `trials` that are valid.
    pub(super) fn new(trials: &[&Trial]) -> Importance {
        let valid = chosen(trials);
        let params = Params::of(&valid.iter().map(|(trial, _)| *trial).collect::<Vec<_>>());
        let needed = MIN_TRIALS.max(MIN_A_PARAM * params.varied.len());
        let trials = valid.len();
        if trials < needed {
            return Importance::TooFew { trials, needed };
        }
        if params.varied.is_empty() {
            return Importance::NothingVaried;
        }
        let costs: Vec<f64> = valid.iter().map(|(_, cost)| *cost).collect();
        let permuted = permute(&params, &costs);
        let explained = permuted.explained;
        if explained < MIN_EXPLAINED {
            return Importance::Unexplained { trials, explained };
        }
        let names = params.varied.into_iter().map(|param| param.name);
        let mut params: Vec<_> = names
            .zip(permuted.shares)
            .map(|(name, (importance, deviation))| ParamImportance {
                name,
                importance,
                deviation,
            })
            .collect();
        params.sort_by(|a, b| b.importance.total_cmp(&a.importance));
        Importance::Told {
            trials,
            explained,
            params,
        }
    }

    /// The names of the parameters, the most important first. Empty if the importance cannot be estimated.
    pub(super) fn ranking(&self) -> Vec<&str> {
        match self {
            Importance::Told { params, .. } => {
                params.iter().map(|param| param.name.as_str()).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The valid trials with the logarithms of their costs. If there are more than [`MAX_TRIALS`], only trials that are
/// evenly spaced in the order of costs.
fn chosen<'t>(trials: &[&'t Trial]) -> Vec<(&'t Trial, f64)> {
    let summaries = trials
        .iter()
        .filter_map(|trial| Some((*trial, trial.outcome.summary()?)));
    let mut valid: Vec<_> = summaries.collect();
    // Ratios are used if every trial has one, because a config and the baseline are measured alternately. The plain
    // times of different trials are less comparable, because the speed of the machine may have changed between the
    // trials.
    let paired = valid
        .iter()
        .all(|(_, summary)| summary.ratio_ppm.is_some_and(|ppm| ppm > 0));
    valid.sort_by_key(|(_, summary)| (summary.ratio_ppm, summary.median_ns));
    let step = valid.len().div_ceil(MAX_TRIALS).max(1);
    let cost = |(trial, summary): (&'t Trial, &kiln_cache::Summary)| {
        let paired = summary.ratio_ppm.filter(|_| paired);
        (
            trial,
            (paired.unwrap_or(summary.median_ns).max(1) as f64).ln(),
        )
    };
    valid.into_iter().step_by(step).map(cost).collect()
}

/// Draws the bars, or the reason why there is no estimate.
pub(super) fn draw(importance: &Importance) -> Markup {
    match importance {
        Importance::Told {
            trials,
            explained,
            params,
        } => html! {
            div class="charts" { figure { (bars(params)) } }
            p class="note" {
                "Share of the variance of log time that a parameter has a part in, alone or with others (permutation importance; whiskers: ±2 standard deviations over shuffles). The model explains "
                (format!("{:.0} %", explained * 100.0)) " of the variance of trials it was not fitted to, of " (trials)
                ". Trials of a search gather where times are good, so this is about the configs that were tried, not about all."
            }
        },
        Importance::TooFew { trials, needed } => html! {
            p class="none" { "Too few valid trials to tell: " (trials) ", where it takes " (needed) "." }
        },
        Importance::Unexplained { trials, explained } => html! {
            p class="none" {
                "Cannot be told: a model fitted to four fifths of the " (trials) " valid trials explains "
                (format!("{:.0} %", explained.max(0.0) * 100.0)) " of the variance of the others, and it takes "
                (format!("{:.0} %", MIN_EXPLAINED * 100.0)) "."
            }
        },
        Importance::NothingVaried => html! {
            p class="none" { "All valid trials have the same parameters." }
        },
    }
}

fn bars(params: &[ParamImportance]) -> Markup {
    const ROW: f64 = 24.0;
    const LEFT: f64 = 150.0;
    const LENGTH: f64 = 320.0;
    let height = ROW * params.len() as f64 + 6.0;
    let whisker = |param: &ParamImportance| param.importance + 2.0 * param.deviation;
    let most = params.iter().map(whisker).fold(0.05, f64::max);
    let at = |share: f64| LEFT + LENGTH * (share / most).clamp(0.0, 1.0);
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) class="chart" role="img" aria-label="Importance of the parameters" {
            @for (param, row) in params.iter().zip(0_u32..) {
                @let y = ROW * f64::from(row) + 4.0;
                @let middle = y + 8.0;
                text class="tick" x=(LEFT - 8.0) y=(middle) text-anchor="end" dominant-baseline="central" {
                    (clipped(&param.name, 18)) title { (param.name) }
                }
                rect class="g-valid" x=(LEFT) y=(y) width=(short(at(param.importance) - LEFT)) height="16" {
                    title { (param.name) ": " (format!("{:.3} ± {:.3}", param.importance, param.deviation)) }
                }
                line class="whisker" y1=(middle) y2=(middle)
                    x1=(short(at(param.importance - 2.0 * param.deviation))) x2=(short(at(whisker(param)))) {}
                text class="tick" x=(short(at(whisker(param)) + 8.0)) y=(middle) dominant-baseline="central" {
                    (format!("{:.2}", param.importance.max(0.0)))
                }
            }
        }
    }
}

/// Shortens a name to at most `most` characters. The tooltip of the mark has the full name.
pub(super) fn clipped(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let kept: String = name.chars().take(most - 1).collect();
    kept + "…"
}
