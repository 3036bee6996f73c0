# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages in tests: whole in golden files, so that a sentence can be improved without editing a test.

* C(golden_message(error)), a fixture: the whole message equals the one in C(tests/golden/messages), under the name of the test.
  C(make golden) writes it anew; read the difference as a user would.
* C(mentions(message, "eth0")): a message contains a fact, such as a path, a unit, a number or a value of the user.
  Facts are not sentences; C(tests/consistency/test_wording.py) checks that.

For problems of the input, also assert the rule and the path (C(plugin_utils/problem_list.py)).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "golden" / "messages"
WRITE = "WRITE_GOLDEN_MESSAGES"
"""The environment variable with which tests write their messages instead of comparing them."""

_HEADING = re.compile(r"^## (.*)\n", re.MULTILINE)


def mentions(message: object, *facts: object) -> bool:
    """Whether a message contains all of these facts: paths, names, numbers, values of the user."""
    return all(str(fact) in str(message) for fact in facts)


def golden_file(test_file: Path) -> Path:
    """The file with the messages of a test file."""
    return GOLDEN / test_file.resolve().relative_to(TESTS).with_suffix(".txt")


def read(path: Path) -> dict[str, str]:
    """The messages of a golden file by test."""
    if not path.exists():
        return {}
    blocks = _HEADING.split(path.read_text(encoding="utf-8"))[1:]
    return {name: text.rstrip("\n") for name, text in zip(blocks[::2], blocks[1::2], strict=True)}


def write(path: Path, messages: dict[str, str]) -> None:
    """Write a golden file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(f"## {name}\n{text}\n" for name, text in sorted(messages.items())), encoding="utf-8")


class GoldenMessages:
    """The messages of one test, in the order in which it compares them."""

    def __init__(self, test_file: Path, test: str, replaced: dict[str, str]) -> None:
        self._path = golden_file(test_file)
        self._test = test
        self._replaced = replaced
        self._count = 0

    def __call__(self, message: object, **replaced: object) -> None:
        """Assert that a message (a text or an exception) is the golden one.

        replaced: what differs between runs, by the word that takes its place, such as C(PORT=port).
        """
        text = message.with_rules() if isinstance(message, SpecError) else str(message)
        for word, value in {**self._replaced, **replaced}.items():
            text = text.replace(str(value), word) if value else text
        self._count += 1
        name = self._test if self._count == 1 else f"{self._test} ({self._count})"
        if os.environ.get(WRITE):
            write(self._path, {**read(self._path), name: text.rstrip("\n")})
        else:
            assert text.rstrip("\n") == read(self._path).get(name), f"{self._path.name}: {name}; write it with: make golden"
