//! Parses Python expressions.

use kiln_spec::csp::{Function, Value};

use super::ast::PythonExpr;
use super::error::ParseError;
use super::token::{PythonToken, tokens};

/// The deepest supported nesting of an expression. Each bracket adds a level, and so does each operator in a chain of
/// operators of the same precedence.
const DEPTH: usize = 400;

/// Parses one expression.
///
/// # Errors
/// The text is not an expression.
pub fn parse(text: &str) -> Result<PythonExpr, ParseError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        height: 0,
    };
    let expr = parser.conditional()?;
    match parser.tokens.get(parser.at) {
        None => Ok(expr),
        Some(token) => Err(unexpected(token)),
    }
}

struct Parser {
    tokens: Vec<PythonToken>,
    at: usize,
    /// Number of open brackets.
    depth: usize,
    /// Number of levels of the expression that was parsed last.
    height: usize,
}

fn limited(levels: usize) -> Result<(), ParseError> {
    if levels > DEPTH {
        return Err(ParseError::TooDeep { limit: DEPTH });
    }
    Ok(())
}

fn shown(token: &PythonToken) -> String {
    match token {
        PythonToken::Number(Value::Int(x)) => format!("`{x}`"),
        PythonToken::Number(_) => "a number".into(),
        PythonToken::Text(text) => format!("the string '{text}'"),
        PythonToken::Name(name) => format!("`{name}`"),
        PythonToken::Symbol(symbol) => format!("`{symbol}`"),
    }
}

fn unexpected(token: &PythonToken) -> ParseError {
    ParseError::Unexpected {
        found: shown(token),
    }
}

impl Parser {
    fn symbol(&mut self, symbol: &str) -> bool {
        let found =
            matches!(self.tokens.get(self.at), Some(PythonToken::Symbol(s)) if *s == symbol);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> bool {
        let found =
            matches!(self.tokens.get(self.at), Some(PythonToken::Name(name)) if name == word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), ParseError> {
        match self.symbol(symbol) {
            true => Ok(()),
            false => Err(ParseError::Expected {
                expected: symbol,
                found: self.tokens.get(self.at).map(shown),
            }),
        }
    }

    /// Updates `height` when the last parsed expression becomes an operand of a larger expression. `beside` is the
    /// height of the other operand.
    fn taller(&mut self, beside: usize) -> Result<(), ParseError> {
        self.height = self.height.max(beside) + 1;
        limited(self.height)
    }

    fn conditional(&mut self) -> Result<PythonExpr, ParseError> {
        self.depth += 1;
        limited(self.depth)?;
        let value = self.disjunction()?;
        let mut height = self.height;
        let expr = if self.word("if") {
            let condition = self.disjunction()?;
            height = height.max(self.height);
            if !self.word("else") {
                return Err(ParseError::ExpectedKeyword { keyword: "else" });
            }
            let otherwise = self.conditional()?;
            self.taller(height)?;
            PythonExpr::Apply(Function::Select, vec![condition, value, otherwise])
        } else {
            value
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn disjunction(&mut self) -> Result<PythonExpr, ParseError> {
        let mut parts = vec![self.conjunction()?];
        let mut height = self.height;
        while self.word("or") {
            parts.push(self.conjunction()?);
            height = height.max(self.height);
        }
        self.height = height;
        self.taller(0)?;
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => PythonExpr::Any(parts),
        })
    }

    fn conjunction(&mut self) -> Result<PythonExpr, ParseError> {
        let mut parts = vec![self.negation()?];
        let mut height = self.height;
        while self.word("and") {
            parts.push(self.negation()?);
            height = height.max(self.height);
        }
        self.height = height;
        self.taller(0)?;
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => PythonExpr::All(parts),
        })
    }

    fn negation(&mut self) -> Result<PythonExpr, ParseError> {
        let mut negations = 0;
        while self.word("not") {
            negations += 1;
        }
        let mut expr = self.comparison()?;
        // A pair of negations only converts the value to a truth value, so more than one pair is not needed.
        let needed = if negations > 2 {
            2 - negations % 2
        } else {
            negations
        };
        for _ in 0..needed {
            self.taller(0)?;
            expr = PythonExpr::Apply(Function::Not, vec![expr]);
        }
        Ok(expr)
    }

