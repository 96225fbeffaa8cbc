//! The conditions that every config must meet: the constraints, and the limits of a device on launch plans.

use super::error::SpaceError;
use super::lower::{Lowering, ParamNames};
use crate::csp::{Function, Model, Semantics, TermId, Value};
use crate::device::limits::DeviceLimits;
use crate::expr::Expr;
use crate::model::{ArgSpec, KernelSpec};
use crate::plan::LaunchScope;
use crate::problem::Problem;

/// A rule that may reject a config.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A declared constraint, by its index in the spec.
    Constraint(usize),
    /// The grid must have valid extents that the device allows.
    Grid,
    /// The block must have valid extents that the device allows.
    Block,
    /// The dynamic shared memory must not exceed the device's limit.
    SharedMemory,
    /// Computed arguments must fit their types, and lengths must not be negative.
    Arguments,
}

impl Rule {
    /// The constraint as written, or the device limit in words.
    pub(super) fn text(&self, spec: &KernelSpec, limits: &DeviceLimits) -> String {
        match self {
            Rule::Constraint(index) => spec.constraints[*index].expr.to_string(),
            Rule::Grid => format!("grid within {:?}", limits.max_grid),
            Rule::Block => format!(
                "block within {:?} and {} threads",
                limits.max_block, limits.max_threads_per_block
            ),
            Rule::SharedMemory => format!(
                "shared memory within {} bytes",
                limits.shared_bytes_per_block
            ),
            Rule::Arguments => "computed arguments within their types".into(),
        }
    }
}

/// The rules of a space, in the form of a constraint model.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) rules: Vec<Rule>,
    pub(super) model: Model,
    /// For each constraint of the model, the index of its rule.
    pub(super) rule_of: Vec<usize>,
}

impl Rules {
    pub(super) fn new(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
    ) -> Result<Rules, SpaceError> {
        let mut names = ParamNames::default();
        let mut values = Vec::with_capacity(spec.params.len());
        for param in &spec.params {
            let all = param.values.iter();
            values.push(all.map(|value| names.value(&value.value())).collect());
        }
        let no_config = crate::config::Config::default();
        let constants = LaunchScope {
            config: &no_config,
            problem,
            limits: Some(limits),
            spec,
        };
        let model = Model::new(Semantics::Kiln, &values);
        let mut builder = RuleBuilder {
            lowering: Lowering {
                spec,
                constants: &constants,
                names,
            },
            rules: Rules {
                rules: Vec::new(),
                model: model.map_err(|error| SpaceError::of(error, problem))?,
                rule_of: Vec::new(),
            },
        };
        for (i, constraint) in spec.constraints.iter().enumerate() {
            builder.rules.rules.push(Rule::Constraint(i));
            let term = builder.term(&constraint.expr)?;
            builder.add(term);
        }
        builder.plan(spec, limits)?;
        builder.data(spec)?;
        Ok(builder.rules)
    }
}

struct RuleBuilder<'a> {
    lowering: Lowering<'a>,
    rules: Rules,
}

impl RuleBuilder<'_> {
    fn term(&mut self, expr: &Expr) -> Result<TermId, SpaceError> {
        let term = self.lowering.lower(expr, self.rules.model.graph());
        term.ok_or_else(|| SpaceError::Unknown(expr.to_string()))
    }

    fn plan(&mut self, spec: &KernelSpec, limits: &DeviceLimits) -> Result<(), SpaceError> {
        let geometry = &spec.geometry;
        self.rules.rules.push(Rule::Grid);
        self.extents(&geometry.grid, limits.max_grid)?;
        self.rules.rules.push(Rule::Block);
        let extents = self.extents(&geometry.block, limits.max_block)?;
        let graph = self.rules.model.graph();
        let mut threads = graph.constant(Value::Int(1));
        for extent in extents {
            threads = graph.apply(Function::Mul, &[threads, extent]);
        }
        let most = graph.constant(Value::Int(limits.max_threads_per_block.into()));
        let within = graph.apply(Function::Le, &[threads, most]);
        self.add(within);
        if let Some(expr) = &geometry.shared_bytes {
            self.rules.rules.push(Rule::SharedMemory);
            let bytes = self.term(expr)?;
            self.within(bytes, 0, limits.shared_bytes_per_block.into());
        }
        Ok(())
    }

    /// Adds the rule for computed arguments and slice lengths, if one of them depends on the config.
    fn data(&mut self, spec: &KernelSpec) -> Result<(), SpaceError> {
        if !spec.data_depends_on_the_config() {
            return Ok(());
        }
        self.rules.rules.push(Rule::Arguments);
        for arg in &spec.args {
            let (expr, least, most) = match (arg, arg.computed()) {
                (ArgSpec::Scalar(scalar), Some(expr)) => {
                    let (least, most) = scalar.ty.size_range();
                    (expr, least, most)
                }
                (ArgSpec::Slice(slice), _) => (&slice.len, 0, i64::MAX),
                _ => continue,
            };
            let term = self.term(expr)?;
            self.within(term, least, most);
        }
        Ok(())
    }

    fn extents(&mut self, axes: &[Expr], most: [u32; 3]) -> Result<Vec<TermId>, SpaceError> {
        let mut extents = Vec::new();
        for (axis, most) in axes.iter().zip(most) {
            let extent = self.term(axis)?;
            self.within(extent, 1, most.into());
            extents.push(extent);
        }
        Ok(extents)
    }

    /// Adds a condition to the last rule: the value of the term must be from `least` to `most`.
    fn within(&mut self, term: TermId, least: i64, most: i64) {
        for (function, end) in [(Function::Ge, least), (Function::Le, most)] {
            let graph = self.rules.model.graph();
            let end = graph.constant(Value::Int(end.into()));
            let holds = graph.apply(function, &[term, end]);
            self.add(holds);
        }
    }

    /// Adds a condition to the last rule: the term must be true.
    fn add(&mut self, term: TermId) {
        self.rules.model.constrain(term);
        self.rules.rule_of.push(self.rules.rules.len() - 1);
    }
}
