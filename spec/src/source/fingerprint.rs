//! Hashes a source by its tokens, so that a changed comment or line break does not make a baked row stale.
//!
//! White space is hashed only where it changes the token sequence: between operators (`a - -b` is not `a --b`), before
//! the suffix of a literal, and after the macro name in a `#define` (`F (x)` is not `F(x)`).
//!
//! If the source can observe its own text, more is hashed. If a macro stringifies (`#x`), all spacing is hashed. If the
//! source uses `__LINE__`, `__FILE__` or another name that exposes a source location, every byte is hashed.

use super::lexer::{LexError, Token, TokenKind, lex, lex_directive};
use crate::hash::{Hash, Hasher, SourceHash};

/// Names through which a source can observe its own line or file. `assert` is not among them. An `assert` that fails
/// prints its line, but this changes a message and not a result.
const PLACES: [&str; 4] = ["__LINE__", "__FILE__", "__FILE_NAME__", "source_location"];

/// The hash of an expanded source: the hash of its tokens or, if that is not enough, of its text.
pub(super) fn of(text: &str) -> SourceHash {
    let hash = tokens(text).unwrap_or_else(|| Hash::of("kiln source text", text.as_bytes()));
    SourceHash(hash)
}

/// The hash of the tokens. `None` if the source exposes its location, or if it cannot be split into tokens.
fn tokens(text: &str) -> Option<Hash> {
    let lines = every_line(text).ok()?;
    let all = || lines.iter().flatten();
    if all().any(|token| PLACES.iter().any(|place| token.is_name(text, place))) {
        return None;
    }
    let spacing = lines.iter().any(|line| stringifies(text, line));
    let mut hasher = Hasher::new("kiln source 2");
    for line in &lines {
        // A directive and the same tokens outside a directive must have different hashes.
        hasher.field(if is_directive(line) { b"#" } else { b"" });
        let mut before: Option<&Token> = None;
        for (i, token) in line.iter().enumerate() {
            let glued = before.is_some_and(|before| {
                let counts = spacing
                    || may_join(before, token)
                    || i == MACRO_NAME + 1 && is_define(text, line);
                counts && is_adjacent(text, before, token)
            });
            hasher.field(if glued { b"+" } else { b" " });
            hasher.field(token.text(text).as_bytes());
            before = Some(token);
        }
    }
    Some(hasher.finish())
}

/// The index of the macro's name among the tokens of a `#define`: it comes after `#` and `define`.
const MACRO_NAME: usize = 2;

/// The tokens in groups: one group per directive (with its `#`), and one group for the code between two directives.
/// Line markers are left out.
fn every_line(text: &str) -> Result<Vec<Vec<Token>>, LexError> {
    let mut lines = vec![Vec::new()];
    for token in lex(text)? {
        if !token.is_directive() {
            if let Some(line) = lines.last_mut() {
                line.push(token);
            }
            continue;
        }
        let inner = lex_directive(text, &token);
        if inner.first().is_some_and(|name| name.is_name(text, "line")) {
            continue;
        }
        let hash = Token {
            kind: TokenKind::Directive,
            end: token.start + 1,
            ..token
        };
        lines.push([&[hash][..], &inner].concat());
        lines.push(Vec::new());
    }
    // Two directives with no code between them, such as those around an inlined file, would leave an empty group.
    lines.retain(|line| !line.is_empty());
    Ok(lines)
}

fn is_directive(line: &[Token]) -> bool {
    line.first().is_some_and(Token::is_directive)
}

fn is_define(text: &str, line: &[Token]) -> bool {
    is_directive(line) && line.get(1).is_some_and(|name| name.is_name(text, "define"))
}

/// Pairs of punctuation bytes that form an operator or occur in one: `>*` and `=>` occur in `->*` and `<=>`.
const JOINED: [&[u8; 2]; 32] = [
    b"++", b"--", b"&&", b"||", b"<<", b">>", b"==", b"!=", b"<=", b">=", b"+=", b"-=", b"*=",
    b"/=", b"%=", b"&=", b"|=", b"^=", b"->", b"::", b"##", b"..", b".*", b">*", b"=>", b"<:",
    b":>", b"<%", b"%>", b"%:", b"//", b"/*",
];

