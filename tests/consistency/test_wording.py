# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests assert rules, paths, facts and effects. The wording of messages is in golden files, so that it can be improved.

A sentence belongs into C(golden_message(...)); a fact, such as a path or a number, into C(mentions(...)): see C(tests/unit/messages.py).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tests.unit import messages

_WORDS = re.compile(r"[A-Za-z_]{2,}[,:;]? [A-Za-z]{2,}")
_SENTENCE = re.compile(r"(?<![\w/.-])[A-Za-z]+,? [a-z]+,? [a-z]+(?![\w/.-])")
_MESSAGE = re.compile(
    r"\bmsg\b|\bmessages?\b|\bstr\(\w*(?:error|caught|problem|value|refused|raised|fail)|\.value\b|\bproblems\(|\brefusal\(|\brefused\("
    r"|\.cause\b|\.fix\b|\bfailure\("
)
_MESSAGE_NAMES = {
    "cause", "caught", "failure", "fix", "message", "messages", "msg", "output", "problem", "reason", "refusal", "refused", "sentence",
    "stderr", "stdout", "warning", "warnings",
}  # fmt: skip
"""Names of variables, attributes and keys that hold messages."""
_SEARCHES = {"re.search", "re.match", "re.fullmatch", "re.findall", "re.split", "re.finditer"}
_CUTS = {"count", "find", "index", "partition", "rpartition", "split", "rsplit", "removeprefix", "removesuffix", "startswith", "endswith"}
_OUTPUT = re.compile(r"stderr|stdout|\bdone\.|\breason\b|\bwarnings?\b|\.text\b|\bsentence\b")


def texts(node: ast.AST) -> Iterator[str]:
    """The parts of a literal text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for value in node.values:
            yield from texts(value)


def is_wording(literal: ast.AST, place: ast.AST) -> bool:
    """Whether an assertion that compares a literal with a place asserts the wording of a message."""
    source = ast.unparse(place)
    words = any(_WORDS.search(text) for text in texts(literal))
    return bool((words and _OUTPUT.search(source)) or (words and _MESSAGE.search(source)))


def assertions(source: str) -> Iterator[tuple[int, str]]:
    """(line, source) of every assertion about wording."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name.endswith("raises") and any(keyword.arg == "match" for keyword in node.keywords):
                yield node.lineno, ast.unparse(node)
            elif name == "mentions":
                yield from ((node.lineno, text) for fact in node.args[1:] for text in texts(fact) if _SENTENCE.search(text))
            elif (
                isinstance(node.func, ast.Attribute)
                and node.func.attr in ("startswith", "endswith")
                and is_wording(node.args[0], node.func.value)
            ):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Compare):
            # a literal is on the left of "in", and on the right of "=="
            sides = {ast.In: (node.left, node.comparators[0]), ast.Eq: (node.comparators[0], node.left)}.get(type(node.ops[0]))
            if sides and is_wording(*sides):
                yield node.lineno, ast.unparse(node)


def _tables(function: ast.FunctionDef) -> dict[str, list[str]]:
    """The texts that a test gets for each of its parameters, and that each of its loops runs over."""
    found: dict[str, list[str]] = {}
    for call in (item for item in function.decorator_list if isinstance(item, ast.Call) and ast.unparse(item.func).endswith("parametrize")):
        names = re.findall(r"\w+", " ".join(texts_within(call.args[0])))
        for row in getattr(call.args[1], "elts", ()):
            cells = [row] if len(names) == 1 else getattr(row, "elts", ())
            for name, cell in zip(names, cells, strict=False):
                found.setdefault(name, []).extend(texts_within(cell))
    for loop in ast.walk(function):
        if isinstance(loop, (ast.For, ast.comprehension)) and isinstance(loop.target, ast.Name):
            items = found.get(loop.iter.id, ()) if isinstance(loop.iter, ast.Name) else texts_within(loop.iter)
            found.setdefault(loop.target.id, []).extend(items if isinstance(loop.iter, (ast.Name, ast.Tuple, ast.List)) else ())
    return found


def texts_within(node: ast.AST) -> list[str]:
    """All literal texts of an expression."""
    return [child.value for child in ast.walk(node) if isinstance(child, ast.Constant) and isinstance(child.value, str)]


def _is_message(node: ast.AST, loops: dict[str, ast.AST]) -> bool:
    """Whether an expression is a message, judged by its names. Rules and paths of problems are not wording."""
    names = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
    if "rules_and_paths" in names:
        return False
    if isinstance(node, ast.Name) and node.id in loops and _is_message(loops[node.id], {}):
        return True
    names |= {child.attr for child in ast.walk(node) if isinstance(child, ast.Attribute)}
    names |= {
        str(child.slice.value) for child in ast.walk(node) if isinstance(child, ast.Subscript) and isinstance(child.slice, ast.Constant)
    }
    return bool(names & _MESSAGE_NAMES)


