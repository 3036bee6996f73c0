# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file: the licence header, a limited size, nothing unfinished, no paths of a developer's machine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency import project

SIZE_SIGNAL = 400
"""Lines from which a file is printed as a signal: does it still have one subject?"""

SIZE_LIMIT = 800
"""Lines that a file may have."""

SIZED = (".py", ".yml", ".yaml", ".sh", ".j2", ".go", ".toml")

# In two halves, or the REUSE tool takes the rest of the line for a licence.
HEADER = (
    "Copyright (c) 2026, nodebootstrap.eks contributors",
    "GNU General Public License v3.0+",
    "SPDX-License" + "-Identifier: GPL-3.0-or-later",
)
HEADER_LINES = 8
NO_HEADER = {".gitignore", "CHANGELOG.md", "changelogs/changelog.yaml", "tests/consistency/public_surface.txt"}

# Spelled in two halves, so that this file does not find itself.
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
WORKPLACE = re.compile(
    r"(?<![\w.])/wo" + r"rk(?![\w-])"
    r"|\.\./sha" + r"red\b|\bshared/(design|facts|oracle|seeds|testing|hooks)\b"
    r"|/tm" + r"p/(venv|brief|house|bash_jobs)|/(root|home/\w+)/\.(pyenv|cache|cargo)\b|\bsee" + r"ds/\d"
)


def header_problems(name: str, content: str) -> list[str]:
    head = "\n".join(content.splitlines()[:HEADER_LINES])
    missing = [part for part in HEADER if part not in head and content]  # an empty file has no author
    return [f"{name}: the first {HEADER_LINES} lines lack: {', '.join(missing)}"] if missing else []


def size_problems(name: str, content: str) -> list[str]:
    count = len(content.splitlines())
    return [f"{name}: {count} lines; at most {SIZE_LIMIT}"] if count > SIZE_LIMIT else []


def word_problems(name: str, lines: Iterable[tuple[int, str]], pattern: re.Pattern[str]) -> list[str]:
    return [f"{name}:{number}: {found.group()}" for number, line in lines if (found := pattern.search(line))]


def written_by_hand() -> list[str]:
    return [name for name in project.files() if not project.is_data(name)]


def test_every_file_carries_the_header() -> None:
    names = [name for name in written_by_hand() if name not in NO_HEADER]
    project.none_of(problem for name in names for problem in header_problems(name, project.text(name)))


def test_files_are_small(capsys: pytest.CaptureFixture[str]) -> None:
    names = [name for name in written_by_hand() if name.endswith(SIZED)]
    sizes = {name: len(project.text(name).splitlines()) for name in names}
    with capsys.disabled():
        for name in sorted(names, key=lambda name: -sizes[name]):
            if sizes[name] > SIZE_SIGNAL:
                print(f"\n{name}: {sizes[name]} lines; check that it has one subject", end="")
    project.none_of(problem for name in names for problem in size_problems(name, project.text(name)))


def test_nothing_is_unfinished() -> None:
    names = [name for name in written_by_hand() if name.endswith((*SIZED, ".md", ".rst"))]
    project.none_of(problem for name in names for problem in word_problems(name, project.each_line(name), UNFINISHED))


def test_no_file_names_a_workplace() -> None:
    project.none_of(problem for name in project.files() for problem in word_problems(name, project.each_line(name), WORKPLACE))


def test_sanity_has_no_ignore_file() -> None:
    project.none_of(name for name in project.files() if name.startswith("tests/sanity/ignore"))


def test_there_is_no_binary_program() -> None:
    suffixes = (".so", ".pyc", ".exe", ".dll", ".whl", ".tar", ".gz", ".zip")
    project.none_of(name for name in project.files() if name.endswith(suffixes))


# What runs on a node runs on Amazon Linux 2, whose Python is 3.7.
NODE_PYTHON = (3, 7)
NODE_FOLDERS = ("plugins/module_utils", "plugins/modules")


def node_problems(name: str, content: str) -> list[str]:
    try:
        tree = ast.parse(content, feature_version=NODE_PYTHON)
    except SyntaxError as error:
        return [f"{name}:{error.lineno}: not Python {'.'.join(map(str, NODE_PYTHON))}: {error.msg}"]
    # feature_version does not refuse every later syntax.
    late = [node for node in ast.walk(tree) if type(node).__name__ in {"Match", "NamedExpr", "TryStar"}]
    return [f"{name}:{node.lineno}: not Python 3.7: {type(node).__name__}" for node in late]


def test_node_code_is_old_enough() -> None:
    names = [name for folder in NODE_FOLDERS for name in project.under(folder, ".py")]
    project.none_of(problem for name in names for problem in node_problems(name, project.text(name)))


@pytest.mark.parametrize(
    "source", ["if (x := 1): pass", "def f(a, /): pass", "match x:\n    case 1: pass", "with (open(a) as b, open(c) as d): pass"]
)
def test_new_syntax_on_a_node_is_seen(source: str) -> None:
    assert node_problems("plugins/modules/example.py", source)


def test_what_is_wrong_with_a_file_is_seen() -> None:
    assert header_problems("a.py", "import os\n")
    assert header_problems("a.py", "\n".join(f"# {part}" for part in HEADER)) == []
    assert size_problems("a.py", "x\n" * (SIZE_LIMIT + 1))
    assert size_problems("a.py", "x\n" * SIZE_LIMIT) == []


@pytest.mark.parametrize(
    ("line", "pattern", "seen"),
    [
        ("# TO" + "DO: later", UNFINISHED, True),
        ("todos los nodos", UNFINISHED, False),
        ("path = '/wo" + "rk/main'", WORKPLACE, True),
        ("see ../sha" + "red/facts", WORKPLACE, True),
        ("PATH=/root/.py" + "env/shims", WORKPLACE, True),
        ("the network/workload", WORKPLACE, False),
        ("--tmpfs /tmp:exec", WORKPLACE, False),
    ],
)
def test_words_are_seen(line: str, pattern: re.Pattern[str], seen: bool) -> None:
    assert bool(word_problems("a.py", [(1, line)], pattern)) is seen


def test_python_files_defer_annotations() -> None:
    """One habit everywhere: it keeps annotations free, and node code alive on old Pythons."""
    wanted = "from __future__ import annotations"
    names = [
        name
        for name in written_by_hand()
        if name.endswith(".py") and project.text(name) and not name.startswith("tests/oracle/docker/rootfs/")
    ]
    project.none_of(name for name in names if wanted not in project.text(name))
