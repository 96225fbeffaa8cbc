//! Accesses to shared memory by `wgmma`, which are in the async proxy (PTX ISA 9.7.15.4).
//!
//! Data that a thread writes with ordinary instructions or with `cp.async` is visible to `wgmma` only if the thread
//! executes `fence.proxy.async` after the write (for a copy, after the wait), and if a barrier or another
//! synchronisation orders the fence before the `wgmma`. Between the issue of a `wgmma` and the wait that completes it,
//! no thread may write to the bytes that the `wgmma` reads.

use super::cells::Who;
use super::descriptor::PIECE;
use super::regs::{LANES, lanes};

/// Who wrote a granule last, and whether a fence followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Write {
    Never,
    Bare { warp: u8, lane: u8 },
    Fenced { warp: u8, clock: u32 },
}

/// The bytes that a `wgmma` in flight reads.
#[derive(Debug)]
pub(super) struct Reading {
    pub who: Who,
    /// The number of the group to which the `wgmma` belongs.
    pub group: u32,
    pub at: [u32; LANES],
    pub mask: u32,
}

/// The state of the shared memory of a block whose warps execute `wgmma`.
#[derive(Debug)]
pub(super) struct Proxy {
    shift: u32,
    writes: Vec<Write>,
    /// For each warp, the granules that it wrote since its last fence: the first one, their number, and the lane.
    bare: Vec<Vec<(u32, u32, u8)>>,
    /// For each piece of 16 bytes, the number of reads in flight.
    reads: Vec<u32>,
    readings: Vec<Reading>,
    /// For each warpgroup, the instruction and the descriptors of each `wgmma` that one of its warps has issued.
    issued: Vec<Vec<(u32, [u64; 2])>>,
    /// For each warp, the number of `wgmma` that it has issued.
    counts: Vec<usize>,
}

/// Number of warps of a warpgroup.
pub(super) const WARPS: usize = 4;

impl Proxy {
    /// The state of `bytes` bytes of memory, with granules of `1 << shift` bytes.
    pub fn new(bytes: usize, shift: u32, warps: usize) -> Proxy {
        Proxy {
            shift,
            writes: vec![Write::Never; bytes.div_ceil(1 << shift)],
            bare: vec![Vec::new(); warps],
            reads: vec![0; bytes.div_ceil(PIECE as usize)],
            readings: Vec::new(),
            issued: vec![Vec::new(); warps.div_ceil(WARPS)],
            counts: vec![0; warps],
        }
    }

    /// Records that lanes have written with ordinary instructions, or that their asynchronous copies are complete.
    pub fn wrote(&mut self, at: &[u32; LANES], bytes: u32, mask: u32, warp: u8) {
        let count = (bytes >> self.shift).max(1);
        for lane in lanes(mask) {
            let first = at[lane] >> self.shift;
            let write = Write::Bare {
                warp,
                lane: lane as u8,
            };
            if let Some(range) = self
                .writes
                .get_mut(first as usize..(first + count) as usize)
            {
                range.fill(write);
                self.bare[usize::from(warp)].push((first, count, lane as u8));
            }
        }
    }

    /// Records `fence.proxy.async` of the lanes of a warp whose clock is `clock`.
    pub fn fence(&mut self, warp: u8, mask: u32, clock: u32) {
        let writes = &mut self.writes;
        self.bare[usize::from(warp)].retain(|&(first, count, lane)| {
            if mask >> lane & 1 == 0 {
                return true;
            }
            for write in &mut writes[first as usize..(first + count) as usize] {
                if *write == (Write::Bare { warp, lane }) {
                    *write = Write::Fenced { warp, clock };
                }
            }
            false
        });
    }

    /// Whether a piece is visible to a `wgmma` of a warp. `known` returns the latest clock of another warp that this
    /// warp knows.
    pub fn is_visible(&self, at: u32, warp: u8, known: impl Fn(u8) -> u32) -> bool {
        let (first, end) = (at >> self.shift, (at + PIECE - 1) >> self.shift);
        let writes = self.writes.get(first as usize..=end as usize);
        let mut last = Write::Never;
        writes.unwrap_or_default().iter().all(|&write| {
            if write == last {
                return true;
            }
            last = write;
            match write {
                Write::Never => true,
                Write::Bare { .. } => false,
                Write::Fenced {
                    warp: writer,
                    clock,
                } => writer == warp || known(writer) >= clock,
            }
        })
    }

    /// Begins the reads of a `wgmma`.
    pub fn begin(&mut self, reading: Reading) {
        for lane in lanes(reading.mask) {
            if let Some(count) = self.reads.get_mut((reading.at[lane] / PIECE) as usize) {
                *count += 1;
            }
        }
        self.readings.push(reading);
    }

    /// Ends the reads of a warp's groups below `end`, and returns them.
    pub fn end(&mut self, warp: u8, end: u32) -> Vec<Reading> {
        let is_done = |reading: &mut Reading| reading.who.warp == warp && reading.group < end;
        let done: Vec<Reading> = self.readings.extract_if(.., is_done).collect();
        for reading in &done {
            for lane in lanes(reading.mask) {
                if let Some(count) = self.reads.get_mut((reading.at[lane] / PIECE) as usize) {
                    *count -= 1;
                }
            }
        }
        done
    }

    /// The origin of a read in flight of one of these bytes.
    #[inline(always)]
    pub fn reader(&self, at: u64, bytes: u32) -> Option<Who> {
        if self.readings.is_empty() {
            return None;
        }
        let pieces = (at / u64::from(PIECE)) as usize..=((at + u64::from(bytes) - 1) / 16) as usize;
        let reads = self.reads.get(pieces)?;
        match reads.iter().any(|&count| count != 0) {
            true => self.find_reader(at, bytes),
            false => None,
        }
    }

    #[inline(never)]
    fn find_reader(&self, at: u64, bytes: u32) -> Option<Who> {
        let overlaps =
            |&from: &u32| u64::from(from) < at + u64::from(bytes) && at < u64::from(from + PIECE);
        let reading = self
            .readings
            .iter()
            .find(|reading| lanes(reading.mask).any(|lane| overlaps(&reading.at[lane])));
        reading.map(|reading| reading.who)
    }

    /// Records that a warp issues a `wgmma`. Returns `false` if another warp of its warpgroup has issued another one.
    pub fn issue(&mut self, warp: u8, pc: u32, descriptors: [u64; 2]) -> bool {
        let warp = usize::from(warp);
        let issued = &mut self.issued[warp / WARPS];
        let at = self.counts[warp];
        self.counts[warp] += 1;
        match issued.get(at) {
            Some(known) => *known == (pc, descriptors),
            None => {
                issued.push((pc, descriptors));
                true
            }
        }
    }
}
