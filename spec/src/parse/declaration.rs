//! The declaration of a kernel as written, with spans. Tokens are parsed to a declaration, which is then converted to a
//! [`KernelSpec`](crate::KernelSpec).

use std::sync::Arc;

use super::SpannedExpr;
use super::plain::PlainDecl;
use crate::baked::Evidence;
use crate::config::ParamValue;
use crate::device::Backend;
use crate::model::{
    Access, Comparison, ElemRef, ElemType, Fill, ScalarType, ScalarValue, Tolerance,
};
use crate::text::diagnostic::SpanRange;

/// A value with its position in the source.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The position at which the value is written.
    pub span: SpanRange,
}

/// A name with its position in the source.
pub type Name = Spanned<Arc<str>>;

/// Everything between the parentheses of `#[tuned_kernel(..)]`.
#[derive(Clone, Debug, Default)]
pub struct KernelAttr {
    /// `source = ".."`: the path of the `.cu` file.
    pub source: Option<Spanned<String>>,
    /// `entry = ".."`: the `__global__` function.
    pub entry: Option<Spanned<String>>,
    /// `types(..)`: the type parameters.
    pub types: Vec<NamedValues<ElemType>>,
    /// `sizes(..)`: sizes that only expressions use.
    pub sizes: Vec<SizeDecl>,
    /// `params(..)`: the tunable parameters.
    pub params: Vec<NamedValues<ParamValue>>,
    /// `where(..)`: the constraints.
    pub constraints: Vec<SpannedExpr>,
    /// `baseline(..)`: the simplest correct version.
    pub baseline: Option<BaselineDecl>,
    /// `try_first(..)`: configs that a search tries first.
    pub try_first: Vec<ConfigDecl>,
    /// `grid(..)`, `block(..)`, `shared(..)`: the launch geometry.
    pub geometry: GeometryDecl,
    /// `only(..)`: the supported backends.
    pub only: Vec<Spanned<Backend>>,
    /// `problems(..)`: the problems to tune.
    pub problems: Vec<ProblemDecl>,
    /// `gpu_problems(..)`: the problems to tune only on GPUs.
    pub gpu_problems: Vec<ProblemDecl>,
    /// `verify(..)`: small problems for verification.
    pub verify: Vec<ProblemDecl>,
    /// `work(flops = ..)`: floating-point operations of one launch.
    pub flops: Option<SpannedExpr>,
    /// `work(bytes = ..)`: bytes that one launch must move.
    pub bytes: Option<SpannedExpr>,
    /// `tolerance(..)`: the tolerance of outputs that do not declare one.
    pub tolerance: Option<Spanned<Tolerance>>,
    /// `inputs = ..`: the Rust function that generates the inputs.
    pub inputs: Option<syn::Path>,
    /// `reference = ..` or `reference(..)`: what outputs are compared with.
    pub reference: Option<ReferenceDecl>,
    /// `evidence(..)`: kinds of evidence that are accepted in addition to proof. They are not part of the spec, because
    /// they say which rows a program accepts and not what the kernel is.
    pub evidence: Vec<Spanned<Evidence>>,
    /// `equal_stores = allow`: several threads may store the same value in one place without an order.
    pub equal_stores: Option<SpanRange>,
    /// `unwritten_reads = allow`: threads may read shared memory that no thread of their block has written.
    pub unwritten_reads: Option<SpanRange>,
    /// `untuned = allow`: the build does not warn if the kernel has no baked rows.
    pub untuned: Option<SpanRange>,
}

/// A name with its allowed values: `NAME in [..]`.
#[derive(Clone, Debug)]
pub struct NamedValues<T> {
    /// The name of the parameter.
    pub name: Name,
    /// The allowed values. All values of a range have the span of the range.
    pub values: Vec<Spanned<T>>,
}

/// One size in `sizes(..)`: `name: type`.
#[derive(Clone, Debug)]
pub struct SizeDecl {
    /// The name of the size.
    pub ident: syn::Ident,
    /// The integer type of the size.
    pub ty: ScalarType,
    /// The position of the type.
    pub ty_span: SpanRange,
}

