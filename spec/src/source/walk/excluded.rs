//! Lists the parts of a source that a scan excludes.

use std::ops::Range;

use crate::source::kernel_function::signature;
use crate::source::lexer::Token;
use crate::source::preprocess::Excluded;

/// The byte ranges of all directives.
pub(super) fn directives(tokens: &[Token]) -> Vec<Range<usize>> {
    let directives = tokens.iter().filter(|token| token.is_directive());
    directives.map(|token| token.start..token.end).collect()
}

/// The byte ranges of the excluded tokens. Neighbouring tokens are in one range.
pub(super) fn ranges(tokens: &[Token], excluded: &Excluded) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut follows = false;
    for (i, token) in tokens.iter().enumerate() {
        let is_excluded = excluded.contains(i);
        match ranges.last_mut().filter(|_| follows) {
            Some(last) if is_excluded => last.end = token.end,
            _ if is_excluded => ranges.push(token.start..token.end),
            _ => {}
        }
        follows = is_excluded;
    }
    ranges
}

/// The names of the kernels in code that is never compiled.
pub(super) fn kernels<'t>(
    text: &'t str,
    tokens: &'t [Token],
    excluded: &'t Excluded,
) -> impl Iterator<Item = Token> + 't {
    let is_global = |&i: &usize| excluded.dead[i] && tokens[i].is_name(text, "__global__");
    let kernels = (0..tokens.len()).filter(is_global);
    kernels.filter_map(|i| signature(text, tokens, i).map(|found| found.name))
}
