//! Checks of baked tables and their index.

use kiln_spec::baked::{BakedError, BakedTable, Hashes, Index};

pub(super) fn check(bytes: &[u8]) {
    match BakedTable::parse(bytes) {
        Ok(table) => {
            let text = table.to_text();
            let again = BakedTable::parse(text.as_bytes());
            assert_eq!(again.as_ref(), Ok(&table), "{text}");
            assert_eq!(again.map(|again| again.to_text()).as_ref(), Ok(&text));
            rows_are_judged(&table);
        }
        Err(error) => says_where(&error),
    }
    match Index::parse(bytes) {
        Ok(index) => {
            let text = index.to_text();
            assert_eq!(Index::parse(text.as_bytes()).as_ref(), Ok(&index), "{text}");
        }
        Err(error) => says_where(&error),
    }
}

fn says_where(error: &BakedError) {
    let text = error.to_string();
    let whole = matches!(
        error,
        BakedError::TooLarge { .. } | BakedError::Newer { .. } | BakedError::Kernel { .. }
    );
    assert!(whole || text.starts_with("line "), "{text}");
    assert!(text.len() < 1_000, "a message as long as the file: {text}");
}

/// Checks that a row that fits a kernel's spec resolves to its own problem and config. Other rows must not cause a
/// panic.
fn rows_are_judged(table: &BakedTable) {
    let catalogue = kiln_kernels::catalogue();
    let Some(kernel) = catalogue
        .iter()
        .find(|kernel| kernel.name() == table.kernel())
    else {
        return;
    };
    let spec = kernel.spec();
    for row in table.rows() {
        let now = Hashes {
            spec: spec.hash(),
            ..row.hashes
        };
        let _ = row.freshness(&now);
        if let Ok(resolved) = row.resolve(spec) {
            assert_eq!(resolved.problem.to_string(), row.problem);
            assert_eq!(resolved.config.to_string(), row.config);
        }
    }
}
