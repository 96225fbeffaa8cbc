//! Finds the names that a declaration declares.

use std::collections::BTreeSet;

use super::declaration::CALLS;
use super::names::names as identifiers;
use crate::source::brackets;
use crate::source::kernel_function::matching;
use crate::source::lexer::{Token, TokenKind};
use crate::source::reach::is_common;

/// Words that begin the definition of a class, perhaps after specifiers.
const CLASSES: [&str; 4] = ["class", "enum", "struct", "union"];

/// Whether a declaration whose last token is a `}` is a function with its body. Otherwise it is a class or a variable,
/// and continues up to a semicolon.
pub(super) fn is_function(text: &str, tokens: &[Token]) -> bool {
    let is = |i: usize, name: &str| tokens[i].is_name(text, name);
    let mut i = 0;
    while i < tokens.len() {
        if is(i, "template") {
            i = brackets::closing(tokens, i + 1).unwrap_or(i);
        } else if CALLS.iter().any(|call| is(i, call)) {
            i = matching(tokens, i + 1).unwrap_or(i);
        } else if CLASSES.iter().any(|word| is(i, word)) {
            // A macro with an attribute may follow, as in `struct ALIGN(16) Foo {`.
            i = matching(tokens, i + 2).unwrap_or(i);
        } else if is(i, "operator") || tokens[i].is_punct(b'(') {
            return true;
        } else if tokens[i].is_punct(b'{') || tokens[i].is_punct(b'=') {
            return false;
        }
        i += 1;
    }
    false
}

/// The names that a declaration at file or namespace scope declares, and the names before `::` in front of them.
///
/// These are the names before `(`, `=`, `;`, `,`, `[`, `{` and `:` outside all brackets. Template arguments may come in
/// between, as in `template <> struct Traits<float> {`. All names in an `enum` count, because its enumerators are visible
/// outside its braces.
pub(super) fn names(text: &str, tokens: &[Token]) -> BTreeSet<String> {
    let tokens: Vec<Token> = { tokens.iter() }
        .filter(|token| !token.is_directive())
        .copied()
        .collect();
    let is = |i: usize, name: &str| tokens.get(i).is_some_and(|t| t.is_name(text, name));
    let mut names = BTreeSet::new();
    // The names before `::`, in front of the name that follows.
    let mut outer = Vec::new();
    let mut is_class = false;
    let mut i = 0;
    while i < tokens.len() {
        let token = tokens[i];
        match token.kind {
            TokenKind::Identifier if is(i, "enum") => {
                return identifiers(text, &tokens).collect();
            }
            TokenKind::Identifier if is(i, "template") => {
                i = brackets::closing(&tokens, i + 1).unwrap_or(i);
            }
            TokenKind::Identifier if CALLS.iter().any(|call| is(i, call)) => {
                i = matching(&tokens, i + 1).unwrap_or(i);
            }
            TokenKind::Identifier => {
                i = brackets::closing(&tokens, i + 1).unwrap_or(i);
                let name = token.text(text).into_owned();
                is_class |= CLASSES.contains(&&*name);
                if let Some(close) = is_class
                    .then(|| attribute_before_name(&tokens, i))
                    .flatten()
                {
                    i = close;
                } else if is_scope(&tokens, i + 1) {
                    outer.push(name);
                    i += 2;
                } else {
                    let outer = std::mem::take(&mut outer);
                    let follows = CALLS.iter().any(|call| is(i + 1, call));
                    let is_word = is_common(&name) || CLASSES.contains(&&*name) || name == "final";
                    // `final` or a macro with an attribute may follow the name of a class.
                    let may_end = follows || is_class || may_follow(&tokens, i + 1);
                    if may_end && !is_word {
                        names.extend(outer.into_iter().filter(|_| !is(0, "using")));
                        names.insert(name);
                    }
                }
            }
            TokenKind::Punct(b'(') => {
                let close = matching(&tokens, i).unwrap_or(i);
                // `float (*function)(float)` and `float (*array)[4]` have the name in parentheses.
                let more = tokens.get(close + 1);
                if more.is_some_and(|t| t.is_punct(b'(') || t.is_punct(b'[')) {
                    names.extend(identifiers(text, &tokens[i..close]));
                }
                i = close;
            }
            // Base classes, the type after `->` and initialisers are not declared.
            TokenKind::Punct(b':') if is_class => i = before(&tokens, i, b"{;"),
            // The initialisers of a constructor follow.
            TokenKind::Punct(b':') => break,
            TokenKind::Punct(b'-') => i = before(&tokens, i, b"{;"),
            TokenKind::Punct(b'=') => i = before(&tokens, i, b",;"),
            TokenKind::Punct(b'{' | b'[') => i = matching(&tokens, i).unwrap_or(i),
            _ => {}
        }
        i += 1;
    }
    names
}

/// The index before the next of these punctuation bytes that is outside brackets.
fn before(tokens: &[Token], start: usize, ends: &[u8]) -> usize {
    let mut i = start + 1;
    while let Some(token) = tokens.get(i) {
        match token.kind {
            TokenKind::Punct(byte) if ends.contains(&byte) => return i - 1,
            TokenKind::Punct(b'(' | b'[' | b'{') => i = matching(tokens, i).unwrap_or(i),
            _ => {}
        }
        i += 1;
    }
    i - 1
}