/// The items `grid(..)`, `block(..)` and `shared(..)`.
#[derive(Clone, Debug, Default)]
pub struct GeometryDecl {
    /// `grid(..)`: blocks per axis.
    pub grid: Option<Spanned<Vec<SpannedExpr>>>,
    /// `block(..)`: threads per block along each axis.
    pub block: Option<Spanned<Vec<SpannedExpr>>>,
    /// `shared(..)`: dynamic shared memory in bytes.
    pub shared_bytes: Option<SpannedExpr>,
}

impl GeometryDecl {
    /// Every expression of the geometry.
    pub fn exprs(&self) -> impl Iterator<Item = &SpannedExpr> {
        let axes = self.grid.iter().chain(&self.block);
        axes.flat_map(|axes| &axes.value).chain(&self.shared_bytes)
    }
}

/// The item `baseline(..)`.
#[derive(Clone, Debug)]
pub struct BaselineDecl {
    /// The position of the whole item.
    pub span: SpanRange,
    /// `entry = ".."`: the baseline's `__global__` function.
    pub entry: Option<Spanned<String>>,
    /// `P = v`: the values of the baseline's config.
    pub values: Vec<(Name, Spanned<ParamValue>)>,
    /// The baseline's launch geometry, if it differs from the kernel's.
    pub geometry: GeometryDecl,
    /// `where(..)`: the conditions under which the baseline may be launched.
    pub constraints: Vec<SpannedExpr>,
}

/// A config as written: `(BLOCK = 128, VECTOR_WIDTH = 4)`.
#[derive(Clone, Debug)]
pub struct ConfigDecl {
    /// The position of the parentheses.
    pub span: SpanRange,
    /// The parameters with their values, in the order written.
    pub values: Vec<(Name, Spanned<ParamValue>)>,
}

/// A problem as written: `(m = 512, n = 512)`.
#[derive(Clone, Debug)]
pub struct ProblemDecl {
    /// The position of the parentheses.
    pub span: SpanRange,
    /// The dimensions with their sizes or element types, in the order written.
    pub dims: Vec<(Name, Spanned<DimValue>)>,
}

impl ProblemDecl {
    /// The value of the dimension with this name, if the problem sets it.
    pub fn get(&self, name: &str) -> Option<&Spanned<DimValue>> {
        let dim = self.dims.iter().find(|(dim, _)| &*dim.value == name);
        dim.map(|(_, value)| value)
    }
}

/// The value of a problem dimension, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DimValue {
    /// An integer size.
    Size(i64),
    /// The name of an element type.
    Name(Arc<str>),
}

/// The item `reference`.
#[derive(Clone, Debug)]
pub enum ReferenceDecl {
    /// `reference = path`: a Rust function.
    Rust(syn::Path),
    /// `reference(entry = "..")`: a `__global__` function of the same source.
    Entry(Spanned<String>),
}

/// The function in the `extern "C"` block below the attribute.
#[derive(Clone, Debug)]
pub struct KernelFn {
    /// The attributes of the block and then of the function (documentation, `cfg`, lints).
    pub attrs: Vec<syn::Attribute>,
    /// The visibility of the launch function.
    pub vis: syn::Visibility,
    /// The name of the function.
    pub ident: syn::Ident,
    /// The arguments: first those of `sizes(..)`, then those of the function in the block.
    pub args: Vec<ArgDecl>,
}

impl KernelFn {
    /// The function with the arguments of `sizes(..)` inserted before the other arguments.
    #[must_use]
    pub fn with_sizes(mut self, sizes: &[SizeDecl]) -> KernelFn {
        let sizes = sizes.iter().map(|size| ArgDecl {
            launch_only: true,
            ..ArgDecl::new(size.ident.clone(), size.ty_span, ArgKind::Scalar(size.ty))
        });
        self.args.splice(0..0, sizes);
        self
    }

    /// The problem sizes: the integer scalars without a declared value, in the order of the signature.
    pub fn dimensions(&self) -> impl Iterator<Item = (&syn::Ident, ScalarType)> {
        self.args.iter().filter_map(|arg| match arg.kind {
            ArgKind::Scalar(ty) if arg.is_dimension() => Some((&arg.ident, ty)),
            _ => None,
        })
    }

