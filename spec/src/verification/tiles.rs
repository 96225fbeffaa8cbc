//! Tile sizes and sweeps: how many elements of a dimension a block, or a launch, takes at once.

use std::collections::BTreeSet;

use super::derive::Derive;
use crate::config::{Config, ParamValue};
use crate::expr::{BinaryOp, BuiltinFunction, Expr, evaluate_int};
use crate::plan::LaunchScope;
use crate::problem::{Problem, ProblemValue};

/// Maximum size of a sweep for which a size is derived.
const MAX_SWEEP: i128 = 1 << 18;
/// Maximum number of operations per byte of a kernel for which sweeps are derived.
const MAX_INTENSITY: i128 = 8;
/// A dimension of this size, or twice this size, has the same launch if the grid does not grow with it.
const LONG: i64 = 1 << 20;
/// The maximum number of elements that one thread is assumed to take at once.
const MAX_ITEMS: i128 = 32;
/// The largest value of a parameter that may be a number of elements per thread.
const MAX_ITEM_PARAM: i64 = 16;

impl Derive<'_> {
    /// The tile sizes of a dimension, in ascending order: the values of the expressions by which the geometry and the
    /// constraints divide the dimension. If nothing divides it, they are the values of all integer parameters in the
    /// configs, because each may be a tile size inside the kernel.
    pub(super) fn tiles(&self, name: &str) -> BTreeSet<i64> {
        let mut divisors = Vec::new();
        let geometry = &self.spec.geometry;
        let exprs = geometry.grid.iter().chain(&geometry.block);
        let constraints = self.spec.constraints.iter().map(|c| &c.expr);
        for expr in exprs.chain(constraints) {
            expr.walk(&mut |part| divisors.extend(divisor_of(part, name)));
        }
        let baseline = [&self.spec.baseline.config];
        let configs = || self.sample.iter().chain(self.only).chain(baseline);
        let mut tiles = BTreeSet::new();
        for config in configs() {
            let scope = LaunchScope {
                config,
                problem: self.like,
                limits: self.limits,
                spec: self.spec,
            };
            let values = divisors.iter().filter_map(|e| evaluate_int(e, &scope).ok());
            tiles.extend(values.filter_map(plausible));
        }
        if tiles.is_empty() {
            let values = configs().flat_map(|config| config.iter().map(|(_, value)| value));
            tiles.extend(values.filter_map(|value| match value {
                ParamValue::Int(x) => plausible((*x).into()),
                _ => None,
            }));
        }
        tiles
    }

    /// The largest sweeps of a dimension, in descending order: how many of its elements all threads of a launch take at
    /// once if each thread takes one, or as many as the parameters outside the geometry may say. Empty if the launch
    /// grows with the dimension, or if the kernel does much work per byte: then its threads share elements, as in a
    /// matrix product, and such long sizes would take too long.
    pub(super) fn sweeps(&self, name: &str) -> Vec<i64> {
        let bytes = self.spec.footprint_bytes(self.like).unwrap_or(0);
        if self.operations(self.like) > MAX_INTENSITY.saturating_mul(bytes.into()) {
            return Vec::new();
        }
        let baseline = [&self.spec.baseline.config];
        let configs = self.sample.iter().chain(self.only).chain(baseline);
        let sweeps = configs.filter_map(|config| {
            let threads = self.threads_per_sweep(name, config)?;
            let most = threads.saturating_mul(self.items(config));
            Some((most, threads))
        });
        let largest = sweeps.max();
        let sizes = largest.map_or([0, 0], |(most, threads)| [most, threads]);
        let plausible = sizes
            .into_iter()
            .filter(|size| (2..=MAX_SWEEP).contains(size));
        let mut plausible: Vec<i64> = plausible.filter_map(|size| size.try_into().ok()).collect();
        plausible.dedup();
        plausible
    }

    /// The number of threads of a launch if it is the same for every large size of a dimension; otherwise `None`.
    fn threads_per_sweep(&self, name: &str, config: &Config) -> Option<i128> {
        let threads = |size: i64| -> Option<i128> {
            let problem = Problem::new(self.like.iter().map(|(other, value)| {
                let value = match value {
                    ProblemValue::Size(_) if **other == *name => ProblemValue::Size(size),
                    // The other dimensions must not enlarge the launch.
                    ProblemValue::Size(other) => ProblemValue::Size(other.min(1)),
                    ty => ty,
                };
                (other.clone(), value)
            }));
            let scope = LaunchScope {
                config,
                problem: &problem,
                limits: self.limits,
                spec: self.spec,
            };
            let plan = self.spec.geometry.plan(&scope).ok()?;
            Some(
                plan.grid
                    .iter()
                    .chain(&plan.block)
                    .fold(1, |product: i128, extent| {
                        product.saturating_mul((*extent).into())
                    }),
            )
        };
        let same = threads(LONG)?;
        (threads(2 * LONG)? == same).then_some(same)
    }

    /// The product of the parameters that may say how many elements a thread takes: small ones outside the geometry.
    fn items(&self, config: &Config) -> i128 {
        let geometry = &self.spec.geometry;
        let launch = geometry.grid.iter().chain(&geometry.block);
        let used: BTreeSet<&str> = launch.flat_map(|expr| expr.names()).collect();
        let values = config.iter().filter_map(|(name, value)| match value {
            ParamValue::Int(x) if !used.contains(&**name) => Some(*x),
            _ => None,
        });
        let items = values.filter(|x| (2..=MAX_ITEM_PARAM).contains(x));
        items.map(i128::from).product::<i128>().min(MAX_ITEMS)
    }
}

/// The size as an `i64` if it is plausible for a tile (1 to 4096); otherwise `None`.
fn plausible(size: i128) -> Option<i64> {
    i64::try_from(size)
        .ok()
        .filter(|size| (1..=4096).contains(size))
}

/// The divisor, if `expr` is a division of an expression that contains the dimension; otherwise `None`.
fn divisor_of<'a>(expr: &'a Expr, dimension: &str) -> Option<&'a Expr> {
    let (dividend, divisor) = match expr {
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, x, y) => (&**x, &**y),
        Expr::Call(BuiltinFunction::DivCeil, arguments) => match &arguments[..] {
            [x, y] => (x, y),
            _ => return None,
        },
        _ => return None,
    };
    dividend.names().contains(dimension).then_some(divisor)
}
