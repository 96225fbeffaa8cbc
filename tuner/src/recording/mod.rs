//! Recorded tuning spaces: every config of a kernel with what it once cost on a device. Files of other tuners are
//! read; a search is replayed on them without the device.

mod error;
mod format;
mod invalidity;
mod kernel_tuner;
mod model;
mod param;
mod read;
mod results;
mod space;
mod table;

#[cfg(test)]
mod tests;

pub use error::{RecordingError, TextFault};
pub use invalidity::Invalidity;
pub use model::{Entry, Recording};
pub use param::RecordedParam;
pub(crate) use param::spelled;
pub use read::{parse, read, read_all};
pub use space::RecordedSpace;
