//! Stream affinity of borrowed (foreign) memory.
//!
//! Kiln frees its own memory after all work of its device, and after the last recording. Another library frees its
//! memory in the order of the stream that it was lent to, as soon as it is no longer borrowed: at that time work on
//! another stream, or a replay, could still use it.

/// The streams on which a slice may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lent {
    /// The [`Stream::id`](crate::Stream) that it was lent to; 0 for any stream of the device.
    stream: u64,
    /// Whether a recording may use it.
    recordable: bool,
}

impl Lent {
    /// Kiln's own memory.
    pub const NOT: Lent = Lent {
        stream: 0,
        recordable: true,
    };

    /// Memory that another library keeps as long as it is borrowed, and until the stream's work on it is done.
    pub fn borrowed(stream: u64) -> Lent {
        Lent {
            stream,
            recordable: false,
        }
    }

    /// Memory that the caller keeps as long as anything uses it, including replays.
    pub fn vouched(stream: u64) -> Lent {
        Lent {
            stream,
            recordable: true,
        }
    }

    /// Whether work on the stream with this [`Stream::id`](crate::Stream) may use it.
    #[inline]
    pub fn goes_with(self, stream: u64) -> bool {
        (self.stream == 0) | (self.stream == stream)
    }

    /// Whether a recording may use it.
    #[inline]
    pub fn is_recordable(self) -> bool {
        self.recordable
    }
}
