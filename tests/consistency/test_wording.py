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

_HARNESS = "the errors of the test harness, which no user sees"
ALLOWED = {
    "tests/consistency/test_checks.py": "the output of argparse",
    "tests/consistency/test_metadata.py": "a row of the README",
    "tests/consistency/test_node_python.py": "the output of vermin",
    "tests/lab/test_binaries.py": _HARNESS,
    "tests/lab/test_join.py": _HARNESS,
    "tests/lab/test_lab.py": _HARNESS,
    "tests/lab/test_user_nodes.py": _HARNESS,
    "tests/oracle/test_bottlerocket_live.py": "not converted yet: golden_message fits",
    "tests/oracle/test_bottlerocket_ssm.py": "not converted yet: golden_message fits",
    "tests/oracle/test_bottlerocket_windows.py": "the message of tomllib",
    "tests/oracle/test_harness.py": _HARNESS,
    "tests/oracle/test_harness_al2.py": _HARNESS,
    "tests/oracle/test_yaml_of_outputs.py": _HARNESS,
    "tests/unit/plugins/action/test_apply.py": "not converted yet: golden_message fits",
    "tests/unit/plugins/action/test_bottlerocket_settings.py": "not converted yet: golden_message fits",
    "tests/unit/plugins/module_utils/_engine/test_service_commands.py": "the output of a program of the test",
    "tests/unit/plugins/plugin_utils/test_errors.py": "the format of every problem, with words of the test",
}
"""Files that assert wording, with the reason."""

_WORDS = re.compile(r"[A-Za-z_]{2,}[,:;]? [A-Za-z]{2,}")
_SENTENCE = re.compile(r"(?<![\w/.-])[A-Za-z]+,? [a-z]+,? [a-z]+(?![\w/.-])")
_MESSAGE = re.compile(
    r"\bmsg\b|\bmessages?\b|\bstr\(\w*(?:error|caught|problem|value|refused|raised|fail)|\.value\b|\bproblems\(|\brefusal\(|\brefused\("
    r"|\.cause\b|\.fix\b|\bfailure\("
)
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


def found() -> dict[str, list[tuple[int, str]]]:
    """The assertions about wording by file."""
    names = [name for name in project.files() if name.startswith("tests/") and name.endswith(".py")]
    rows = {name: list(assertions(project.text(name))) for name in names}
    return {name: lines for name, lines in rows.items() if lines}


def test_no_test_asserts_wording() -> None:
    project.none_of(
        f"{name}:{line}: asserts wording: {source[:100]}; use golden_message or mentions (tests/unit/messages.py)"
        for name, lines in found().items()
        if name not in ALLOWED
        for line, source in lines
    )


def test_every_exception_is_used_and_has_a_reason() -> None:
    assert ALLOWED.keys() <= found().keys()
    assert all(len(reason) > 10 for reason in ALLOWED.values())


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
    facts = ('assert mentions(message, "/etc/a", "eth0", 5)', 'assert "kubelet.service" in message', 'assert "a secret" not in message')
    assert [source for source in wording if not list(assertions(source))] == []
    assert [source for source in facts if list(assertions(source))] == []
