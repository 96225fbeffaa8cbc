//! Tests of `tune`: its searches, decisions, caches, comparisons and reports.

#![forbid(unsafe_code)]
#![allow(clippy::too_many_lines, reason = "tables of cases are long")]

mod deceiving;
mod earlier_results;
mod earlier_rows;
mod equal_candidates;
mod fake_faults;
mod faulty_candidates;
mod first_configs;
mod fleet;
mod foreign_rows;
mod importers;
mod inspect;
mod kernel_tuner;
mod killed;
mod large_problems;
mod limits;
mod peers;
mod predict;
mod proof_stands;
mod regime;
mod regressions;
mod replayed_rows;
mod report;
mod search_overhead;
mod search_space;
mod strategies;
mod transfer;
mod verdicts;
mod verified_data;
mod verified_sizes;
mod weaker_evidence;