/// Whether a compiler may read two tokens as one if nothing separates them: as an operator, or as a literal with its
/// suffix.
fn may_join(before: &Token, token: &Token) -> bool {
    match (before.kind, token.kind) {
        (TokenKind::Punct(first), TokenKind::Punct(second)) => JOINED.contains(&&[first, second]),
        (TokenKind::Str | TokenKind::Char, TokenKind::Identifier) => true,
        _ => false,
    }
}

/// Whether two tokens are separated by nothing or only by line continuations.
fn is_adjacent(text: &str, before: &Token, token: &Token) -> bool {
    let between = &text[before.end..token.start];
    between.is_empty() || between.replace("\\\n", "").is_empty()
}

/// Whether a `#define` stringifies an argument: it contains a `#` that is not half of a `##`.
fn stringifies(text: &str, line: &[Token]) -> bool {
    let is_hash = |token: Option<&Token>| token.is_some_and(|token| token.is_punct(b'#'));
    is_define(text, line)
        && (MACRO_NAME..line.len())
            .any(|i| is_hash(line.get(i)) && !is_hash(line.get(i + 1)) && !is_hash(line.get(i - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        of(one) == of(other)
    }

    const KERNEL: &str = "#include <cuda_fp16.h>\n#define TILE(x) ((x) * 2)\n\
        __global__ void k(float* y) {\n    y[threadIdx.x] = TILE(3) - -1;\n}\n";

    #[test]
    fn comments_blank_lines_and_indentation_change_nothing() {
        let others = [
            format!("// What it does.\n{KERNEL}"),
            KERNEL.replace("{\n", "{ /* over\n two lines */\n\n\n"),
            KERNEL.replace("    y[", "\ty[ "),
            KERNEL.replace("y[threadIdx.x] =", "y/**/[threadIdx.x]="),
            KERNEL.replace("#define TILE(x)", "#  define /* why */ TILE(x)"),
            KERNEL.replace("((x) * 2)", "((x) \\\n * 2) // end"),
            KERNEL.replace("__global__", "__glo\\\nbal__"),
            KERNEL.replace("__global__", "\n#line 7 \"other.cu\"\n__global__"),
        ];
        for other in others {
            assert!(same(KERNEL, &other), "{other}");
        }
    }

    #[test]
    fn whatever_a_compiler_reads_otherwise_changes_the_hash() {
        let others = [
            KERNEL.replace("- -1", "--1"),
            KERNEL.replace("- -1", "- 1"),
            KERNEL.replace("3", "4"),
            KERNEL.replace("TILE(x)", "TILE (x)"),
            KERNEL.replace("* 2)\n", "* 2) "),
            KERNEL.replace("#define", "//\n#undef"),
            KERNEL.replace("float*", "floa t*"),
            KERNEL.replace("y[thr", "/* y[thr").replace("-1;", "-1; */"),
        ];
        for other in others {
            assert!(!same(KERNEL, &other), "{other}");
        }
        assert!(!same("f(\"a  b\")", "f(\"a b\")"));
        assert!(!same("f(R\"(a\n)\")", "f(R\"(a)\")"));
        assert!(!same("f(\"// a\")", "f(\"// b\")"));
        assert!(!same("\"a\"_s", "\"a\" _s"));
        assert!(same("a -\\\n- b", "a -- b") && !same("a -\\\n- b", "a - - b"));
        // The end of a directive is hashed: `b` is code in the first text and belongs to the macro in the second.
        assert!(!same("#define A\nb", "#define A b"));
    }

    #[test]
    fn a_source_that_sees_its_own_place_or_spelling_has_that_hashed() {
        let placed = "int at = __LINE__;\nint b;";
        assert!(!same(placed, "\nint at = __LINE__;\nint b;"));
        assert!(same("// __LINE__\nint b;", "int b;"));
        let spelt = "#define S(x) #x\nf(S(a+b));";
        assert!(!same(spelt, "#define S(x) #x\nf(S(a + b));"));
        assert!(same(spelt, "// A comment.\n#define S(x) #x\nf(S(a+b));"));
        // `##` joins tokens and does not stringify them.
        let joined = "#define J(x) x##1\nf(J(a+b));";
        assert!(same(joined, "#define J(x) x##1\nf(J(a + b));"));
    }
}
