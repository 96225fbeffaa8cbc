//! Decodes the body of a kernel: names become registers, addresses and instruction indices, and calls are inlined.

mod memory;
mod names;
mod operands;
mod statement;
mod uses;
mod warp;
mod warpgroup;

use std::collections::HashMap;

use super::ParseError;
use super::code::{Code, File, Inst, Op, Origin, Reg, Source, Value, after_gap};
use super::flow::fill_joins;
use super::syntax::{Ast, Function, Item, Location, Space, Statement, Variable};
use names::{Binding, Scope};
use uses::Uses;

/// Maximum nesting of functions that the compiler inlined. A longer chain is cut off.
const MAX_INLINED: usize = 64;
/// Maximum nesting of calls.
const MAX_CALLS: usize = 64;
/// Maximum number of instructions of a kernel after its calls are inlined.
const MAX_INSTRUCTIONS: usize = 1 << 22;

/// Decodes a kernel.
pub(super) fn lower<'a>(ast: &'a Ast<'a>, function: &'a Function<'a>) -> Result<Code, ParseError> {
    let mut lower = Lower {
        ast,
        code: Code {
            name: function.name.to_owned(),
            // Predicate 0 is always true.
            preds: 1,
            dynamic_align: 1,
            granule: 4,
            required_threads: function.required_threads,
            cluster: function.cluster,
            grid_of_clusters: function.grid_of_clusters,
            ..Code::default()
        },
        constants: HashMap::new(),
        scopes: Vec::new(),
        labels: Vec::new(),
        calls: Vec::new(),
        inlined: HashMap::new(),
        shared: HashMap::new(),
        origin: Origin::default(),
        guard: (0, false),
        uses: Uses::default(),
    };
    let threads = function.required_threads.or(function.max_threads);
    lower.code.max_threads =
        threads.map_or(1024, |[x, y, z]| x.saturating_mul(y).saturating_mul(z));
    lower.kernel(function)?;
    Ok(lower.code)
}

struct Lower<'a> {
    ast: &'a Ast<'a>,
    code: Code,
    constants: HashMap<(File, Value), u32>,
    scopes: Vec<Scope<'a>>,
    /// The instruction index of each label, once it is known.
    labels: Vec<Option<u32>>,
    /// The functions that are being inlined, each with the label that follows its call. The first one is the kernel,
    /// which has no such label.
    calls: Vec<(&'a str, Option<u32>)>,
    /// For each place in a function that the compiler inlined, the place of the call.
    inlined: HashMap<[u32; 3], [u32; 3]>,
    /// The offsets of the module's shared variables that the kernel uses.
    shared: HashMap<&'a str, u32>,
    origin: Origin,
    guard: (u32, bool),
    uses: Uses,
}

