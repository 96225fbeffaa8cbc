//! The declaration as written, with spans: the layer between tokens and [`KernelSpec`](crate::KernelSpec).

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

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub span: SpanRange,
}

/// A name with its place.
pub type Name = Spanned<Arc<str>>;

/// Everything between the parentheses of `#[tuned_kernel(..)]`.
#[derive(Clone, Debug, Default)]
pub struct KernelAttr {
    /// `source = ".."`.
    pub source: Option<Spanned<String>>,
    /// `entry = ".."`.
    pub entry: Option<Spanned<String>>,
    /// `types(..)`.
    pub types: Vec<NamedValues<ElemType>>,
    /// `sizes(..)`.
    pub sizes: Vec<SizeDecl>,
    /// `params(..)`.
    pub params: Vec<NamedValues<ParamValue>>,
    /// `where(..)`.
    pub constraints: Vec<SpannedExpr>,
    /// `baseline(..)`.
    pub baseline: Option<BaselineDecl>,
    /// `try_first(..)`.
    pub try_first: Vec<ConfigDecl>,
    /// `grid(..)`, `block(..)`, `shared(..)`.
    pub geometry: GeometryDecl,
    /// `only(..)`.
    pub only: Vec<Spanned<Backend>>,
    /// `problems(..)`.
    pub problems: Vec<ProblemDecl>,
    /// `gpu_problems(..)`.
    pub gpu_problems: Vec<ProblemDecl>,
    /// `verify(..)`.
    pub verify: Vec<ProblemDecl>,
    /// `work(flops = ..)`.
    pub flops: Option<SpannedExpr>,
    /// `work(bytes = ..)`.
    pub bytes: Option<SpannedExpr>,
    /// `tolerance(..)`.
    pub tolerance: Option<Spanned<Tolerance>>,
    /// `inputs = ..`.
    pub inputs: Option<syn::Path>,
    /// `reference = ..` or `reference(..)`.
    pub reference: Option<ReferenceDecl>,
    /// `evidence(..)`: accepted kinds of evidence besides proven rows. Not part of the spec: it says which rows a
    /// program accepts, not what the kernel is.
    pub evidence: Vec<Spanned<Evidence>>,
    /// `untuned = allow`: a build does not warn if nothing is baked.
    pub untuned: Option<SpanRange>,
}

/// `NAME in [..]`.
#[derive(Clone, Debug)]
pub struct NamedValues<T> {
    /// The name.
    pub name: Name,
    /// Its values; the values of a range share its span.
    pub values: Vec<Spanned<T>>,
}

/// `name: type` in `sizes(..)`.
#[derive(Clone, Debug)]
pub struct SizeDecl {
    /// The name.
    pub ident: syn::Ident,
    /// Its type.
    pub ty: ScalarType,
    /// The type, as written.
    pub ty_span: SpanRange,
}

/// `grid(..)`, `block(..)`, `shared(..)`.
#[derive(Clone, Debug, Default)]
pub struct GeometryDecl {
    /// Blocks per axis.
    pub grid: Option<Spanned<Vec<SpannedExpr>>>,
    /// Threads per axis.
    pub block: Option<Spanned<Vec<SpannedExpr>>>,
    /// Dynamic shared memory in bytes.
    pub shared_bytes: Option<SpannedExpr>,
}

impl GeometryDecl {
    /// Every expression.
    pub fn exprs(&self) -> impl Iterator<Item = &SpannedExpr> {
        let axes = self.grid.iter().chain(&self.block);
        axes.flat_map(|axes| &axes.value).chain(&self.shared_bytes)
    }
}

/// `baseline(..)`.
#[derive(Clone, Debug)]
pub struct BaselineDecl {
    /// The whole item.
    pub span: SpanRange,
    /// `entry = ".."`.
    pub entry: Option<Spanned<String>>,
    /// `P = v`.
    pub values: Vec<(Name, Spanned<ParamValue>)>,
    /// Its own geometry.
    pub geometry: GeometryDecl,
}

/// `(BLOCK = 128, VECTOR_WIDTH = 4)`.
#[derive(Clone, Debug)]
pub struct ConfigDecl {
    /// The parentheses.
    pub span: SpanRange,
    /// A value for each tunable parameter, in the order written.
    pub values: Vec<(Name, Spanned<ParamValue>)>,
}

/// `(m = 512, n = 512)`.
#[derive(Clone, Debug)]
pub struct ProblemDecl {
    /// The parentheses.
    pub span: SpanRange,
    /// Sizes and element types in the order written.
    pub dims: Vec<(Name, Spanned<DimValue>)>,
}

impl ProblemDecl {
    /// The value given to a dimension.
    pub fn get(&self, name: &str) -> Option<&Spanned<DimValue>> {
        let dim = self.dims.iter().find(|(dim, _)| &*dim.value == name);
        dim.map(|(_, value)| value)
    }
}

