# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutation operators: every small change that can be made to a file, as (operator, symbol, text before, text after).

A change names the text of one statement or one line, not its position, so that it can be found again when the file has moved or grown.
Strings that contain a blank are prose: no test may depend on wording, so they are not mutated.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
}  # fmt: skip


class Candidate(NamedTuple):
    """One possible change."""

    operator: str
    symbol: str
    before: str
    after: str


class Source:
    """A Python file: its text and where its nodes are."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        lines = text.encode().splitlines(keepends=True)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))
        self._bytes = text.encode()

    def span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        """Start and end of a node as offsets in the text."""
        start = self._starts[node.lineno - 1] + node.col_offset
        assert node.end_lineno is not None and node.end_col_offset is not None
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        return len(self._bytes[:start].decode()), len(self._bytes[:end].decode())

    def symbols(self) -> dict[str, tuple[int, int]]:
        """Functions and classes by qualified name, with their spans, and '' for the whole file."""
        result = {"": (0, len(self.text))}

        def visit(node: ast.AST, prefix: str) -> None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    result.setdefault(prefix + child.name, self.span(child))
                    visit(child, f"{prefix}{child.name}.")
                else:
                    visit(child, prefix)

        visit(self.tree, "")
        return result


def python(text: str) -> Iterator[Candidate]:
    """Changes to the behaviour of Python code."""
    source = Source(text)
    for symbol, statement in _statements(source.tree, ""):
        start, end = _header(source, statement)
        before = text[start:end]
        for operator, (at, until), new in _edits(source, statement):
            if start <= at and until <= end:
                yield Candidate(operator, symbol, before, text[start:at] + new + text[until:end])


def _statements(node: ast.AST, symbol: str) -> Iterator[tuple[str, ast.stmt]]:
    """Every statement whose change is a change of behaviour, with the function or class that it is in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from _statements(child, f"{symbol}.{child.name}".lstrip("."))
        elif isinstance(child, (ast.Import, ast.ImportFrom)) or _is_documentation(child):
            continue
        else:
            if isinstance(child, ast.stmt):
                yield symbol, child
            yield from _statements(child, symbol)


def _is_documentation(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    return isinstance(node, ast.Assign) and any(
        getattr(target, "id", "") in ("DOCUMENTATION", "EXAMPLES", "RETURN") for target in node.targets
    )


def _header(source: Source, statement: ast.stmt) -> tuple[int, int]:
    """The span of a simple statement, or of a compound one up to its colon."""
    start, end = source.span(statement)
    if isinstance(statement, (ast.If, ast.While)):
        return start, source.span(statement.test)[1]
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return start, source.span(statement.iter)[1]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return start, source.span(statement.items[-1].context_expr)[1]
    if isinstance(statement, ast.Try):
        return start, start
    return start, end


def _edits(source: Source, statement: ast.stmt) -> Iterator[tuple[str, tuple[int, int], str]]:
    whole = source.span(statement)
    if isinstance(statement, (ast.Raise, ast.AugAssign, ast.Delete)) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    ):
        yield "drop statement", whole, "pass"
    if isinstance(statement, ast.Return) and statement.value is not None and not _is_none(statement.value):
        yield "return nothing", whole, "return None"
    for node in _expressions(statement):
        yield from _expression_edits(source, node)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _expressions(statement: ast.AST) -> Iterator[ast.AST]:
    """Expressions of a statement, without nested statements, annotations and formatted strings."""
    for name, field in ast.iter_fields(statement):
        if name in ("annotation", "returns"):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST) and not isinstance(child, (ast.stmt, ast.JoinedStr)):
                yield child
                yield from _expressions(child)


def _expression_edits(source: Source, node: ast.AST) -> Iterator[tuple[str, tuple[int, int], str]]:
    if isinstance(node, ast.IfExp):
        yield "negate condition", source.span(node.test), f"not ({source.text[slice(*source.span(node.test))]})"
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        between = source.span(node.left)[1], source.span(node.comparators[0])[0]
        old, new = COMPARISONS[type(node.ops[0])]
        if source.text[slice(*between)].strip() == old:
            yield "other comparison", between, f" {new} "
    elif isinstance(node, ast.BoolOp):
        between = source.span(node.values[0])[1], source.span(node.values[1])[0]
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        if source.text[slice(*between)].strip() == old:
            yield "and, or", between, f" {new} "
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "negate condition", source.span(node), f"({source.text[slice(*source.span(node.operand))]})"
    elif isinstance(node, ast.Constant) and not _is_none(node):
        new_text = _constant(node.value, source.text[slice(*source.span(node))])
        if new_text:
            yield "other constant", source.span(node), new_text


def _constant(value: object, text: str) -> str:
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1)
    if isinstance(value, str) and value and not re.search(r"\s", value) and "\n" not in text:
        return f"{text[:-1]}x{text[-1]}"
    return ""


