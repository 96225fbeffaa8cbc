//! Recorded tuning spaces: every config of a kernel with its measured cost on a device. Files of other tuners are
//! read; a search is replayed on them without the device.

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
