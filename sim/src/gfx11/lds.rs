//! The shared memory of a block, and who wrote and read it.
//!
//! A byte may be read once it was written. Between two barriers, a byte that one wave writes may not be read or written by
//! another one, unless the value does not change or both waves executed an atomic operation, which may have ordered them.

use crate::FaultKind;

/// A wave and the index of the instruction that it executes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub wave: u8,
    pub at: u32,
}

/// Why an access failed.
#[derive(Debug)]
pub(super) enum ShareFault {
    /// The access itself is wrong.
    Plain(FaultKind),
    /// A race with another wave at another instruction.
    Race { offset: u64, wave: u8, at: u32 },
}

impl From<FaultKind> for ShareFault {
    fn from(kind: FaultKind) -> ShareFault {
        ShareFault::Plain(kind)
    }
}

/// No wave.
const NOBODY: u32 = 0xffff_ffff;
/// More than one wave.
pub(super) const SEVERAL: u8 = 0xfe;

/// What is known of the four bytes of a word.
#[derive(Clone, Copy)]
struct Trace {
    /// Bytes that were ever written: 0xff each.
    written: u32,
    /// The interval between barriers in which `writers` and `readers` hold.
    interval: u32,
    /// The wave that wrote each byte.
    writers: u32,
    writer_at: u32,
    readers: u32,
    reader_at: u32,
}

const UNTOUCHED: Trace = Trace {
    written: 0,
    interval: 0,
    writers: NOBODY,
    writer_at: 0,
    readers: NOBODY,
    reader_at: 0,
};

/// Shared memory.
pub(super) struct Lds {
    bytes: usize,
    words: Vec<u32>,
    traces: Vec<Trace>,
    interval: u32,
    /// Waves that executed an atomic operation in this interval.
    atomics: u32,
}

impl Lds {
    /// Memory of a size, filled with garbage.
    pub fn new(bytes: usize, garbage: impl FnMut() -> u32) -> Lds {
        let count = bytes.div_ceil(4);
        let words = std::iter::repeat_with(garbage).take(count).collect();
        Lds {
            bytes,
            words,
            traces: vec![UNTOUCHED; count],
            interval: 1,
            atomics: 0,
        }
    }

    /// All waves passed a barrier.
    pub fn next_interval(&mut self) {
        self.interval += 1;
        self.atomics = 0;
    }

    /// A wave executed an atomic operation, in whatever memory.
    pub fn note_atomic(&mut self, wave: u8) {
        self.atomics |= 1 << (wave & 31);
    }

    fn check(&self, address: u64, bytes: u32) -> Result<(), FaultKind> {
        match address + u64::from(bytes) <= self.bytes as u64 {
            true => Ok(()),
            false => Err(FaultKind::SharedOutOfBounds {
                offset: address,
                bytes,
                size: self.bytes,
            }),
        }
    }

    /// Loads up to 16 bytes as words.
    pub fn load(&mut self, address: u64, bytes: u32, who: Who) -> Result<[u32; 4], ShareFault> {
        self.check(address, bytes)?;
        let mut value = [0; 4];
        if address.is_multiple_of(4) && bytes.is_multiple_of(4) {
            let first = (address / 4) as usize;
            for (i, value) in value.iter_mut().take(bytes as usize / 4).enumerate() {
                self.reads(first + i, u32::MAX, who)?;
                *value = self.words[first + i];
            }
            return Ok(value);
        }
        for i in 0..bytes as usize {
            let at = address as usize + i;
            self.reads(at / 4, 0xff << (at % 4 * 8), who)?;
            let byte = self.words[at / 4] >> (at % 4 * 8) & 0xff;
            value[i / 4] |= byte << (i % 4 * 8);
        }
        Ok(value)
    }

