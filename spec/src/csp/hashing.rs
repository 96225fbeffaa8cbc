//! A fast hash for tables that exist only during one construction. It does not resist inputs that are chosen to
//! collide. Such an attack would gain nothing, because a collision costs time but never changes a result.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Hashes one word after another with a multiplication and a rotation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordHasher(u64);

pub(super) type WordMap<K, V> = HashMap<K, V, BuildHasherDefault<WordHasher>>;

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u8(&mut self, x: u8) {
        self.write_u64(x.into());
    }

    fn write_u32(&mut self, x: u32) {
        self.write_u64(x.into());
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = mix(self.0, x);
    }

    fn write_i64(&mut self, x: i64) {
        self.write_u64(x as u64);
    }

    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }
}

/// Mixes one more word into a hash.
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    let product = (hash ^ word).wrapping_mul(MULTIPLIER);
    product ^ (product >> 29)
}
