//! Models of measurement noise for simulations and tests. They are deterministic for a given seed.
//!
//! All effects on launches are added in log time. The additional time of a sample is added in nanoseconds. The values
//! of [`NoiseModel::nominal`] are assumptions from published spreads, not measurements of a device. Most of the other
//! models add an effect that has misled a tuner.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// The strengths of all effects, in log time (0.01 is about 1 %) unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseModel {
    /// Standard deviation of the noise of a single launch.
    pub launch_sd: f64,
    /// Standard deviation of the slow drift that all arms share.
    pub drift_sd: f64,
    /// Time constant of the drift, in launches.
    pub drift_launches: f64,
    /// How much faster all arms are at the start of a process.
    pub boost: f64,
    /// Time constant of the decay of this boost, in launches.
    pub boost_launches: f64,
    /// Chance that a launch is disturbed by a spike.
    pub spike_chance: f64,
    /// Mean strength of a spike (exponentially distributed).
    pub spike_mean: f64,
    /// How much slower the first launch of an arm in a process is.
    pub first_launch: f64,
    /// Standard deviation of the effect of a process on an arm. The effect is constant for the lifetime of the process.
    pub placement_sd: f64,
    /// Chance that a process puts an arm into its slow mode.
    pub mode_chance: f64,
    /// How much slower the slow mode is.
    pub mode: f64,
    /// How much faster the arm loaded last is than the one loaded first.
    pub load_bias: f64,
    /// How much faster the arm allocated last is than the one allocated first.
    pub allocation_bias: f64,
    /// How much slower the device becomes because it heats up during a process.
    pub ramp: f64,
    /// Time constant of the heating, in launches.
    pub ramp_launches: f64,
    /// Chance, per launch, that another program on the machine starts a burst of work.
    pub burst_chance: f64,
    /// Mean length of a burst, in launches.
    pub burst_launches: f64,
    /// How much slower launches are during a burst.
    pub burst: f64,
    /// Chance that a launch is from the heavy tail.
    pub tail_chance: f64,
    /// Smallest strength of a launch from the tail.
    pub tail_scale: f64,
    /// Shape of the tail (Pareto); below 2 the variance is infinite.
    pub tail_shape: f64,
    /// Time of a sample in addition to its launches, in nanoseconds. On a GPU this is the time from the sample's first
    /// event to its first launch.
    pub sample_start_ns: f64,
    /// Standard deviation of this additional time, in nanoseconds.
    pub sample_start_sd_ns: f64,
}

impl NoiseModel {
    /// No noise at all.
    pub const QUIET: Self = Self {
        launch_sd: 0.0,
        drift_sd: 0.0,
        drift_launches: 500.0,
        boost: 0.0,
        boost_launches: 3000.0,
        spike_chance: 0.0,
        spike_mean: 0.20,
        first_launch: 0.0,
        placement_sd: 0.0,
        mode_chance: 0.0,
        mode: 0.03,
        load_bias: 0.0,
        allocation_bias: 0.0,
        ramp: 0.0,
        ramp_launches: 1000.0,
        burst_chance: 0.0,
        burst_launches: 40.0,
        burst: 0.5,
        tail_chance: 0.0,
        tail_scale: 0.05,
        tail_shape: 1.2,
        sample_start_ns: 0.0,
        sample_start_sd_ns: 0.0,
    };

    /// A typical machine.
    pub const fn nominal() -> Self {
        Self {
            launch_sd: 0.006,
            drift_sd: 0.015,
            boost: 0.04,
            spike_chance: 0.01,
            first_launch: 0.15,
            placement_sd: 0.007,
            ..Self::QUIET
        }
    }

    /// [`Self::nominal`] with an additional time at the start of every sample, as on a GPU. Its mean is `start_ns`, and
    /// its standard deviation is a fifth of that.
    pub const fn with_sample_start(start_ns: f64) -> Self {
        Self {
            sample_start_ns: start_ns,
            sample_start_sd_ns: start_ns / 5.0,
            ..Self::nominal()
        }
    }

    /// All models with their names. The first one is the nominal model.
    pub fn all() -> [(&'static str, Self); 10] {
        let with = |change: fn(&mut Self)| {
            let mut model = Self::nominal();
            change(&mut model);
            model
        };
        [
            ("nominal", with(|_| {})),
            ("no placement", with(|m| m.placement_sd = 0.0)),
            ("load order 2 %", with(|m| m.load_bias = 0.02)),
            (
                "load and allocation order 2 %",
                with(|m| (m.load_bias, m.allocation_bias) = (0.02, 0.02)),
            ),
            ("bimodal placement 3 %", with(|m| m.mode_chance = 0.5)),
            ("heating ramp 10 %", with(|m| m.ramp = 0.10)),
            ("neighbour bursts 50 %", with(|m| m.burst_chance = 0.004)),
            ("Pareto tails", with(|m| m.tail_chance = 0.05)),
            (
                "fast drift",
                with(|m| (m.drift_sd, m.drift_launches) = (0.03, 20.0)),
            ),
            ("threefold noise", with(|m| *m = m.threefold())),
        ]
    }

    /// The same model with launch noise, placement, drift and spikes three times as strong.
    pub fn threefold(self) -> Self {
        Self {
            launch_sd: self.launch_sd * 3.0,
            drift_sd: self.drift_sd * 3.0,
            spike_mean: self.spike_mean * 3.0,
            placement_sd: self.placement_sd * 3.0,
            ..self
        }
    }
}

/// A source of noise in a simulation. Drift and bursts continue from process to process. All other effects start again
/// in each process.
#[derive(Clone, Debug)]
pub struct Noise {
    model: NoiseModel,
    rng: ChaCha8Rng,
    drift: f64,
    drift_keep: f64,
    boost_left: f64,
    ramp_left: f64,
    burst_left: f64,
    offsets: Vec<f64>,
    launched: Vec<bool>,
}

impl Noise {
    /// Creates the noise of a model. The same seed gives the same noise.
    pub fn new(model: NoiseModel, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let start: f64 = StandardNormal.sample(&mut rng);
        Self {
            model,
            rng,
            drift: start * model.drift_sd,
            drift_keep: (-1.0 / model.drift_launches).exp(),
            boost_left: 0.0,
            ramp_left: 0.0,
            burst_left: 0.0,
            offsets: Vec::new(),
            launched: Vec::new(),
        }
    }

