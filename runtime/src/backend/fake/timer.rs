//! The virtual clock, whose times come from a script and its noise model.

use super::compiler::FakeUnit;
use super::outcome::Behaviour;
use super::script::FakeNoise;
use kiln_spec::LaunchPlan;

/// A sequence of random numbers that depends only on its seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct FakeDraws {
    key: [u8; 32],
    next: u64,
}

impl FakeDraws {
    pub(super) fn new(parts: &[&[u8]]) -> FakeDraws {
        let mut hasher = blake3::Hasher::new_derive_key("kiln fake draws 1");
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        FakeDraws {
            key: *hasher.finalize().as_bytes(),
            next: 0,
        }
    }

    /// The next number, uniformly distributed over (0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        self.next += 1;
        let hash = blake3::keyed_hash(&self.key, &self.next.to_le_bytes());
        let mut word = [0; 8];
        word.copy_from_slice(&hash.as_bytes()[..8]);
        ((u64::from_le_bytes(word) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// The next number, with a standard normal distribution.
    fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// The time of one launch without noise, in nanoseconds.
pub(super) fn true_ns(behaviour: &Behaviour, unit: &FakeUnit, plan: &LaunchPlan) -> f64 {
    let time = &behaviour.time;
    let factors: f64 = unit
        .config
        .iter()
        .filter_map(|(name, value)| time.factors.get(name)?.get(value))
        .product();
    let own = if time.rugged > 0.0 {
        let config: Vec<u8> = unit.config_hash.to_le_bytes().into();
        1.0 + time.rugged * FakeDraws::new(&[b"rugged", &config]).uniform()
    } else {
        1.0
    };
    (time.base_ns + time.block_ns * plan.blocks() as f64) * factors * own
}

/// The factor that an entry keeps for a whole process.
pub(super) fn placement_factor(noise: &FakeNoise, symbol: &str, placement: u64) -> f64 {
    let mut draws = FakeDraws::new(&[b"placement", symbol.as_bytes(), &placement.to_le_bytes()]);
    let place = (noise.placement_sigma * draws.normal()).exp();
    let slow = draws.uniform() < noise.slow_mode_probability;
    place * if slow { noise.slow_mode_factor } else { 1.0 }
}

/// The noise factor of one timed call. `calls` is the number of the call on the device.
pub(super) fn call_factor(noise: &FakeNoise, draws: &mut FakeDraws, calls: u64) -> f64 {
    let mut factor = (noise.sigma * draws.normal()).exp();
    if draws.uniform() < noise.spike_probability {
        factor *= noise.spike_factor;
    }
    if noise.throttle_after.is_some_and(|after| calls >= after) {
        factor *= noise.throttle_factor;
    }
    factor * (1.0 + noise.drift * calls as f64).max(0.01)
}
