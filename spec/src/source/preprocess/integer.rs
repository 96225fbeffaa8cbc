//! Integers of conditions: `intmax_t` and `uintmax_t` (C++17, 19.1).

/// An integer of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Integer {
    bits: u64,
    /// Whether the type is `uintmax_t`.
    is_unsigned: bool,
}

/// An integer; `None` if it is not known.
pub(super) type Value = Option<Integer>;

/// The suffixes of integer literals, in lower case.
const SUFFIXES: [&str; 8] = ["", "u", "l", "ul", "lu", "ll", "ull", "llu"];

impl From<bool> for Integer {
    fn from(value: bool) -> Integer {
        signed(i64::from(value))
    }
}

/// An integer of the type `intmax_t`.
fn signed(value: i64) -> Integer {
    let bits = value.cast_unsigned();
    Integer {
        bits,
        is_unsigned: false,
    }
}

fn unsigned(bits: u64) -> Integer {
    let is_unsigned = true;
    Integer { bits, is_unsigned }
}

impl Integer {
    /// The integer of a literal; `None` if it does not fit, or if it is not an integer.
    pub fn of_literal(text: &str) -> Value {
        let digits = text.replace('\'', "").to_ascii_lowercase();
        let text = digits.trim_end_matches(['u', 'l']);
        let suffix = &digits[text.len()..];
        let (digits, radix) = match text.as_bytes() {
            [b'0', b'x', ..] => (&text[2..], 16),
            [b'0', b'b', ..] => (&text[2..], 2),
            [b'0', _, ..] => (&text[1..], 8),
            _ => (text, 10),
        };
        let bits = u64::from_str_radix(digits, radix).ok()?;
        let fits = i64::try_from(bits).is_ok();
        let is_unsigned = suffix.contains('u') || !fits && radix != 10;
        let is_valid = SUFFIXES.contains(&suffix) && (fits || is_unsigned);
        is_valid.then_some(Integer { bits, is_unsigned })
    }

    /// The integer of a character literal without a prefix; `None` if its value depends on the compiler.
    pub fn of_character(text: &str) -> Value {
        let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
        let value = match inner.as_bytes() {
            [byte] if !b"\\'".contains(byte) => *byte,
            [b'\\', b'x', digits @ ..] => {
                u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?
            }
            [b'\\', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(digits)
                    .ok()
                    .filter(|text| text.len() <= 3)?;
                u8::from_str_radix(digits, 8).ok()?
            }
            [b'\\', escape] => match escape {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                b'\\' | b'\'' | b'"' | b'?' => *escape,
                _ => return None,
            },
            _ => return None,
        };
        value.is_ascii().then(|| signed(i64::from(value)))
    }

    /// The value of the type `intmax_t`; `None` if it does not fit.
    pub fn signed(self) -> Option<i64> {
        let value = self.bits.cast_signed();
        (!self.is_unsigned || value >= 0).then_some(value)
    }

    pub fn is_true(self) -> bool {
        self.bits != 0
    }

    /// The value of a unary operator.
    pub fn unary(self, operator: &str) -> Value {
        let Integer { bits, is_unsigned } = self;
        match operator {
            "!" => Some(Integer::from(bits == 0)),
            "~" => Some(Integer {
                bits: !bits,
                is_unsigned,
            }),
            "-" if is_unsigned => Some(unsigned(bits.wrapping_neg())),
            "-" => bits.cast_signed().checked_neg().map(signed),
            _ => Some(self),
        }
    }

    /// This integer with the type that it has together with another: `uintmax_t` if one of them has this type.
    pub fn with(self, other: Integer) -> Integer {
        Integer {
            bits: self.bits,
            is_unsigned: self.is_unsigned || other.is_unsigned,
        }
    }
}

/// The value of a binary operator; `None` if it is not known, or if the operation overflows.
pub(super) fn combine(operator: &str, left: Value, right: Value) -> Value {
    let truth = |value: Value| value.map(Integer::is_true);
    match (operator, truth(left), truth(right)) {
        ("&&", Some(false), _) | ("&&", _, Some(false)) => return Some(Integer::from(false)),
        ("||", Some(true), _) | ("||", _, Some(true)) => return Some(Integer::from(true)),
        ("&&" | "||", Some(_), Some(_)) => return Some(Integer::from(operator == "&&")),
        _ => {}
    }
    let (left, right) = (left?, right?);
    if let "<<" | ">>" = operator {
        return shift(operator, left, right);
    }
    let (x, y) = (left.with(right), right.with(left));
    let (a, b) = (x.bits, y.bits);
    match operator {
        "|" => return Some(Integer { bits: a | b, ..x }),
        "^" => return Some(Integer { bits: a ^ b, ..x }),
        "&" => return Some(Integer { bits: a & b, ..x }),
        "==" => return Some(Integer::from(a == b)),
        "!=" => return Some(Integer::from(a != b)),
        _ => {}
    }
    if x.is_unsigned {
        return match operator {
            "<" => Some(Integer::from(a < b)),
            ">" => Some(Integer::from(a > b)),
            "<=" => Some(Integer::from(a <= b)),
            ">=" => Some(Integer::from(a >= b)),
            "+" => Some(unsigned(a.wrapping_add(b))),
            "-" => Some(unsigned(a.wrapping_sub(b))),
            "*" => Some(unsigned(a.wrapping_mul(b))),
            "/" => a.checked_div(b).map(unsigned),
            "%" => a.checked_rem(b).map(unsigned),
            _ => None,
        };
    }
    let (a, b) = (a.cast_signed(), b.cast_signed());
    match operator {
        "<" => Some(Integer::from(a < b)),
        ">" => Some(Integer::from(a > b)),
        "<=" => Some(Integer::from(a <= b)),
        ">=" => Some(Integer::from(a >= b)),
        "+" => a.checked_add(b).map(signed),
        "-" => a.checked_sub(b).map(signed),
        "*" => a.checked_mul(b).map(signed),
        "/" => a.checked_div(b).map(signed),
        "%" => a.checked_rem(b).map(signed),
        _ => None,
    }
}

/// The value of a shift, which has the type of its left operand; `None` if compilers do not agree on it.
fn shift(operator: &str, left: Integer, right: Integer) -> Value {
    let by = u32::try_from(right.signed()?).ok().filter(|by| *by < 64)?;
    let value = left.bits.cast_signed();
    match (operator, left.is_unsigned) {
        ("<<", true) => Some(unsigned(left.bits << by)),
        ("<<", false) => {
            let shifted = value << by;
            (value >= 0 && shifted >> by == value).then(|| signed(shifted))
        }
        (_, true) => Some(unsigned(left.bits >> by)),
        (_, false) => Some(signed(value >> by)),
    }
}

/// The value of an integer literal of the type `intmax_t`; `None` if it does not fit, or if it is not an integer.
pub(in crate::source) fn number(text: &str) -> Option<i64> {
    Integer::of_literal(text)?.signed()
}
