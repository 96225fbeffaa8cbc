//! The analytic first guess: scored on spaces that others recorded in full, and gated by what was measured.

mod gate;
mod recorded;
