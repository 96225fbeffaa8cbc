//! Parses the items between the parentheses of `#[tuned_kernel(..)]`, which may be in any order.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};

use super::SpannedExpr;
use super::declaration::{
    BaselineDecl, GeometryDecl, KernelAttr, Name, NamedValues, ReferenceDecl, Spanned,
};
use super::expression::{error, error_at};
use super::values::{Assign, list};
use crate::baked::Evidence;
use crate::config::ParamValue;
use crate::device::Backend;
use crate::model::Tolerance;
use crate::text::diagnostic::{Diagnostic, Diagnostics, SpanRange};
use crate::text::spelling::nearest;

/// Every item of the attribute, as its keyword and an example.
const ITEMS: &[(&str, &str)] = &[
    ("source", "source = \"gemm.cu\""),
    ("entry", "entry = \"gemm_tiled\""),
    ("types", "types(T in [f32, f16])"),
    ("sizes", "sizes(batch: u32, heads: u32)"),
    ("params", "params(BLOCK in [64, 128])"),
    ("where", "where(BLOCK <= device.max_threads_per_block)"),
    ("baseline", "baseline(BLOCK = 64)"),
    ("try_first", "try_first((BLOCK = 128))"),
    ("grid", "grid(n.div_ceil(BLOCK))"),
    ("block", "block(BLOCK)"),
    ("shared", "shared(4 * BLOCK)"),
    ("problems", "problems((n = 4096))"),
    ("gpu_problems", "gpu_problems((n = 100_000_000))"),
    ("verify", "verify((n = 100))"),
    ("work", "work(flops = n, bytes = 8 * n)"),
    ("tolerance", "tolerance(relative = 1e-5)"),
    ("inputs", "inputs = path::to::function"),
    ("reference", "reference = path::to::function"),
    ("evidence", "evidence(replayed)"),
    ("only", "only(cuda)"),
    ("equal_stores", "equal_stores = allow"),
    ("unwritten_reads", "unwritten_reads = allow"),
    ("untuned", "untuned = allow"),
];

/// One item of the attribute: its keyword and the tokens after the keyword.
struct Item {
    keyword: syn::Ident,
    body: Body,
    span: SpanRange,
}

enum Body {
    /// An item of the form `keyword = tokens`.
    Value(TokenStream),
    /// An item of the form `keyword(tokens)`.
    List(TokenStream),
}

impl KernelAttr {
    /// Parses the tokens of the attribute. Reports the mistakes of all items, not only of the first wrong one.
    pub fn parse(tokens: TokenStream) -> (KernelAttr, Diagnostics) {
        let mut attr = KernelAttr::default();
        let mut diagnostics = Diagnostics::new();
        let mut seen: Vec<String> = Vec::new();
        for piece in split_at_commas(tokens) {
            let result = item.parse2(piece).and_then(|item| {
                let keyword = item.keyword.to_string();
                if seen.contains(&keyword) {
                    let help = "give each item once";
                    return Err(error(
                        &item.keyword,
                        format!("`{keyword}` is given twice"),
                        help,
                    ));
                }
                seen.push(keyword);
                attr.take(item)
            });
            if let Err(error) = result {
                diagnostics.push_syn(error);
            }
        }
        (attr, diagnostics)
    }

    fn take(&mut self, item: Item) -> syn::Result<()> {
        match item.keyword.to_string().as_str() {
            "source" => self.source = Some(item.value()?),
            "entry" => self.entry = Some(item.value()?),
            "types" => self.types = item.list()?,
            "sizes" => self.sizes = item.list()?,
            "params" => self.params = item.list()?,
            "where" => self.constraints = item.list()?,
            "problems" => self.problems = item.list()?,
            "gpu_problems" => self.gpu_problems = item.list()?,
            "verify" => self.verify = item.list()?,
            "baseline" => self.baseline = Some(item.parse_list(baseline)?),
            "try_first" => self.try_first = item.list()?,
            "grid" => self.geometry.grid = Some(item.axes()?),
            "block" => self.geometry.block = Some(item.axes()?),
            "shared" => self.geometry.shared_bytes = Some(item.parse_list(SpannedExpr::parse)?),
            "work" => (self.flops, self.bytes) = item.parse_list(work)?,
            "tolerance" => {
                self.tolerance = Some(Spanned {
                    value: item.parse_list(Tolerance::parse)?,
                    span: item.span,
                });
            }
            "inputs" => self.inputs = Some(item.path()?),
            "reference" => self.reference = Some(item.reference()?),
            "only" => self.only = item.parse_list(only)?,
            "equal_stores" => self.equal_stores = Some(item.allow()?),
            "unwritten_reads" => self.unwritten_reads = Some(item.allow()?),
            "untuned" => self.untuned = Some(item.allow()?),
            "evidence" => self.evidence = item.parse_list(evidence)?,
            _ => return Err(item.unknown()),
        }
        Ok(())
    }
}

