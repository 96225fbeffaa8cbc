//! Arguments of launches in the form that backends take.

use std::ffi::c_void;

/// The arguments of one launch: a pointer to each value, in the order of the kernel's parameters, as in
/// `cuLaunchKernel`.
#[derive(Clone, Copy, Debug)]
pub struct KernelArgs<'a> {
    pub(crate) pointers: &'a [*const c_void],
    memory: &'a [ArgMemory<'a>],
}

/// The memory of one argument, for builds that check every access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgMemory<'a> {
    /// The argument's name.
    pub name: &'a str,
    /// The first address in kernels.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

impl<'a> KernelArgs<'a> {
    /// Arguments without a description of their memory.
    pub(crate) const fn of(pointers: &'a [*const c_void]) -> KernelArgs<'a> {
        KernelArgs {
            pointers,
            memory: &[],
        }
    }

    /// The same with all memory that the kernel may use. Without this list, a check build permits every allocation of
    /// the device.
    pub fn with_memory(self, memory: &'a [ArgMemory<'a>]) -> KernelArgs<'a> {
        KernelArgs { memory, ..self }
    }

    /// The pointers.
    pub fn pointers(self) -> &'a [*const c_void] {
        self.pointers
    }

    /// The memory that the kernel may use, if it is known.
    pub fn memory(self) -> &'a [ArgMemory<'a>] {
        self.memory
    }
}

/// Sets of arguments that launches use in turn: each set is for one launch, with its own data.
#[derive(Clone, Copy, Debug)]
pub struct ArgSets<'a>(&'a [KernelArgs<'a>]);

impl<'a> ArgSets<'a> {
    /// Sets of arguments; `None` if there are none, or their numbers of arguments differ.
    pub fn new(sets: &'a [KernelArgs<'a>]) -> Option<ArgSets<'a>> {
        let count = sets.first()?.pointers.len();
        let alike = sets.iter().all(|args| args.pointers.len() == count);
        alike.then_some(ArgSets(sets))
    }

    /// The first set.
    pub fn first(self) -> KernelArgs<'a> {
        self.0[0]
    }

    /// The sets of `launches` launches.
    pub fn in_turn(self, launches: u32) -> impl Iterator<Item = KernelArgs<'a>> {
        self.0.iter().copied().cycle().take(launches as usize)
    }

    /// The sets that `launches` launches use, each once.
    pub fn of_launches(self, launches: u32) -> &'a [KernelArgs<'a>] {
        &self.0[..self.0.len().min(launches as usize)]
    }
}
