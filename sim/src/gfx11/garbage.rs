//! What registers and memories hold before something is written: values that depend on the seed alone.

/// A sequence of garbage (splitmix64).
pub(super) struct Garbage(u64);

impl Garbage {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Garbage {
        Garbage(seed)
    }

    /// The next word.
    #[inline]
    pub fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 16) as u32
    }

    /// A register of every lane.
    pub fn lanes(&mut self) -> [u32; 32] {
        let first = self.word();
        std::array::from_fn(|lane| first.wrapping_mul(2 * lane as u32 + 1) ^ first >> 7)
    }
}
