//! The analytic prediction: scored on complete recordings, and gated by measurements.

mod gate;
mod recorded;
