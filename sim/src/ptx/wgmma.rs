//! `wgmma.mma_async` (PTX ISA 9.7.15.5.2): the part of a warpgroup's product that one warp computes. Warp `w` of the
//! warpgroup computes rows `16 w` to `16 w + 15`. This part is computed as one `mma.sync.m16n8k16` per eight columns,
//! because the registers of matrix A and the accumulators are laid out like the fragments of that instruction (figures
//! 148 and 149).

use super::alu::Mods;
use super::descriptor::{Descriptor, ELEMENTS, PIECE};
use super::mma::Mma;
use super::regs::{LANES, Regs};

/// Number of words of matrix A in a lane.
const A_WORDS: usize = 4;
/// Number of accumulators of a lane for eight columns.
const SUMS: usize = 4;

/// The location of matrix A.
#[derive(Clone, Debug)]
pub(super) enum Left {
    Registers(Vec<u32>),
    /// The register of the descriptor, and whether the matrix is M-major.
    Shared(u32, bool),
}

/// A product of a matrix with 64 rows and 16 columns, and a matrix with 16 rows and `n` columns.
#[derive(Clone, Debug)]
pub(super) struct Wgmma {
    pub n: usize,
    /// A product of the same types for 16 rows and 8 columns.
    part: Mma,
    /// The accumulators.
    pub d: Vec<u32>,
    pub a: Left,
    /// The register of the descriptor of matrix B.
    pub b: u32,
    /// Whether matrix B is N-major.
    pub b_turned: bool,
    /// The predicate that says whether the product is added to the accumulators.
    pub adds: u32,
    pub a_negated: bool,
    pub b_negated: bool,
}

/// A block of 8 x 8 elements of a matrix in shared memory: the addresses of its pieces, and whether the eight elements
/// of a piece are neighbours in dimension M or N (`is_turned`) instead of dimension K.
#[derive(Clone, Copy, Debug)]
struct Block {
    at: [u32; 8],
    is_turned: bool,
}

impl Block {
    /// Block `index` in dimension M or N, and `half` in dimension K.
    fn of(matrix: &Descriptor, is_turned: bool, index: u32, half: u32) -> Block {
        let piece = |i: u32| match is_turned {
            false => matrix.k_major(8 * index + i, half),
            true => matrix.mn_major(index, 8 * half + i),
        };
        let mut at = [0; 8];
        for (i, at) in (0..).zip(&mut at) {
            *at = piece(i);
        }
        Block { at, is_turned }
    }

    /// The elements in the layout of a warp's lanes: lane `4 i + j` has elements `2 j` and `2 j + 1` in dimension K of
    /// row `i` in dimension M or N.
    fn words(&self, bytes: &[u8], negated: bool) -> [u32; LANES] {
        let mut rows = [[0u16; ELEMENTS]; 8];
        for (row, &at) in rows.iter_mut().zip(&self.at) {
            let piece = bytes.get(at as usize..at as usize + PIECE as usize);
            for (to, from) in row.iter_mut().zip(piece.unwrap_or_default().as_chunks().0) {
                *to = u16::from_le_bytes(*from);
            }
        }
        let flip = if negated { 0x8000_8000 } else { 0 };
        crate::lanes::each(|lane| {
            let (i, j) = (lane / 4, lane % 4 * 2);
            let pair = match self.is_turned {
                false => [rows[i][j], rows[i][j + 1]],
                true => [rows[j][i], rows[j + 1][i]],
            };
            (u32::from(pair[0]) | u32::from(pair[1]) << 16) ^ flip
        })
    }
}

/// The blocks of a product that a warp reads from shared memory.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The blocks of matrix A, in the order of its registers.
    a: Vec<Block>,
    /// Two blocks for every eight columns of matrix B.
    b: Vec<Block>,
}