    fn comparison(&mut self) -> Result<PythonExpr, ParseError> {
        let first = self.shift()?;
        let mut height = self.height;
        let negated = match (self.tokens.get(self.at), self.tokens.get(self.at + 1)) {
            (Some(PythonToken::Name(word)), Some(PythonToken::Name(next)))
                if word == "not" && next == "in" =>
            {
                self.at += 2;
                Some(true)
            }
            _ => self.word("in").then_some(false),
        };
        if let Some(negated) = negated {
            let PythonExpr::List(list) = self.shift()? else {
                return Err(ParseError::ExpectedList);
            };
            self.taller(height)?;
            let item = Box::new(first);
            return Ok(PythonExpr::In {
                item,
                list,
                negated,
            });
        }
        let mut rest = Vec::new();
        while let Some(function) = self.comparator() {
            rest.push((function, self.shift()?));
            height = height.max(self.height);
        }
        self.height = height;
        self.taller(0)?;
        Ok(match rest.is_empty() {
            true => first,
            false => PythonExpr::Chain(Box::new(first), rest),
        })
    }

    fn comparator(&mut self) -> Option<Function> {
        let Some(PythonToken::Symbol(symbol)) = self.tokens.get(self.at) else {
            return None;
        };
        let function = match *symbol {
            "==" => Function::Eq,
            "!=" => Function::Ne,
            "<" => Function::Lt,
            "<=" => Function::Le,
            ">" => Function::Gt,
            ">=" => Function::Ge,
            _ => return None,
        };
        self.at += 1;
        Some(function)
    }

    fn shift(&mut self) -> Result<PythonExpr, ParseError> {
        self.left(Self::sum, &[("<<", Function::Shl), (">>", Function::Shr)])
    }

    fn sum(&mut self) -> Result<PythonExpr, ParseError> {
        self.left(Self::product, &[("+", Function::Add), ("-", Function::Sub)])
    }

    fn product(&mut self) -> Result<PythonExpr, ParseError> {
        const OPERATORS: [(&str, Function); 4] = [
            ("*", Function::Mul),
            ("//", Function::FloorDiv),
            ("/", Function::TrueDiv),
            ("%", Function::FloorMod),
        ];
        self.left(Self::sign, &OPERATORS)
    }

    /// Parses operators of one precedence, which associate from left to right.
    fn left(
        &mut self,
        operand: fn(&mut Self) -> Result<PythonExpr, ParseError>,
        operators: &[(&str, Function)],
    ) -> Result<PythonExpr, ParseError> {
        let mut expr = operand(self)?;
        while let Some(operator) = operators.iter().find(|operator| self.symbol(operator.0)) {
            let height = self.height;
            expr = PythonExpr::Apply(operator.1, vec![expr, operand(self)?]);
            self.taller(height)?;
        }
        Ok(expr)
    }

    fn sign(&mut self) -> Result<PythonExpr, ParseError> {
        let mut negative = false;
        let mut signed = false;
        loop {
            if self.symbol("-") {
                negative = !negative;
                signed = true;
            } else if self.symbol("+") {
                signed = true;
            } else {
                break;
            }
        }
        let expr = self.power()?;
        self.taller(0)?;
        Ok(match (negative, signed) {
            (true, _) => PythonExpr::Apply(Function::Neg, vec![expr]),
            // Python evaluates `+True` to the number 1, so add 0 to convert the value.
            (false, true) => {
                PythonExpr::Apply(Function::Add, vec![expr, PythonExpr::Value(Value::Int(0))])
            }
            (false, false) => expr,
        })
    }

    fn power(&mut self) -> Result<PythonExpr, ParseError> {
        let base = self.atom()?;
        if !self.symbol("**") {
            return Ok(base);
        }
        let height = self.height;
        self.depth += 1;
        limited(self.depth)?;
        let exponent = self.sign()?;
        self.depth -= 1;
        self.taller(height)?;
        Ok(PythonExpr::Apply(Function::Pow, vec![base, exponent]))
    }

