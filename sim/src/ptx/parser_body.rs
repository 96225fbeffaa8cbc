//! Parses the bodies of functions: declarations, labels and instructions.

use super::ParseError;
use super::lexer::Kind;
use super::number;
use super::parser::Parser;
use super::syntax::{Item, Location, Operand, Statement};
use super::types::Type;

/// Maximum number of registers in one declaration.
const MAX_REGISTERS: u32 = 1 << 20;
/// Maximum nesting of braces in an operand.
const MAX_DEPTH: u32 = 8;

impl<'a> Parser<'a> {
    /// Parses a body, including its braces.
    pub(super) fn body(&mut self) -> Result<Vec<Item<'a>>, ParseError> {
        self.expect("{")?;
        let mut items = Vec::new();
        let mut depth = 0;
        loop {
            let token = self.peek();
            match token.text {
                "{" => {
                    depth += 1;
                    items.push(Item::Open);
                    self.next();
                }
                "}" if depth == 0 => {
                    self.next();
                    return Ok(items);
                }
                "}" => {
                    depth -= 1;
                    items.push(Item::Close);
                    self.next();
                }
                ";" => drop(self.next()),
                _ if token.kind == Kind::End => return self.unexpected("`}`"),
                text if text.starts_with('.') => self.declaration(&mut items)?,
                _ if token.kind == Kind::Word && self.peek_after().text == ":" => {
                    self.label(&mut items)?
                }
                _ => items.push(Item::Statement(self.statement()?)),
            }
        }
    }

    fn declaration(&mut self, items: &mut Vec<Item<'a>>) -> Result<(), ParseError> {
        match self.peek().text {
            ".reg" => {
                self.next();
                let ty = self.word("a type")?;
                self.registers(ty, items)
            }
            // Headers also write `.reg.b32` without a space.
            text if text.starts_with(".reg.") => {
                self.next();
                self.registers(&text[4..], items)
            }
            ".loc" => self.location(items),
            ".pragma" => {
                while !self.ended() && !self.take(";") {
                    self.next();
                }
                Ok(())
            }
            _ => {
                items.extend(self.variables(false)?.into_iter().map(Item::Variable));
                Ok(())
            }
        }
    }

    fn registers(&mut self, word: &str, items: &mut Vec<Item<'a>>) -> Result<(), ParseError> {
        let Some(ty) = word.strip_prefix('.').and_then(Type::parse) else {
            return self.error(format!("`{word}` is not a register type"));
        };
        loop {
            let name = self.word("the name of a register")?;
            let mut count = None;
            if self.take("<") {
                count = Some(self.integer("a number of registers")?);
                self.expect(">")?;
            }
            if count > Some(MAX_REGISTERS) {
                return self.error(format!("more than {MAX_REGISTERS} registers"));
            }
            items.push(Item::Registers { ty, name, count });
            if !self.take(",") {
                return self.expect(";");
            }
        }
    }

    /// `.loc file line column`, optionally followed by `, function_name x, inlined_at file line column`. Line 0 marks
    /// code that belongs to no line of the source. Such code keeps the line of the instructions before it.
    fn location(&mut self, items: &mut Vec<Item<'a>>) -> Result<(), ParseError> {
        self.next();
        let at = self.place()?;
        let mut inlined_at = None;
        while self.take(",") {
            match self.word("an attribute")? {
                "function_name" => {
                    self.word("a label")?;
                    if self.take("+") {
                        self.integer("an offset")?;
                    }
                }
                "inlined_at" => inlined_at = Some(self.place()?),
                _ => return self.unexpected("an attribute of `.loc`"),
            }
        }
        if at[1] != 0 {
            items.push(Item::Location(Location { at, inlined_at }));
        }
        Ok(())
    }

    /// The number of a file, a line and a column.
    fn place(&mut self) -> Result<[u32; 3], ParseError> {
        Ok([
            self.integer("the number of a file")?,
            self.integer("a line")?,
            self.integer("a column")?,
        ])
    }

    fn label(&mut self, items: &mut Vec<Item<'a>>) -> Result<(), ParseError> {
        let name = self.word("a label")?;
        self.expect(":")?;
        if !self.take(".branchtargets") {
            items.push(Item::Label(name));
            return Ok(());
        }
        let mut targets = vec![self.word("a label")?];
        while self.take(",") {
            targets.push(self.word("a label")?);
        }
        items.push(Item::Targets(name, targets));
        self.expect(";")
    }

    fn statement(&mut self) -> Result<Statement<'a>, ParseError> {
        let line = self.peek().line;
        let mut guard = None;
        if self.take("@") {
            let negated = self.take("!");
            guard = Some((self.word("a predicate")?, negated));
        }
        let opcode = self.word("an instruction")?;
        let mut operands = Vec::new();
        if !self.take(";") {
            loop {
                operands.push(self.operand()?);
                if self.take(";") {
                    break;
                }
                self.expect(",")?;
            }
        }
        Ok(Statement {
            guard,
            opcode,
            operands,
            line,
        })
    }

    /// Parses an operand.
    pub(super) fn operand(&mut self) -> Result<Operand<'a>, ParseError> {
        self.nested_operand(0)
    }

    fn nested_operand(&mut self, depth: u32) -> Result<Operand<'a>, ParseError> {
        if depth > MAX_DEPTH {
            return self.error("an operand is nested too deeply");
        }
        let token = self.peek();
        let operand = match (token.kind, token.text) {
            (_, "{") => Operand::Vector(self.list("{", "}", depth)?),
            (_, "(") => Operand::Group(self.list("(", ")", depth)?),
            (Kind::Mark, "[") => self.address()?,
            (Kind::Mark, "!") => {
                self.next();
                Operand::Not(self.word("a predicate")?)
            }
            (Kind::Mark, "-") => {
                self.next();
                match self.nested_operand(depth + 1)? {
                    Operand::Int(value) => Operand::Int(-value),
                    Operand::F32(bits) => Operand::F32(bits ^ 1 << 31),
                    Operand::F64(bits) => Operand::F64(bits ^ 1 << 63),
                    _ => return self.unexpected("a number"),
                }
            }
            (Kind::Number, text) => {
                let Some(number) = constant(text) else {
                    return self.error(format!("`{text}` is not a number"));
                };
                self.next();
                number
            }
            (Kind::Word, _) => Operand::Name(self.next().text),
            _ => return self.unexpected("an operand"),
        };
        if self.take("|") {
            let second = self.nested_operand(depth + 1)?;
            return Ok(Operand::Pair(Box::new(operand), Box::new(second)));
        }
        Ok(operand)
    }

    fn list(
        &mut self,
        open: &str,
        close: &str,
        depth: u32,
    ) -> Result<Vec<Operand<'a>>, ParseError> {
        self.expect(open)?;
        let mut all = Vec::new();
        while !self.take(close) {
            all.push(self.nested_operand(depth + 1)?);
            if !self.take(",") && self.peek().text != close {
                return self.unexpected("`,`");
            }
        }
        Ok(all)
    }

    fn address(&mut self) -> Result<Operand<'a>, ParseError> {
        self.expect("[")?;
        let mut base = None;
        if self.peek().kind == Kind::Word {
            base = Some(self.next().text);
        }
        let mut offset = 0i64;
        while !self.take("]") {
            let negative = self.take("-");
            if !negative {
                self.take("+");
            }
            let negative = negative != self.take("-");
            let text = self.peek().text;
            let Some(value) = number::integer(text) else {
                return self.unexpected("an offset");
            };
            self.next();
            let value = value as i64;
            offset = offset.wrapping_add(if negative {
                value.wrapping_neg()
            } else {
                value
            });
        }
        Ok(Operand::Address { base, offset })
    }
}

fn constant<'a>(text: &str) -> Option<Operand<'a>> {
    if let Some(bits) = number::float(text) {
        return Some(Operand::F32(bits));
    }
    if let Some(bits) = number::double(text) {
        return Some(Operand::F64(bits));
    }
    number::integer(text).map(|value| Operand::Int(i128::from(value)))
}
