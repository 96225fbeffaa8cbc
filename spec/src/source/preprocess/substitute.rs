//! Puts the arguments of a macro's use into its replacement.

use std::borrow::Cow;

use super::macros::{Definition, Word};
use crate::source::lexer::{Token, TokenKind, lex};

/// The arguments of a call of a macro, whose first word is the opening parenthesis, and the number of words up to the
/// closing one. `None` if the call does not end, or has a wrong number of arguments.
pub(super) fn arguments(
    definition: &Definition,
    words: &[Word],
) -> Option<(Vec<Vec<Word>>, usize)> {
    let params = definition.params.as_deref()?;
    let (mut arguments, used) = split(words)?;
    if definition.is_variadic {
        join_rest(&mut arguments, params.len());
    }
    let fits =
        arguments.len() == params.len() || params.is_empty() && arguments.iter().all(Vec::is_empty);
    fits.then_some((arguments, used))
}

/// The words between the commas of a call, and the number of words up to the closing parenthesis.
fn split(words: &[Word]) -> Option<(Vec<Vec<Word>>, usize)> {
    let mut arguments: Vec<Vec<Word>> = vec![Vec::new()];
    let mut depth = 0_usize;
    for (i, word) in words.iter().enumerate() {
        match word.kind {
            TokenKind::Punct(b'(') => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            TokenKind::Punct(b')') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some((arguments, i + 1));
                }
            }
            TokenKind::Punct(b',') if depth == 1 => {
                arguments.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            return None;
        }
        arguments.last_mut()?.push(word.clone());
    }
    None
}

/// Joins the arguments for the last parameter (`__VA_ARGS__`), with commas between them.
fn join_rest(arguments: &mut Vec<Vec<Word>>, params: usize) {
    arguments.resize(arguments.len().max(params), Vec::new());
    let rest = arguments.split_off(params - 1);
    let comma = Word::new(",", TokenKind::Punct(b','), false);
    arguments.push(rest.join(&comma));
}

fn is_paste(body: &[Word], i: usize) -> bool {
    let is_hash = |i: usize| body.get(i).is_some_and(|word| word.is_punct(b'#'));
    is_hash(i) && is_hash(i + 1)
}

/// The replacement of a macro, with the arguments in place of the parameters, and with the words joined that `##` joins
/// (C++17, 19.3). An operand of `##` is the argument as written; elsewhere, it is the one of `expanded`. `None` if the
/// replacement contains the string of an argument, or joins words that do not become one token.
pub(super) fn substitute(
    definition: &Definition,
    arguments: &[Vec<Word>],
    expanded: &[Vec<Word>],
) -> Option<Vec<Word>> {
    let params = definition.params.as_deref().unwrap_or_default();
    let body = &*chosen(definition, expanded)?;
    let mut out: Vec<Word> = Vec::new();
    // Whether `##` joins the next operand to the operand before it.
    let mut joins = false;
    // If the operand before `##` was empty: whether white space preceded it.
    let mut empty_left = None;
    let mut i = 0;
    while let Some(word) = body.get(i) {
        if is_paste(body, i) {
            joins = true;
            i += 2;
            continue;
        }
        if word.is_punct(b'#') && definition.params.is_some() {
            return None;
        }
        let param = params.iter().position(|param| *param == word.text);
        let param = param.filter(|_| word.is_name());
        let is_operand = joins || is_paste(body, i + 1);
        let mut words = match param {
            Some(param) if is_operand => arguments.get(param)?.clone(),
            Some(param) => expanded.get(param)?.clone(),
            None => vec![word.clone()],
        };
        let spaced = empty_left.filter(|_| joins).unwrap_or(word.spaced);
        if let Some(first) = words.first_mut() {
            first.spaced = spaced;
        }
        let is_rest = definition.is_variadic && param == Some(params.len() - 1);
        if joins && is_rest && out.last().is_some_and(|last| last.is_punct(b',')) {
            // GNU: `, ##__VA_ARGS__` is nothing if there are no further arguments, and joins nothing otherwise.
            if words.is_empty() {
                out.pop();
            }
        } else if joins && empty_left.is_none() {
            if !words.is_empty() && !out.is_empty() {
                let joined = paste(&out.pop()?, &words.remove(0))?;
                out.extend(joined);
            }
        } else {
            empty_left = words.is_empty().then_some(spaced);
        }
        joins = false;
        if !is_paste(body, i + 1) {
            empty_left = None;
        }
        append(&mut out, words, param.is_some());
        i += 1;
    }
    Some(out)
}

/// The replacement of a macro, with what `__VA_OPT__(..)` contains if there are further arguments, and without it
/// otherwise. `None` if `##` joins it to a word.
fn chosen<'d>(definition: &'d Definition, expanded: &[Vec<Word>]) -> Option<Cow<'d, [Word]>> {
    let body = &definition.body;
    let is_choice = |word: &Word| definition.is_variadic && word.text == "__VA_OPT__";
    if !body.iter().any(is_choice) {
        return Some(Cow::Borrowed(body));
    }
    let has_rest = expanded.last().is_some_and(|rest| !rest.is_empty());
    let mut out = Vec::new();
    let mut i = 0;
    while let Some(word) = body.get(i) {
        if !is_choice(word) {
            out.push(word.clone());
            i += 1;
            continue;
        }
        let (content, used) = split(&body[i + 1..])?;
        let is_operand = i >= 2 && is_paste(body, i - 2) || is_paste(body, i + 1 + used);
        let content = content.join(&Word::new(",", TokenKind::Punct(b','), false));
        if is_operand || is_paste(&content, 0) || content.iter().any(is_choice) {
            return None;
        }
        if has_rest {
            out.extend(content);
        }
        i += 1 + used;
    }
    Some(Cow::Owned(out))
}

/// The word of two words that `##` joins: one token, or the bytes of one operator.
fn paste(left: &Word, right: &Word) -> Option<Vec<Word>> {
    let text = format!("{}{}", left.text, right.text);
    let tokens = lex(&text).ok()?;
    let is_operator = |kind| matches!(kind, TokenKind::Punct(byte) if !b"(){}[],;".contains(&byte));
    let is_one = tokens.len() == 1 || tokens.iter().all(|token| is_operator(token.kind));
    let word = |(i, token): (usize, &Token)| {
        Word::new(token.text(&text), token.kind, i == 0 && left.spaced)
    };
    is_one.then(|| tokens.iter().enumerate().map(word).collect())
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