/// The value of a dimension, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DimValue {
    /// A size.
    Size(i64),
    /// A name: an element type.
    Name(Arc<str>),
}

/// `reference = ..`.
#[derive(Clone, Debug)]
pub enum ReferenceDecl {
    /// A Rust function.
    Rust(syn::Path),
    /// A `__global__` function of the same source.
    Entry(Spanned<String>),
}

/// The function declared in the foreign block.
#[derive(Clone, Debug)]
pub struct KernelFn {
    /// Attributes of the block and the function (documentation, `cfg`, lints), in that order.
    pub attrs: Vec<syn::Attribute>,
    /// Visibility of the launch function.
    pub vis: syn::Visibility,
    /// Its name.
    pub ident: syn::Ident,
    /// Its arguments: those of `sizes(..)` first, then those of the block.
    pub args: Vec<ArgDecl>,
}

impl KernelFn {
    /// The function with the arguments of `sizes(..)` before its own.
    #[must_use]
    pub fn with_sizes(mut self, sizes: &[SizeDecl]) -> KernelFn {
        let sizes = sizes.iter().map(|size| ArgDecl {
            launch_only: true,
            ..ArgDecl::new(size.ident.clone(), size.ty_span, ArgKind::Scalar(size.ty))
        });
        self.args.splice(0..0, sizes);
        self
    }

    /// Problem sizes: integer scalars without a declared value, in the order of the signature.
    pub fn dimensions(&self) -> impl Iterator<Item = (&syn::Ident, ScalarType)> {
        self.args.iter().filter_map(|arg| match arg.kind {
            ArgKind::Scalar(ty) if arg.is_dimension() => Some((&arg.ident, ty)),
            _ => None,
        })
    }

    /// The arguments that callers pass, with their indices among all arguments.
    pub fn taken(&self) -> impl Iterator<Item = (usize, &ArgDecl)> {
        let args = self.args.iter().enumerate();
        args.filter(|(_, arg)| arg.computed.is_none())
    }
}

/// One argument.
#[derive(Clone, Debug)]
pub struct ArgDecl {
    /// Its name.
    pub ident: syn::Ident,
    /// Its type, as written.
    pub ty: SpanRange,
    /// By value or by pointer.
    pub kind: ArgKind,
    /// `#[value(..)]`.
    pub value: Option<Spanned<ScalarValue>>,
    /// `#[len(..)]`.
    pub len: Option<SpannedExpr>,
    /// `#[fill(..)]`.
    pub fill: Option<Spanned<Fill>>,
    /// The expression of `#[fill(below(..))]`.
    pub fill_expr: Option<SpannedExpr>,
    /// `#[align(..)]`.
    pub align: Option<SpannedExpr>,
    /// `#[tolerance(..)]`.
    pub tolerance: Option<Spanned<Tolerance>>,
    /// `#[inout]`.
    pub inout: Option<SpanRange>,
    /// The type and value of a struct or array.
    pub plain: Option<PlainDecl>,
    /// `#[computed(..)]`.
    pub computed: Option<SpannedExpr>,
    /// `#[compare(..)]`.
    pub compare: Option<Spanned<Comparison>>,
    /// `#[constant]`: the variable that it fills.
    pub constant: Option<Spanned<String>>,
    /// Whether it comes from `sizes(..)`: the kernel does not receive it.
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

    /// Whether problems give it a size.
    pub fn is_dimension(&self) -> bool {
        let integer = matches!(self.kind, ArgKind::Scalar(ty) if ty.is_integer());
        integer && self.value.is_none() && self.computed.is_none()
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.ident.to_string()
    }

    /// The type of its elements; `None` for scalars.
    pub fn elem(&self) -> Option<&ElemRef> {
        match &self.kind {
            ArgKind::Scalar(_) | ArgKind::Plain => None,
            ArgKind::Slice { elem, .. } => Some(elem),
        }
    }

    /// How the kernel accesses it; `None` for scalars.
    pub fn access(&self) -> Option<Access> {
        match self.kind {
            ArgKind::Scalar(_) | ArgKind::Plain => None,
            ArgKind::Slice { mutable: false, .. } => Some(Access::In),
            ArgKind::Slice { .. } if self.inout.is_some() => Some(Access::InOut),
            ArgKind::Slice { .. } => Some(Access::Out),
        }
    }
}

/// The type of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// A number by value.
    Scalar(ScalarType),
    /// A struct or array by value.
    Plain,
    /// `&[T]` or `&mut [T]`.
    Slice {
        /// Whether it is `&mut`.
        mutable: bool,
        /// `T`: a known element type, or the name of a type parameter.
        elem: ElemRef,
    },
}
