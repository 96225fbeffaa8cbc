//! When searching on is not worth it: the improvement to be expected is below what measuring can prove.

/// An expected improvement below this share of the best cost is not worth a trial: a difference of a percent is about
/// the smallest that is proven in practice, and this is a chance of one in ten to find it.
pub const MIN_OUTLOOK: f64 = 1e-3;

/// Configs in a row that must have promised less.
pub const PATIENCE: usize = 12;

/// Counts configs that promised too little.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop {
    quiet: usize,
}

impl Stop {
    /// Notes what a batch of that many configs promised; whether the search may end. A strategy that makes no guess is
    /// never stopped.
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
