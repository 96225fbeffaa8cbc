//! A loaded image of either GPU family (AMD gfx11 or NVIDIA PTX), and its kernels.

use thiserror::Error;

use crate::{Counters, Fault, FaultKind, InstructionInfo, Launch, Memory, gfx11, grid, ptx};

/// An image, loaded into the memory of a simulated device. The memory must outlive the image.
#[derive(Debug)]
pub enum Image {
    /// A code object for RDNA 3 or RDNA 3.5.
    Gfx11(gfx11::Loaded),
    /// A PTX module.
    Ptx(ptx::Loaded),
}

/// Why an image or a kernel cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The bytes are not a code object that the simulator can read.
    #[error(transparent)]
    CodeObject(#[from] gfx11::CodeObjectError),
    /// The code object has no kernel of this name, or the simulator cannot execute the kernel.
    #[error(transparent)]
    Gfx11Kernel(#[from] gfx11::KernelError),
    /// The text is not PTX that the simulator can parse.
    #[error(transparent)]
    Ptx(#[from] ptx::ParseError),
    /// The PTX has no kernel of this name.
    #[error("the PTX has no kernel `{0}`")]
    PtxKernel(String),
    /// The image does not fit into the memory.
    #[error("loading the image: {0}")]
    Memory(#[from] FaultKind),
}

/// The position of a kernel's parameter in the parameter buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The offset in bytes.
    pub offset: u32,
    /// The size in bytes.
    pub bytes: u32,
}

/// The properties of a kernel that its launches must respect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// The parameters that the caller supplies, in order.
    pub parameters: Vec<Parameter>,
    /// The size of the parameter buffer in bytes.
    pub parameter_bytes: u32,
    /// The static shared memory of a block, in bytes.
    pub static_shared_bytes: u32,
    /// Maximum number of threads of a block.
    pub max_threads: u32,
    /// The only block (threads along x, y, z) with which the kernel can be launched; `None` if it requires none.
    pub required_block: Option<[u32; 3]>,
    /// Blocks per cluster along each axis; `None` without clusters. The simulator runs the blocks of a cluster like any
    /// other blocks; instructions that depend on clusters are not implemented.
    pub cluster: Option<[u32; 3]>,
    /// Whether the grid of a launch counts clusters instead of blocks.
    pub grid_of_clusters: bool,
}

/// A decoded kernel of an image.
#[derive(Debug)]
pub struct Kernel {
    /// The properties of the kernel that its launches must respect.
    pub info: KernelInfo,
    program: KernelProgram,
}

/// The decoded program, for either GPU family.
#[derive(Debug)]
enum KernelProgram {
    Gfx11(Box<gfx11::Kernel>),
    Ptx(ptx::Kernel),
}

impl Image {
    /// Loads a code object.
    ///
    /// # Errors
    /// If the code object is damaged, is built for another GPU, or does not fit into the memory.
    pub fn of_code_object(bytes: &[u8], memory: &Memory) -> Result<Image, ImageError> {
        let object = gfx11::CodeObject::parse(bytes)?;
        Ok(Image::Gfx11(object.load(memory)?))
    }

    /// Loads PTX, and allocates its global variables and constants.
    ///
    /// # Errors
    /// If the simulator cannot parse the text, or if the variables do not fit into the memory.
    pub fn of_ptx(text: &str, memory: &Memory) -> Result<Image, ImageError> {
        let module = ptx::Module::parse(text)?;
        Ok(Image::Ptx(module.load(memory)?))
    }

    /// The address and the size in bytes of a variable in global or constant memory. `None` if the image has no such
    /// variable.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        match self {
            Image::Gfx11(loaded) => loaded.variable(name),
            Image::Ptx(loaded) => loaded.variable(name),
        }
    }

    /// Decodes the kernel of this name.
    ///
    /// # Errors
    /// If the image has no such kernel, or if the kernel needs a feature that the simulator does not have.
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
                required_block: None,
                cluster: None,
                grid_of_clusters: false,
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
            required_block: entry.required_threads(),
            cluster: entry.cluster(),
            grid_of_clusters: entry.grid_of_clusters(),
        };
        Kernel {
            info,
            program: KernelProgram::Ptx(kernel),
        }
    }

    /// The static description of each instruction. The indices are those of [`Counters::executed`].
    pub fn instructions(&self) -> Vec<InstructionInfo> {
        match &self.program {
            KernelProgram::Gfx11(kernel) => kernel.instructions().collect(),
            KernelProgram::Ptx(kernel) => kernel.instructions().collect(),
        }
    }

    /// Launches the kernel, and waits until it ends.
    ///
    /// # Errors
    /// The fault of the kernel and its position.
    pub fn launch(&self, launch: &Launch, memory: &Memory) -> Result<Counters, Fault> {
        self.launch_blocks(launch, memory, (0..launch.blocks()).collect())
    }

    /// Launches only some of the blocks, specified by their linear indices. The x index varies fastest.
    ///
    /// # Errors
    /// The same as for [`Self::launch`].
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