    /// Stores up to 16 bytes.
    pub fn store(
        &mut self,
        address: u64,
        bytes: u32,
        value: &[u32; 4],
        who: Who,
    ) -> Result<(), ShareFault> {
        self.check(address, bytes)?;
        if address.is_multiple_of(4) && bytes.is_multiple_of(4) {
            let first = (address / 4) as usize;
            for (i, &value) in value.iter().take(bytes as usize / 4).enumerate() {
                self.writes(first + i, u32::MAX, value, who)?;
            }
            return Ok(());
        }
        for i in 0..bytes as usize {
            let at = address as usize + i;
            let (shift, byte) = (at % 4 * 8, value[i / 4] >> (i % 4 * 8) & 0xff);
            self.writes(at / 4, 0xff << shift, byte << shift, who)?;
        }
        Ok(())
    }

    /// Replaces 4 or 8 bytes by a function of them; gives the former value.
    pub fn update(
        &mut self,
        address: u64,
        bytes: u32,
        who: Who,
        f: impl FnOnce(u64) -> u64,
    ) -> Result<u64, ShareFault> {
        self.check(address, bytes)?;
        if !address.is_multiple_of(u64::from(bytes)) {
            return Err(FaultKind::Misaligned { address, bytes }.into());
        }
        self.note_atomic(who.wave);
        let first = (address / 4) as usize;
        let high = if bytes == 8 { self.words[first + 1] } else { 0 };
        for word in first..first + bytes as usize / 4 {
            if self.traces[word].written != u32::MAX {
                return Err(FaultKind::Unwritten {
                    offset: word as u64 * 4,
                }
                .into());
            }
        }
        let old = u64::from(self.words[first]) | u64::from(high) << 32;
        let new = f(old);
        self.words[first] = new as u32;
        if bytes == 8 {
            self.words[first + 1] = (new >> 32) as u32;
        }
        Ok(old)
    }

    /// Brings a word's trace to this interval.
    #[inline]
    fn trace(&mut self, word: usize) -> &mut Trace {
        let trace = &mut self.traces[word];
        if trace.interval != self.interval {
            *trace = Trace {
                written: trace.written,
                interval: self.interval,
                ..UNTOUCHED
            };
        }
        trace
    }

    #[inline]
    fn reads(&mut self, word: usize, mask: u32, who: Who) -> Result<(), ShareFault> {
        let me = u32::from(who.wave) * 0x0101_0101;
        let trace = self.trace(word);
        if trace.written & mask != mask {
            let byte = (!trace.written & mask).trailing_zeros() / 8;
            return Err(FaultKind::Unwritten {
                offset: word as u64 * 4 + u64::from(byte),
            }
            .into());
        }
        // Bytes that another wave wrote.
        let foreign = foreign(trace.writers, me, mask);
        let (writers, writer_at) = (trace.writers, trace.writer_at);
        let others = trace.readers & mask;
        trace.readers = match others == mask || others == me & mask {
            true => trace.readers & !mask | me & mask,
            false => trace.readers & !mask | (u32::from(SEVERAL) * 0x0101_0101) & mask,
        };
        trace.reader_at = who.at;
        match foreign {
            None => Ok(()),
            Some(byte) if (writers >> (8 * byte)) as u8 == SEVERAL => Ok(()),
            Some(byte) => self.race(word, byte, writers, writer_at, who),
        }
    }

    #[inline]
    fn writes(&mut self, word: usize, mask: u32, value: u32, who: Who) -> Result<(), ShareFault> {
        let me = u32::from(who.wave) * 0x0101_0101;
        let old = self.words[word];
        let trace = self.trace(word);
        let same = trace.written & mask == mask && old & mask == value & mask;
        let conflict = match foreign(trace.writers, me, mask) {
            Some(byte) => Some((byte, trace.writers, trace.writer_at)),
            None => {
                foreign(trace.readers, me, mask).map(|byte| (byte, trace.readers, trace.reader_at))
            }
        };
        trace.written |= mask;
        // Whoever writes the value that is there already does not disturb others.
        let writer = if same && trace.writers & mask != me & mask {
            u32::from(SEVERAL) * 0x0101_0101
        } else {
            me
        };
        trace.writers = trace.writers & !mask | writer & mask;
        trace.writer_at = who.at;
        self.words[word] = old & !mask | value & mask;
        match conflict {
            Some((byte, waves, at)) if !same => self.race(word, byte, waves, at, who),
            _ => Ok(()),
        }
    }

