//! Finds the most similar name, for `help: did you mean ..?`.

/// The candidate that is most similar to `wrong`. `None` if no candidate is similar enough for `wrong` to be a
/// misspelling of it.
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = wrong.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            let length = candidate.chars().count();
            *distance <= length.max(3) / 3 && *distance < length
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The minimum number of edits (insert, delete, replace, or swap two neighbours) that turn one text into the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised_and_another_word_is_not() {
        let names = ["BLOCK_M", "BLOCK_N", "THREADS"];
        assert_eq!(nearest("BLOK_M", names), Some("BLOCK_M"));
        assert_eq!(nearest("threads", names), Some("THREADS"));
        assert_eq!(nearest("BLOCK_MN", names), Some("BLOCK_M"));
        assert_eq!(nearest("warp_size", names), None);
        assert_eq!(nearest("f61", ["f16", "f32"]), Some("f16"));
        assert_eq!(nearest("n", ["k", "m"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
