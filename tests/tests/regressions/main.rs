//! Regression watch, through the real `tune`: slow-downs are flagged, unchanged kernels are not, and whatever else can
//! happen to a saved kernel is a row that says so.

mod ci_page;
mod on_cpu;
mod on_fake;
mod rows;
mod selection;
mod shop;
