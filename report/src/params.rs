//! The parameters of trials. They are parsed from the texts of the configs, so a report does not need the kernel's
//! source.

use std::collections::BTreeSet;

use kiln_cache::Trial;

/// A parameter with more than one value among the trials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VariedParam {
    pub(super) name: String,
    /// The values that were tried, in ascending order if they are integers, otherwise in alphabetical order.
    pub(super) values: Vec<String>,
    /// Whether all values are integers.
    pub(super) is_ordinal: bool,
}

/// The parameters of some configs, and the values that each config has.
#[derive(Clone, Debug, Default)]
pub(super) struct Params {
    /// The parameters of which more than one value was tried.
    pub(super) varied: Vec<VariedParam>,
    /// The other parameters, each with its only value.
    pub(super) fixed: Vec<(String, String)>,
    /// For each config, the positions of its values in [`VariedParam::values`], in the order of `varied`.
    pub(super) rows: Vec<Vec<usize>>,
}

/// The pairs of name and value in the text of a config.
fn pairs(config: &str) -> impl Iterator<Item = (&str, &str)> {
    let pieces = config.split(',').filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.split_once('=').unwrap_or((piece, "")))
}

fn value_of<'c>(config: &'c str, name: &str) -> &'c str {
    let found = pairs(config).find(|(found, _)| *found == name);
    found.map_or("", |(_, value)| value)
}

impl Params {
    /// The parameters of some trials, in the order in which the configs list them.
    pub(super) fn of(trials: &[&Trial]) -> Params {
        let texts: Vec<&str> = trials.iter().map(|trial| trial.config.as_str()).collect();
        Params::of_texts(&texts)
    }

    /// The parameters of some configs, which are texts such as `A=1,B=2`.
    pub(super) fn of_texts(configs: &[&str]) -> Params {
        let mut names: Vec<&str> = Vec::new();
        for config in configs {
            for (name, _) in pairs(config) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let mut params = Params::default();
        for name in names {
            let values: BTreeSet<&str> = configs
                .iter()
                .map(|config| value_of(config, name))
                .collect();
            let param = VariedParam::new(name, values);
            match &param.values[..] {
                [only] => params.fixed.push((param.name.clone(), only.clone())),
                _ => params.varied.push(param),
            }
        }
        params.rows = configs.iter().map(|config| params.row(config)).collect();
        params
    }

    fn row(&self, config: &str) -> Vec<usize> {
        let position = |param: &VariedParam| {
            let value = value_of(config, &param.name);
            param
                .values
                .iter()
                .position(|known| known == value)
                .unwrap_or(0)
        };
        self.varied.iter().map(position).collect()
    }
}

impl VariedParam {
    fn new(name: &str, values: BTreeSet<&str>) -> VariedParam {
        let is_ordinal = values.iter().all(|value| value.parse::<i64>().is_ok());
        let mut values: Vec<String> = values.into_iter().map(str::to_owned).collect();
        if is_ordinal {
            values.sort_by_key(|value| value.parse::<i64>().unwrap_or(i64::MAX));
        }
        VariedParam {
            name: name.to_owned(),
            values,
            is_ordinal,
        }
    }
}
