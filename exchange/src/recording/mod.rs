//! Recorded tuning spaces. A recording contains the configs of a kernel and the result of each config on one device. It
//! is read from files of other tuners. A search can be replayed on a recording without the device.

pub(crate) mod error;
mod format;
pub(crate) mod invalidity;
pub(crate) mod model;
pub(crate) mod param;
mod read;
mod space;
pub(crate) mod table;

#[cfg(test)]
mod tests;

pub use error::{ConfigProblem, FileProblem, RecordingError, TextFault, TextProblem};
pub use invalidity::Invalidity;
pub use model::{RecordedTrial, Recording};
pub use param::RecordedParam;
pub(crate) use param::spelled;
pub use read::{parse, read, read_all};
pub use space::RecordedSpace;
