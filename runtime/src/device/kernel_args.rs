//! Arguments of launches, as backends take them.

use std::ffi::c_void;

/// Arguments of one launch: a pointer to each value, in the order of the kernel's parameters, as
/// `cuLaunchKernel` takes them.
#[derive(Clone, Copy, Debug)]
pub struct KernelArgs<'a> {
    pub(crate) pointers: &'a [*const c_void],
    memory: &'a [ArgMemory<'a>],
}

/// The memory behind one argument, for builds that check every access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgMemory<'a> {
    /// The argument's name.
    pub name: &'a str,
    /// The first address, as the kernel sees it.
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

    /// The same with all memory that the kernel may use. A build for checking that is not told which takes every
    /// allocation of the device.
    pub fn with_memory(self, memory: &'a [ArgMemory<'a>]) -> KernelArgs<'a> {
        KernelArgs { memory, ..self }
    }

    /// The pointers.
    pub fn pointers(self) -> &'a [*const c_void] {
        self.pointers
    }

    /// The memory that the kernel may use, if that is known.
    pub fn memory(self) -> &'a [ArgMemory<'a>] {
        self.memory
    }
}

/// Arguments of launches that take them in turn: each set is of one launch, with data of its own.
#[derive(Clone, Copy, Debug)]
pub struct ArgSets<'a>(&'a [KernelArgs<'a>]);

impl<'a> ArgSets<'a> {
    /// Sets of arguments; `None` if there is no set, or not every one has the same number of arguments.
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

    /// The sets that `launches` launches take, each once.
    pub fn of_launches(self, launches: u32) -> &'a [KernelArgs<'a>] {
        &self.0[..self.0.len().min(launches as usize)]
    }
}
