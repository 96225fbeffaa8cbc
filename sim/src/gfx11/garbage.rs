//! The contents of registers and memories before the first write. They depend only on the seed.

/// A sequence of garbage values (splitmix64).
pub(super) struct Garbage(u64);

impl Garbage {
    /// The sequence for a seed.
    pub fn new(seed: u64) -> Garbage {
        Garbage(seed)
    }

    /// The next word of the sequence.
    #[inline]
    pub fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 16) as u32
    }

    /// The next garbage value of a register, for every lane.
    pub fn lanes(&mut self) -> [u32; 32] {
        let first = self.word();
        std::array::from_fn(|lane| first.wrapping_mul(2 * lane as u32 + 1) ^ first >> 7)
    }
}