impl Blocks {
    /// The addresses of all pieces in groups of 32, each group with the mask of its addresses that are used.
    pub fn pieces(&self) -> impl Iterator<Item = ([u32; LANES], u32)> {
        let chunks = self.a.chunks(LANES / 8).chain(self.b.chunks(LANES / 8));
        chunks.map(|blocks| {
            let mut at = [0; LANES];
            for (at, block) in at.as_chunks_mut::<8>().0.iter_mut().zip(blocks) {
                *at = block.at;
            }
            (at, u32::MAX >> (LANES - 8 * blocks.len()))
        })
    }
}

impl Wgmma {
    /// Decodes `m64nNk16` of `f16` or `bf16` with sums of `f32`. The caller fills in the operands. Returns `None` for
    /// other instructions.
    pub fn decode(m: &Mods) -> Option<Wgmma> {
        let [shape, sum, a, b] = m.parts.last_chunk::<4>()?;
        let n: usize = shape
            .strip_prefix("m64n")?
            .strip_suffix("k16")?
            .parse()
            .ok()?;
        if *sum != "f32"
            || a != b
            || !n.is_multiple_of(8)
            || !(8..=256).contains(&n)
            || !m.has("aligned")
        {
            return None;
        }
        Some(Wgmma {
            n,
            part: Mma::of_sixteen_bits(match *a {
                "f16" => false,
                "bf16" => true,
                _ => return None,
            }),
            d: Vec::new(),
            a: Left::Registers(Vec::new()),
            b: 0,
            b_turned: false,
            adds: 0,
            a_negated: false,
            b_negated: false,
        })
    }

    /// Whether the instruction has the right number of registers.
    pub fn fits(&self) -> bool {
        let left = match &self.a {
            Left::Registers(a) => a.len() == A_WORDS,
            Left::Shared(..) => true,
        };
        left && self.d.len() == self.n / 2
    }

    /// The registers of matrix A.
    pub fn left(&self) -> &[u32] {
        match &self.a {
            Left::Registers(a) => a,
            Left::Shared(..) => &[],
        }
    }

    /// Number of products of 16 x 8 x 16 elements that a warp computes.
    pub fn parts(&self) -> u64 {
        self.n as u64 / 8
    }

    /// The blocks that warp `warp` of the warpgroup reads.
    pub fn blocks(&self, a: Option<&Descriptor>, b: &Descriptor, warp: u32) -> Blocks {
        let mut blocks = Blocks::default();
        if let (Some(matrix), Left::Shared(_, is_turned)) = (a, &self.a) {
            for (half, down) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let block = Block::of(matrix, *is_turned, 2 * warp + down, half);
                blocks.a.push(block);
            }
        }
        for column in 0..self.n as u32 / 8 {
            for half in 0..2 {
                blocks.b.push(Block::of(b, self.b_turned, column, half));
            }
        }
        blocks
    }

    /// Adds the product to `sums`, or overwrites `sums` with it.
    pub fn run(
        &self,
        regs: &Regs,
        bytes: &[u8],
        blocks: &Blocks,
        adds: bool,
        sums: &mut [[u32; LANES]],
    ) {
        let mut part = Regs {
            words: vec![[0; LANES]; Mma::WORDS],
            ..Regs::default()
        };
        let flip = if self.a_negated { 0x8000_8000 } else { 0 };
        for (i, word) in part.words[Mma::A].iter_mut().enumerate() {
            *word = match &self.a {
                Left::Registers(a) => regs.words[a[i] as usize].map(|word| word ^ flip),
                Left::Shared(..) => blocks.a[i].words(bytes, self.a_negated),
            };
        }
        let columns = blocks.b.as_chunks::<2>().0;
        for (sums, columns) in sums.as_chunks_mut::<SUMS>().0.iter_mut().zip(columns) {
            for (word, block) in part.words[Mma::B].iter_mut().zip(columns) {
                *word = block.words(bytes, self.b_negated);
            }
            let d = &mut part.words[Mma::D];
            match adds {
                true => d.copy_from_slice(sums),
                false => d.fill([0; LANES]),
            }
            self.part.run(&mut part);
            sums.copy_from_slice(&part.words[Mma::D]);
        }
    }
}
