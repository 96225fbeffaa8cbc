//! Reports how the cpu device runs a config (as a loop or with fibres) and why. This is derived from the source text;
//! nothing is compiled.

use serde::Serialize;

/// One row of the cpu table of `tune inspect`: one config on the cpu device.
#[derive(Clone, Debug, Serialize)]
pub struct HostRow {
    /// Always `cpu`.
    pub target: &'static str,
    /// The package that declares the kernel.
    pub package: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The problem, as text.
    pub problem: String,
    /// Which config this is: the baseline, the reference entry, a baked row (with its device), a corner of the space, a
    /// config from the command line, or one of those that a run tries first.
    pub what: String,
    /// The config, as text.
    pub config: String,
    /// How the block's threads run: `loop` or `fibres`.
    pub runs: &'static str,
    /// The barriers and warp operations that the entry can reach.
    pub barriers: Vec<String>,
    /// Threads per block; `None` if the config cannot be launched.
    pub threads: Option<u64>,
    /// Why the config cannot be launched.
    pub error: Option<String>,
}

impl HostRow {
    /// How the cpu device runs an entry: as a `loop` if `barriers` is empty, and otherwise with `fibres`.
    pub fn runs<T>(barriers: &[T]) -> &'static str {
        if barriers.is_empty() {
            "loop"
        } else {
            "fibres"
        }
    }

    fn why(&self) -> String {
        match (&self.barriers[..], self.threads) {
            ([], _) => "it reaches no barrier and no warp operation".into(),
            (reached, Some(1)) => format!(
                "it reaches {}; a thread alone in its block never waits there",
                reached.join(", ")
            ),
            (reached, _) => format!("it reaches {}", reached.join(", ")),
        }
    }
}

/// Formats rows as text, with a heading per kernel.
pub fn host_to_text(rows: &[HostRow]) -> String {
    let mut text = String::new();
    let mut last = ("", "");
    for row in rows {
        if text.is_empty() {
            text += "cpu\n";
        }
        let here = (row.kernel.as_str(), row.problem.as_str());
        if here != last {
            text += &format!("\n{} ({})\n", row.kernel, row.problem);
            last = here;
        }
        let threads = row
            .threads
            .map_or_else(|| "?".into(), |threads| threads.to_string());
        text += &format!(
            "  {}: {} (block of {threads}): {}\n      {}\n",
            row.what,
            row.runs,
            row.why(),
            row.config
        );
        if let Some(error) = &row.error {
            text += &format!("      {}\n", error.replace('\n', "\n      "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(barriers: &[&str], threads: u64) -> HostRow {
        HostRow {
            target: "cpu",
            package: "p".into(),
            kernel: "k".into(),
            problem: "n=1".into(),
            what: "baseline".into(),
            config: "THREADS=1".into(),
            runs: HostRow::runs(barriers),
            barriers: barriers.iter().map(ToString::to_string).collect(),
            threads: Some(threads),
            error: None,
        }
    }

    #[test]
    fn each_row_says_which_way_it_runs_and_why() {
        let rows = [
            row(&[], 64),
            row(&["__syncthreads", "block_sum"], 64),
            row(&["block_sum"], 1),
        ];
        assert_eq!(
            host_to_text(&rows),
            "cpu\n\nk (n=1)\n\
             \x20 baseline: loop (block of 64): it reaches no barrier and no warp operation\n      THREADS=1\n\
             \x20 baseline: fibres (block of 64): it reaches __syncthreads, block_sum\n      THREADS=1\n\
             \x20 baseline: fibres (block of 1): it reaches block_sum; a thread alone in its block never waits there\n      THREADS=1\n"
        );
    }
}