impl Item {
    fn form(&self) -> &'static str {
        let form = ITEMS.iter().find(|(name, _)| self.keyword == name);
        form.map_or("", |(_, form)| form)
    }

    fn wrong_form(&self) -> syn::Error {
        error(
            &self.keyword,
            format!("`{}` is not written like this", self.keyword),
            &format!("write `{}`", self.form()),
        )
    }

    /// Adds a help text to an error of the parser. If the parser ran out of tokens, the error also gets the position of
    /// the item.
    fn with_form(&self, error: syn::Error) -> syn::Error {
        let mut diagnostic = Diagnostic::from(error);
        if diagnostic.message.starts_with("unexpected end of input") {
            diagnostic.span = self.span;
        }
        if diagnostic.help.is_none() {
            diagnostic.help = Some(format!("write `{}`", self.form()));
        }
        diagnostic.to_syn_error()
    }

    fn unknown(&self) -> syn::Error {
        let name = self.keyword.to_string();
        let help = match nearest(&name, ITEMS.iter().map(|(item, _)| *item)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "items are {}",
                ITEMS
                    .iter()
                    .map(|(item, _)| *item)
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        };
        error(&self.keyword, format!("unknown item `{name}`"), &help)
    }

    fn parse_with<T>(
        &self,
        tokens: &TokenStream,
        parser: fn(ParseStream) -> syn::Result<T>,
    ) -> syn::Result<T> {
        if tokens.is_empty() {
            return Err(self.wrong_form());
        }
        parser
            .parse2(tokens.clone())
            .map_err(|error| self.with_form(error))
    }

    fn value<T: Parse>(&self) -> syn::Result<T> {
        match &self.body {
            Body::Value(tokens) => self.parse_with(tokens, T::parse),
            Body::List(_) => Err(self.wrong_form()),
        }
    }

    fn parse_list<T>(&self, parser: fn(ParseStream) -> syn::Result<T>) -> syn::Result<T> {
        match &self.body {
            Body::List(tokens) => self.parse_with(tokens, parser),
            Body::Value(_) => Err(self.wrong_form()),
        }
    }

    fn list<T: Parse>(&self) -> syn::Result<Vec<T>> {
        self.parse_list(list)
    }

    fn axes(&self) -> syn::Result<Spanned<Vec<SpannedExpr>>> {
        Ok(Spanned {
            value: self.list()?,
            span: self.span,
        })
    }

    /// Parses the value of `untuned = allow` and of similar items. No other value is valid.
    fn allow(&self) -> syn::Result<SpanRange> {
        let word: syn::Ident = self.value()?;
        if word == "allow" {
            Ok(self.span)
        } else {
            Err(self.wrong_form())
        }
    }

    fn path(&self) -> syn::Result<syn::Path> {
        match &self.body {
            Body::Value(tokens) => self.parse_with(tokens, syn::Path::parse_mod_style),
            Body::List(_) => Err(self.wrong_form()),
        }
    }

    fn reference(&self) -> syn::Result<ReferenceDecl> {
        match &self.body {
            Body::Value(tokens) => self
                .parse_with(tokens, syn::Path::parse_mod_style)
                .map(ReferenceDecl::Rust),
            Body::List(tokens) => {
                let entry: Assign<Spanned<String>> = self.parse_with(tokens, Assign::parse)?;
                if &*entry.name.value != "entry" {
                    return Err(error(
                        tokens,
                        "unknown kind of reference",
                        "write `reference = path::to::function` or `reference(entry = \"name\")`",
                    ));
                }
                Ok(ReferenceDecl::Entry(entry.value))
            }
        }
    }
}

/// Parses `keyword = ..` or `keyword(..)`, after which nothing may come.
fn item(input: ParseStream) -> syn::Result<Item> {
    use syn::ext::IdentExt as _;
    let Ok(keyword) = syn::Ident::parse_any(input) else {
        let first: TokenTree = input.parse()?;
        let help = "items look like `source = \"..\"` or `params(..)`";
        return Err(error(first, "expected an item", help));
    };
    let mut span = SpanRange::from(keyword.span());
    let body = if input.peek(syn::Token![=]) {
        input.parse::<syn::Token![=]>()?;
        let tokens: TokenStream = input.parse()?;
        if !tokens.is_empty() {
            span = span.to(SpanRange::of(&tokens));
        }
        Body::Value(tokens)
    } else if input.peek(syn::token::Paren) {
        let group: proc_macro2::Group = input.parse()?;
        span = span.to(group.span_close().into());
        Body::List(group.stream())
    } else {
        Body::Value(TokenStream::new())
    };
    if !input.is_empty() {
        let rest: TokenStream = input.parse()?;
        let help = format!("is a comma missing after `{keyword}`?");
        return Err(error(rest, "unexpected tokens", &help));
    }
    Ok(Item {
        keyword,
        body,
        span,
    })
}

