//! Arguments of launches, in the form that backends accept.

use std::ffi::c_void;

/// The arguments of one launch, as `cuLaunchKernel` takes them: one pointer to each value, in the order of the
/// kernel's parameters.
#[derive(Clone, Copy, Debug)]
pub struct KernelArgs<'a> {
    pub(crate) pointers: &'a [*const c_void],
    memory: &'a [ArgMemory<'a>],
}

/// The memory that one argument refers to. A check build (a build of the kernel that checks every memory access)
/// compares each access with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgMemory<'a> {
    /// The argument's name.
    pub name: &'a str,
    /// The first address, as kernels see it.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
    /// Whether the kernel may use what the memory holds when the launch begins. It may not for an output.
    pub has_content: bool,
}

impl<'a> KernelArgs<'a> {
    /// Arguments without a description of the memory that they refer to.
    pub(crate) const fn of(pointers: &'a [*const c_void]) -> KernelArgs<'a> {
        KernelArgs {
            pointers,
            memory: &[],
        }
    }

    /// Adds the list of all memory that the kernel may access. Without this list, a check build permits accesses to
    /// every allocation of the device.
    pub fn with_memory(self, memory: &'a [ArgMemory<'a>]) -> KernelArgs<'a> {
        KernelArgs { memory, ..self }
    }

    /// The pointers to the values.
    pub fn pointers(self) -> &'a [*const c_void] {
        self.pointers
    }

    /// The memory that the kernel may access; empty if it is not known.
    pub fn memory(self) -> &'a [ArgMemory<'a>] {
        self.memory
    }
}

/// Sets of arguments that consecutive launches use alternately. Each set has its own data.
#[derive(Clone, Copy, Debug)]
pub struct ArgSets<'a>(&'a [KernelArgs<'a>]);

impl<'a> ArgSets<'a> {
    /// Groups sets of arguments. Returns `None` if there are no sets or if their numbers of arguments differ.
    pub fn new(sets: &'a [KernelArgs<'a>]) -> Option<ArgSets<'a>> {
        let count = sets.first()?.pointers.len();
        let alike = sets.iter().all(|args| args.pointers.len() == count);
        alike.then_some(ArgSets(sets))
    }

    /// The first set.
    pub fn first(self) -> KernelArgs<'a> {
        self.0[0]
    }

    /// The set for each of `launches` consecutive launches, which alternate between all sets.
    pub fn in_turn(self, launches: u32) -> impl Iterator<Item = KernelArgs<'a>> {
        self.0.iter().copied().cycle().take(launches as usize)
    }

    /// The sets that `launches` consecutive launches use, each listed once.
    pub fn of_launches(self, launches: u32) -> &'a [KernelArgs<'a>] {
        &self.0[..self.0.len().min(launches as usize)]
    }
}
