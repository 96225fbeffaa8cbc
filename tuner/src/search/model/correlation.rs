//! How alike two configs are: a product over parameters, each a table by the two values' positions.

use super::knob;
use crate::search::SpaceView;

/// What a feature is made of.
#[derive(Clone, Debug)]
pub(crate) struct Feature {
    pub(crate) params: (usize, usize),
    /// Code of each value, or of each pair of values (by row).
    pub(crate) codes: Vec<u16>,
    pub(crate) width: usize,
    /// Prior means of log scale and logit share.
    pub(crate) prior: (f64, f64),
}

/// Features of configs, and distances between their codes.
#[derive(Clone, Debug)]
pub(crate) struct Distances {
    pub(crate) features: Vec<Feature>,
    /// For each feature: codes, and code by code the distance from 0 to 1.
    pub(crate) tables: Vec<(usize, Vec<f64>)>,
}

impl Distances {
    pub(crate) fn new(space: &dyn SpaceView) -> Self {
        let mut all = Self { features: Vec::new(), tables: Vec::new() };
        let counts = space.value_counts().to_vec();
        for (param, &count) in counts.iter().enumerate() {
            if count < 2 { continue; }
            let identity: Vec<u16> = (0..count as u16).collect();
            match places(space, param, count) {
                Some(places) => all.add((param, param), identity.clone(), 1, &places, (knob("S0", 0.0), knob("R0", 0.0))),
                None => all.add_identity(param, identity.clone(), (knob("S0", 0.0), knob("R0", 0.0))),
            }
            if knob("HAM", 0.0) > 0.0 && count > 2 {
                all.add_identity(param, identity.clone(), (knob("SI", 0.0), knob("RI", -2.0)));
            }
            if knob("V2", 0.0) > 0.0 {
                if let Some(twos) = twos(space, param, count) {
                    all.add((param, param), identity, 1, &twos, (knob("SV", 0.0), knob("RV", -1.0)));
                }
            }
        }
        if knob("PAIR", 0.0) > 0.0 {
            for a in 0..counts.len() {
                for b in 0..a {
                    if counts[a] < 3 || counts[b] < 3 || !space.is_ordinal(a) || !space.is_ordinal(b) { continue; }
                    for sign in [1.0, -1.0] {
                        if sign < 0.0 && knob("PAIR", 0.0) < 2.0 { continue; }
                        let la: Vec<f64> = (0..counts[a]).map(|p| space.value(a, p)).collect();
                        let lb: Vec<f64> = (0..counts[b]).map(|p| space.value(b, p)).collect();
                        if la.iter().chain(&lb).any(|&v| v <= 0.0) { continue; }
                        let mut sums: Vec<f64> = la.iter().flat_map(|x| lb.iter().map(move |y| x.ln() + sign * y.ln())).collect();
                        let low = sums.iter().copied().fold(f64::INFINITY, f64::min);
                        let high = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                        for s in &mut sums { *s = (*s - low) / (high - low); }
                        let codes: Vec<u16> = sums.iter().map(|s| (s * 63.0).round() as u16).collect();
                        let levels: Vec<f64> = (0..64).map(|i| f64::from(i) / 63.0).collect();
                        all.add((a, b), codes, counts[b] as usize, &levels, (knob("SP", 0.0), knob("RP", -2.0)));
                    }
                }
            }
        }
        all
    }

    fn add(&mut self, params: (usize, usize), codes: Vec<u16>, width: usize, places: &[f64], prior: (f64, f64)) {
        let n = places.len();
        let entries = (0..n * n).map(|k| (places[k / n] - places[k % n]).abs()).collect();
        self.tables.push((n, entries));
        self.features.push(Feature { params, codes, width, prior });
    }

    fn add_identity(&mut self, param: usize, codes: Vec<u16>, prior: (f64, f64)) {
        let n = codes.len();
        let entries = (0..n * n).map(|k| f64::from(u8::from(k / n != k % n))).collect();
        self.tables.push((n, entries));
        self.features.push(Feature { params: (param, param), codes, width: 1, prior });
    }

    /// The codes of a config.
    pub(crate) fn encode(&self, positions: &[u32]) -> Vec<u16> {
        self.features.iter().map(|f| {
            if f.params.0 == f.params.1 { f.codes[positions[f.params.0] as usize] } else {
                f.codes[positions[f.params.0] as usize * f.width + positions[f.params.1] as usize]
            }
        }).collect()
    }

    pub(crate) fn prior(&self) -> Shape {
        Shape {
            scales: self.features.iter().map(|f| f.prior.0).collect(),
            shares: self.features.iter().map(|f| f.prior.1).collect(),
            noise: knob("N0", 1e-3).ln(),
        }
    }
}