    /// Starts a process. `load[i]` is the position of arm i in the load order, and `allocate[i]` its position in the
    /// allocation order.
    pub fn begin_process(&mut self, load: &[usize], allocate: &[usize]) {
        let model = self.model;
        let share = |place: usize| place as f64 / (load.len().max(2) - 1) as f64;
        self.boost_left = 1.0;
        self.ramp_left = 1.0;
        self.offsets.clear();
        for (&loaded, &allocated) in load.iter().zip(allocate) {
            let placed: f64 = StandardNormal.sample(&mut self.rng);
            let mode = if self.rng.random_bool(model.mode_chance) {
                model.mode
            } else {
                0.0
            };
            let order = model.load_bias * share(loaded) + model.allocation_bias * share(allocated);
            self.offsets
                .push(placed * model.placement_sd + mode - order);
        }
        self.launched = vec![false; load.len()];
    }

    /// The log factor between the measured and the true time of one launch of arm `arm` of the process.
    pub fn launch(&mut self, arm: usize) -> f64 {
        let model = self.model;
        let own: f64 = StandardNormal.sample(&mut self.rng);
        let mut factor = self.shared() + self.offsets[arm] + own * model.launch_sd;
        if !std::mem::replace(&mut self.launched[arm], true) {
            factor += model.first_launch;
        }
        let drawn: f64 = self.rng.random();
        if drawn < model.spike_chance {
            let strength: f64 = Exp1.sample(&mut self.rng);
            factor += f64::ln(1.0 + strength * model.spike_mean);
        } else if drawn > 1.0 - model.tail_chance {
            let uniform: f64 = 1.0 - self.rng.random::<f64>();
            factor += (1.0 + model.tail_scale * uniform.powf(-1.0 / model.tail_shape)).ln();
        }
        factor
    }

    /// The additional time of the next sample, in nanoseconds.
    pub fn sample_start_ns(&mut self) -> f64 {
        let model = self.model;
        if model.sample_start_ns == 0.0 {
            return 0.0;
        }
        let jitter: f64 = StandardNormal.sample(&mut self.rng);
        (model.sample_start_ns + jitter * model.sample_start_sd_ns).max(0.0)
    }

    /// The log factor of the effects that all arms share, at this launch.
    fn shared(&mut self) -> f64 {
        let model = self.model;
        let step: f64 = StandardNormal.sample(&mut self.rng);
        let fresh = (1.0 - self.drift_keep * self.drift_keep).sqrt();
        self.drift = self.drift * self.drift_keep + step * model.drift_sd * fresh;
        self.boost_left *= 1.0 - 1.0 / model.boost_launches;
        self.ramp_left *= 1.0 - 1.0 / model.ramp_launches;
        self.drift - model.boost * self.boost_left
            + model.ramp * (1.0 - self.ramp_left)
            + self.burst()
    }

    fn burst(&mut self) -> f64 {
        if self.model.burst_chance == 0.0 {
            return 0.0;
        }
        if self.burst_left <= 0.0 && self.rng.random_bool(self.model.burst_chance) {
            let length: f64 = Exp1.sample(&mut self.rng);
            self.burst_left = length * self.model.burst_launches;
        }
        self.burst_left -= 1.0;
        if self.burst_left > 0.0 {
            self.model.burst.ln_1p()
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_noise_and_another_seed_other_noise() {
        let draw = |seed| {
            let mut noise = Noise::new(NoiseModel::nominal(), seed);
            noise.begin_process(&[0, 1], &[1, 0]);
            (0..100).map(|i| noise.launch(i % 2)).collect::<Vec<f64>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn a_quiet_machine_disturbs_nothing() {
        let mut noise = Noise::new(NoiseModel::QUIET, 1);
        noise.begin_process(&[0, 1], &[0, 1]);
        assert!((0..100).all(|i| noise.launch(i % 2) == 0.0));
    }

    #[test]
    fn an_order_effect_favours_the_arm_loaded_last() {
        let mut noise = Noise::new(
            NoiseModel {
                load_bias: 0.02,
                ..NoiseModel::QUIET
            },
            1,
        );
        noise.begin_process(&[1, 0], &[0, 1]);
        assert_eq!((noise.launch(0), noise.launch(1)), (-0.02, 0.0));
    }

    #[test]
    fn placement_stays_for_a_process_and_changes_with_the_next() {
        let mut noise = Noise::new(
            NoiseModel {
                placement_sd: 0.007,
                ..NoiseModel::QUIET
            },
            1,
        );
        noise.begin_process(&[0], &[0]);
        let first = noise.launch(0);
        assert_eq!(noise.launch(0), first);
        noise.begin_process(&[0], &[0]);
        assert_ne!(noise.launch(0), first);
    }
}
