//! Problems whose extents are slightly smaller or larger than those of the tuned problem.

use super::derive::Derive;
use crate::problem::{Problem, ProblemValue};

/// Dimensions with a smaller size are not changed, because they may be switches or the sizes of small windows.
const MIN_EXTENT: i64 = 32;
/// Maximum change of an extent.
const MAX_CHANGE: i64 = 64;
/// Maximum number of problems of another shape.
const MAX_RESHAPED: usize = 8;

/// One problem with smaller and one with larger extents than `like`, each as near to it as possible. A problem is
/// missing if no extent can change.
pub(super) fn of(like: &Problem, derive: &Derive<'_>) -> Vec<Problem> {
    let near = [-1, 1].map(|sign| near(like, derive, sign));
    near.into_iter().filter(|near| near != like).collect()
}

/// Problems of another shape than `like`: about twice as large in one extent, a single element long in one, and with each
/// extent moved to the next dimension. A config whose launch has a fixed size stops too early on the first ones. One that
/// takes an extent for another, or for 1, is wrong on some of them.
pub(super) fn reshaped(like: &Problem, derive: &Derive<'_>) -> Vec<Problem> {
    let sizes: Vec<_> = like
        .iter()
        .filter_map(|(name, value)| match value {
            ProblemValue::Size(size) => Some((name, size)),
            ProblemValue::Type(_) => None,
        })
        .collect();
    let doubled = sizes.iter().filter_map(|(name, size)| {
        let twice = size.checked_mul(2)?;
        changes(i64::MAX)
            .filter_map(|change| twice.checked_add(change))
            .map(|size| like.with_size(name, size))
            .find(|changed| derive.is_valid(changed))
    });
    let next = sizes.iter().cycle().skip(1);
    let turned = sizes.iter().zip(next);
    let turned = turned.fold(like.clone(), |problem, ((name, _), (_, size))| {
        problem.with_size(name, *size)
    });
    let single = sizes.iter().map(|(name, _)| like.with_size(name, 1));
    let others = single.chain([turned]).filter(|_| sizes.len() > 1);
    let others = others.filter(|other| other != like && derive.is_valid(other));
    doubled.chain(others).take(MAX_RESHAPED).collect()
}

/// Changes of an extent, from the smallest. They are powers of two, so that they are multiples of many tile sizes.
fn changes(size: i64) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(1), |change| Some(change * 2))
        .take_while(move |change| *change <= MAX_CHANGE && *change < size)
}

fn near(like: &Problem, derive: &Derive<'_>, sign: i64) -> Problem {
    let mut problem = like.clone();
    for (name, value) in like.iter() {
        let ProblemValue::Size(size) = value else {
            continue;
        };
        if size < MIN_EXTENT {
            continue;
        }
        let changed = changes(size)
            .filter_map(|change| size.checked_add(sign * change))
            .map(|size| problem.with_size(name, size))
            .find(|changed| derive.is_valid(changed));
        problem = changed.unwrap_or(problem);
    }
    problem
}
