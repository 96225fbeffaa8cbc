//! One quantity that is learned from results: costs, or failures.

use crate::search::model::{Candidates, Encoder, Point, Process, Settings, Shape, improve};
use crate::search::{SpaceView, Told};

/// What a lesson needs besides the values.
pub(super) struct Ground<'a> {
    pub(super) space: &'a dyn SpaceView,
    pub(super) encoder: &'a Encoder,
    pub(super) results: &'a [Told],
    /// Indices of the candidates; never fewer than before, but after [`Learner::forget`].
    pub(super) pool: &'a [usize],
    pub(super) settings: &'a Settings,
    /// Whether the scales are to be fitted first.
    pub(super) fit: bool,
}

/// A process, and what it has taken in.
pub(super) struct Learner {
    prior: Shape,
    /// The shape fitted last without earlier results, and with them.
    shapes: [Shape; 2],
    trusts: bool,
    process: Process,
    candidates: Candidates,
    /// What earlier results say of each candidate.
    bases: Vec<f64>,
    /// By earlier result, what it says of each config of the space.
    trends: Vec<Vec<f64>>,
    /// Places of the results that the process has taken in.
    taken: Vec<usize>,
}

/// What is believed of every candidate, from some values.
pub(super) struct Lesson {
    means: Vec<f32>,
    bases: Vec<f64>,
    centre: f64,
    scale: f64,
    spread: f64,
}

/// A standard deviation below this is none.
const FLAT: f64 = 1e-6;

impl Learner {
    pub(super) fn new(
        encoder: &Encoder,
        trends: Vec<Vec<f64>>,
        noise: f64,
        settings: &Settings,
    ) -> Self {
        let prior = Shape::prior(encoder, trends.len(), noise, settings);
        Self {
            process: Process::new(encoder, &prior),
            shapes: [prior.clone(), prior.clone()],
            trusts: !trends.is_empty(),
            prior,
            candidates: Candidates::default(),
            bases: Vec::new(),
            trends,
            taken: Vec::new(),
        }
    }

    /// How many results it knows.
    pub(super) fn len(&self) -> usize {
        self.process.len()
    }

    /// Forgets results and candidates, but not the scales.
    pub(super) fn forget(&mut self) {
        self.process.clear();
        self.candidates = Candidates::default();
        self.bases.clear();
        self.taken.clear();
    }

    /// Learns values, each with the place of its result.
    pub(super) fn learn(&mut self, values: &[(usize, f64)], ground: &Ground<'_>) -> Lesson {
        if ground.fit {
            self.fit(values, ground);
        }
        let (centre, scale, units) = self.units(values, self.trusts, ground);
        for &index in &ground.pool[self.bases.len()..] {
            let point = self.point(index, ground);
            self.candidates.push(&point);
            self.bases.push(self.base(index));
        }
        let places: std::collections::HashMap<usize, f64> =
            values.iter().map(|value| value.0).zip(units).collect();
        self.taken.retain(|slot| places.contains_key(slot));
        if self.taken.len() < self.process.len() {
            self.process.clear();
            self.taken.clear();
        }
        let known: std::collections::HashSet<usize> = self.taken.iter().copied().collect();
        let mut fresh: Vec<usize> = places
            .keys()
            .copied()
            .filter(|slot| !known.contains(slot))
            .collect();
        fresh.sort_unstable();
        let points: Vec<Point> = fresh
            .iter()
            .map(|&slot| self.point(ground.results[slot].index, ground))
            .collect();
        self.taken.extend(fresh);
        self.process.extend(&points, &self.candidates);
        let ordered: Vec<f64> = self.taken.iter().map(|slot| places[slot]).collect();
        let (means, spread) = self.process.means(&ordered);
        Lesson {
            means,
            bases: self.bases.clone(),
            centre,
            scale,
            spread,
        }
    }

    /// Fits the scales, with earlier results and without: they are trusted where they make the values more likely.
    fn fit(&mut self, values: &[(usize, f64)], ground: &Ground<'_>) {
        let mut best: Option<f64> = None;
        for trusts in [true, false] {
            if trusts && self.trends.is_empty() {
                continue;
            }
            let Some((shape, badness)) = self.fitted(values, trusts, ground) else {
                continue;
            };
            self.shapes[usize::from(trusts)] = shape;
            // Doubt is for the sceptic to prove.
            let lead = if trusts { ground.settings.trust } else { 0.0 };
            if best.is_none_or(|best| badness < best) {
                best = Some(badness - lead);
                self.trusts = trusts;
            }
        }
        let shape = &self.shapes[usize::from(self.trusts)];
        self.process = Process::new(ground.encoder, shape);
        self.taken.clear();
    }

