//! Parses a module: directives (PTX ISA 11) and variables (PTX ISA 5.4).

use super::ParseError;
use super::lexer::{Kind, Token, tokens};
use super::syntax::{Ast, Function, Init, Space, Variable};
use super::types::Type;

/// Parses a module.
pub(super) fn parse(text: &str) -> Result<Ast<'_>, ParseError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
    };
    let mut ast = Ast::default();
    parser.header()?;
    while !parser.ended() {
        parser.directive(&mut ast)?;
    }
    Ok(ast)
}

pub(super) struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Parser<'a> {
    pub fn peek(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    pub fn peek_after(&self) -> Token<'a> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    pub fn ended(&self) -> bool {
        self.peek().kind == Kind::End
    }

    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    pub fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError {
            line: self.peek().line,
            message: message.into(),
        })
    }

    pub fn unexpected<T>(&self, wanted: &str) -> Result<T, ParseError> {
        match self.peek().text {
            "" => self.error(format!("the text ends before {wanted}")),
            text => self.error(format!("{wanted} is expected, but `{text}` was found")),
        }
    }

    /// Consumes the next token if it has this text.
    pub fn take(&mut self, text: &str) -> bool {
        let here = self.peek().text == text && !matches!(self.peek().kind, Kind::Text | Kind::End);
        if here {
            self.at += 1;
        }
        here
    }

    pub fn expect(&mut self, text: &str) -> Result<(), ParseError> {
        match self.take(text) {
            true => Ok(()),
            false => self.unexpected(&format!("`{text}`")),
        }
    }

    pub fn word(&mut self, wanted: &str) -> Result<&'a str, ParseError> {
        match self.peek().kind {
            Kind::Word => Ok(self.next().text),
            _ => self.unexpected(wanted),
        }
    }

    pub fn integer(&mut self, wanted: &str) -> Result<u32, ParseError> {
        let token = self.peek();
        let value = super::number::integer(token.text).and_then(|value| u32::try_from(value).ok());
        match (token.kind, value) {
            (Kind::Number, Some(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => self.unexpected(wanted),
        }
    }

    /// PTX ISA 11.1: every module begins with `.version` and `.target`. An empty text is not a module.
    fn header(&mut self) -> Result<(), ParseError> {
        self.expect(".version")?;
        if self.next().kind != Kind::Number {
            return self.unexpected("the number of a version");
        }
        match self.peek().text {
            ".target" => Ok(()),
            _ => self.unexpected("`.target`"),
        }
    }

    fn directive(&mut self, ast: &mut Ast<'a>) -> Result<(), ParseError> {
        match self.peek().text {
            ".version" | ".address_size" | ".target" => {
                self.next();
                self.next();
                while self.take(",") {
                    self.next();
                }
                Ok(())
            }
            ".file" => {
                self.next();
                let number = self.integer("the number of a file")?;
                let name = self.next().text;
                while self.take(",") {
                    self.next();
                }
                ast.files.push((number, name));
                Ok(())
            }
            ".pragma" | ".alias" => {
                while !self.ended() && !self.take(";") {
                    self.next();
                }
                Ok(())
            }
            ".section" => self.section(),
            _ => self.linked(ast),
        }
    }

    /// Skips a debug section. Source lines come from `.loc` directives instead.
    fn section(&mut self) -> Result<(), ParseError> {
        while !self.ended() && !self.take("}") {
            self.next();
        }
        Ok(())
    }

    fn linked(&mut self, ast: &mut Ast<'a>) -> Result<(), ParseError> {
        let mut external = false;
        loop {
            match self.peek().text {
                ".extern" => external = true,
                ".visible" | ".weak" | ".common" => {}
                _ => break,
            }
            self.next();
        }
        match self.peek().text {
            ".entry" | ".func" => {
                let function = self.function()?;
                // A definition replaces an earlier declaration.
                ast.functions
                    .retain(|earlier| earlier.name != function.name || earlier.body.is_some());
                ast.functions.push(function);
                Ok(())
            }
            _ => {
                let variables = self.variables(external)?;
                ast.variables.extend(variables);
                Ok(())
            }
        }
    }

    fn function(&mut self) -> Result<Function<'a>, ParseError> {
        let entry = self.next().text == ".entry";
        let results = self.parameters()?;
        let line = self.peek().line;
        let name = self.word("the name of a function")?;
        let mut function = Function {
            name,
            entry,
            line,
            results,
            parameters: self.parameters()?,
            max_threads: None,
            required_threads: None,
            cluster: None,
            grid_of_clusters: false,
            body: None,
        };
        loop {
            match self.peek().text {
                ".maxntid" => function.max_threads = Some(self.extents()?),
                ".reqntid" => function.required_threads = Some(self.extents()?),
                ".reqnctapercluster" => function.cluster = Some(self.extents()?),
                ".blocksareclusters" => {
                    self.next();
                    function.grid_of_clusters = true;
                }
                "{" => {
                    function.body = Some(self.body()?);
                    return Ok(function);
                }
                ";" => {
                    self.next();
                    return Ok(function);
                }
                text if text.starts_with('.') => {
                    self.next();
                    while self.take(",") || matches!(self.peek().kind, Kind::Number | Kind::Text) {
                        if matches!(self.peek().kind, Kind::Number | Kind::Text) {
                            self.next();
                        }
                    }
                }
                _ => return self.unexpected("the body of a function"),
            }
        }
    }

    fn extents(&mut self) -> Result<[u32; 3], ParseError> {
        self.next();
        let mut extents = [self.integer("an extent")?, 1, 1];
        for extent in &mut extents[1..] {
            if self.take(",") {
                *extent = self.integer("an extent")?;
            }
        }
        Ok(extents)
    }

    fn parameters(&mut self) -> Result<Vec<Variable<'a>>, ParseError> {
        let mut all = Vec::new();
        if !self.take("(") {
            return Ok(all);
        }
        while !self.take(")") {
            all.push(self.parameter()?);
            if !self.take(",") && self.peek().text != ")" {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(all)
    }

    fn parameter(&mut self) -> Result<Variable<'a>, ParseError> {
        let mut variables = self.variable_prefix(false)?;
        self.declarator(&mut variables)?;
        Ok(variables)
    }

    /// The variables of one declaration, such as `.shared .align 4 .b8 x[16], y[4] = {...};`
    pub fn variables(&mut self, external: bool) -> Result<Vec<Variable<'a>>, ParseError> {
        let prefix = self.variable_prefix(external)?;
        let mut all = Vec::new();
        loop {
            let mut variable = prefix.clone();
            self.declarator(&mut variable)?;
            all.push(variable);
            if !self.take(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(all)
    }

    fn variable_prefix(&mut self, external: bool) -> Result<Variable<'a>, ParseError> {
        let space = match self.peek().text {
            ".global" => Space::Global,
            ".const" => Space::Const,
            ".shared" => Space::Shared,
            ".local" => Space::Local,
            ".param" | ".reg" => Space::Param,
            _ => return self.unexpected("a declaration"),
        };
        self.next();
        let (mut align, mut lanes) = (None, 1);
        loop {
            let text = self.peek().text;
            if let Some(ty) = text.strip_prefix('.').and_then(Type::parse) {
                self.next();
                return Ok(Variable {
                    space,
                    name: "",
                    ty,
                    align: align.unwrap_or(ty.bytes() * lanes),
                    count: Some(u64::from(lanes)),
                    external,
                    init: Vec::new(),
                });
            }
            self.next();
            match text {
                ".align" => align = Some(self.integer("an alignment")?),
                ".v2" => lanes = 2,
                ".v4" => lanes = 4,
                ".ptr" | ".global" | ".const" | ".shared" | ".local" => {}
                ".attribute" => {
                    while !self.ended() && !self.take(")") {
                        self.next();
                    }
                }
                _ => {
                    self.at -= 1;
                    return self.unexpected("a type");
                }
            }
        }
    }

    fn declarator(&mut self, variable: &mut Variable<'a>) -> Result<(), ParseError> {
        // For example `.param .u64 .ptr .global .align 16 name`.
        while self.peek().text.starts_with('.') {
            match self.next().text {
                ".align" => drop(self.integer("an alignment")?),
                ".ptr" | ".global" | ".const" | ".shared" | ".local" => {}
                _ => {
                    self.at -= 1;
                    return self.unexpected("the name of a variable");
                }
            }
        }
        variable.name = self.word("the name of a variable")?;
        while self.take("[") {
            if self.take("]") {
                variable.count = None;
                continue;
            }
            let extent = self.integer("the size of an array")?;
            self.expect("]")?;
            variable.count = variable
                .count
                .and_then(|count| count.checked_mul(u64::from(extent)));
        }
        if self.take("=") {
            self.initialiser(variable)?;
            if variable.count.is_none() {
                variable.count = Some(variable.init.len() as u64);
            }
        }
        if variable.bytes() > 1 << 32 {
            return self.error(format!("`{}` is larger than 4 GiB", variable.name));
        }
        Ok(())
    }

    fn initialiser(&mut self, variable: &mut Variable<'a>) -> Result<(), ParseError> {
        let mut depth = 0;
        loop {
            match self.peek().text {
                "{" => depth += 1,
                "}" if depth > 0 => depth -= 1,
                "," if depth > 0 => {}
                _ => {
                    let element = self.element(variable.ty)?;
                    variable.init.push(element);
                    if depth == 0 {
                        return Ok(());
                    }
                    continue;
                }
            }
            self.next();
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn element(&mut self, ty: Type) -> Result<Init<'a>, ParseError> {
        use super::syntax::Operand;
        let generic = self.take("generic");
        let parenthesis = generic && self.take("(");
        let operand = self.operand()?;
        if parenthesis {
            self.expect(")")?;
        }
        let mut init = match operand {
            Operand::Int(value) => Init::Bits(value as u64),
            Operand::F32(bits) if ty == Type::F64 => {
                Init::Bits(f64::from(f32::from_bits(bits)).to_bits())
            }
            Operand::F32(bits) => Init::Bits(u64::from(bits)),
            Operand::F64(bits) if ty == Type::F32 => {
                Init::Bits(u64::from((f64::from_bits(bits) as f32).to_bits()))
            }
            Operand::F64(bits) => Init::Bits(bits),
            Operand::Name(name) => Init::Address { name, offset: 0 },
            _ => return self.unexpected("a value"),
        };
        if let Init::Address { offset, .. } = &mut init {
            if self.take("+") {
                *offset = i64::from(self.integer("an offset")?);
            } else if self.take("-") {
                *offset = -i64::from(self.integer("an offset")?);
            }
        }
        Ok(init)
    }
}
