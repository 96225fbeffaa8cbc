//! Defines tunable parameters and element types as macros.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::CodegenError;
use crate::config::{Config, ParamValue};
use crate::model::{ElemType, KernelSpec, TunableParam};
use crate::problem::{Problem, ProblemValue};
use crate::source::lexer::{TokenKind, lex};

/// The macros of one config, in the order in which they are defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Defines {
    macros: Vec<(String, String)>,
    /// The element type of each type parameter. The parameter's macro expands to a typedef.
    types: Vec<(String, ElemType)>,
}

/// The prefix of the typedef to which the macro of a type parameter expands.
///
/// The macro does not expand to the C type itself, because `T(0)` is not valid C++ for a type of two words, and because
/// `template <typename T>` must stay valid in a source with a type parameter `T`: there, the name of the typedef becomes
/// the name of the template's parameter.
const TYPE_PREFIX: &str = "kiln_type_";

impl Defines {
    /// The macros for the parameters of `config` and for the element types of `problem`.
    ///
    /// An integer is defined as its value; `true` and `false` are 1 and 0. A choice parameter `P` with the value `v` is
    /// defined as `P_v`, and every `P_v` is defined as the index of `v` among the choices in the spec.
    ///
    /// If `partial` is set, `config` need not contain all parameters, as for a baseline with a separate entry. A
    /// missing parameter gets its first value, because other functions of the file may need it.
    pub fn new(
        spec: &KernelSpec,
        config: &Config,
        problem: &Problem,
        partial: bool,
    ) -> Result<Defines, CodegenError> {
        check_values(spec, config)?;
        let mut defines = Defines::default();
        for param in &spec.params {
            let first = param.values.first().filter(|_| partial);
            match config.get(&param.name).or(first) {
                Some(value) => defines.param(param, value),
                None => {
                    return Err(CodegenError::MissingParam {
                        param: param.name.to_string(),
                        config: config.to_string(),
                    });
                }
            }
        }
        for ty in &spec.types {
            let Some(ProblemValue::Type(elem)) = problem.get(&ty.name) else {
                return Err(CodegenError::MissingType {
                    name: ty.name.to_string(),
                    problem: problem.to_string(),
                });
            };
            defines.push(ty.name.to_string(), format!("{TYPE_PREFIX}{}", ty.name));
            defines.types.push((ty.name.to_string(), elem));
        }
        defines.check(spec)?;
        Ok(defines)
    }

    fn push(&mut self, name: String, value: String) {
        self.macros.push((name, value));
    }

    fn param(&mut self, param: &TunableParam, value: &ParamValue) {
        let choices = param.values.iter().enumerate();
        for (index, choice) in choices.filter(|(_, v)| matches!(v, ParamValue::Choice(_))) {
            self.push(format!("{}_{choice}", param.name), index.to_string());
        }
        let text = match value {
            ParamValue::Bool(x) => i32::from(*x).to_string(),
            ParamValue::Int(i64::MIN) => format!("({} - 1)", i64::MIN + 1),
            ParamValue::Int(x) if *x < 0 => format!("({x})"),
            ParamValue::Int(x) => x.to_string(),
            ParamValue::Choice(x) => format!("{}_{x}", param.name),
        };
        self.push(param.name.to_string(), text);
    }

    /// The typedefs that must come before the macros.
    pub fn typedefs(&self) -> String {
        let line = |(name, ty): &(String, ElemType)| {
            format!("typedef {} {TYPE_PREFIX}{name};\n", ty.c_name())
        };
        self.types.iter().map(line).collect()
    }

    /// The names of the macros, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.macros.iter().map(|(name, _)| name.as_str())
    }

    /// The replacement texts of the macros, and the C names of the types.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        let types = self.types.iter().map(|(_, ty)| ty.c_name());
        self.macros
            .iter()
            .map(|(_, value)| value.as_str())
            .chain(types)
    }

    /// Returns the macros whose names are not in `passed`, the names that occur in the arguments of the entry's
    /// template. The template receives the values of these names as arguments. If they were macros too, they would
    /// replace template parameters of the same name.
    pub fn without(&self, passed: &BTreeSet<String>) -> Defines {
        let macros = self.macros.iter();
        let kept = macros.filter(|(name, _)| !passed.contains(name));
        Defines {
            macros: kept.cloned().collect(),
            types: self.types.clone(),
        }
    }

    /// A template argument, with the names of macros replaced by their values.
    pub fn substitute(&self, argument: &str) -> String {
        let mut text = String::new();
        let mut copied = 0;
        for token in lex(argument).unwrap_or_default() {
            let name = token.text(argument);
            let found = self.macros.iter().find(|(known, _)| *known == *name);
            if let Some((_, value)) = found.filter(|_| token.kind == TokenKind::Identifier) {
                text += &argument[copied..token.start];
                text += value;
                copied = token.end;
            }
        }
        text + &argument[copied..]
    }

    fn check(&self, spec: &KernelSpec) -> Result<(), CodegenError> {
        let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
        for name in self.names() {
            if let Some(reason) = reserved(name) {
                let name = name.to_owned();
                return Err(CodegenError::MacroName { name, reason });
            }
            let params = spec.params.iter().map(|p| &*p.name);
            let owner = params
                .chain(spec.types.iter().map(|t| &*t.name))
                .filter(|owner| {
                    *owner == name
                        || name
                            .strip_prefix(owner)
                            .is_some_and(|rest| rest.starts_with('_'))
                })
                .max_by_key(|owner| owner.len())
                .unwrap_or(name);
            if let Some(first) = owners.insert(name, owner) {
                return Err(CodegenError::MacroTwice {
                    name: name.to_owned(),
                    first: format!("`{first}`"),
                    second: format!("`{owner}`"),
                });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Defines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.macros
            .iter()
            .try_for_each(|(name, value)| writeln!(f, "#define {name} {value}"))
    }
}

/// Checks that every value of a config is declared in the spec.
fn check_values(spec: &KernelSpec, config: &Config) -> Result<(), CodegenError> {
    let declared = |name: &str, value: &ParamValue| {
        let param = spec.params.iter().find(|param| *param.name == *name);
        param.is_some_and(|param| param.values.contains(value))
    };
    match config.iter().find(|(name, value)| !declared(name, value)) {
        None => Ok(()),
        Some((name, value)) => Err(CodegenError::UnknownValue {
            param: name.to_string(),
            value: value.to_string(),
            config: config.to_string(),
        }),
    }
}

/// Names that cannot be parameters because they have a meaning in every kernel.
const WORDS: &[&str] = &[
    "alignas",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "default",
    "defined",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "half",
    "if",
    "inline",
    "int",
    "long",
    "namespace",
    "new",
    "operator",
    "private",
    "public",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "true",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "using",
    "void",
    "volatile",
    "while",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
];

/// The reason why a name cannot be a macro; `None` if it can.
fn reserved(name: &str) -> Option<&'static str> {
    let identifier = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    if !identifier {
        Some("it is not a C identifier")
    } else if WORDS.contains(&name) {
        Some("it is a word of the language")
    } else if name.starts_with("__")
        || name.to_ascii_lowercase().starts_with("kiln_")
        || name == "KILN"
    {
        Some("names with `__` or `kiln_` in front are reserved")
    } else {
        None
    }
}
