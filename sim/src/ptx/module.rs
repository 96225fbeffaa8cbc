//! Modules, and the variables of loaded modules.

use std::sync::{Arc, Mutex};

use super::ParseError;
use super::code::Code;
use super::kernel::{Entry, Kernel};
use super::lower::lower;
use super::parser::parse;
use super::sources::Sources;
use super::syntax::{Init, Space};
use crate::launch::MAX_INSTRUCTIONS;
use crate::{FaultKind, Memory};

/// The value of a pointer to a function. No memory has this address.
const NO_ADDRESS: u64 = 0xdead_c0de_0000_0000;

/// A parsed and decoded module.
#[derive(Clone, Debug)]
pub struct Module {
    kernels: Vec<Arc<Code>>,
    variables: Arc<[Variable]>,
    sources: Arc<Sources>,
}

#[derive(Debug)]
struct Variable {
    name: String,
    bytes: u64,
    element: usize,
    init: Vec<Element>,
    /// Whether the variable is in global or constant memory.
    placed: bool,
}

#[derive(Clone, Debug)]
enum Element {
    Bits(u64),
    /// The address of a variable (by index) plus an offset.
    Address(usize, i64),
}

impl Module {
    /// Parses a module, and decodes all of its kernels. An instruction that the simulator does not implement is not an
    /// error here, but ends any launch that reaches it.
    ///
    /// # Errors
    /// If the text is not valid PTX, or uses a name that it does not declare.
    pub fn parse(text: &str) -> Result<Module, ParseError> {
        let ast = parse(text)?;
        let index = |name: &str| {
            ast.variables
                .iter()
                .position(|variable| variable.name == name)
        };
        let mut variables = Vec::new();
        for variable in &ast.variables {
            let mut init = Vec::new();
            for element in &variable.init {
                init.push(match element {
                    Init::Bits(bits) => Element::Bits(*bits),
                    Init::Address { name, offset, .. } => match index(name) {
                        Some(at) => Element::Address(at, *offset),
                        // Functions have no address here, because indirect calls are not implemented.
                        None if ast.functions.iter().any(|f| f.name == *name) => {
                            Element::Bits(NO_ADDRESS)
                        }
                        None => {
                            return Err(ParseError {
                                line: 0,
                                message: format!(
                                    "`{}` is initialised with `{name}`, which is neither a variable nor a function",
                                    variable.name
                                ),
                            });
                        }
                    },
                });
            }
            variables.push(Variable {
                name: variable.name.to_owned(),
                bytes: variable.bytes(),
                element: variable.ty.bytes() as usize,
                init,
                placed: matches!(variable.space, Space::Global | Space::Const),
            });
        }
        let kernels = ast
            .functions
            .iter()
            .filter(|function| function.entry && function.body.is_some());
        let kernels = kernels
            .map(|function| lower(&ast, function).map(Arc::new))
            .collect::<Result<_, _>>()?;
        Ok(Module {
            kernels,
            variables: variables.into(),
            sources: Arc::new(Sources {
                lines: text.lines().map(|line| line.trim().to_owned()).collect(),
                files: ast
                    .files
                    .iter()
                    .map(|(number, name)| (*number, (*name).to_owned()))
                    .collect(),
            }),
        })
    }

    /// The names of the kernels, in the order of the text.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|code| code.name.as_str())
    }

    /// The kernel of this name.
    pub fn entry(&self, name: &str) -> Option<Entry<'_>> {
        let code = self.kernels.iter().find(|code| code.name == name)?;
        Some(Entry { code })
    }

    /// Allocates the variables of the module in `memory`, and initialises them.
    ///
    /// # Errors
    /// [`FaultKind::OutOfBounds`] if an initialiser is longer than its variable.
    pub fn load(&self, memory: &Memory) -> Result<Loaded, FaultKind> {
        let place = |variable: &Variable| match variable.placed {
            true => memory.alloc(variable.bytes.max(1) as usize),
            false => 0,
        };
        let addresses: Vec<u64> = self.variables.iter().map(place).collect();
        for (variable, &address) in self.variables.iter().zip(&addresses) {
            let mut data = Vec::new();
            for element in &variable.init {
                let bits = match element {
                    Element::Bits(bits) => *bits,
                    Element::Address(at, offset) => addresses[*at].wrapping_add(*offset as u64),
                };
                data.extend_from_slice(&bits.to_le_bytes()[..variable.element.min(8)]);
            }
            if variable.placed {
                memory.write(address, &data)?;
            }
        }
        Ok(Loaded {
            module: self.clone(),
            addresses,
        })
    }
}

/// A module whose variables are allocated in the memory of a device.
#[derive(Clone, Debug)]
pub struct Loaded {
    module: Module,
    addresses: Vec<u64>,
}

impl Loaded {
    /// The address and the size in bytes of a variable in global or constant memory. `None` if the module has no such
    /// variable.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let all = self.module.variables.iter().zip(&self.addresses);
        let mut found = all.filter(|(variable, _)| variable.placed && variable.name == name);
        found
            .next()
            .map(|(variable, &address)| (address, variable.bytes))
    }

    /// The kernel of this name, ready to launch.
    pub fn kernel(&self, name: &str) -> Option<Kernel> {
        let code = self.module.kernels.iter().find(|code| code.name == name)?;
        Some(Kernel {
            code: Arc::clone(code),
            sources: Arc::clone(&self.module.sources),
            addresses: self.addresses.clone(),
            lock: Mutex::new(()),
            max_instructions: MAX_INSTRUCTIONS,
        })
    }

    /// Frees the variables. Returns `false` if one of them was freed before.
    pub fn unload(self, memory: &Memory) -> bool {
        let placed = self
            .module
            .variables
            .iter()
            .zip(&self.addresses)
            .filter(|(variable, _)| variable.placed);
        placed.fold(true, |all, (_, &address)| memory.free(address) && all)
    }
}
