//! Which streams may use borrowed memory of another library.
//!
//! Kiln frees its own memory only after all work of its device is done and the last recording is dropped. Another
//! library may free its memory as soon as the borrow ends, in the order of the stream for which the memory was
//! borrowed. Work on another stream, or a replay of a recording, could still use the memory then. Borrowed memory is
//! therefore restricted to that one stream and excluded from recordings.

/// The streams on which a slice may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lent {
    /// The [`Stream::id`](crate::Stream) of the only stream that may use the slice; 0 permits every stream of the
    /// device.
    stream: u64,
    /// Whether a recorded launch may use the slice.
    recordable: bool,
}

impl Lent {
    /// For Kiln's own memory, which every stream and every recording may use.
    pub const NOT: Lent = Lent {
        stream: 0,
        recordable: true,
    };

    /// For memory that another library keeps while it is borrowed and until the stream's work on it is done.
    pub fn borrowed(stream: u64) -> Lent {
        Lent {
            stream,
            recordable: false,
        }
    }

    /// For memory that the caller keeps for as long as anything uses it, including replays.
    pub fn vouched(stream: u64) -> Lent {
        Lent {
            stream,
            recordable: true,
        }
    }

    /// Whether work on the stream with this [`Stream::id`](crate::Stream) may use the slice.
    #[inline]
    pub fn goes_with(self, stream: u64) -> bool {
        (self.stream == 0) | (self.stream == stream)
    }

    /// Whether a recorded launch may use the slice.
    #[inline]
    pub fn is_recordable(self) -> bool {
        self.recordable
    }
}