    /// A shape, and minus the logarithm of how likely the values are with it.
    fn fitted(
        &self,
        values: &[(usize, f64)],
        trusts: bool,
        ground: &Ground<'_>,
    ) -> Option<(Shape, f64)> {
        let (_, scale, units) = self.units(values, trusts, ground);
        if scale <= FLAT {
            return None;
        }
        let chosen = representatives(&units, ground.settings.fitted as usize);
        let point = |&k: &usize| self.point_as(trusts, ground.results[values[k].0].index, ground);
        let points: Vec<Point> = chosen.iter().map(point).collect();
        let points: Vec<&Point> = points.iter().collect();
        let units: Vec<f64> = chosen.iter().map(|&k| units[k]).collect();
        let start = &self.shapes[usize::from(trusts)];
        let (shape, badness) = improve(
            ground.encoder,
            start,
            &self.prior,
            &points,
            &units,
            ground.settings,
        );
        Some((shape, badness + units.len() as f64 * scale.ln()))
    }

    /// Values less what earlier results say, if those are trusted, in units of their scale around their centre.
    fn units(
        &self,
        values: &[(usize, f64)],
        trusts: bool,
        ground: &Ground<'_>,
    ) -> (f64, f64, Vec<f64>) {
        let base = |slot: usize| self.base_as(trusts, ground.results[slot].index);
        let residuals: Vec<f64> = values
            .iter()
            .map(|&(slot, value)| value - base(slot))
            .collect();
        let (centre, scale) = centre_and_scale(&residuals);
        (
            centre,
            scale,
            residuals
                .iter()
                .map(|value| (value - centre) / scale)
                .collect(),
        )
    }

    /// Whether earlier results are listened to.
    pub(super) fn trusts(&self) -> bool {
        self.trusts
    }

    /// Supposes that a config costs what is expected of it: that changes no mean, it only takes doubt away.
    pub(super) fn suppose(&mut self, index: usize, ground: &Ground<'_>) {
        let point = self.point(index, ground);
        self.process.extend(&[point], &self.candidates);
    }

    /// Takes suppositions back.
    pub(super) fn truncate(&mut self, len: usize) {
        self.process.truncate(len);
    }

    /// What is left of each candidate's variance.
    pub(super) fn variances(&self) -> &[f32] {
        self.process.variances()
    }

    fn point(&self, index: usize, ground: &Ground<'_>) -> Point {
        self.point_as(self.trusts, index, ground)
    }

    fn point_as(&self, trusts: bool, index: usize, ground: &Ground<'_>) -> Point {
        let trend = |trend: &Vec<f64>| if trusts { trend[index] } else { 0.0 };
        Point {
            codes: ground.encoder.encode(&ground.space.positions(index)),
            trends: self.trends.iter().map(trend).collect(),
        }
    }

    /// What is expected of a config before anything is learned: the mean of what earlier results say.
    fn base(&self, index: usize) -> f64 {
        self.base_as(self.trusts, index)
    }

    fn base_as(&self, trusts: bool, index: usize) -> f64 {
        if !trusts || self.trends.is_empty() {
            return 0.0;
        }
        let sum: f64 = self.trends.iter().map(|trend| trend[index]).sum();
        sum / self.trends.len() as f64
    }
}

impl Lesson {
    /// Whether all values are the same: nothing can be told apart then.
    pub(super) fn is_flat(&self) -> bool {
        self.scale <= FLAT
    }

    /// The mean of a candidate, in units of the values' scale.
    pub(super) fn mean(&self, place: usize) -> f64 {
        f64::from(self.means[place]) + self.bases[place] / self.scale
    }

    /// The mean of a candidate.
    pub(super) fn value(&self, place: usize) -> f64 {
        self.mean(place) * self.scale + self.centre
    }

    /// A value in units of the scale.
    pub(super) fn unit(&self, value: f64) -> f64 {
        (value - self.centre) / self.scale
    }

    /// The values' scale.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Standard deviation of the process, in units of the scale.
    pub(super) fn spread(&self) -> f64 {
        self.spread
    }
}

fn centre_and_scale(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let centre = values.iter().sum::<f64>() / count;
    let variance = values
        .iter()
        .map(|value| (value - centre).powi(2))
        .sum::<f64>()
        / count;
    (centre, variance.sqrt().max(FLAT))
}

/// Places of at most `most` values: the lower half of them, and an even spread of the others.
fn representatives(values: &[f64], most: usize) -> Vec<usize> {
    let mut ranked: Vec<usize> = (0..values.len()).collect();
    if values.len() <= most {
        return ranked;
    }
    ranked.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let lower = most / 2;
    let step = (ranked.len() - lower).div_ceil(most - lower).max(1);
    let mut chosen = ranked[..lower].to_vec();
    chosen.extend(ranked[lower..].iter().step_by(step));
    chosen
}
