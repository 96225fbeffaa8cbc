//! An image of either family, loaded and ready to launch.

use thiserror::Error;

use crate::{Counters, Fault, FaultKind, InstructionInfo, Launch, Memory, gfx11, grid, ptx};

/// An image in the memory of a simulated device. The memory must outlive it.
#[derive(Debug)]
pub enum Image {
    /// A code object of RDNA 3 or RDNA 3.5.
    Gfx11(gfx11::Loaded),
    /// PTX.
    Ptx(ptx::Loaded),
}

/// Why an image cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// It is not a code object that the simulator reads.
    #[error(transparent)]
    CodeObject(#[from] gfx11::CodeObjectError),
    /// It has no such kernel, or one that cannot be executed.
    #[error(transparent)]
    Gfx11Kernel(#[from] gfx11::KernelError),
    /// It is not PTX.
    #[error(transparent)]
    Ptx(#[from] ptx::ParseError),
    /// The PTX has no kernel of the name.
    #[error("the PTX has no kernel `{0}`")]
    PtxKernel(String),
    /// It does not fit into the memory.
    #[error("loading the image: {0}")]
    Memory(#[from] FaultKind),
}

/// A parameter of a kernel in its parameter buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its offset in bytes.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
}

/// What a launch of a kernel must fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// The parameters that a caller gives, in order.
    pub parameters: Vec<Parameter>,
    /// The size of the buffer that holds them, in bytes.
    pub parameter_bytes: u32,
    /// Shared memory that the kernel declares, in bytes.
    pub static_shared_bytes: u32,
    /// The most threads of a block.
    pub max_threads: u32,
}

/// A kernel of an image, decoded.
#[derive(Debug)]
pub struct Kernel {
    /// What a launch of it must fit.
    pub info: KernelInfo,
    program: KernelProgram,
}

/// The decoded program of either family.
#[derive(Debug)]
enum KernelProgram {
    Gfx11(Box<gfx11::Kernel>),
    Ptx(ptx::Kernel),
}

impl Image {
    /// Loads a code object.
    ///
    /// # Errors
    /// If it is damaged, for another machine or too large for the memory.
    pub fn of_code_object(bytes: &[u8], memory: &Memory) -> Result<Image, ImageError> {
        let object = gfx11::CodeObject::parse(bytes)?;
        Ok(Image::Gfx11(object.load(memory)?))
    }

    /// Loads PTX: allocates its variables and constants.
    ///
    /// # Errors
    /// If the text is not PTX, or its variables do not fit into the memory.
    pub fn of_ptx(text: &str, memory: &Memory) -> Result<Image, ImageError> {
        let module = ptx::Module::parse(text)?;
        Ok(Image::Ptx(module.load(memory)?))
    }

    /// The kernel of a name.
    ///
    /// # Errors
    /// If there is none, or it needs what the simulator does not have.
    pub fn kernel(&self, name: &str) -> Result<Kernel, ImageError> {
        match self {
            Image::Gfx11(loaded) => Ok(Kernel::of_gfx11(loaded.kernel(name)?)),
            Image::Ptx(loaded) => match loaded.kernel(name) {
                Some(kernel) => Ok(Kernel::of_ptx(kernel)),
                None => Err(ImageError::PtxKernel(name.into())),
            },
        }
    }
}

impl Kernel {
    fn of_gfx11(kernel: gfx11::Kernel) -> Kernel {
        let metadata = kernel.metadata();
        let given = metadata
            .arguments
            .iter()
            .filter(|argument| !argument.is_hidden());
        let parameters: Vec<Parameter> = given
            .map(|argument| Parameter {
                offset: argument.offset,
                bytes: argument.bytes,
            })
            .collect();
        let end = parameters.iter().map(|one| one.offset + one.bytes).max();
        Kernel {
            info: KernelInfo {
                parameter_bytes: end.unwrap_or(0),
                parameters,
                static_shared_bytes: metadata.shared_bytes,
                max_threads: metadata.max_threads,
            },
            program: KernelProgram::Gfx11(Box::new(kernel)),
        }
    }

    fn of_ptx(kernel: ptx::Kernel) -> Kernel {
        let entry = kernel.entry();
        let parameters = entry.parameters().iter();
        let info = KernelInfo {
            parameters: parameters
                .map(|&(offset, bytes)| Parameter { offset, bytes })
                .collect(),
            parameter_bytes: entry.parameter_bytes(),
            static_shared_bytes: entry.static_bytes(),
            max_threads: entry.max_threads(),
        };
        Kernel {
            info,
            program: KernelProgram::Ptx(kernel),
        }
    }

    /// What is known of each instruction, by its index in [`Counters::executed`].
    pub fn instructions(&self) -> Vec<InstructionInfo> {
        match &self.program {
            KernelProgram::Gfx11(kernel) => kernel.instructions().collect(),
            KernelProgram::Ptx(kernel) => kernel.instructions().collect(),
        }
    }

    /// Launches it and waits for its end.
    ///
    /// # Errors
    /// What the kernel did wrong, and where.
    pub fn launch(&self, launch: &Launch, memory: &Memory) -> Result<Counters, Fault> {
        self.launch_blocks(launch, memory, (0..launch.blocks()).collect())
    }

    /// Launches only some of its blocks: their linear indices, x fastest.
    ///
    /// # Errors
    /// Those of [`Self::launch`].
    pub fn launch_blocks(
        &self,
        launch: &Launch,
        memory: &Memory,
        blocks: Vec<u64>,
    ) -> Result<Counters, Fault> {
        match &self.program {
            KernelProgram::Gfx11(kernel) => grid::run_blocks(&**kernel, launch, memory, blocks),
            KernelProgram::Ptx(kernel) => grid::run_blocks(kernel, launch, memory, blocks),
        }
    }
}