def newer_python(text: str) -> Iterator[Candidate]:
    """A method that Python 3.7 does not have, where the result on newer ones stays the same."""
    source = Source(text)
    for symbol, statement in _statements(source.tree, ""):
        start, end = _header(source, statement)
        for node in _expressions(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "strip" and not node.args:
                at = source.span(node.func)[1] - len(".strip")
                if start <= at <= end and text[at : at + 6] == ".strip":
                    yield Candidate("newer Python", symbol, text[start:end], f'{text[start:at]}.removeprefix(" "){text[at:end]}')


def annotation(text: str) -> Iterator[Candidate]:
    """Another type of a result than the one that is returned: for mypy."""
    for line in _unique_lines(text):
        found = re.search(r"-> (str|bool|int)(?=:$)", line)
        if found:
            new = {"str": "int", "bool": "str", "int": "str"}[found[1]]
            yield Candidate("other annotation", "", line, line[: found.start(1)] + new + line[found.end(1) :])


def impure(text: str) -> Iterator[Candidate]:
    """A reading of the clock or the environment in the first statement of a function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and isinstance(node.body[-1], ast.Return):
            statement = ast.get_source_segment(text, node.body[-1]) or ""
            for module in ("time", "os"):
                yield Candidate("impure import", node.name, statement, f"import {module}; {statement}")


def module_documentation(text: str) -> Iterator[Candidate]:
    """Another type, default or requirement in the documentation of a module than in its argument spec."""
    for line in _unique_lines(text):
        found = re.fullmatch(r"( +)(type|default|required|choices|elements|version_added): (\S.*)", line)
        if found:
            yield Candidate("drop line", "", line, f"{found[1]}# {found[2]}")
            yield Candidate("other value", "", line, f"{found[1]}{found[2]}: {_other_value(found[3], found[2])}")


def _other_value(value: str, key: str = "") -> str:
    if key in ("type", "elements"):
        return "int" if value != "int" else "str"
    if value in ("true", "false"):
        return "false" if value == "true" else "true"
    number = re.search(r"\d+", value)
    if number:
        return value[: number.start()] + str(int(number[0]) + 1) + value[number.end() :]
    word = re.search(r"\w+(?=\W*$)", value)
    return value[: word.end()] + "x" + value[word.end() :] if word else value + "x"


def yaml_lines(text: str) -> Iterator[Candidate]:
    """A line of YAML dropped, or another value."""
    for line in _unique_lines(text):
        found = re.fullmatch(r"( *)((?:- )?)([\w.\"'-]+): (.+)", line)
        item = re.fullmatch(r"( *)- ([^:#]+)", line)
        if found and found[3] not in ("name", "description", "short_description") and not line.lstrip().startswith("#"):
            if not found[2]:
                yield Candidate("drop line", "", line, f"{found[1]}# dropped")
            if found[4][0] not in "|>&*#":
                yield Candidate("other value", "", line, f"{found[1]}{found[2]}{found[3]}: {_other_value(found[4])}")
        elif item and " " not in item[2].strip():
            yield Candidate("drop line", "", line, f"{item[1]}# dropped")
            yield Candidate("other value", "", line, f"{item[1]}- {_other_value(item[2])}")


def requirement_lines(text: str) -> Iterator[Candidate]:
    """A requirement dropped or renamed."""
    for line in _unique_lines(text):
        if line and not line.startswith("#"):
            yield Candidate("drop line", "", line, "# dropped")
            yield Candidate("other value", "", line, f"x{line}")


def powershell_lines(text: str) -> Iterator[Candidate]:
    """A line of PowerShell dropped, another comparison, another text."""
    for line in _unique_lines(text):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        for old, new in (("-eq", "-ne"), ("-ne", "-eq"), ("-and", "-or"), ("-or", "-and"), ("$true", "$false"), ("$false", "$true")):
            if f"{old} " in line or line.endswith(old):
                yield Candidate("other comparison", "", line, line.replace(old, new, 1))
        if stripped[0] == "$" and " = " in stripped and stripped[-1] not in "{(,|`@":
            yield Candidate("drop line", "", line, line[: len(line) - len(stripped)] + "# dropped")


def shell_lines(text: str) -> Iterator[Candidate]:
    """A variable without its quotes."""
    for line in _unique_lines(text):
        found = re.search(r'(?<= )"(\$\{?\w+\}?)"(?=$| )', line)
        if found and not line.lstrip().startswith("#"):
            yield Candidate("drop quotes", "", line, line[: found.start()] + found[1] + line[found.end() :])


def page_lines(text: str) -> Iterator[Candidate]:
    """A name, a number or a row of a table on a page of the documentation."""
    for line in _unique_lines(text):
        if not line.startswith("|") or set(line) <= set("|- "):
            continue
        yield Candidate("drop line", "", line, "")
        name = re.search(r"`(\w+)`", line)
        if name:
            yield Candidate("other value", "", line, line[: name.end(1)] + "x" + line[name.end(1) :])
        number = re.search(r"(?<=\s)\d+(?=\s)", line)
        if number:
            yield Candidate("other value", "", line, line[: number.start()] + str(int(number[0]) + 1) + line[number.end() :])


def _unique_lines(text: str) -> list[str]:
    """The lines that occur once in a file, so that they can be found again without a line number."""
    lines = [line for line in text.splitlines() if line.strip()]
    return [line for line in lines if text.count(line) == 1]


Operators = tuple[Callable[[str], Iterator[Candidate]], ...]
