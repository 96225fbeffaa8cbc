//! Random numbers that depend only on a seed. They are the same on every machine and in every version.

use blake3::{Hasher, OutputReader};

/// Number of bytes that are generated at once.
const AHEAD: usize = 4096;

/// A stream of random numbers: the extended output of the BLAKE3 hash of the seed.
pub(super) struct Draws {
    stream: OutputReader,
    ahead: [u8; AHEAD],
    used: usize,
}

impl Draws {
    pub(super) fn new(seed: &[u8]) -> Draws {
        Draws {
            stream: Hasher::new().update(seed).finalize_xof(),
            ahead: [0; AHEAD],
            used: AHEAD,
        }
    }

    /// A random number that is uniformly distributed from 0 to `end - 1`.
    ///
    /// # Panics
    /// If `end` is 0.
    pub(super) fn below(&mut self, end: u128) -> u128 {
        assert!(end > 0, "a number below 0");
        let bits = u128::BITS - (end - 1).leading_zeros();
        let mask = u128::MAX.checked_shr(u128::BITS - bits).unwrap_or(0);
        loop {
            let low = u128::from(self.word());
            let high = if bits > 64 { self.word().into() } else { 0 };
            let number = (low | high << 64) & mask;
            if number < end {
                return number;
            }
        }
    }

    fn word(&mut self) -> u64 {
        if self.used == AHEAD {
            self.stream.fill(&mut self.ahead);
            self.used = 0;
        }
        let mut word = [0; 8];
        word.copy_from_slice(&self.ahead[self.used..][..8]);
        self.used += 8;
        u64::from_le_bytes(word)
    }
}
