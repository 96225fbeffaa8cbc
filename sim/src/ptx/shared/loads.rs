//! Loads of shared memory that holds no value. See [`crate::undefined`].

use super::{Shared, Wrong};
use crate::ptx::cells::{Intent, Who};
use crate::undefined::{Cause, Origin};

/// The bytes of a load that hold no value, or that another thread wrote without synchronisation.
#[derive(Clone, Copy, Debug)]
pub(in crate::ptx) struct Missing {
    /// One bit for each byte of the access.
    pub bytes: u64,
    /// The origin of the first of them.
    pub from: Origin,
}

impl Shared {
    /// Checks and records a load of one lane. Returns its offset, and the bytes that hold no value. Their read is not
    /// recorded, because a use of the value is a fault in any case.
    ///
    /// # Errors
    /// Why the load is wrong.
    pub fn check_load(
        &mut self,
        offset: u64,
        bytes: u32,
        intent: Intent,
        who: Who,
    ) -> Result<(usize, Option<Missing>), Wrong> {
        let (granules, access) = self.begin(offset, bytes, intent, who)?;
        let mut found = None;
        for at in granules {
            let from = match self.missing(at, who) {
                Some(from) => from,
                None => match self.check_granule(at, intent, access) {
                    Ok(()) => continue,
                    Err(Wrong::Race(_, writer)) => self.racing(at, who, writer),
                    Err(wrong) => return Err(wrong),
                },
            };
            let first = ((at << self.shift) as u64).saturating_sub(offset);
            let end = (((at + 1) << self.shift) as u64 - offset).min(bytes.into());
            let missing = found.get_or_insert(Missing { bytes: 0, from });
            missing.bytes |= u64::MAX >> (64 - end) & u64::MAX << first;
        }
        Ok((offset as usize, found))
    }

    /// Returns the origin of a load of a granule that holds no value. `None` if the granule holds a value, or if no
    /// access to it is allowed.
    pub(super) fn missing(&self, at: usize, who: Who) -> Option<Origin> {
        let (is_written, is_pending) = (self.marks.is_written(at), self.marks.is_pending(at));
        if is_written && !is_pending || self.marks.is_forbidden(at) {
            return None;
        }
        let stored = self.undefined.get(&at).filter(|_| !is_written);
        Some(stored.copied().unwrap_or(Origin {
            at: who.pc,
            warp: who.warp,
            lane: who.lane,
            offset: (at << self.shift) as u32,
            cause: match is_written {
                true => Cause::Pending,
                false => Cause::Unwritten,
            },
        }))
    }

    /// The origin of a load of a granule that races with an earlier write.
    fn racing(&self, at: usize, who: Who, writer: Who) -> Origin {
        Origin {
            at: who.pc,
            warp: who.warp,
            lane: who.lane,
            offset: (at << self.shift) as u32,
            cause: Cause::Race {
                warp: writer.warp,
                at: writer.pc,
            },
        }
    }

    /// Records that an undefined value was stored to bytes. The store was already checked and executed.
    pub fn store_undefined(&mut self, offset: u64, bytes: u32, from: Origin) {
        let last = (offset as usize + bytes as usize - 1) >> self.shift;
        for at in offset as usize >> self.shift..=last {
            self.marks.forget(at);
            self.undefined.insert(at, from);
        }
    }
}