    fn atom(&mut self) -> Result<PythonExpr, ParseError> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        self.height = 1;
        match token {
            Some(PythonToken::Number(value)) => Ok(PythonExpr::Value(value)),
            Some(PythonToken::Text(text)) => Ok(PythonExpr::Text(text)),
            Some(PythonToken::Symbol("(")) => self.parenthesised(),
            Some(PythonToken::Symbol("[")) => self.list(),
            Some(PythonToken::Name(name)) => match name.as_str() {
                "True" => Ok(PythonExpr::Value(Value::Bool(true))),
                "False" => Ok(PythonExpr::Value(Value::Bool(false))),
                "and" | "or" | "not" | "in" | "if" | "else" | "for" | "is" | "lambda" => {
                    Err(ParseError::Unexpected {
                        found: format!("`{name}`"),
                    })
                }
                _ if self.symbol("(") => self.call(&name),
                _ => Ok(PythonExpr::Name(name)),
            },
            Some(token) => Err(unexpected(&token)),
            None => Err(ParseError::EndsTooEarly),
        }
    }

    /// Parses an expression in parentheses or a tuple, after its `(`.
    fn parenthesised(&mut self) -> Result<PythonExpr, ParseError> {
        if self.symbol(")") {
            return Ok(PythonExpr::List(Vec::new()));
        }
        let first = self.conditional()?;
        if self.symbol(")") {
            return Ok(first);
        }
        self.expect(",")?;
        let (mut items, height) = (vec![first], self.height);
        items.extend(self.items(")")?);
        self.taller(height)?;
        Ok(PythonExpr::List(items))
    }

    /// Parses a list or a comprehension, after its `[`.
    fn list(&mut self) -> Result<PythonExpr, ParseError> {
        if self.symbol("]") {
            return Ok(PythonExpr::List(Vec::new()));
        }
        let first = self.conditional()?;
        if self.word("for") {
            return self.comprehension(first);
        }
        let (mut items, height) = (vec![first], self.height);
        if self.symbol(",") {
            items.extend(self.items("]")?);
        } else {
            self.expect("]")?;
        }
        self.taller(height)?;
        Ok(PythonExpr::List(items))
    }

    fn comprehension(&mut self, element: PythonExpr) -> Result<PythonExpr, ParseError> {
        let Some(PythonToken::Name(variable)) = self.tokens.get(self.at).cloned() else {
            return Err(ParseError::ExpectedVariable);
        };
        self.at += 1;
        if !self.word("in") {
            return Err(ParseError::ExpectedKeyword { keyword: "in" });
        }
        let mut height = self.height;
        let list = self.disjunction()?;
        height = height.max(self.height);
        let condition = match self.word("if") {
            true => Some(Box::new(self.disjunction()?)),
            false => None,
        };
        self.taller(height)?;
        self.expect("]")?;
        Ok(PythonExpr::Comprehension {
            element: Box::new(element),
            variable,
            list: Box::new(list),
            condition,
        })
    }

    /// Parses expressions with commas between them, up to the closing bracket `end`.
    fn items(&mut self, end: &'static str) -> Result<Vec<PythonExpr>, ParseError> {
        let mut items = Vec::new();
        let mut height = 1;
        while !self.symbol(end) {
            items.push(self.conditional()?);
            height = height.max(self.height);
            if !self.symbol(",") {
                self.expect(end)?;
                break;
            }
        }
        self.height = height;
        Ok(items)
    }

    /// Parses the arguments of a call, after the name of the function and its `(`.
    fn call(&mut self, name: &str) -> Result<PythonExpr, ParseError> {
        let mut arguments = self.items(")")?;
        // A call with n arguments becomes n - 1 nested calls of a function with two arguments.
        self.height += arguments.len();
        self.taller(0)?;
        let function = match (name, arguments.len()) {
            ("range", 1..=3) => return Ok(PythonExpr::Range(arguments)),
            ("list", 1) => return Ok(arguments.remove(0)),
            ("abs", 1) => return Ok(PythonExpr::Apply(Function::Abs, arguments)),
            ("bool", 1) => return Ok(PythonExpr::Apply(Function::Truth, arguments)),
            ("pow", 2) => return Ok(PythonExpr::Apply(Function::Pow, arguments)),
            ("min", 2..) => Function::Min,
            ("max", 2..) => Function::Max,
            ("min" | "max" | "abs" | "range" | "list" | "bool" | "pow", count) => {
                return Err(ParseError::ArgumentCount {
                    function: name.into(),
                    count,
                });
            }
            _ => return Err(ParseError::UnknownFunction { name: name.into() }),
        };
        let arguments = arguments.into_iter();
        let pair = |x, y| PythonExpr::Apply(function, vec![x, y]);
        arguments.reduce(pair).ok_or(ParseError::EndsTooEarly)
    }
}
