//! Decides when a search stops: when the expected improvement is too small to be worth another trial.

/// If the expected improvement is below this share of the best cost, a trial is not worthwhile. The share is a chance
/// of one in ten of an improvement of one percent, which is about the smallest difference that can be proven in
/// practice.
pub const MIN_OUTLOOK: f64 = 1e-3;

/// Number of configs in a row whose expected improvement must be below [`MIN_OUTLOOK`] before the search stops.
pub const PATIENCE: usize = 12;

/// Counts the configs in a row whose expected improvement is too small.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop {
    quiet: usize,
}

impl Stop {
    /// Takes the expected improvement of a batch of `asked` configs. Returns true if the search should stop. A
    /// strategy without an estimate (`None`) is never stopped.
    pub fn after(&mut self, outlook: Option<f64>, asked: usize) -> bool {
        match outlook {
            Some(outlook) if outlook < MIN_OUTLOOK => self.quiet += asked,
            _ => self.quiet = 0,
        }
        self.quiet >= PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_after_so_many_configs_that_promise_nothing() {
        let mut stop = Stop::default();
        assert!(
            !stop.after(Some(0.0), PATIENCE - 1)
                && !stop.after(Some(0.01), 1)
                && !stop.after(Some(0.0), 1)
        );
        assert!(stop.after(Some(0.0), PATIENCE) && !Stop::default().after(None, 100));
    }
}