    /// A conflict with the wave of a byte, unless atomic operations may have ordered the two.
    fn race(
        &self,
        word: usize,
        byte: u32,
        waves: u32,
        at: u32,
        who: Who,
    ) -> Result<(), ShareFault> {
        let wave = (waves >> (8 * byte)) as u8;
        let both = 1u32 << (who.wave & 31) | 1u32.checked_shl(wave.into()).unwrap_or(0);
        // Several readers: any of them may have been ordered.
        if self.atomics & both == both || wave == SEVERAL && self.atomics != 0 {
            return Ok(());
        }
        Err(ShareFault::Race {
            offset: word as u64 * 4 + u64::from(byte),
            wave,
            at,
        })
    }
}

/// The first byte of a mask that belongs to another wave than `me`.
#[inline]
fn foreign(waves: u32, me: u32, mask: u32) -> Option<u32> {
    let mine = waves ^ me;
    if waves == NOBODY || mine & mask == 0 {
        return None;
    }
    (0..4).find(|byte| {
        let one = 0xff << (8 * byte);
        mask & one != 0 && waves & one != one && mine & one != 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Lds {
        Lds::new(64, || 0xdead_beef)
    }

    fn who(wave: u8) -> Who {
        Who { wave, at: 7 }
    }

    fn is_race(result: Result<impl Sized, ShareFault>) -> bool {
        matches!(result, Err(ShareFault::Race { .. }))
    }

    #[test]
    fn a_byte_that_was_not_written_cannot_be_read() {
        let mut lds = memory();
        lds.store(2, 2, &[0x1234, 0, 0, 0], who(0)).unwrap();
        assert_eq!(lds.load(2, 2, who(0)).unwrap()[0], 0x1234);
        let fault = lds.load(0, 4, who(0));
        assert!(matches!(
            fault,
            Err(ShareFault::Plain(FaultKind::Unwritten { offset: 0 }))
        ));
        let fault = lds.load(62, 4, who(0));
        assert!(matches!(
            fault,
            Err(ShareFault::Plain(FaultKind::SharedOutOfBounds {
                offset: 62,
                ..
            }))
        ));
    }

    #[test]
    fn waves_between_two_barriers_race_and_behind_a_barrier_do_not() {
        let mut lds = memory();
        lds.store(0, 4, &[1, 0, 0, 0], who(0)).unwrap();
        assert!(is_race(lds.load(0, 4, who(1))));
        lds.next_interval();
        lds.load(0, 4, who(1)).unwrap();
        lds.load(0, 4, who(2)).unwrap();
        assert!(is_race(lds.store(0, 4, &[2, 0, 0, 0], who(0))));
        lds.next_interval();
        lds.store(0, 4, &[3, 0, 0, 0], who(0)).unwrap();
        lds.store(0, 4, &[4, 0, 0, 0], who(0)).unwrap();
        assert_eq!(lds.load(0, 4, who(0)).unwrap()[0], 4);
    }

    #[test]
    fn waves_may_write_different_bytes_of_a_word_or_the_same_value() {
        let mut lds = memory();
        for wave in 0..4u8 {
            lds.store(u64::from(wave), 1, &[u32::from(wave), 0, 0, 0], who(wave))
                .unwrap();
        }
        assert!(is_race(lds.store(1, 1, &[9, 0, 0, 0], who(0))));
        lds.next_interval();
        lds.store(8, 4, &[5, 0, 0, 0], who(0)).unwrap();
        lds.store(8, 4, &[5, 0, 0, 0], who(1)).unwrap();
        assert!(is_race(lds.store(8, 4, &[6, 0, 0, 0], who(1))));
    }

    #[test]
    fn atomic_operations_do_not_race() {
        let mut lds = memory();
        lds.store(0, 4, &[0, 0, 0, 0], who(0)).unwrap();
        lds.next_interval();
        for wave in 0..3 {
            assert_eq!(
                lds.update(0, 4, who(wave), |old| old + 1).unwrap(),
                u64::from(wave)
            );
        }
        assert!(matches!(
            lds.update(2, 4, who(0), |old| old),
            Err(ShareFault::Plain(FaultKind::Misaligned { .. }))
        ));
    }
}
