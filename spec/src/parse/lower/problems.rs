//! Converts problems to their form in the spec: with names in declared order, and one problem for each combination of
//! element types.

use std::sync::Arc;

use super::Lower;
use crate::model::{ElemType, ScalarType};
use crate::parse::declaration::{DimValue, NamedValues, ProblemDecl};
use crate::parse::values::quoted;
use crate::problem::{Problem, ProblemValue};
use crate::text::spelling::nearest;

/// Maximum number of problems, including all combinations of element types.
const MAX_PROBLEMS: usize = 1024;

impl Lower<'_> {
    pub(super) fn dimensions(&self) -> Vec<(Arc<str>, ScalarType)> {
        let dims = self.function.dimensions();
        dims.map(|(dim, ty)| (Arc::from(dim.to_string()), ty))
            .collect()
    }

    pub(super) fn tuned_problems(&mut self, dims: &[(Arc<str>, ScalarType)]) -> Vec<Problem> {
        if self.attr.problems.is_empty() {
            if dims.is_empty() {
                let nothing = ProblemDecl {
                    span: self.name_span(),
                    dims: Vec::new(),
                };
                return self.expand(&nothing, dims);
            }
            let example: Vec<_> = dims
                .iter()
                .map(|(dim, _)| format!("{dim} = 1024"))
                .collect();
            let help = format!("add `problems(({}))`", example.join(", "));
            self.report(
                self.name_span(),
                "the kernel has no problems to tune for",
                &help,
            );
        }
        self.expand_all(&self.attr.problems, dims, &[])
    }

    /// The problems that are tuned only on GPUs. They must differ from `others`, the problems that are tuned on all
    /// devices.
    pub(super) fn gpu_problems(
        &mut self,
        dims: &[(Arc<str>, ScalarType)],
        others: &[Problem],
    ) -> Vec<Problem> {
        self.expand_all(&self.attr.gpu_problems, dims, others)
    }

    pub(super) fn verify_problems(&mut self, dims: &[(Arc<str>, ScalarType)]) -> Vec<Problem> {
        self.expand_all(&self.attr.verify, dims, &[])
    }

    fn expand_all(
        &mut self,
        decls: &[ProblemDecl],
        dims: &[(Arc<str>, ScalarType)],
        others: &[Problem],
    ) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        for decl in decls {
            let expanded = self.expand(decl, dims);
            let known = |p: &&Problem| problems.contains(p) || others.contains(p);
            if let Some(twice) = expanded.iter().find(known) {
                let message = format!("the problem {twice} is declared twice");
                self.report(decl.span, message, "remove one of them");
            }
            problems.extend(expanded);
            if problems.len() > MAX_PROBLEMS {
                let message = format!("more than {MAX_PROBLEMS} problems");
                let help = "each is tuned and baked on its own: choose those that matter";
                self.report(decl.span, message, help);
                break;
            }
        }
        problems
    }

    /// Expands a declaration to one problem for each combination of the element types that it does not set.
    fn expand(&mut self, decl: &ProblemDecl, dims: &[(Arc<str>, ScalarType)]) -> Vec<Problem> {
        self.check_names(decl, dims);
        let mut heads: Vec<Vec<(Arc<str>, ProblemValue)>> = vec![Vec::new()];
        for axis in &self.attr.types {
            let choices = self.type_choices(decl, axis);
            let with = |head: &Vec<_>, ty: &ElemType| {
                let mut head = head.clone();
                head.push((axis.name.value.clone(), ProblemValue::Type(*ty)));
                head
            };
            heads = heads
                .iter()
                .flat_map(|head| choices.iter().map(move |ty| with(head, ty)))
                .take(MAX_PROBLEMS + 1)
                .collect();
        }
        let sizes = self.sizes(decl, dims);
        heads
            .into_iter()
            .map(|head| Problem::new(head.into_iter().chain(sizes.clone())))
            .collect()
    }

    fn check_names(&mut self, decl: &ProblemDecl, dims: &[(Arc<str>, ScalarType)]) {
        let attr = self.attr;
        let names = || {
            let sizes = dims.iter().map(|(dim, _)| &**dim);
            sizes.chain(attr.types.iter().map(|t| &*t.name.value))
        };
        for (i, (name, _)) in decl.dims.iter().enumerate() {
            if decl.dims[..i]
                .iter()
                .any(|(other, _)| other.value == name.value)
            {
                let message = format!("`{}` is given twice in one problem", name.value);
                self.report(name.span, message, "give each dimension once");
            }
            if names().any(|known| *known == *name.value) {
                continue;
            }
            let mut args = self.function.args.iter();
            let help = match args.find(|arg| arg.ident == *name.value) {
                Some(arg) if arg.value.is_some() => {
                    "remove its `#[value(..)]` to make it a problem size".to_string()
                }
                Some(_) => "only integer scalars are problem sizes".to_string(),
                None => match nearest(&name.value, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("dimensions are {}", quoted(names())),
                },
            };
            let message = format!("`{}` is not a dimension of the problem", name.value);
            self.report(name.span, message, &help);
        }
    }

    fn type_choices(&mut self, decl: &ProblemDecl, axis: &NamedValues<ElemType>) -> Vec<ElemType> {
        let Some(given) = decl.get(&axis.name.value) else {
            return axis.values.iter().map(|v| v.value).collect();
        };
        let known = |name: &str| {
            let mut values = axis.values.iter();
            values.find(|v| v.value.name() == name).map(|v| v.value)
        };
        match &given.value {
            DimValue::Name(name) if known(name).is_some() => known(name).into_iter().collect(),
            _ => {
                let names = quoted(axis.values.iter().map(|v| v.value.name()));
                let message = format!("this is not one of the types of `{}`", axis.name.value);
                self.report(given.span, message, &format!("it is one of {names}"));
                Vec::new()
            }
        }
    }

    fn sizes(
        &mut self,
        decl: &ProblemDecl,
        dims: &[(Arc<str>, ScalarType)],
    ) -> Vec<(Arc<str>, ProblemValue)> {
        let missing: Vec<_> = dims
            .iter()
            .filter(|(dim, _)| decl.get(dim).is_none())
            .collect();
        if !missing.is_empty() {
            let names = quoted(missing.iter().map(|(dim, _)| dim));
            let help =
                "give every integer argument a size, or declare its value with `#[value(..)]`";
            self.report(decl.span, format!("the problem gives no {names}"), help);
        }
        let mut sizes = Vec::new();
        for (dim, ty) in dims {
            let Some(given) = decl.get(dim) else { continue };
            match given.value {
                DimValue::Size(size) if size >= 0 && ty.holds(size) => {
                    sizes.push((dim.clone(), ProblemValue::Size(size)));
                }
                DimValue::Size(size) => {
                    let message = format!("{size} is not a size of `{dim}`, which is {ty}");
                    self.report(
                        given.span,
                        message,
                        "sizes are not negative and fit the argument",
                    );
                }
                DimValue::Name(_) => {
                    let message = format!("`{dim}` takes a number");
                    self.report(given.span, message, "element types go to type parameters");
                }
            }
        }
        sizes
    }
}
