//! The initial state of a block.

use super::arguments;
use super::block::GfxBlock;
use super::kernel::Kernel;
use crate::{Fault, FaultKind, Launch, MemoryView, Place, Program};

/// Maximum number of threads of a block.
const MAX_THREADS: u64 = 1024;

impl Program for Kernel {
    type Block<'a> = GfxBlock<'a>;

    fn block<'a>(
        &'a self,
        launch: &'a Launch,
        memory: &'a MemoryView,
        index: [u32; 3],
        seed: u64,
    ) -> Result<GfxBlock<'a>, Fault> {
        let refuse = |what: String| {
            let place = Place {
                block: index,
                ..self.place(self.first)
            };
            Fault {
                kind: FaultKind::Invalid { what },
                place: Box::new(place),
                used_at: None,
            }
        };
        let threads = launch.threads();
        if threads == 0 || threads > MAX_THREADS.min(self.metadata.max_threads.into()) {
            return Err(refuse(format!(
                "a block of {threads} threads is launched, but the kernel allows at most {}",
                self.metadata.max_threads
            )));
        }
        let explicit = arguments::explicit_bytes(&self.metadata);
        if launch.arguments.len() > explicit as usize {
            let given = launch.arguments.len();
            return Err(refuse(format!(
                "{given} bytes of arguments are passed, but the kernel takes {explicit}"
            )));
        }
        Ok(GfxBlock::new(self, launch, memory, index, seed))
    }

    fn instructions(&self) -> usize {
        self.handlers.len()
    }
}
