//! Puts the arguments of a macro's use into its replacement.

use super::macros::{Definition, Word};
use crate::source::lexer::TokenKind;

/// The replacement of a macro, with the arguments in place of the parameters, and with the words joined that `##` joins
/// (C++17, 19.3). `None` if the replacement contains the string of an argument, or `__VA_OPT__`.
pub(super) fn substitute(definition: &Definition, arguments: &[Vec<Word>]) -> Option<Vec<Word>> {
    let params = definition.params.as_deref().unwrap_or_default();
    let is_punct =
        |word: Option<&Word>, byte| word.is_some_and(|word| word.kind == TokenKind::Punct(byte));
    let body = &definition.body;
    let is_paste = |i: usize| is_punct(body.get(i), b'#') && is_punct(body.get(i + 1), b'#');
    let mut out: Vec<Word> = Vec::new();
    // Whether `##` joins the next operand to the operand before it.
    let mut joins = false;
    // If the operand before `##` was empty: whether white space preceded it.
    let mut empty_left = None;
    let mut i = 0;
    while let Some(word) = body.get(i) {
        if is_paste(i) {
            joins = true;
            i += 2;
            continue;
        }
        if is_punct(Some(word), b'#') || word.text == "__VA_OPT__" {
            return None;
        }
        let param = params.iter().position(|param| *param == word.text);
        let param = param.filter(|_| word.is_name());
        let mut words = match param {
            Some(param) => arguments.get(param)?.clone(),
            None => vec![word.clone()],
        };
        let spaced = empty_left.filter(|_| joins).unwrap_or(word.spaced);
        if let Some(first) = words.first_mut() {
            first.spaced = spaced;
        }
        let is_rest = definition.is_variadic && param == Some(params.len() - 1);
        if joins && is_rest && is_punct(out.last(), b',') {
            // GNU: `, ##__VA_ARGS__` is nothing if there are no further arguments, and joins nothing otherwise.
            if words.is_empty() {
                out.pop();
            }
        } else if joins && empty_left.is_none() {
            if let (Some(last), false) = (out.last_mut(), words.is_empty()) {
                last.text += &words.remove(0).text;
            }
        } else {
            empty_left = words.is_empty().then_some(spaced);
        }
        joins = false;
        if !is_paste(i + 1) {
            empty_left = None;
        }
        append(&mut out, words, param.is_some());
        i += 1;
    }
    Some(out)
}

/// Appends words. If they are an argument, or follow one, two operators must not become one, as `-` and the `-1` of an
/// argument.
fn append(out: &mut Vec<Word>, mut words: Vec<Word>, is_argument: bool) {
    let is_operator = |word: Option<&Word>| {
        word.is_some_and(
            |word| matches!(word.kind, TokenKind::Punct(byte) if !b"(){}[],;".contains(&byte)),
        )
    };
    if let Some(last) = out.last()
        && (is_argument || last.ends_argument)
        && is_operator(Some(last))
        && is_operator(words.first())
        && let Some(first) = words.first_mut()
    {
        first.spaced = true;
    }
    if let Some(last) = words.last_mut() {
        last.ends_argument = is_argument;
    }
    out.append(&mut words);
}