/// Whether `::` is at `i`.
fn is_scope(tokens: &[Token], i: usize) -> bool {
    let colon = |i: usize| tokens.get(i).filter(|token| token.is_punct(b':'));
    { colon(i).zip(colon(i + 1)) }.is_some_and(|(first, second)| first.end == second.start)
}

/// If the name at `i` is a call of a macro in front of the name of a class, as in `class LOCKS("a") Foo {`, returns the
/// index of its last token.
fn attribute_before_name(tokens: &[Token], i: usize) -> Option<usize> {
    tokens.get(i + 1).filter(|token| token.is_punct(b'('))?;
    let close = matching(tokens, i + 1)?;
    let next = tokens.get(close + 1)?;
    (next.kind == TokenKind::Identifier).then_some(close)
}

/// Whether the token at `i` may follow the name that a declaration declares.
fn may_follow(tokens: &[Token], i: usize) -> bool {
    match tokens.get(i).map(|token| token.kind) {
        Some(TokenKind::Punct(byte)) => b"(=;,[{:".contains(&byte),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::lexer::lex;

    #[track_caller]
    fn assert_names(declaration: &str, expected: &[&str]) {
        let tokens = lex(declaration).unwrap();
        let found = names(declaration, &tokens);
        let expected: BTreeSet<String> = expected.iter().map(|&name| name.into()).collect();
        assert_eq!(found, expected, "{declaration}");
    }

    #[test]
    fn a_function_declares_its_name_but_not_its_types() {
        assert_names("__device__ float f(Vec v, int n) { g(v); }", &["f"]);
        assert_names("std::vector<float> make(int n) { return {}; }", &["make"]);
        assert_names("template <class T, int N = (1 > 0)> T f(T x);", &["f"]);
        assert_names(
            "template <> __device__ float zero<float>() { return 0; }",
            &["zero"],
        );
        assert_names("__attribute__((noinline)) void f(void) {}", &["f"]);
        assert_names("void* f(const char* s);", &["f"]);
        assert_names("auto f(int a) -> Pair<int> { return a; }", &["f"]);
    }

    #[test]
    fn a_body_ends_a_function_but_not_a_class_or_a_variable() {
        let is_function = |text: &str| is_function(text, &lex(text).unwrap());
        for text in [
            "float f(int x) {}",
            "template <class T = void()> __launch_bounds__(4) void f() {}",
            "Foo& Foo::operator=(const Foo& other) {}",
            "TEST(a, b) {}",
            "Foo::Foo() : x(1) {}",
        ] {
            assert!(is_function(text), "{text}");
        }
        for text in [
            "typedef struct ALIGN(16) { float x; }",
            "struct alignas(16) Foo {}",
            "template <int N> class Foo : Base<N> {}",
            "float a[2] = {1, 2}",
            "auto f = [](int x) {}",
            "Foo x{}",
        ] {
            assert!(!is_function(text), "{text}");
        }
    }

    #[test]
    fn a_member_that_is_defined_outside_its_class_also_declares_the_class() {
        assert_names("float Foo::get() const { return x; }", &["Foo", "get"]);
        assert_names("Foo::Foo(int n) : x(n), y{n} { f(); }", &["Foo"]);
        assert_names(
            "template <class T> void a::Foo<T>::set(T x) {}",
            &["Foo", "a", "set"],
        );
    }

    #[test]
    fn a_class_declares_its_name_and_variables_that_follow_it() {
        assert_names("struct Foo { int x; void f(); };", &["Foo"]);
        assert_names("template <> struct Traits<float> { };", &["Traits"]);
        assert_names(
            "struct alignas(16) Foo : public Base { } a, b;",
            &["Foo", "a", "b"],
        );
        assert_names("class Foo;", &["Foo"]);
        assert_names("class LOCKS(\"a\") Foo { };", &["Foo"]);
        assert_names(
            "struct EXPORT ALIGN(16) Foo final : Base { } a;",
            &["EXPORT", "Foo", "a"],
        );
        assert_names("struct Foo { } a MACRO(1);", &["Foo", "MACRO", "a"]);
        assert_names(
            "template <> struct Foo<int> final : public B { };",
            &["Foo"],
        );
        assert_names(
            "template <class T, bool S = sizeof(T) <= 4> struct Foo { };",
            &["Foo"],
        );
        assert_names("template <int N, bool S = N < 4> struct Bar { };", &["Bar"]);
    }

    #[test]
    fn variables_and_aliases_declare_their_names() {
        assert_names("static std::map<int, std::string> table;", &["table"]);
        assert_names("__constant__ float a[3] = {1, 2, x}, b;", &["a", "b"]);
        assert_names("using Vec = std::vector<float>;", &["Vec"]);
        assert_names(
            "typedef struct { float x; } Point, *Other;",
            &["Other", "Point"],
        );
        assert_names("typedef unsigned int uint;", &["uint"]);
        assert_names("using std::min;", &["min"]);
        assert_names("namespace cg = cooperative_groups;", &["cg"]);
    }

    #[test]
    fn all_names_of_enums_count() {
        assert_names("enum Kind { A, B = A + 1 };", &["A", "B", "Kind", "enum"]);
    }

    #[test]
    fn names_in_parentheses_and_before_attributes_count() {
        assert_names("float (*table[])(float) = { f };", &["table"]);
        assert_names("typedef void (Function)(int);", &["Function"]);
        assert_names("__device__ float (&rows)[4][4];", &["rows"]);
        assert_names(
            "typedef Bits<4>::type Row __attribute__((vector_size(16)));",
            &["Row"],
        );
    }
}
