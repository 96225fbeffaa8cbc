//! Errors of Python expressions: reading them, evaluating lists, using them as constraints, and writing them.

use thiserror::Error;

/// Why a text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// A character that begins no word.
    #[error("`{found}` is not part of an expression")]
    Character {
        /// The character.
        found: char,
    },
    /// More words than an expression may have.
    #[error("an expression of more than {limit} words")]
    TooManyWords {
        /// The limit.
        limit: usize,
    },
    /// More levels than an expression may have.
    #[error("an expression nested more than {limit} deep")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// A string without its closing quote.
    #[error("a string that does not end")]
    UnterminatedString,
    /// A string with an escape.
    #[error("a string with a backslash, which is not read here")]
    Backslash,
    /// An integer of more than 128 bits.
    #[error("`{text}` needs more than 128 bits")]
    IntegerTooLarge {
        /// As written.
        text: String,
    },
    /// Digits that do not make a number.
    #[error("`{text}` is not a number")]
    NotANumber {
        /// As written.
        text: String,
    },
    /// The expression ends, but an operand is needed.
    #[error("the expression ends too early")]
    EndsTooEarly,
    /// A word that cannot stand at its place.
    #[error("{found} does not belong there")]
    Unexpected {
        /// The word, as messages show it.
        found: String,
    },
    /// Another symbol was needed.
    #[error("expected `{expected}`{}", found.as_ref().map_or(" at the end".into(), |found| format!(", found {found}")))]
    Expected {
        /// The symbol that was needed.
        expected: &'static str,
        /// The word found instead, as messages show it; `None` at the end.
        found: Option<String>,
    },
    /// A keyword that must follow is missing.
    #[error("expected `{keyword}`")]
    ExpectedKeyword {
        /// The keyword.
        keyword: &'static str,
    },
    /// A comprehension without a variable.
    #[error("expected a name after `for`")]
    ExpectedVariable,
    /// `in` without a list after it.
    #[error("`in` takes a list here")]
    ExpectedList,
    /// A function with the wrong number of arguments.
    #[error("`{function}` does not take {count} arguments here")]
    ArgumentCount {
        /// The function.
        function: String,
        /// The number of its arguments.
        count: usize,
    },
    /// A function that expressions of search spaces do not have.
    #[error("the function `{name}` is not known here")]
    UnknownFunction {
        /// Its name.
        name: String,
    },
}

/// Why the values of a parameter cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListError {
    /// The expression is not a list.
    #[error("not a list")]
    NotAList,
    /// A list is used as a number.
    #[error("a list where a number is needed")]
    NestedList,
    /// More items than a list may have.
    #[error("a list of more than {limit} items")]
    TooManyItems {
        /// The limit.
        limit: usize,
    },
    /// `range` with an argument that is not an integer.
    #[error("`range` takes integers")]
    RangeType,
    /// `range` with no or too many arguments.
    #[error("`range` takes one to three integers")]
    RangeArguments,
    /// `range` that does not advance.
    #[error("`range` with steps of 0")]
    RangeStep,
    /// A condition that is neither true nor false.
    #[error("not a truth value")]
    NotATruthValue,
    /// A constant that is not the value of a parameter.
    #[error("no value")]
    NoValue,
    /// A name without a value.
    #[error("`{name}` has no value here")]
    UnknownName {
        /// The name.
        name: String,
    },
    /// A function without a value for its arguments.
    #[error("a value that cannot be computed (a division by zero, or too large)")]
    Undefined,
}

/// Why an expression is not a constraint on the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// It is not an expression.
    #[error(transparent)]
    Syntax(#[from] ParseError),
    /// A name that is not a parameter.
    #[error("`{name}` is not a parameter")]
    UnknownParam {
        /// The name.
        name: String,
    },
    /// A list is used as a value.
    #[error("a list where a value is needed")]
    List,
}

/// Why an expression of a spec cannot be written in Python with the same value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TranslateError {
    /// An integer that has no value for some configs.
    #[error("`{expr}` has no value unless {guard}")]
    Undefined {
        /// The expression.
        expr: String,
        /// The condition in Python under which it has one.
        guard: String,
    },
    /// `and` or `or` whose right side has no value for some configs.
    #[error("`{expr}` has a value only if {guard}, depending on its left side")]
    UndefinedRight {
        /// The expression.
        expr: String,
        /// The condition in Python under which the right side has a value.
        guard: String,
    },
    /// A device limit without a device.
    #[error("a limit of no device")]
    NoDevice,
    /// An operand that is not an integer.
    #[error("`{text}` is not an integer")]
    NotAnInteger {
        /// The operand in Python.
        text: String,
    },
    /// A result that overflows in the spec but not in Python.
    #[error("`{text}` may need more than 128 bits")]
    TooWide {
        /// The expression in Python.
        text: String,
    },
    /// A name without a value.
    #[error("`{name}` has no value")]
    UnknownName {
        /// The name.
        name: String,
    },
    /// A power of two with too many possible values.
    #[error("`next_power_of_two({text})` is too large")]
    TooManyPowers {
        /// The argument in Python.
        text: String,
    },
    /// `size_of` of something that is not a type.
    #[error("`size_of({argument})` is of no type")]
    SizeOfNoType {
        /// The argument.
        argument: String,
    },
    /// A value of a type parameter that is not an element type.
    #[error("`{name}` is not a type")]
    UnknownType {
        /// The value.
        name: String,
    },
}
