//! Random words of a seed, and inputs that are made of them on all cores.

use bytemuck::Pod;
use kiln_spec::ElemType;

use crate::data::element::{Element, rounded};
use crate::data::unusual::Place;
use crate::parallel;

/// The bytes of `len` elements, generated in ranges on all cores. `of` receives the index of the first element of a
/// range and returns the function that generates the elements of that range in order.
pub(super) fn made<T: Pod, F: FnMut(usize) -> T>(
    len: usize,
    of: impl Fn(usize) -> F + Sync,
) -> Vec<u8> {
    let size = size_of::<T>();
    parallel::bytes(len, size, &|range, bytes| {
        let mut element = of(range.start);
        for (index, bytes) in range.zip(bytes.chunks_exact_mut(size)) {
            bytes.copy_from_slice(bytemuck::bytes_of(&element(index)));
        }
    })
}

const TWO_32: f64 = 4_294_967_296.0;
const TWO_53: f64 = 9_007_199_254_740_992.0;

/// A sequence of random 32-bit words: the extendable output of BLAKE3 for the seed and the argument's name.
pub(super) struct RandomWords {
    stream: blake3::OutputReader,
}

/// Reads the words of a sequence from a position on.
struct Words {
    stream: blake3::OutputReader,
    block: [u8; 4096],
    used: usize,
}

impl Words {
    fn word(&mut self) -> u32 {
        if self.used == self.block.len() {
            self.stream.fill(&mut self.block);
            self.used = 0;
        }
        let mut word = [0; 4];
        word.copy_from_slice(&self.block[self.used..self.used + 4]);
        self.used += 4;
        u32::from_le_bytes(word)
    }

    fn two_words(&mut self) -> u64 {
        u64::from(self.word()) << 32 | u64::from(self.word())
    }
}

impl RandomWords {
    pub(super) fn new(seed: u64, argument: &str) -> RandomWords {
        let mut hasher = blake3::Hasher::new_derive_key("kiln input 1");
        hasher.update(&seed.to_le_bytes());
        hasher.update(argument.as_bytes());
        RandomWords {
            stream: hasher.finalize_xof(),
        }
    }

    /// The words from position `first` on.
    fn words(&self, first: usize) -> Words {
        let mut stream = self.stream.clone();
        stream.set_position(first as u64 * 4);
        Words {
            stream,
            block: [0; 4096],
            used: 4096,
        }
    }

    /// The bytes of `len` elements, which `of` computes. A row has `row` elements.
    pub(super) fn each<T: Pod>(
        &self,
        (len, row): (usize, usize),
        of: impl Fn(Place) -> T + Sync,
    ) -> Vec<u8> {
        let of = &of;
        made(len, |first| {
            let mut words = self.words(first);
            move |index| {
                let random = f64::from(words.word()) / TWO_32;
                of(Place {
                    index,
                    len,
                    row,
                    random,
                })
            }
        })
    }

    /// The bytes of `len` elements that are uniformly distributed over `[low, high)`.
    pub(super) fn real<T: Element>(&self, low: f64, high: f64, len: usize) -> Vec<u8> {
        // 32 random bits fill the significand of every type but `f64`, which needs 53.
        let is_double = T::TYPE == ElemType::F64;
        let step = (high - low) / if is_double { TWO_53 } else { TWO_32 };
        made(len, |first| {
            let mut words = self.words(if is_double { 2 * first } else { first });
            move |_| {
                let random = if is_double {
                    (words.two_words() >> 11) as f64
                } else {
                    words.word().into()
                };
                rounded::<T>(low + step * random, [low, high])
            }
        })
    }

    /// The bytes of `len` elements that are uniformly distributed over the integers from `first` to `end - 1`.
    pub(super) fn whole<T: Element>(&self, first: i128, end: i128, len: usize) -> Vec<u8> {
        let range = (end - first) as u128;
        let is_short = range <= 1 << 32;
        made(len, |place| {
            let mut words = self.words(if is_short { place } else { 2 * place });
            move |_| {
                let offset = if is_short {
                    (u128::from(words.word()) * range) >> 32
                } else {
                    (u128::from(words.two_words()) * range.min(1 << 64)) >> 64
                };
                T::from_whole(first + offset as i128)
            }
        })
    }
}
