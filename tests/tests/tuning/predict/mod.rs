//! The analytic prediction: its scores on complete recordings, and the gate that allows its use only after
//! measurements.

mod gate;
mod recorded;
