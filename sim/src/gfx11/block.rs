//! A block in execution.

use super::arguments;
use super::execute::execute;
use super::flow::Step;
use super::garbage::Garbage;
use super::isa::operand::EXEC;
use super::kernel::Kernel;
use super::lds::{Lds, ShareFault};
use super::space::{ARGUMENTS, PACKET, Space};
use super::trouble::{Shared, Trouble};
use super::undefined;
use super::wave::{Standing, Wave};
use crate::traffic::Requests;
use crate::{Block, Counters, Fault, FaultKind, Launch, MemoryView, Place, Progress};

/// A block of a kernel, with its waves and its shared memory.
pub struct GfxBlock<'a> {
    kernel: &'a Kernel,
    index: [u32; 3],
    waves: Vec<Wave>,
    shared: Shared<'a>,
    /// The number of the next barrier. All waves pass barriers in the order of their numbers.
    barrier: u32,
}

impl<'a> GfxBlock<'a> {
    pub(super) fn new(
        kernel: &'a Kernel,
        launch: &'a Launch,
        memory: &'a MemoryView,
        index: [u32; 3],
        seed: u64,
    ) -> GfxBlock<'a> {
        let mut garbage = Garbage::new(seed);
        let shared_bytes = kernel.descriptor.shared_bytes + launch.shared_bytes;
        let base = kernel.loaded.base;
        let constant = kernel
            .loaded
            .object
            .constant()
            .iter()
            .map(|&(at, size)| (base + at, base + at + size));
        let space = Space {
            view: memory,
            arguments: arguments::segment(&kernel.metadata, launch, launch.shared_bytes),
            packet: arguments::packet(&kernel.metadata, launch, shared_bytes),
            constant: constant.collect(),
        };
        let waves = (0..launch.threads().div_ceil(32)).map(|wave| {
            let threads = launch.threads() - wave * 32;
            let exec = if threads >= 32 {
                u32::MAX
            } else {
                (1 << threads) - 1
            };
            first_state(kernel, launch, index, wave as u32, exec, &mut garbage)
        });
        let waves = waves.collect();
        GfxBlock {
            kernel,
            index,
            waves,
            shared: Shared {
                lds: Lds::new(shared_bytes as usize, || garbage.word()),
                space,
                counters: Counters::of_program(kernel.handlers.len()),
                requests: Requests::default(),
                at: 0,
            },
            barrier: 0,
        }
    }

    fn fault(&self, trouble: Trouble, wave: usize, at: u32) -> Fault {
        let place = |at, warp, lane| {
            Box::new(Place {
                block: self.index,
                warp,
                lane,
                ..self.kernel.place(at)
            })
        };
        let here = place(at, wave as u32, trouble.lane);
        let kind = match trouble.fault {
            ShareFault::Plain(kind) => kind,
            ShareFault::Undefined(from) => {
                return Fault {
                    kind: from.kind(|at| {
                        let place = self.kernel.place(at);
                        (place.instruction, place.line)
                    }),
                    place: place(from.at, from.warp.into(), Some(from.lane.into())),
                    used_at: Some(here),
                };
            }
            ShareFault::Race { offset, wave, at } => {
                let other = self.kernel.place(at);
                FaultKind::Race {
                    offset,
                    other: (wave != super::lds_trace::SEVERAL).then(|| wave.into()),
                    instruction: other.instruction,
                    line: other.line,
                }
            }
        };
        Fault {
            kind,
            place: here,
            used_at: None,
        }
    }

    /// Ends a block that executes too many instructions, for example an endless loop.
    fn check_length(&self, wave: usize) -> Result<(), Fault> {
        let instructions = self.kernel.max_instructions;
        if self.shared.counters.instructions <= instructions {
            return Ok(());
        }
        let kind = FaultKind::TooLong { instructions };
        Err(self.fault(kind.into(), wave, self.shared.at))
    }

    /// Releases the waves that wait at the barrier, if all waves have arrived.
    fn release(&mut self) {
        let barrier = self.barrier;
        let missing = self
            .waves
            .iter()
            .any(|wave| wave.standing == Standing::Runs);
        let waits = self
            .waves
            .iter()
            .any(|wave| wave.standing == Standing::AtBarrier(barrier));
        if missing || !waits {
            return;
        }
        for wave in &mut self.waves {
            if wave.standing == Standing::AtBarrier(barrier) {
                wave.standing = Standing::Runs;
            }
        }
        self.barrier += 1;
        self.shared.lds.next_interval();
    }

    /// Executes instructions of a wave until its turn ends, or until it waits or ends.
    fn run(&mut self, number: usize, turn: u32) -> Result<(), (Trouble, u32)> {
        let mut left = turn;
        let done = self.run_on(number, &mut left);
        self.shared.counters.instructions += u64::from(turn - left);
        done
    }

    #[inline(always)]
    fn run_on(&mut self, number: usize, left: &mut u32) -> Result<(), (Trouble, u32)> {
        let kernel = self.kernel;
        let text = &**kernel.loaded.object.text();
        let wave = &mut self.waves[number];
        let shared = &mut self.shared;
        while *left > 0 {
            let at = wave.next;
            let Some(one) = text.placed.get(at as usize) else {
                let what = "the code ends here".into();
                return Err((FaultKind::Invalid { what }.into(), at));
            };
            *left -= 1;
            shared.counters.executed[at as usize] += 1;
            shared.counters.lanes[at as usize] += crate::lanes::count(wave.exec());
            shared.at = at;
            wave.next = at + 1;
            let number = number as u8;
            let step = match wave.undefined {
                None => execute(kernel, text, number, wave, shared, one),
                Some(_) => undefined::execute(kernel, text, number, wave, shared, one),
            };
            match step.map_err(|trouble| (trouble, at))? {
                Step::On => {}
                Step::Barrier => {
                    shared.counters.barriers += 1;
                    wave.standing = Standing::AtBarrier(self.barrier);
                    return Ok(());
                }
                Step::End => {
                    wave.standing = Standing::Ended;
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// The registers of a wave before its first instruction.
fn first_state(
    kernel: &Kernel,
    launch: &Launch,
    index: [u32; 3],
    number: u32,
    exec: u32,
    garbage: &mut Garbage,
) -> Wave {
    let descriptor = &kernel.descriptor;
    let mut vector = Box::new([[0; 32]; 256]);
    vector.fill_with(|| garbage.lanes());
    let mut scalar: [u32; 128] = std::array::from_fn(|_| garbage.word());
    scalar[usize::from(EXEC)] = exec;
    scalar[usize::from(EXEC) + 1] = 0;
    let mut next = 0;
    let mut put = |value: &[u32]| {
        for &word in value {
            scalar[next & 127] = word;
            next += 1;
        }
    };
    let pair = |value: u64| [value as u32, (value >> 32) as u32];
    let poison = [0xcdcd_cdcd; 4];
    let properties = descriptor.properties;
    let values: [(u16, &[u32]); 7] = [
        (0, &poison),
        (1, &pair(PACKET)),
        (2, &poison[..2]),
        (3, &pair(ARGUMENTS)),
        (4, &poison[..2]),
        (5, &poison[..2]),
        (6, &[descriptor.scratch_bytes]),
    ];
    for (_, value) in values.iter().filter(|(bit, _)| properties >> bit & 1 != 0) {
        put(value);
    }
    let enabled = index
        .into_iter()
        .zip(descriptor.block_index)
        .filter(|(_, enabled)| *enabled);
    for (next, (index, _)) in (descriptor.user_registers as usize..).zip(enabled) {
        scalar[next & 127] = index;
    }
    let [x, y, _] = launch.block;
    for (lane, packed) in vector[0].iter_mut().enumerate() {
        let linear = number * 32 + lane as u32;
        let position = [linear % x, linear / x % y, linear / (x * y)];
        let kept = descriptor.thread_index as usize + 1;
        let packing = position.iter().take(kept).enumerate();
        *packed = packing.fold(0, |packed, (i, position)| {
            packed | (position & 0x3ff) << (10 * i)
        });
    }
    let words = descriptor.scratch_bytes.div_ceil(4) as usize;
    Wave {
        vector,
        scalar,
        scc: garbage.word() & 1 != 0,
        next: kernel.first,
        mode: kernel.mode(),
        standing: Standing::Runs,
        scratch: (0..words).map(|_| garbage.lanes()).collect(),
        undefined: None,
    }
}

impl Block for GfxBlock<'_> {
    fn warps(&self) -> usize {
        self.waves.len()
    }

    fn step(&mut self, warp: usize, turn: u32) -> Result<Progress, Fault> {
        if self.waves[warp].standing == Standing::Runs {
            let ended = self.run(warp, turn);
            ended.map_err(|(trouble, at)| self.fault(trouble, warp, at))?;
            self.check_length(warp)?;
            self.release();
        }
        Ok(match self.waves[warp].standing {
            Standing::Runs => Progress::Ready,
            Standing::AtBarrier(_) => Progress::Waits,
            Standing::Ended => Progress::Done,
        })
    }

    fn deadlock(&self) -> Fault {
        let wave = self
            .waves
            .iter()
            .position(|wave| wave.standing != Standing::Ended)
            .unwrap_or(0);
        let what = "a barrier that not all warps reach".into();
        let at = self.waves[wave].next.saturating_sub(1);
        self.fault(FaultKind::Deadlock { what }.into(), wave, at)
    }

    fn counters(&self) -> &Counters {
        &self.shared.counters
    }
}
