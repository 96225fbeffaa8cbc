//! Regression checks with the real `tune`: slow-downs are flagged, and unchanged kernels are not. Everything else that
//! can happen to a saved kernel is reported in its own row.

mod ci_page;
mod on_cpu;
mod on_fake;
mod rows;
mod selection;
mod shop;
