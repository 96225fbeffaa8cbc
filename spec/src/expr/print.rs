//! Prints the canonical text of expressions, which parses back to the same expression.

use std::fmt::{self, Display as _};

use super::{BinaryOp, Expr, UnaryOp};

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self, 0, f)
    }
}

/// Prints `expr` as an operand of an operator with precedence `outer`.
fn print(expr: &Expr, outer: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match expr {
        Expr::Int(x) if *x < 0 => write!(f, "({x})"),
        Expr::Int(x) => x.fmt(f),
        Expr::Bool(x) => x.fmt(f),
        Expr::Name(name) => f.write_str(name),
        Expr::Device(limit) => write!(f, "device.{}", limit.name()),
        // Without parentheses, the text would parse as a negative literal.
        Expr::Unary(UnaryOp::Neg, x) if matches!(**x, Expr::Int(value) if value >= 0) => {
            write!(f, "-({x})")
        }
        Expr::Unary(op, x) => {
            f.write_str(match op {
                UnaryOp::Neg => "-",
                UnaryOp::Not => "!",
            })?;
            print(x, u8::MAX, f)
        }
        Expr::Binary(op, x, y) => print_binary(*op, x, y, outer, f),
        Expr::Call(function, arguments) => {
            write!(f, "{}(", function.name())?;
            for (i, argument) in arguments.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                print(argument, 0, f)?;
            }
            f.write_str(")")
        }
    }
}

fn print_binary(
    op: BinaryOp,
    x: &Expr,
    y: &Expr,
    outer: u8,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let strength = op.precedence();
    // Rust's grammar does not allow `a < b < c`, so both operands of a comparison must bind tighter than the
    // comparison.
    let comparison = strength == BinaryOp::Eq.precedence();
    let parenthesised = strength < outer;
    if parenthesised {
        f.write_str("(")?;
    }
    print(x, strength + u8::from(comparison), f)?;
    write!(f, " {} ", op.symbol())?;
    print(y, strength + 1, f)?;
    if parenthesised {
        f.write_str(")")?;
    }
    Ok(())
}
