#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kiln_tests::importers::check("results_file", bytes));
