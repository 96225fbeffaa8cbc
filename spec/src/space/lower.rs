//! Converts expressions of a spec to terms of a constraint model. Problem sizes, device limits and choices become
//! constants.

use std::collections::BTreeMap;

use crate::csp::{self, ExprGraph, TermId};
use crate::expr::{BinaryOp, BuiltinFunction, Expr, Scope, UnaryOp, Value};
use crate::model::{ElemType, KernelSpec};

/// Numbers by which the model represents the names of choices and element types.
#[derive(Clone, Debug, Default)]
pub(super) struct ParamNames(BTreeMap<String, u32>);

impl ParamNames {
    /// Converts a value of the expression language to a value of the model.
    pub(super) fn value(&mut self, value: &Value) -> csp::Value {
        match value {
            Value::Int(x) => csp::Value::Int(*x),
            Value::Bool(x) => csp::Value::Bool(*x),
            Value::Name(name) => {
                let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
                csp::Value::Name(*self.0.entry(name.to_string()).or_insert(next))
            }
        }
    }

    /// The size in bytes of the element type that a name in the model stands for. `None` if the value is not an element
    /// type.
    fn size(&self, value: csp::Value) -> csp::Outcome {
        let csp::Value::Name(number) = value else {
            return None;
        };
        let name = self.0.iter().find(|(_, known)| **known == number)?.0;
        Some(csp::Value::Int(ElemType::from_name(name)?.bytes() as i128))
    }
}

/// Converts expressions to terms. Holds the spec, the values of constants, and the numbers of names.
pub(super) struct Lowering<'a> {
    pub(super) spec: &'a KernelSpec,
    /// The values of problem sizes, device limits and choices.
    pub(super) constants: &'a dyn Scope,
    pub(super) names: ParamNames,
}

/// A term, and whether it contains a name or limit that has no value.
struct LoweredSpace {
    term: TermId,
    missing: bool,
}

impl Lowering<'_> {
    /// The term of an expression. `None` if the expression needs a name or limit that has no value.
    pub(super) fn lower(&mut self, expr: &Expr, graph: &mut ExprGraph) -> Option<TermId> {
        let lowered = self.part(expr, graph);
        (!lowered.missing).then_some(lowered.term)
    }

    fn part(&mut self, expr: &Expr, graph: &mut ExprGraph) -> LoweredSpace {
        match expr {
            Expr::Int(x) => constant(csp::Value::Int((*x).into()), graph),
            Expr::Bool(x) => constant(csp::Value::Bool(*x), graph),
            Expr::Name(name) => self.name(name, graph),
            Expr::Device(limit) => match self.constants.device() {
                Some(limits) => constant(csp::Value::Int(limit.of(limits).into()), graph),
                None => missing(graph),
            },
            Expr::Unary(op, x) => {
                let function = match op {
                    UnaryOp::Neg => csp::Function::Neg,
                    UnaryOp::Not => csp::Function::Not,
                };
                self.apply(function, &[x], graph)
            }
            Expr::Binary(op, x, y) => self.apply(operator(*op), &[x, y], graph),
            Expr::Call(function, arguments) => self.call(*function, arguments, graph),
        }
    }

    fn name(&mut self, name: &str, graph: &mut ExprGraph) -> LoweredSpace {
        let axis = self.spec.params.iter().position(|p| &*p.name == name);
        let term = match (axis, self.constants.value(name)) {
            (Some(axis), _) => graph.param(axis),
            (None, Some(value)) => {
                let value = self.names.value(&value);
                graph.constant(value)
            }
            (None, None) => return missing(graph),
        };
        LoweredSpace {
            term,
            missing: false,
        }
    }

    fn apply(
        &mut self,
        function: csp::Function,
        parts: &[&Expr],
        graph: &mut ExprGraph,
    ) -> LoweredSpace {
        let parts: Vec<LoweredSpace> = parts.iter().map(|x| self.part(x, graph)).collect();
        let terms: Vec<TermId> = parts.iter().map(|part| part.term).collect();
        settled(graph.apply(function, &terms), &parts, graph)
    }

    fn call(
        &mut self,
        function: BuiltinFunction,
        arguments: &[Expr],
        graph: &mut ExprGraph,
    ) -> LoweredSpace {
        if !function.accepts(arguments.len()) {
            return LoweredSpace {
                term: graph.missing(),
                missing: false,
            };
        }
        let pair = match function {
            BuiltinFunction::SizeOf => return self.size_of(&arguments[0], graph),
            BuiltinFunction::NextPowerOfTwo => {
                return self.apply(csp::Function::NextPowerOfTwo, &[&arguments[0]], graph);
            }
            BuiltinFunction::Min => csp::Function::Min,
            BuiltinFunction::Max => csp::Function::Max,
            BuiltinFunction::DivCeil => csp::Function::DivCeil,
        };
        let parts: Vec<LoweredSpace> = arguments.iter().map(|x| self.part(x, graph)).collect();
        let mut term = parts[0].term;
        for part in &parts[1..] {
            term = graph.apply(pair, &[term, part.term]);
        }
        settled(term, &parts, graph)
    }

    /// The term of `size_of`. Its argument must be a name: a parameter or a constant.
    fn size_of(&mut self, argument: &Expr, graph: &mut ExprGraph) -> LoweredSpace {
        let axis = match argument {
            Expr::Name(name) => self.spec.params.iter().position(|p| &*p.name == name),
            _ => None,
        };
        if let Some(axis) = axis {
            return LoweredSpace {
                term: graph.of_param(axis, |value| self.names.size(value)),
                missing: false,
            };
        }
        let part = self.part(argument, graph);
        let size = graph
            .value(part.term)
            .and_then(|value| self.names.size(value));
        LoweredSpace {
            term: match size {
                Some(size) => graph.constant(size),
                None => graph.missing(),
            },
            missing: part.missing,
        }
    }
}

fn constant(value: csp::Value, graph: &mut ExprGraph) -> LoweredSpace {
    LoweredSpace {
        term: graph.constant(value),
        missing: false,
    }
}

fn missing(graph: &mut ExprGraph) -> LoweredSpace {
    LoweredSpace {
        term: graph.missing(),
        missing: true,
    }
}

/// Creates a term with its flag `missing`. The flag is set if one of the operands `parts` is missing and the value of
/// the term depends on it.
fn settled(term: TermId, parts: &[LoweredSpace], graph: &ExprGraph) -> LoweredSpace {
    LoweredSpace {
        term,
        missing: parts.iter().any(|part| part.missing) && graph.value(term).is_none(),
    }
}

fn operator(op: BinaryOp) -> csp::Function {
    match op {
        BinaryOp::Add => csp::Function::Add,
        BinaryOp::Sub => csp::Function::Sub,
        BinaryOp::Mul => csp::Function::Mul,
        BinaryOp::Div => csp::Function::TruncDiv,
        BinaryOp::Rem => csp::Function::TruncRem,
        BinaryOp::Shl => csp::Function::Shl,
        BinaryOp::Shr => csp::Function::Shr,
        BinaryOp::Eq => csp::Function::Eq,
        BinaryOp::Ne => csp::Function::Ne,
        BinaryOp::Lt => csp::Function::Lt,
        BinaryOp::Le => csp::Function::Le,
        BinaryOp::Gt => csp::Function::Gt,
        BinaryOp::Ge => csp::Function::Ge,
        BinaryOp::And => csp::Function::And,
        BinaryOp::Or => csp::Function::Or,
    }
}
