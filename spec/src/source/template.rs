//! Parses template parameters, as far as the instantiation of a kernel needs them.

use std::ops::Range;

use super::brackets::{closing, split_commas};
use super::lexer::{Token, TokenKind};

/// The parameter list of a template, such as `template <typename T, int N = 4>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The text from `<` to `>`.
    pub text: String,
    /// The template's parameters; `None` if one of them is a parameter pack, is itself a template or has no name.
    pub params: Option<Vec<TemplateParam>>,
}

/// A parameter of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateParam {
    /// The declaration of a value parameter without its default, as in `int N` or `float (*F)(float)`. `None` for a type
    /// parameter.
    pub declaration: Option<String>,
    /// The parameter's name.
    pub name: String,
    /// The parameter's default, if it has one.
    pub default: Option<String>,
}

impl Template {
    /// Parses the template among the specifiers of a declaration. `None` if the specifiers contain no template, or if
    /// it is a specialisation.
    pub(super) fn of(text: &str, tokens: &[Token], specifiers: Range<usize>) -> Option<Template> {
        let template = specifiers
            .clone()
            .find(|&i| tokens[i].is_name(text, "template"))?;
        let open = template + 1;
        let close = closing(&tokens[..specifiers.end], open)?;
        let inside = &tokens[open + 1..close];
        if inside.is_empty() {
            return None;
        }
        Some(Template {
            text: text[tokens[open].start..tokens[close].end].to_owned(),
            params: split_commas(inside)
                .into_iter()
                .map(|part| param(text, part))
                .collect(),
        })
    }

    /// Each parameter with its argument or, if it has no argument, with its default. `None` if there are too many
    /// arguments, if a parameter has neither an argument nor a default, or if [`Self::params`] is `None`.
    pub fn with<'t>(
        &'t self,
        arguments: &'t [String],
    ) -> Option<Vec<(&'t TemplateParam, &'t str)>> {
        let params = self.params.as_ref()?;
        if arguments.len() > params.len() {
            return None;
        }
        let given = arguments.iter().map(|argument| Some(argument.as_str()));
        let values = given.chain(std::iter::repeat(None));
        let pairs = params.iter().zip(values);
        pairs
            .map(|(param, given)| Some((param, given.or(param.default.as_deref())?)))
            .collect()
    }
}

fn param(text: &str, tokens: &[Token]) -> Option<TemplateParam> {
    let equals = tokens.iter().position(|token| token.is_punct(b'='));
    let (declared, default) = tokens.split_at(equals.unwrap_or(tokens.len()));
    let cut = |part: &[Token]| {
        let (first, last) = (part.first()?, part.last()?);
        Some(text[first.start..last.end].to_owned())
    };
    let plain = !declared.iter().any(|token| {
        token.is_punct(b'.') || token.is_directive() || token.is_name(text, "template")
    });
    let name = name_of(declared)?;
    if !plain || name.kind != TokenKind::Identifier || declared.len() < 2 {
        return None;
    }
    let is_type = matches!(declared, [keyword, _] if keyword.is_name(text, "typename") || keyword.is_name(text, "class"));
    Some(TemplateParam {
        declaration: if is_type { None } else { cut(declared) },
        name: name.text(text).into_owned(),
        default: cut(default.get(1..).unwrap_or_default()),
    })
}

/// The name that a parameter declares: the last token, or `F` in `float (*F)(float)`.
fn name_of(declared: &[Token]) -> Option<&Token> {
    let pointer = declared.windows(4).find(|four| {
        four[0].is_punct(b'(')
            && (four[1].is_punct(b'*') || four[1].is_punct(b'&'))
            && four[3].is_punct(b')')
    });
    pointer.map(|four| &four[2]).or(declared.last())
}
