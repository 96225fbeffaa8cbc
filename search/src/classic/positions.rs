//! Maps vectors of positions to valid configs.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::space::SpaceView;

/// The index of a random config.
pub(super) fn anywhere(space: &dyn SpaceView, rng: &mut ChaCha8Rng) -> usize {
    rng.random_range(0..space.len())
}

/// Returns the index of the config at these positions. If that config is not valid, one parameter is changed to the
/// nearest value that makes the config valid. If no single change makes it valid, the result is a random config.
pub(super) fn repaired(
    space: &dyn SpaceView,
    mut positions: Vec<u32>,
    rng: &mut ChaCha8Rng,
) -> usize {
    if let Some(index) = space.index_of(&positions) {
        return index;
    }
    let counts = space.value_counts();
    let first = rng.random_range(0..counts.len().max(1));
    for offset in 0..counts.len() {
        let param = (first + offset) % counts.len();
        let here = positions[param];
        let mut values: Vec<u32> = (0..counts[param]).filter(|&value| value != here).collect();
        values.sort_by_key(|value| value.abs_diff(here));
        for value in values {
            positions[param] = value;
            if let Some(index) = space.index_of(&positions) {
                return index;
            }
        }
        positions[param] = here;
    }
    anywhere(space, rng)
}

/// Rounds numbers to positions within the bounds of each parameter.
pub(super) fn rounded(space: &dyn SpaceView, numbers: &[f64]) -> Vec<u32> {
    let counts = space.value_counts().iter();
    counts
        .zip(numbers)
        .map(|(&count, number)| number.round().clamp(0.0, f64::from(count - 1)) as u32)
        .collect()
}

/// The positions of a config, as numbers.
pub(super) fn numbers(space: &dyn SpaceView, index: usize) -> Vec<f64> {
    space.positions(index).into_iter().map(f64::from).collect()
}
