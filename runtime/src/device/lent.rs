//! Stream affinity of borrowed (foreign) memory.
//!
//! Kiln's own memory is freed after all work of its device, and after the last recording. Memory of another library is
//! freed in the order of the stream that it was lent to, as soon as it is no longer borrowed: work on another stream may
//! still use it then, and so may a replay.

/// The streams on which a slice may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lent {
    /// The [`Stream::id`](crate::Stream) that it was lent to; 0 if any stream of the device will do.
    stream: u64,
    /// Whether a recording may name it.
    recordable: bool,
}

impl Lent {
    /// Memory of Kiln's own.
    pub const NOT: Lent = Lent {
        stream: 0,
        recordable: true,
    };

    /// Memory that another library keeps for as long as it is borrowed, and until the stream's work on it is done.
    pub fn borrowed(stream: u64) -> Lent {
        Lent {
            stream,
            recordable: false,
        }
    }

    /// Memory that the caller keeps for as long as anything uses it, replays included.
    pub fn vouched(stream: u64) -> Lent {
        Lent {
            stream,
            recordable: true,
        }
    }

    /// Whether work on the stream of that [`Stream::id`](crate::Stream) may use it.
    #[inline]
    pub fn goes_with(self, stream: u64) -> bool {
        (self.stream == 0) | (self.stream == stream)
    }

    /// Whether a recording may name it.
    #[inline]
    pub fn is_recordable(self) -> bool {
        self.recordable
    }
}
