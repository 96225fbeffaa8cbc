//! What the enumeration tests at each axis: constraints, and what every launch plan must satisfy.

use super::SpaceError;
use super::compiled::{Cell, Compiled, Context, Names};
use crate::expr::{BinaryOp, Expr};
use crate::limits::DeviceLimits;
use crate::model::KernelSpec;
use crate::plan::LaunchScope;
use crate::problem::Problem;

/// What rejects a config.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The declared constraint with this number.
    Constraint(usize),
    /// The grid is no grid, or larger than the device's.
    Grid,
    /// The block is no block, or larger than the device's.
    Block,
    /// More dynamic shared memory than the device has.
    SharedMemory,
}

/// A test on a (partial) config: a rule may need several.
#[derive(Clone, Debug)]
pub(super) struct Test {
    /// Index into the list of rules.
    pub(super) rule: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Must be true.
    Truth(Compiled),
    /// Must be from `least` to `most`.
    Within {
        expr: Compiled,
        least: i128,
        most: i128,
    },
    /// The product must be at most this; each factor is known to be positive.
    Product { factors: Vec<Compiled>, most: i128 },
}

impl Test {
    /// Whether the values so far pass; without a value they do not.
    pub(super) fn passes(&self, slots: &[Cell], sizes: &[Option<i128>]) -> bool {
        match &self.kind {
            Kind::Truth(expr) => expr.bool(slots, sizes) == Ok(true),
            Kind::Within { expr, least, most } => expr
                .int(slots, sizes)
                .is_ok_and(|value| (*least..=*most).contains(&value)),
            Kind::Product { factors, most } => {
                let product = factors.iter().try_fold(1i128, |product, factor| {
                    product.checked_mul(factor.int(slots, sizes).ok()?)
                });
                product.is_some_and(|product| product <= *most)
            }
        }
    }

    fn exprs(&self) -> &[Compiled] {
        match &self.kind {
            Kind::Truth(expr) | Kind::Within { expr, .. } => std::slice::from_ref(expr),
            Kind::Product { factors, .. } => factors,
        }
    }

    fn last_slot(&self) -> Option<usize> {
        self.exprs().iter().filter_map(Compiled::last_slot).max()
    }
}

/// The tests of a space, by the axis at which all they read is known.
pub(super) struct Tests {
    pub(super) rules: Vec<Rule>,
    /// Tests that read no axis.
    pub(super) before: Vec<Test>,
    /// Tests that can run once the axis of this index has a value.
    pub(super) at: Vec<Vec<Test>>,
    /// Values of the axes as cells.
    pub(super) cells: Vec<Vec<Cell>>,
    /// Sizes of element types by name.
    pub(super) sizes: Vec<Option<i128>>,
}

impl Tests {
    pub(super) fn new(
        spec: &KernelSpec,
        problem: &Problem,
        limits: &DeviceLimits,
    ) -> Result<Tests, SpaceError> {
        let mut names = Names::default();
        let cells = axis_cells(spec, &mut names);
        let no_config = crate::config::Config::default();
        let constants = LaunchScope {
            config: &no_config,
            problem,
            limits: Some(limits),
            spec,
        };
        let axes: Vec<_> = spec.params.iter().map(|p| &*p.name).collect();
        let mut builder = Builder {
            context: Context {
                axes: &axes,
                constants: &constants,
                names: &mut names,
            },
            rules: Vec::new(),
            tests: Vec::new(),
        };
        for (i, constraint) in spec.constraints.iter().enumerate() {
            builder.constraint(i, &constraint.expr)?;
        }
        builder.plan(spec, limits)?;
        let (rules, tests) = (builder.rules, builder.tests);
        let mut sorted = Tests {
            rules,
            before: Vec::new(),
            at: vec![Vec::new(); axes.len()],
            cells,
            sizes: names.sizes(),
        };
        for test in tests {
            match test.last_slot() {
                Some(slot) => sorted.at[slot].push(test),
                None => sorted.before.push(test),
            }
        }
        Ok(sorted)
    }
}

/// The values of every parameter.
fn axis_cells(spec: &KernelSpec, names: &mut Names) -> Vec<Vec<Cell>> {
    let mut cells = Vec::new();
    for param in &spec.params {
        let values = param.values.iter();
        cells.push(values.map(|value| names.cell(&value.value())).collect());
    }
    cells
}

struct Builder<'a> {
    context: Context<'a>,
    rules: Vec<Rule>,
    tests: Vec<Test>,
}

impl Builder<'_> {
    fn compile(&mut self, expr: &Expr) -> Result<Compiled, SpaceError> {
        let compiled = self.context.compile(expr);
        if compiled.is_missing() {
            return Err(SpaceError::Unknown(expr.to_string()));
        }
        Ok(compiled)
    }

    /// A conjunction is tested part by part, each as early as its own names allow. A part that has no
    /// value rejects the config, and so would the whole.
    fn constraint(&mut self, index: usize, expr: &Expr) -> Result<(), SpaceError> {
        self.rules.push(Rule::Constraint(index));
        let mut parts = Vec::new();
        conjuncts(expr, &mut parts);
        for part in parts {
            let kind = Kind::Truth(self.compile(part)?);
            self.add(kind);
        }
        Ok(())
    }

    fn plan(&mut self, spec: &KernelSpec, limits: &DeviceLimits) -> Result<(), SpaceError> {
        let geometry = &spec.geometry;
        self.rules.push(Rule::Grid);
        self.extents(&geometry.grid, limits.max_grid)?;
        self.rules.push(Rule::Block);
        let factors = self.extents(&geometry.block, limits.max_block)?;
        self.add(Kind::Product {
            factors,
            most: limits.max_threads_per_block.into(),
        });
        if let Some(expr) = &geometry.shared_bytes {
            self.rules.push(Rule::SharedMemory);
            let expr = self.compile(expr)?;
            self.add(Kind::Within {
                expr,
                least: 0,
                most: limits.shared_bytes_per_block.into(),
            });
        }
        Ok(())
    }

    fn extents(&mut self, axes: &[Expr], most: [u32; 3]) -> Result<Vec<Compiled>, SpaceError> {
        let mut factors = Vec::new();
        for (axis, most) in axes.iter().zip(most) {
            let expr = self.compile(axis)?;
            factors.push(expr.clone());
            self.add(Kind::Within {
                expr,
                least: 1,
                most: most.into(),
            });
        }
        Ok(factors)
    }

    fn add(&mut self, kind: Kind) {
        let rule = self.rules.len() - 1;
        self.tests.push(Test { rule, kind });
    }
}

fn conjuncts<'a>(expr: &'a Expr, parts: &mut Vec<&'a Expr>) {
    match expr {
        Expr::Binary(BinaryOp::And, x, y) => {
            conjuncts(x, parts);
            conjuncts(y, parts);
        }
        other => parts.push(other),
    }
}
