# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What README.md and docs/*.md show is run, and what they show as output is what comes out.

A comment before each fenced block says what it is:

* C(<!-- file: NAME -->): the block is written to NAME in the page's folder;
* C(<!-- run -->): the block is run by bash in that folder, C(<!-- run, fails -->): and has to fail;
  C(<!-- run as: COMMAND -->): COMMAND is run in its place, with C($CHECKOUT) for this folder;
* C(<!-- output -->): the block is what the last command printed; C(<!-- output from: A -->) and C(<!-- output from: A | to: B -->)
  show the part from the first line that begins with A to the next one that begins with B;
* C(<!-- not run: REASON -->).

C(python -m ansible_collections.nodebootstrap.eks.tests.consistency.documented --write) runs all pages and writes the outputs anew.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tests.eks_api import AwsStandIn

_BLOCK = re.compile(r"^(?:<!-- (?P<marker>[^\n]*) -->\n\n?)?^```(?P<language>[a-z0-9]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_MARKER = re.compile(r"(file: \S+|run|run, fails|run as: .+|output|output from: .+|not run: .+)")
_ACCOUNT = "111122223333"
"""The account of the cluster, as in the documentation of AWS."""

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIBdzCCAR2gAwIBAgIBADAKBggqhkjOPQQDAg==\n-----END CERTIFICATE-----\n"
_SETTINGS = {
    "ANSIBLE_FORCE_COLOR": "false",
    "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
    "ANSIBLE_LOCALHOST_WARNING": "false",
    "ANSIBLE_NOCOLOR": "true",
    "CHECKOUT": str(project.TOP),
    "COLUMNS": "200",
}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page. C(start) and C(end) are the position of its body in the text of the page."""

    marker: str
    body: str
    start: int
    end: int
    line: int


def pages() -> tuple[str, ...]:
    """README.md and the pages of docs, but not what lies in folders below."""
    return ("README.md", "CONTRIBUTING.md", *(name for name in project.under("docs", ".md") if name.count("/") == 1))


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(match["marker"] or "", match["body"], match.start("body"), match.end("body"), text.count("\n", 0, match.start()) + 1)
        for match in _BLOCK.finditer(text)
    ]


def unmarked(name: str, text: str) -> Iterator[str]:
    """A line for each block without a comment that says whether it is run."""
    for block in blocks(text):
        if not _MARKER.fullmatch(block.marker):
            yield f"{name}:{block.line}: a block without a comment that says whether it is run (got {block.marker!r})"


def part(output: str, marker: str) -> str:
    """What C(marker) selects of C(output); '' when the lines it names are not there."""
    words, to = (*marker.removeprefix("output from: ").split(" | to: "), "")[:2]
    lines = output.splitlines(keepends=True)
    if marker == "output":
        return "".join(lines)
    first = next((number for number, line in enumerate(lines) if line.startswith(words)), len(lines))
    if not to:
        return "".join(lines[first:])
    last = next((number for number, line in enumerate(lines) if number > first and line.startswith(to)), -1)
    return "".join(lines[first : last + 1])


def run(name: str, text: str, folder: Path, settings: Mapping[str, str]) -> tuple[list[str], str]:
    """Run the blocks of a page in C(folder): (problems, the page with the outputs that really came). A wrong end ends it."""
    problems, output, shift, written = [], "", 0, text
    for block in blocks(text):
        kind, _unused, value = block.marker.partition(": ")
        where = f"{name}:{block.line}"
        if kind == "file":
            (folder / value).parent.mkdir(parents=True, exist_ok=True)
            (folder / value).write_text(block.body, encoding="utf-8")
        elif kind in ("run", "run, fails", "run as"):
            status, output = _bash(value or block.body, folder, settings)
            if (status == 0) == (kind == "run, fails"):
                return [*problems, f"{where}: ended with {status}:\n{output}"], written
        elif kind in ("output", "output from"):
            found = part(output, block.marker)
            if found != block.body:
                problems.append(f"{where}: shows something else than what was printed:\n{found or output}")
            if found:
                written = written[: block.start + shift] + found + written[block.end + shift :]
                shift += len(found) - len(block.body)
    return problems, written


def _bash(script: str, folder: Path, settings: Mapping[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **_SETTINGS, **settings},
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
    )
    # Ansible pads its headings to the width of a terminal and its recap with blanks that no editor keeps.
    return done.returncode, "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


@contextmanager
def aws_stand_in() -> Iterator[dict[str, str]]:
    """Settings with which AWS modules talk to a stand-in on this machine and to nothing else. It has a cluster demo in eu-west-1."""
    with AwsStandIn(account=_ACCOUNT) as aws:
        aws.reset()
        authority = {"data": base64.b64encode(CERTIFICATE.encode()).decode()}
        endpoint = "https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"
        aws.eks.add_cluster("demo", endpoint=endpoint, certificateAuthority=authority)
        yield {"AWS_ENDPOINT_URL": aws.url, "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none"}


def main() -> None:
    """Write the outputs of all pages anew."""
    # As tests/conftest.py does: the programs beside this Python, and this checkout.
    here = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "ANSIBLE_COLLECTIONS_PATH": str(project.TOP / ".cache"),
    }
    for name in pages():
        text = project.text(name)
        with tempfile.TemporaryDirectory() as folder, aws_stand_in() as aws:
            problems, written = run(name, text, Path(folder), here | aws)
        failed = [problem for problem in problems if ": ended with " in problem]
        if failed:
            sys.exit("\n".join(failed))
        if written != text:
            (project.TOP / name).write_text(written, encoding="utf-8")
            print(f"{name}: outputs written anew")


if __name__ == "__main__":
    main()
