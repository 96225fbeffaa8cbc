//! Particle swarm optimisation. Every particle moves, and is attracted by the best position that it has seen and by
//! the best position that any particle has seen.

use super::algorithm::Algorithm;
use super::positions::{anywhere, numbers, repaired, rounded};
use crate::SpaceView;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Number of particles.
const SWARM: usize = 16;

/// The share of its speed that a particle keeps (Clerc and Kennedy).
const INERTIA: f64 = 0.7298;
/// The strength of the attraction by each of the two best positions (Clerc and Kennedy).
const PULL: f64 = 1.4962;

#[derive(Clone, Debug)]
struct Particle {
    place: Vec<f64>,
    speed: Vec<f64>,
    best: (Vec<f64>, f64),
}

/// Particle swarm optimisation.
#[derive(Clone, Debug, Default)]
pub struct ParticleSwarm {
    swarm: Vec<Particle>,
}

impl ParticleSwarm {
    fn best(&self) -> Option<Vec<f64>> {
        let best = self.swarm.iter().map(|particle| &particle.best);
        best.min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|best| best.0.clone())
    }
}

impl Algorithm for ParticleSwarm {
    fn name(&self) -> &'static str {
        "particle-swarm"
    }

    fn propose(&mut self, space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> Vec<usize> {
        let Some(best) = self.best() else {
            return (0..SWARM).map(|_| anywhere(space, rng)).collect();
        };
        let mut proposed = Vec::new();
        for particle in &mut self.swarm {
            for (param, best) in best.iter().enumerate() {
                let here = particle.place[param];
                let own = PULL * rng.random::<f64>() * (particle.best.0[param] - here);
                let all = PULL * rng.random::<f64>() * (best - here);
                particle.speed[param] = INERTIA * particle.speed[param] + own + all;
                particle.place[param] = here + particle.speed[param];
            }
            proposed.push(repaired(space, rounded(space, &particle.place), rng));
        }
        proposed
    }

    fn learn(&mut self, costs: &[(usize, f64)], space: &dyn SpaceView, rng: &mut ChaCha8Rng) {
        if self.swarm.is_empty() {
            let particle = |&(index, cost): &(usize, f64)| {
                let place = numbers(space, index);
                let speed = space.value_counts().iter();
                let speed =
                    speed.map(|&count| f64::from(count - 1) * (rng.random::<f64>() - 0.5) / 2.0);
                Particle {
                    speed: speed.collect(),
                    best: (place.clone(), cost),
                    place,
                }
            };
            self.swarm = costs.iter().map(particle).collect();
            return;
        }
        for (particle, &(index, cost)) in self.swarm.iter_mut().zip(costs) {
            particle.place = numbers(space, index);
            if cost < particle.best.1 {
                particle.best = (particle.place.clone(), cost);
            }
        }
    }
}
