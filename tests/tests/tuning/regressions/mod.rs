//! Regression checks with the real `tune`: slow-downs are flagged, unchanged kernels are not, and every other fate of
//! a saved kernel is a row that says so.

mod ci_page;
mod on_cpu;
mod on_fake;
mod rows;
mod selection;
mod shop;
