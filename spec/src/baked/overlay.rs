//! Combines the rows of local tables with the rows of committed tables.

use super::Row;

/// A row, and the kind of table that contains it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverlaidRow<'a> {
    /// The row.
    pub row: &'a Row,
    /// Whether the row is in the local table; otherwise, it is in the committed table.
    pub is_local: bool,
}

/// The rows of a kernel that a build uses, from its local table and its committed table: one row for each device and
/// problem. A local row hides the committed row for the same device and problem, unless the local row is stale and the
/// committed row is fresh. The local rows come first, and each kind of row is in the order of its table.
pub fn overlay<'a>(
    local: &'a [Row],
    committed: &'a [Row],
    is_fresh: &dyn Fn(&Row) -> bool,
) -> Vec<OverlaidRow<'a>> {
    let same = |one: &Row, other: &Row| one.device == other.device && one.problem == other.problem;
    let hides = |local: &Row, committed: &Row| {
        same(local, committed) && (is_fresh(local) || !is_fresh(committed))
    };
    let is_local_used = |local: &&Row| {
        let mut committed = committed.iter().filter(|row| same(local, row));
        committed.all(|row| hides(local, row))
    };
    let is_committed_used = |row: &&Row| !local.iter().any(|local| hides(local, row));
    let tagged = |is_local| move |row| OverlaidRow { row, is_local };
    let of_local = local.iter().filter(is_local_used).map(tagged(true));
    let of_committed = committed.iter().filter(is_committed_used);
    of_local.chain(of_committed.map(tagged(false))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SMALL, WINNER, gemm, row};
    use super::*;

    const CPU: &str = "cpu/x86-64-v3/Some CPU";

    /// A row whose config is `config`, for the problem `n=SIZE` on a device.
    fn of(device: &str, size: u32, config: &str) -> Row {
        Row {
            problem: format!("n={size}"),
            config: config.into(),
            ..row(&gemm(), device, SMALL, WINNER)
        }
    }

    /// The configs of the rows that a build uses, each with whether its row is local. Rows whose config starts with
    /// `old` are stale.
    fn used(local: &[Row], committed: &[Row]) -> Vec<(String, bool)> {
        let is_fresh = |row: &Row| !row.config.starts_with("old");
        let rows = overlay(local, committed, &is_fresh).into_iter();
        rows.map(|used| (used.row.config.clone(), used.is_local))
            .collect()
    }

    #[test]
    fn a_local_row_hides_the_committed_row_of_its_device_and_problem_only() {
        let committed = [
            of(CPU, 1, "a"),
            of(CPU, 2, "b"),
            of("cuda/sm_89/NVIDIA L4", 1, "c"),
        ];
        let expected = [("d", true), ("b", false), ("c", false)];
        let expected = expected.map(|(config, is_local)| (config.to_owned(), is_local));
        assert_eq!(used(&[of(CPU, 1, "d")], &committed), expected);
    }

    #[test]
    fn a_stale_local_row_does_not_hide_a_fresh_committed_row() {
        let [fresh, stale, older] = ["new", "old", "older"].map(|config| of(CPU, 1, config));
        let only = |config: &str, is_local| [(config.to_owned(), is_local)];
        let (fresh, stale, older) = ([fresh], [stale], [older]);
        assert_eq!(used(&stale, &fresh), only("new", false));
        assert_eq!(used(&fresh, &stale), only("new", true));
        assert_eq!(used(&stale, &older), only("old", true));
        assert_eq!(used(&[], &stale), only("old", false));
    }
}
