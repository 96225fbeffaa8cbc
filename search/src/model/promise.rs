//! The expected improvement of a config.

/// The posterior of a candidate's value: a normal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Belief {
    pub(crate) mean: f64,
    pub(crate) sd: f64,
}

/// The logarithm of the expected improvement over `best`, the lowest known value.
pub(crate) fn log_promise(belief: Belief, best: f64) -> f64 {
    let z = (best - belief.mean) / belief.sd;
    belief.sd.ln() + log_improvement(z)
}

/// An upper bound of [`log_promise`] that is cheaper to compute. The bound is useful only if the mean is above `best`
/// by more than a standard deviation; otherwise it is infinite.
pub(crate) fn log_promise_bound(belief: Belief, best: f64, log_largest_sd: f64) -> f64 {
    let z = (best - belief.mean) / belief.sd;
    if z < -1.0 {
        log_largest_sd + log_density(z)
    } else {
        f64::INFINITY
    }
}

fn log_density(z: f64) -> f64 {
    -z * z / 2.0 - 0.918_938_533_204_672_7
}

/// The logarithm of φ(z) + z Φ(z), with an error of about 0.02.
fn log_improvement(z: f64) -> f64 {
    if z < -1.0 {
        return log_density(z) - (z * z + 3.0 - 1.9 / (0.75 - z)).ln();
    }
    let below = 1.0 / (1.0 + (-1.5976 * z - 0.070_56 * z * z * z).exp());
    (log_density(z).exp() + z * below).ln()
}

/// The probability that a standard normal number is below `z`, with an error of about 0.0002.
pub(crate) fn below(z: f64) -> f64 {
    1.0 / (1.0 + (-1.5976 * z - 0.070_56 * z * z * z).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_improvement_is_that_of_the_tables() {
        // The values of φ(z) + z Φ(z) are from tables of the normal distribution.
        let known = [
            (0.0, 0.398_94),
            (1.0, 1.083_32),
            (-1.0, 0.083_32),
            (-2.0, 0.008_491),
            (-3.0, 0.000_382_2),
        ];
        for (z, value) in known {
            let found = log_improvement(z) - f64::ln(value);
            assert!(found.abs() < 0.02, "{z}: {found}");
        }
    }

    #[test]
    fn the_bound_is_never_below_the_promise() {
        for step in -80..40 {
            let belief = Belief { mean: 0.0, sd: 0.5 };
            let best = f64::from(step) / 10.0;
            assert!(
                log_promise_bound(belief, best, 0.0) >= log_promise(belief, best),
                "{best}"
            );
        }
    }
}