def _has_words(node: ast.AST, tables: dict[str, list[str]]) -> bool:
    names = [child.id for child in ast.walk(node) if isinstance(child, ast.Name)]
    texts = [*texts_within(node), *(text for name in names for text in tables.get(name, ()))]
    return any(_SENTENCE.search(text) for text in texts)


def indirect_assertions(source: str) -> Iterator[tuple[int, str]]:
    """(line, source) of assertions about wording that C(assertions) does not see: patterns, words from a table, and words to cut at."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        tables = _tables(function)
        loops: dict[str, ast.AST] = {
            loop.target.id: loop.iter
            for loop in ast.walk(function)
            if isinstance(loop, (ast.For, ast.comprehension)) and isinstance(loop.target, ast.Name)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Eq, ast.NotEq)):
                pairs = [(node.left, node.comparators[0])]
                pairs += [(node.comparators[0], node.left)] if isinstance(node.ops[0], (ast.Eq, ast.NotEq)) else []
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in _SEARCHES and len(node.args) > 1:
                pairs = [(node.args[0], node.args[1])]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CUTS and node.args:
                pairs = [(node.args[0], node.func.value)]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "mentions":
                pairs = [(fact, node) for fact in node.args[1:] if isinstance(fact, (ast.Name, ast.Starred))]
            else:
                continue
            if any(_has_words(words, tables) and (place is node or _is_message(place, loops)) for words, place in pairs):
                yield node.lineno, ast.unparse(node)


def _indirect_assertions_of(name: str) -> list[tuple[int, str]]:
    """The consistency tests show that they find problems by sentences of their own, which no user sees."""
    return [] if name.startswith("tests/consistency/") else list(indirect_assertions(project.text(name)))


def found() -> dict[str, list[tuple[int, str]]]:
    """The assertions about wording by file."""
    names = [name for name in project.files() if name.startswith("tests/") and name.endswith(".py")]
    rows = {name: {*assertions(project.text(name)), *_indirect_assertions_of(name)} for name in names}
    return {name: sorted(lines) for name, lines in rows.items() if lines}


def test_no_test_asserts_wording() -> None:
    project.none_of(
        f"{name}:{line}: asserts wording: {source[:100]}; use golden_message or mentions (tests/unit/messages.py)"
        for name, lines in found().items()
        for line, source in lines
    )


def test_every_golden_message_belongs_to_a_test() -> None:
    rows = []
    for path in sorted(messages.GOLDEN.rglob("*.txt")):
        test_file = messages.TESTS / path.relative_to(messages.GOLDEN).with_suffix(".py")
        source = test_file.read_text(encoding="utf-8") if test_file.exists() else ""
        tests = {name.partition("[")[0].partition(" ")[0] for name in messages.read(path)}
        rows += [f"{path.name}: {test} is not a test that compares messages" for test in sorted(tests) if f"def {test}(" not in source]
    project.none_of(rows)


def test_the_usual_forms_are_found() -> None:
    wording = (
        'assert "two words" in result["msg"]',
        'assert "two words" in str(caught.value)',
        'assert "two words" in done.stdout + done.stderr',
        'assert error.cause.startswith("two words")',
        'assert message == "two words: x"',
        'pytest.raises(ValueError, match="words")',
        'assert mentions(message, "these are words")',
    )
    table = '@pytest.mark.parametrize(("a", "says"), [(1, "these are words")])\ndef test(a, says):\n    '
    indirect = (
        table + 'assert says in result["msg"]',
        table + "assert str(caught.value) == says",
        table + "assert mentions(message, says)",
        'def test():\n    assert re.search("these are words", message)',
        'def test():\n    assert "these are words" not in done.stderr',
        'def test():\n    assert [word for word in ("these are words",) if word not in message] == []',
        'def test():\n    assert message.split("these are words")[1] == "x"',
        'def test():\n    assert (result["failed"], result["msg"]) == (True, "these are words")',
        'def test():\n    assert any("these are words" in line for line in result["warnings"])',
    )
    facts = ('assert mentions(message, "/etc/a", "eth0", 5)', 'assert "kubelet.service" in message', 'assert "a secret" not in message')
    assert [source for source in wording if not list(assertions(source))] == []
    assert [source for source in indirect if not list(indirect_assertions(source))] == []
    seen = {source: [*assertions(source), *indirect_assertions(f"def test():\n    {source}")] for source in facts}
    assert not any(seen.values()), seen