/// The tokens between top-level commas. Empty pieces are left out.
fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut pieces = vec![TokenStream::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => pieces.push(TokenStream::new()),
            // Tokens that another macro passed on may be in a group without delimiters. Take them out of the group.
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                if let Some(piece) = pieces.last_mut() {
                    piece.extend(group.stream());
                }
            }
            _ => {
                if let Some(piece) = pieces.last_mut() {
                    piece.extend([token]);
                }
            }
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Parses `flops = .., bytes = ..`.
fn work(input: ParseStream) -> syn::Result<(Option<SpannedExpr>, Option<SpannedExpr>)> {
    let (mut flops, mut bytes) = (None, None);
    for part in list::<Assign<SpannedExpr>>(input)? {
        let slot = match &*part.name.value {
            "flops" => &mut flops,
            "bytes" => &mut bytes,
            other => {
                return Err(error_at(
                    part.name.span.start,
                    format!("unknown kind of work `{other}`"),
                    "write `work(flops = .., bytes = ..)`",
                ));
            }
        };
        if slot.replace(part.value).is_some() {
            return Err(again(&part.name));
        }
    }
    Ok((flops, bytes))
}

/// Parses `replayed, predicted`: the kinds of evidence that are accepted although they prove nothing.
fn evidence(input: ParseStream) -> syn::Result<Vec<Spanned<Evidence>>> {
    let mut kinds: Vec<Spanned<Evidence>> = Vec::new();
    for name in list::<syn::Ident>(input)? {
        let known = Evidence::ALL.into_iter().find(|kind| name == kind.name());
        let Some(value) = known.filter(|kind| *kind != Evidence::Proven) else {
            return Err(error(
                &name,
                format!("unknown kind of evidence `{name}`"),
                "write `evidence(replayed, predicted)`: rows that are used in addition to the proven ones",
            ));
        };
        if kinds.iter().any(|kind| kind.value == value) {
            return Err(error(
                &name,
                format!("`{name}` is given twice"),
                "give each once",
            ));
        }
        let span = SpanRange::from(name.span());
        kinds.push(Spanned { value, span });
    }
    Ok(kinds)
}

/// Parses `cuda, hip`: the backends that the kernel supports.
fn only(input: ParseStream) -> syn::Result<Vec<Spanned<Backend>>> {
    let mut backends: Vec<Spanned<Backend>> = Vec::new();
    for name in list::<syn::Ident>(input)? {
        let known = name.to_string().parse::<Backend>().ok();
        let Some(value) = known.filter(|backend| *backend != Backend::Fake) else {
            return Err(error(
                &name,
                format!("unknown backend `{name}`"),
                "write `only(cuda)`: one or more of `cuda`, `hip` and `cpu`",
            ));
        };
        if backends.iter().any(|backend| backend.value == value) {
            let message = format!("`{name}` is given twice");
            return Err(error(&name, message, "give each once"));
        }
        let span = SpanRange::from(name.span());
        backends.push(Spanned { value, span });
    }
    Ok(backends)
}

fn again(name: &Name) -> syn::Error {
    error_at(
        name.span.start,
        format!("`{}` is given twice", name.value),
        "give each once",
    )
}

/// Parses the items of a baseline: `P = v, ..`, `entry = ".."`, `grid(..)`, `block(..)`, `shared(..)`, `where(..)`.
fn baseline(input: ParseStream) -> syn::Result<BaselineDecl> {
    let tokens: TokenStream = input.parse()?;
    let mut baseline = BaselineDecl {
        span: SpanRange::of(&tokens),
        entry: None,
        values: Vec::new(),
        geometry: GeometryDecl::default(),
        constraints: Vec::new(),
    };
    for piece in split_at_commas(tokens) {
        let item = item.parse2(piece)?;
        let geometry = &mut baseline.geometry;
        let fresh = match item.keyword.to_string().as_str() {
            "entry" => baseline.entry.replace(item.value()?).is_none(),
            "grid" => geometry.grid.replace(item.axes()?).is_none(),
            "block" => geometry.block.replace(item.axes()?).is_none(),
            "shared" => geometry
                .shared_bytes
                .replace(item.parse_list(SpannedExpr::parse)?)
                .is_none(),
            "where" => std::mem::replace(&mut baseline.constraints, item.list()?).is_empty(),
            name => {
                let span = SpanRange::from(item.keyword.span());
                let fresh = baseline.values.iter().all(|(n, _)| &*n.value != name);
                let value = name.into();
                baseline
                    .values
                    .push((Spanned { value, span }, item.value()?));
                fresh
            }
        };
        if !fresh {
            let message = format!("`{}` is given twice in the baseline", item.keyword);
            return Err(error(&item.keyword, message, "give each once"));
        }
    }
    Ok(baseline)
}

impl NamedValues<ParamValue> {
    /// Whether the list contains `value`.
    pub fn has(&self, value: &ParamValue) -> bool {
        self.values.iter().any(|v| v.value == *value)
    }
}
