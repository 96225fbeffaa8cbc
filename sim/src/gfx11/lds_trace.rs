//! The state of a word of shared memory: the waves that wrote and read it since the last barrier.

/// A wave and the index of the instruction that it executes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub wave: u8,
    pub at: u32,
}

/// Four bytes that all stand for no wave.
const NOBODY: u32 = 0xffff_ffff;
/// Stands for more than one wave.
pub(super) const SEVERAL: u8 = 0xfe;
/// With the number of a wave: only this wave wrote the byte, without changing its value. The bit is also set in
/// [`SEVERAL`].
pub(super) const QUIET: u8 = 0x40;

/// The state of the four bytes of a word.
#[derive(Clone, Copy)]
pub(super) struct Trace {
    /// The bytes that hold a value, 0xff each. A write of a whole word may be recorded only in the marks.
    pub written: u32,
    /// The interval between barriers for which `writers` and `readers` are valid.
    pub interval: u32,
    /// For each byte, the wave that wrote it in this interval.
    pub writers: u32,
    pub writer_at: u32,
    pub readers: u32,
    pub reader_at: u32,
}

pub(super) const UNTOUCHED: Trace = Trace {
    written: 0,
    interval: 0,
    writers: NOBODY,
    writer_at: 0,
    readers: NOBODY,
    reader_at: 0,
};

/// An earlier access of another wave to a byte of a word.
#[derive(Clone, Copy)]
pub(super) struct Former {
    pub byte: u32,
    pub waves: u32,
    pub at: u32,
}

impl Former {
    #[inline]
    pub fn of(waves: u32, at: u32, me: u32, mask: u32) -> Option<Former> {
        foreign(waves, me, mask).map(|byte| Former { byte, waves, at })
    }
}

/// The first byte of a mask that belongs to a wave other than `me`.
#[inline]
fn foreign(waves: u32, me: u32, mask: u32) -> Option<u32> {
    let mine = (waves & !(u32::from(QUIET) * 0x0101_0101)) ^ me;
    if waves == NOBODY || mine & mask == 0 {
        return None;
    }
    (0..4).find(|byte| {
        let one = 0xff << (8 * byte);
        mask & one != 0 && waves & one != one && mine & one != 0
    })
}
