//! When to stop a search: the expected improvement is below the smallest that measuring can prove.

/// An expected improvement below this share of the best cost is not worth a trial: a difference of a percent is about
/// the smallest that is proven in practice, and this is a chance of one in ten to find it.
pub const MIN_OUTLOOK: f64 = 1e-3;

/// The number of configs in a row that must be below it.
pub const PATIENCE: usize = 12;

/// Counts configs whose expected improvement is too small.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop {
    quiet: usize,
}

impl Stop {
    /// Notes the expected improvement of a batch of that many configs; true if the search may end. A strategy that
    /// gives no estimate is never stopped.
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
