# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real `nodeadm config check` (of February 2024, the only one to be had as a Go module) over many documents.

It runs on a node of nodelab, where the metadata service answers with the document as user data: it reads MIME nowhere else.
A check is a process of about 30 ms; a call of Checker is one program on the node, however many documents there are.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ansible_collections.nodebootstrap.eks.tests.lab import binaries

from nodelab import Node, engine  # isort: skip # found through the line above

USER_DATA, FILE = "imds", "file"

_DRIVER = "/opt/nodeadm/driver.py"
_PROGRAM = "/opt/nodeadm/nodeadm"
#: Seconds for one document on a machine that is busy with other things.
_PATIENCE = 5

Question = tuple[str, bytes]


class Checker:
    """Called with (source, document) pairs: one complaint each, None where nodeadm takes the document."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __call__(self, questions: Iterable[Question]) -> list[str | None]:
        lines = [json.dumps([source, base64.b64encode(document).decode()]) for source, document in questions]
        text = "".join(f"{line}\n" for line in lines)
        done = self._node.exec(["python3", _DRIVER, _PROGRAM], text, timeout=60 + _PATIENCE * len(lines), check=True)
        answers: list[str | None] = [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) != len(lines):
            raise AssertionError(f"{len(lines)} documents, {len(answers)} answers: {done.stderr!r}")
        return answers


@contextmanager
def checker() -> Iterator[Checker]:
    """A node with the real nodeadm, which is built at the first use on this machine."""
    program = binaries.path_of(binaries.NODEADM)
    with Node.start() as node:
        node.write({_DRIVER: Path(__file__).with_name("nodeadm_driver.py").read_text()})
        engine.docker("cp", str(program), f"{node.container}:{_PROGRAM}")
        yield Checker(node)