    /// The arguments that callers pass, each with its index among all arguments.
    pub fn taken(&self) -> impl Iterator<Item = (usize, &ArgDecl)> {
        let args = self.args.iter().enumerate();
        args.filter(|(_, arg)| arg.computed.is_none())
    }
}

/// One argument of the function.
#[derive(Clone, Debug)]
pub struct ArgDecl {
    /// The argument's name.
    pub ident: syn::Ident,
    /// The position of the argument's type.
    pub ty: SpanRange,
    /// Whether the argument is a number, a struct or array, or a slice.
    pub kind: ArgKind,
    /// `#[value(..)]`: the value for verification, timing and smoke tests.
    pub value: Option<Spanned<ScalarValue>>,
    /// `#[len(..)]`: the length of a slice in elements.
    pub len: Option<SpannedExpr>,
    /// `#[fill(..)]`: how a slice is filled.
    pub fill: Option<Spanned<Fill>>,
    /// The expression in `#[fill(below(..))]`.
    pub fill_expr: Option<SpannedExpr>,
    /// `#[align(..)]`: the alignment of a slice in elements.
    pub align: Option<SpannedExpr>,
    /// `#[tolerance(..)]`: the tolerance of an output.
    pub tolerance: Option<Spanned<Tolerance>>,
    /// `#[inout]`: the kernel reads and writes the slice.
    pub inout: Option<SpanRange>,
    /// The type and the value of a struct or array.
    pub plain: Option<PlainDecl>,
    /// `#[computed(..)]`: the expression that gives the value of the argument.
    pub computed: Option<SpannedExpr>,
    /// `#[compare(..)]`: how an output is compared.
    pub compare: Option<Spanned<Comparison>>,
    /// `#[constant]`: the `__constant__` variable that the slice fills.
    pub constant: Option<Spanned<String>>,
    /// Whether the argument comes from `sizes(..)`. The kernel does not receive such an argument.
    pub launch_only: bool,
}

impl ArgDecl {
    /// An argument without attributes.
    pub fn new(ident: syn::Ident, ty: SpanRange, kind: ArgKind) -> ArgDecl {
        ArgDecl {
            ident,
            ty,
            kind,
            value: None,
            len: None,
            fill: None,
            fill_expr: None,
            align: None,
            tolerance: None,
            inout: None,
            plain: None,
            computed: None,
            compare: None,
            constant: None,
            launch_only: false,
        }
    }

    /// Whether the argument is a problem size: an integer without `#[value(..)]` and `#[computed(..)]`.
    pub fn is_dimension(&self) -> bool {
        let integer = matches!(self.kind, ArgKind::Scalar(ty) if ty.is_integer());
        integer && self.value.is_none() && self.computed.is_none()
    }

    /// The argument's name.
    pub fn name(&self) -> String {
        self.ident.to_string()
    }

    /// The element type of a slice; `None` for other arguments.
    pub fn elem(&self) -> Option<&ElemRef> {
        match &self.kind {
            ArgKind::Scalar(_) | ArgKind::Plain | ArgKind::Typed(_) => None,
            ArgKind::Slice { elem, .. } => Some(elem),
        }
    }

    /// How the kernel accesses a slice; `None` for other arguments.
    pub fn access(&self) -> Option<Access> {
        match self.kind {
            ArgKind::Scalar(_) | ArgKind::Plain | ArgKind::Typed(_) => None,
            ArgKind::Slice { mutable: false, .. } => Some(Access::In),
            ArgKind::Slice { .. } if self.inout.is_some() => Some(Access::InOut),
            ArgKind::Slice { .. } => Some(Access::Out),
        }
    }
}

/// The type of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// A number that is passed by value.
    Scalar(ScalarType),
    /// A struct or array that is passed by value.
    Plain,
    /// A number that is passed by value, whose type is a 16-bit float or a type parameter.
    Typed(ElemRef),
    /// A slice, `&[T]` or `&mut [T]`.
    Slice {
        /// Whether the slice is `&mut [T]`.
        mutable: bool,
        /// The element type `T`: a fixed element type or a type parameter.
        elem: ElemRef,
    },
}
