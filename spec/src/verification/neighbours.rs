//! Problems whose extents are slightly smaller or larger than those of the tuned problem.

use super::derive::Derive;
use crate::problem::{Problem, ProblemValue};

/// Dimensions with a smaller size are not changed, because they may be switches or the sizes of small windows.
const MIN_EXTENT: i64 = 32;
/// Maximum change of an extent.
const MAX_CHANGE: i64 = 64;
/// Maximum size of an extent of few elements.
const MAX_SINGLE: i64 = 8;
/// Maximum number of problems of another shape.
const MAX_RESHAPED: usize = 12;

/// One problem with smaller and two with larger extents than `like`, each as near to it as possible. The extents of the
/// third differ by 2 or more: vectors of 4 then leave two elements. A problem is missing if no extent can change.
pub(super) fn of(like: &Problem, derive: &Derive<'_>) -> Vec<Problem> {
    let near = [(-1, 1), (1, 1), (1, 2)].map(|(sign, least)| near(like, derive, sign, least));
    let mut problems: Vec<Problem> = Vec::new();
    for problem in near {
        if problem != *like && !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    problems
}

/// Problems of another shape than `like`: about twice as large in one extent, a single element long in one (or as few as
/// are valid), with a switch set otherwise, with each extent moved to the next dimension, and without elements in one. A config whose launch has a
/// fixed size stops too early on the first ones. One that takes an extent for another, or for 1, is wrong on some of them.
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
    let single = sizes.iter().filter_map(|(name, _)| {
        let mut smallest = (1..=MAX_SINGLE).map(|size| like.with_size(name, size));
        smallest.find(|changed| derive.is_valid(changed))
    });
    // A loop that begins with the first element reads one that does not exist.
    let none = sizes.iter().map(|(name, _)| like.with_size(name, 0));
    // A size of 0 or 1 may be a switch.
    let switches = sizes.iter().filter(|(_, size)| matches!(size, 0 | 1));
    let switched = switches.map(|(name, size)| like.with_size(name, 1 - size));
    let others = single.chain(switched).chain([turned]).chain(none);
    let others = others.filter(|_| sizes.len() > 1);
    let others = others.filter(|other| other != like && derive.is_valid(other));
    doubled.chain(others).take(MAX_RESHAPED).collect()
}

/// Changes of an extent, from the smallest. They are powers of two, so that they are multiples of many tile sizes.
fn changes(size: i64) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(1), |change| Some(change * 2))
        .take_while(move |change| *change <= MAX_CHANGE && *change < size)
}

fn near(like: &Problem, derive: &Derive<'_>, sign: i64, least: i64) -> Problem {
    let mut problem = like.clone();
    for (name, value) in like.iter() {
        let ProblemValue::Size(size) = value else {
            continue;
        };
        if size < MIN_EXTENT {
            continue;
        }
        let changed = changes(size)
            .filter(|change| *change >= least)
            .filter_map(|change| size.checked_add(sign * change))
            .map(|size| problem.with_size(name, size))
            .find(|changed| derive.is_valid(changed));
        problem = changed.unwrap_or(problem);
    }
    problem
}