impl<'a> Lower<'a> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError {
            line: self.origin.text,
            message: message.into(),
        })
    }

    fn kernel(&mut self, function: &'a Function<'a>) -> Result<(), ParseError> {
        self.origin.text = function.line;
        let mut scope = Scope::default();
        let mut end = 0u64;
        for parameter in &function.parameters {
            let offset = end.next_multiple_of(u64::from(parameter.align.max(1)));
            end = offset + parameter.bytes();
            if end > 1 << 16 {
                return self.error("the parameters are larger than 64 KiB");
            }
            self.code
                .parameters
                .push((offset as u32, parameter.bytes() as u32));
            scope.bind(parameter.name, Binding::Parameter(offset as u32));
        }
        self.code.parameter_bytes = end as u32;
        self.scopes.push(scope);
        self.calls.push((function.name, None));
        self.body(function)?;
        self.guard = (0, false);
        self.emit(Op::Exit);
        self.patch()?;
        fill_joins(&mut self.code.insts);
        self.code.uses = self.uses.of_products(&self.code);
        Ok(())
    }

    /// Decodes the items of a function, in new scopes.
    fn body(&mut self, function: &'a Function<'a>) -> Result<(), ParseError> {
        let Some(items) = &function.body else {
            return self.error(format!("`{}` has no body", function.name));
        };
        let mut labels = self.find_labels(items);
        let outer = self.scopes.len();
        let mut braces = 0;
        self.scopes.push(Scope::with_labels(labels.remove(&0)));
        for item in items {
            match item {
                Item::Open => {
                    braces += 1;
                    self.scopes.push(Scope::with_labels(labels.remove(&braces)));
                }
                Item::Close => drop(self.scopes.pop()),
                _ => self.item(item)?,
            }
        }
        self.scopes.truncate(outer);
        Ok(())
    }

    /// Finds the labels of a body in advance, because a label may be used before its definition. The key is the scope's
    /// number.
    fn find_labels(&mut self, items: &'a [Item<'a>]) -> HashMap<u32, Vec<(&'a str, Binding<'a>)>> {
        let mut all: HashMap<u32, Vec<(&'a str, Binding<'a>)>> = HashMap::new();
        let (mut braces, mut open) = (0, vec![0]);
        for item in items {
            let here = open.last().copied().unwrap_or(0);
            match item {
                Item::Open => {
                    braces += 1;
                    open.push(braces);
                }
                Item::Close => drop(open.pop()),
                Item::Label(name) => {
                    let label = self.labels.len() as u32;
                    self.labels.push(None);
                    all.entry(here)
                        .or_default()
                        .push((name, Binding::Label(label)));
                }
                Item::Targets(name, targets) => {
                    all.entry(here)
                        .or_default()
                        .push((name, Binding::Targets(targets)));
                }
                _ => {}
            }
        }
        all
    }

    fn item(&mut self, item: &'a Item<'a>) -> Result<(), ParseError> {
        match item {
            Item::Registers { ty, name, count } => self.declare_registers(*ty, name, *count),
            Item::Variable(variable) => self.declare(variable),
            Item::Location(location) => {
                self.origin.source = Some(self.located(*location));
                Ok(())
            }
            Item::Label(name) => {
                let here = self.code.insts.len() as u32;
                let label = self.label(name)?;
                self.labels[label as usize] = Some(here);
                Ok(())
            }
            Item::Statement(statement) => self.guarded(statement),
            Item::Open | Item::Close | Item::Targets(..) => Ok(()),
        }
    }

    /// The source line of a `.loc` directive. The inlined function may have been called from a function that is itself
    /// inlined. The directive for that outer call came earlier, so the place of the outer call is already known.
    fn located(&mut self, location: Location) -> Source {
        let Location { at, inlined_at } = location;
        match inlined_at {
            Some(call) => self.inlined.insert(at, call),
            None => self.inlined.remove(&at),
        };
        let mut outermost = inlined_at;
        for _ in 0..MAX_INLINED {
            let next = outermost.and_then(|call| self.inlined.get(&call));
            match next {
                Some(call) => outermost = Some(*call),
                None => break,
            }
        }
        Source {
            file: at[0],
            line: at[1],
            called_at: outermost.map(|[file, line, _]| (file, line)),
        }
    }

    fn guarded(&mut self, statement: &'a Statement<'a>) -> Result<(), ParseError> {
        self.origin.text = statement.line;
        self.uses.begin(statement);
        if self.code.insts.len() > MAX_INSTRUCTIONS {
            return self.error(format!(
                "`{}` has more than {MAX_INSTRUCTIONS} instructions",
                self.code.name
            ));
        }
        self.guard = match statement.guard {
            None => (0, false),
            Some((name, negated)) => {
                let reg = self.register(name)?;
                if reg.file != File::Pred {
                    return self.error(format!("`{name}` is not a predicate"));
                }
                (reg.index, negated)
            }
        };
        let first = self.code.insts.len();
        self.statement(statement)?;
        self.uses.end(statement, first..self.code.insts.len());
        Ok(())
    }

    fn emit(&mut self, op: Op) {
        let (guard, negated) = self.guard;
        self.code.insts.push(Inst { op, guard, negated });
        self.code.origins.push(self.origin);
        let first = self.code.mentioned.len() as u32;
        self.code.mentioned.extend_from_slice(self.uses.all());
        let end = self.code.mentioned.len() as u32;
        self.code.mentions.push(first..end);
    }

    fn fresh(&mut self, file: File) -> Reg {
        let count = match file {
            File::Word => &mut self.code.words,
            File::Long => &mut self.code.longs,
            File::Pred => &mut self.code.preds,
        };
        *count += 1;
        let reg = Reg {
            file,
            index: *count - 1,
        };
        self.uses.add(reg);
        reg
    }

    /// Replaces the labels in branches by instruction indices.
    fn patch(&mut self) -> Result<(), ParseError> {
        for inst in &mut self.code.insts {
            let targets = match &mut inst.op {
                Op::Branch { target, .. } => std::slice::from_mut(target),
                Op::Switch { targets, .. } => targets,
                _ => continue,
            };
            for target in targets {
                // Every label that was found has an index, because its body has been decoded.
                *target = self.labels[*target as usize].unwrap_or(0);
            }
        }
        Ok(())
    }

    /// Inlines a call. Each parameter of the function is bound to a variable of the caller.
    fn call(
        &mut self,
        name: &'a str,
        results: &[&'a str],
        arguments: &[&'a str],
    ) -> Result<(), ParseError> {
        let function = self
            .ast
            .functions
            .iter()
            .find(|function| !function.entry && function.name == name);
        let Some(function) = function else {
            return self.error(format!("`{name}` is not a function"));
        };
        if function.body.is_none() {
            let what = match name {
                "__assertfail" => Op::Fail("an assertion failed (`__assertfail`)".into()),
                _ => Op::NotImplemented(format!("a call of `{name}`").into()),
            };
            self.emit(what);
            return Ok(());
        }
        if self.calls.len() >= MAX_CALLS || self.calls.iter().any(|(outer, _)| *outer == name) {
            self.emit(Op::NotImplemented(
                format!("the recursive function `{name}`").into(),
            ));
            return Ok(());
        }
        let declared = function.results.iter().zip(results);
        let declared = declared.chain(function.parameters.iter().zip(arguments));
        let mut scope = Scope::default();
        for (parameter, name) in declared {
            let Some(binding) = self.find(name) else {
                return self.error(format!("`{name}` is not declared"));
            };
            scope.bind(parameter.name, binding);
        }
        let (after, skip) = (self.labels.len() as u32, self.labels.len() as u32 + 1);
        self.labels.extend([None, None]);
        let guard = self.guard;
        if guard != (0, false) {
            self.guard = (guard.0, !guard.1);
            self.emit(Op::Branch {
                target: skip,
                join: 0,
            });
            self.guard = (0, false);
        }
        let outer = std::mem::take(&mut self.scopes);
        self.scopes.push(scope);
        self.calls.push((name, Some(after)));
        self.body(function)?;
        self.calls.pop();
        self.scopes = outer;
        let here = self.code.insts.len() as u32;
        self.labels[after as usize] = Some(here);
        self.labels[skip as usize] = Some(here);
        Ok(())
    }

    /// The offset of a shared variable of the module.
    fn shared_offset(&mut self, variable: &Variable<'a>) -> Result<u32, ParseError> {
        if let Some(&offset) = self.shared.get(variable.name) {
            return Ok(offset);
        }
        let offset = self.reserve_shared(variable)?;
        self.shared.insert(variable.name, offset);
        Ok(offset)
    }

    fn reserve_shared(&mut self, variable: &Variable<'a>) -> Result<u32, ParseError> {
        debug_assert!(variable.space == Space::Shared);
        let align = variable.align.max(1);
        let packed = u64::from(self.code.static_bytes.next_multiple_of(align)) + variable.bytes();
        if packed > 1 << 20 {
            return self.error("the shared variables are larger than 1 MiB");
        }
        self.code.static_bytes = packed as u32;
        let last = self.code.shared_bytes;
        let offset = after_gap(last, align);
        self.code.gaps.push(last..offset);
        self.code.shared_bytes = offset + variable.bytes() as u32;
        Ok(offset)
    }

    fn reserve_local(&mut self, variable: &Variable<'a>) -> Result<u32, ParseError> {
        let offset =
            u64::from(self.code.local_bytes).next_multiple_of(u64::from(variable.align.max(1)));
        let end = offset + variable.bytes();
        if end > 1 << 20 {
            return self.error("the local variables are larger than 1 MiB");
        }
        self.code.local_bytes = end as u32;
        Ok(offset as u32)
    }
}
