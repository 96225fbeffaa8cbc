//! Errors of reading Python expressions, evaluating lists, using expressions as constraints, and writing expressions.

use thiserror::Error;

/// Why a text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// A character cannot begin a token.
    #[error("`{found}` is not part of an expression")]
    Character {
        /// The character that was found.
        found: char,
    },
    /// The expression has more tokens than are allowed.
    #[error("the expression has more than {limit} words")]
    TooManyWords {
        /// The largest number of tokens.
        limit: usize,
    },
    /// The expression is nested too deeply.
    #[error("the expression is nested more than {limit} levels deep")]
    TooDeep {
        /// The largest nesting depth.
        limit: usize,
    },
    /// A string has no closing quote.
    #[error("a string that does not end")]
    UnterminatedString,
    /// A string has a backslash. Escapes are not supported.
    #[error("a string with a backslash, which is not read here")]
    Backslash,
    /// An integer needs more than 128 bits.
    #[error("`{text}` needs more than 128 bits")]
    IntegerTooLarge {
        /// The integer as written.
        text: String,
    },
    /// The text begins like a number but is not a number.
    #[error("`{text}` is not a number")]
    NotANumber {
        /// The text as written.
        text: String,
    },
    /// The expression ends, but an operand is needed.
    #[error("the expression ends too early")]
    EndsTooEarly,
    /// A token is not allowed in this place.
    #[error("{found} does not belong there")]
    Unexpected {
        /// The token, as it is shown in messages.
        found: String,
    },
    /// Another symbol is expected.
    #[error("expected `{expected}`{}", found.as_ref().map_or(" at the end".into(), |found| format!(", found {found}")))]
    Expected {
        /// The expected symbol.
        expected: &'static str,
        /// The token that was found instead, as it is shown in messages; `None` at the end of the text.
        found: Option<String>,
    },
    /// A keyword is missing.
    #[error("expected `{keyword}`")]
    ExpectedKeyword {
        /// The missing keyword.
        keyword: &'static str,
    },
    /// A comprehension has no variable.
    #[error("expected a name after `for`")]
    ExpectedVariable,
    /// The operand of `in` is not a list.
    #[error("`in` takes a list here")]
    ExpectedList,
    /// A function has the wrong number of arguments.
    #[error("`{function}` does not take {count} arguments here")]
    ArgumentCount {
        /// Name of the function.
        function: String,
        /// Number of arguments.
        count: usize,
    },
    /// The function is not supported.
    #[error("the function `{name}` is not known here")]
    UnknownFunction {
        /// Name of the function.
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
    /// A list is used where a number is needed.
    #[error("a list where a number is needed")]
    NestedList,
    /// The list has more items than are allowed.
    #[error("a list of more than {limit} items")]
    TooManyItems {
        /// The largest number of items.
        limit: usize,
    },
    /// An argument of `range` is not an integer.
    #[error("`range` takes integers")]
    RangeType,
    /// `range` has no arguments, or more than three.
    #[error("`range` takes one to three integers")]
    RangeArguments,
    /// The step of `range` is 0.
    #[error("`range` with steps of 0")]
    RangeStep,
    /// A condition has no truth value.
    #[error("not a truth value")]
    NotATruthValue,
    /// A constant is of a type that the value of a parameter cannot have.
    #[error("no value")]
    NoValue,
    /// A name has no value.
    #[error("`{name}` has no value here")]
    UnknownName {
        /// The name without a value.
        name: String,
    },
    /// A function has no value for its arguments, such as a division by zero.
    #[error("a value that cannot be computed (a division by zero, or too large)")]
    Undefined,
}

/// Why an expression is not a constraint on the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// The text is not an expression.
    #[error(transparent)]
    Syntax(#[from] ParseError),
    /// A name is not a parameter.
    #[error("`{name}` is not a parameter")]
    UnknownParam {
        /// The name that is not a parameter.
        name: String,
    },
    /// A list is used where a single value is needed.
    #[error("a list where a value is needed")]
    List,
}

/// Why an expression of a spec cannot be written in Python with the same value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TranslateError {
    /// An integer expression has no value for some configs.
    #[error("`{expr}` has no value unless {guard}")]
    Undefined {
        /// The expression in the spec's language.
        expr: String,
        /// The condition, in Python, under which the expression has a value.
        guard: String,
    },
    /// The right side of `and` or `or` has no value for some configs.
    #[error("`{expr}` has a value only if {guard}, depending on its left side")]
    UndefinedRight {
        /// The expression in the spec's language.
        expr: String,
        /// The condition, in Python, under which the right side has a value.
        guard: String,
    },
    /// A device limit is used, but no device was specified.
    #[error("a limit of no device")]
    NoDevice,
    /// An operand is not an integer.
    #[error("`{text}` is not an integer")]
    NotAnInteger {
        /// The operand, in Python.
        text: String,
    },
    /// A result may overflow in the spec's language, but not in Python.
    #[error("`{text}` may need more than 128 bits")]
    TooWide {
        /// The expression, in Python.
        text: String,
    },
    /// A name has no value.
    #[error("`{name}` has no value")]
    UnknownName {
        /// The name without a value.
        name: String,
    },
    /// The argument of `next_power_of_two` has too many possible results.
    #[error("`next_power_of_two({text})` is too large")]
    TooManyPowers {
        /// The argument, in Python.
        text: String,
    },
    /// The argument of `size_of` is not a type.
    #[error("`size_of({argument})`: the argument is not a type")]
    SizeOfNoType {
        /// The argument as written in the spec.
        argument: String,
    },
    /// A value of a type parameter is not an element type.
    #[error("`{name}` is not a type")]
    UnknownType {
        /// The value that is not an element type.
        name: String,
    },
}
