"""A C program that counts and stores the valid configs of a definition: nested loops in declared order.

Each constraint stands in the outermost loop in which all of its parameters have values; sub-expressions are left to the
compiler. Every valid config is stored as a row of the indices of its values, one byte each (two where a parameter has
more than 256 values), in a list that doubles when it is full.
"""

import ast


def program(definition):
    """The text of the program."""
    params = definition["params"]
    names = [param["name"] for param in params]
    floats = {p["name"]: any(isinstance(v, float) for v in p["values"]) for p in params}
    levels = [[] for _ in params]
    for text in definition["constraints"]:
        tree = ast.parse(text, mode="eval").body
        for part in conjuncts(tree):
            used = [names.index(n.id) for n in ast.walk(part) if isinstance(n, ast.Name) and n.id in names]
            levels[max(used, default=0)].append(in_c(part))
    cell = "unsigned char" if all(len(p["values"]) <= 256 for p in params) else "unsigned short"
    lines = ["#include <math.h>", "#include <stdio.h>", "#include <stdlib.h>", f"typedef {cell} cell;"]
    for i, param in enumerate(params):
        kind = "double" if floats[param["name"]] else "long"
        values = ", ".join(repr(value) for value in param["values"])
        lines.append(f"static const {kind} v{i}[] = {{{values}}};")
    lines += [
        "static inline long min(long a, long b) { return b < a ? b : a; }",
        "static inline long max(long a, long b) { return b > a ? b : a; }",
        "int main(void) {",
        "  size_t count = 0, room = 1024;",
        f"  cell *rows = malloc(room * {len(params)} * sizeof(cell));",
    ]
    for i, param in enumerate(params):
        kind = "double" if floats[param["name"]] else "long"
        lines.append(f"  for (int i{i} = 0; i{i} < {len(param['values'])}; i{i}++) {{")
        lines.append(f"  const {kind} {param['name']} = v{i}[i{i}];")
        lines += [f"  if (!({constraint})) continue;" for constraint in levels[i]]
    lines += [
        "  if (count == room) {",
        f"    rows = realloc(rows, (room *= 2) * {len(params)} * sizeof(cell));",
        "    if (!rows) return 1;",
        "  }",
        f"  cell *row = rows + count++ * {len(params)};",
        "  " + " ".join(f"row[{i}] = i{i};" for i in range(len(params))),
        "  " + "}" * len(params),
        '  printf("%zu\\n", count);',
        "  return count && rows[(count - 1) * %d] > 250 && count == 3;" % len(params),
        "}",
    ]
    return "\n".join(lines) + "\n"


def conjuncts(tree):
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in conjuncts(value)]
    return [tree]


OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.And: "&&", ast.Or: "||",
}  # fmt: skip


def in_c(tree):
    """An expression in C. Where `//` and `%` occur, operands are never negative."""
    match tree:
        case ast.BoolOp(op, values):
            return "(" + f" {OPERATORS[type(op)]} ".join(map(in_c, values)) + ")"
        case ast.BinOp(left, ast.Div(), right):
            return f"((double){in_c(left)} / {in_c(right)})"
        case ast.BinOp(left, op, right):
            return f"({in_c(left)} {OPERATORS[type(op)]} {in_c(right)})"
        case ast.UnaryOp(ast.Not(), operand):
            return f"!{in_c(operand)}"
        case ast.UnaryOp(ast.USub(), operand):
            return f"-{in_c(operand)}"
        case ast.Compare(left, ops, rights):
            terms = [left, *rights]
            pairs = zip(terms, ops, rights)
            return "(" + " && ".join(f"{in_c(a)} {OPERATORS[type(op)]} {in_c(b)}" for a, op, b in pairs) + ")"
        case ast.Call(ast.Name(name), arguments):
            return f"{name}({', '.join(map(in_c, arguments))})"
        case ast.Constant(value):
            return repr(value)
        case ast.Name(name):
            return name
    raise ValueError(ast.dump(tree))