/// How often 2 divides each value, from 0 to 1; none if that says no more than the value's rank.
fn twos(space: &dyn SpaceView, param: usize, count: u32) -> Option<Vec<f64>> {
    if !space.is_ordinal(param) { return None; }
    let values: Vec<f64> = (0..count).map(|position| space.value(param, position)).collect();
    if values.iter().any(|v| v.fract() != 0.0 || v.abs() > 1e15) { return None; }
    let twos: Vec<u32> = values.iter().map(|&v| if v == 0.0 { 0 } else { (v.abs() as u64).trailing_zeros() }).collect();
    if twos.windows(2).all(|pair| pair[0] < pair[1]) || twos.windows(2).all(|p| p[0] == p[1]) { return None; }
    let low = *twos.iter().min()?;
    let high = *twos.iter().max()?;
    Some(twos.iter().map(|&t| f64::from(t - low) / f64::from((high - low).max(1))).collect())
}

/// Where the values of an ordinal parameter lie between 0 and 1: half by rank and half by logarithm.
fn places(space: &dyn SpaceView, param: usize, count: u32) -> Option<Vec<f64>> {
    if !space.is_ordinal(param) {
        return None;
    }
    let last = f64::from(count.max(2) - 1);
    let values: Vec<f64> = (0..count).map(|position| space.value(param, position)).collect();
    let logs = values.iter().all(|&value| value > 0.0);
    let low = values.iter().copied().fold(f64::INFINITY, f64::min).ln();
    let high = values.iter().copied().fold(0.0, f64::max).ln();
    let share = knob("LOGSHARE", 0.5);
    let place = |(rank, value): (usize, &f64)| {
        let rank = rank as f64 / last;
        if logs && high > low { (1.0 - share) * rank + share * (value.ln() - low) / (high - low) } else { rank }
    };
    Some(values.iter().enumerate().map(place).collect())
}

/// The free parameters: logarithms, all of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Log inverse length scale of each parameter.
    pub(crate) scales: Vec<f64>,
    /// Logit of the share of each parameter that is not constant.
    pub(crate) shares: Vec<f64>,
    /// Log noise variance.
    pub(crate) noise: f64,
}

impl Shape {
    pub(crate) fn len(&self) -> usize {
        self.scales.len() * 2 + 1
    }
    pub(crate) fn get(&self, i: usize) -> f64 {
        let d = self.scales.len();
        if i < d { self.scales[i] } else if i < 2 * d { self.shares[i - d] } else { self.noise }
    }
    pub(crate) fn get_mut(&mut self, i: usize) -> &mut f64 {
        let d = self.scales.len();
        if i < d { &mut self.scales[i] } else if i < 2 * d { &mut self.shares[i - d] } else { &mut self.noise }
    }
}

/// Per-parameter factor tables, and derivatives of their logarithm.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) counts: Vec<usize>,
    pub(crate) factors: Vec<Vec<f64>>,
    pub(crate) by_scale: Vec<Vec<f64>>,
    pub(crate) by_share: Vec<Vec<f64>>,
}

impl Tables {
    pub(crate) fn new(distances: &Distances, shape: &Shape) -> Self {
        let mut tables = Self::default();
        let kind = knob("KIND", 1.0);
        for (p, (count, distance)) in distances.tables.iter().enumerate() {
            let scale = shape.scales[p].exp();
            let share = 1.0 / (1.0 + (-shape.shares[p]).exp());
            let (mut f, mut ds, mut dr) = (Vec::new(), Vec::new(), Vec::new());
            for &d in distance {
                let r = d * scale;
                // Correlation and its derivative by log scale.
                let (c, dc) = if kind == 0.0 {
                    let e = (-r).exp();
                    (e, -r * e)
                } else if kind == 1.0 {
                    let q = 3f64.sqrt() * r;
                    let e = (-q).exp();
                    ((1.0 + q) * e, -q * q * e)
                } else if kind == 2.0 {
                    let q = 5f64.sqrt() * r;
                    let e = (-q).exp();
                    ((1.0 + q + q * q / 3.0) * e, -(q * q / 3.0) * (1.0 + q) * e)
                } else {
                    let e = (-r * r).exp();
                    (e, -2.0 * r * r * e)
                };
                let factor = 1.0 - share + share * c;
                f.push(factor);
                ds.push(share * dc / factor);
                dr.push(share * (1.0 - share) * (c - 1.0) / factor);
            }
            tables.counts.push(*count);
            tables.factors.push(f);
            tables.by_scale.push(ds);
            tables.by_share.push(dr);
        }
        tables
    }

    pub(crate) fn correlation(&self, a: &[u16], b: &[u16]) -> f64 {
        let mut product = 1.0;
        for p in 0..self.counts.len() {
            product *= self.factors[p][a[p] as usize * self.counts[p] + b[p] as usize];
        }
        product
    }
}
