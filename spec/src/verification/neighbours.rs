//! Problems whose extents are slightly smaller or larger than those of the tuned problem.

use super::derive::Derive;
use crate::problem::{Problem, ProblemValue};

/// Dimensions with a smaller size are not changed, because they may be switches or the sizes of small windows.
const MIN_EXTENT: i64 = 32;
/// Maximum change of an extent.
const MAX_CHANGE: i64 = 64;

/// One problem with smaller and one with larger extents than `like`, each as near to it as possible. A problem is
/// missing if no extent can change.
pub(super) fn of(like: &Problem, derive: &Derive<'_>) -> Vec<Problem> {
    let near = [-1, 1].map(|sign| near(like, derive, sign));
    near.into_iter().filter(|near| near != like).collect()
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
        let changes = std::iter::successors(Some(1), |change| Some(change * 2));
        let changed = changes
            .take_while(|change| *change <= MAX_CHANGE && *change < size)
            .filter_map(|change| size.checked_add(sign * change))
            .map(|size| problem.with_size(name, size))
            .find(|changed| derive.is_valid(changed));
        problem = changed.unwrap_or(problem);
    }
    problem
}
