# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds a mutant in a tree by its text, and makes copies of a tree to work on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from itertools import count
from pathlib import Path
from typing import Any

from .operators import Source

#: Folders that are searched when a file has moved.
SEARCHED = ("plugins", "roles", "playbooks", "docs", "examples", "meta", "tools")


class Place:
    """Where a mutant is in a tree, and the file's text with it."""

    def __init__(self, path: Path, start: int, end: int, after: str) -> None:
        self.path = path
        text = path.read_text(encoding="utf-8")
        self.original = text
        self.mutated = text[:start] + after + text[end:]


def locate(mutant: dict[str, Any], tree: Path) -> Place | None:
    """The one place of a mutant; None if there is none or more than one.

    A rewritten statement is found by `after_refactoring`. A statement whose function was renamed is found by its text alone.
    """
    for version in ({**mutant, **mutant.get("after_refactoring", {})}, mutant):
        for symbol in dict.fromkeys((version["symbol"], "")):
            wanted = {**version, "symbol": symbol}
            places = [place for path in _likely(wanted, tree) if (place := _place(wanted, path)) is not None]
            if len(places) == 1:
                return places[0]
    return None


def _likely(version: dict[str, Any], tree: Path) -> list[Path]:
    """The file itself, and files of its kind that it may have become."""
    path = tree / version["file"]
    if path.is_file() and _place(version, path) is not None:
        return [path]
    folder = Path(version["file"]).parts[0]
    if folder not in SEARCHED:
        return []
    below = tree / Path(*Path(version["file"]).parts[:2]) if folder == "plugins" else tree / folder
    return sorted(found for found in below.rglob(f"*{path.suffix}") if found.is_file())


def _place(version: dict[str, Any], path: Path) -> Place | None:
    text = path.read_text(encoding="utf-8")
    start, end = 0, len(text)
    if version["symbol"]:
        try:
            symbols = Source(text).symbols()
        except SyntaxError:
            return None
        if version["symbol"] not in symbols:
            return None
        start, end = symbols[version["symbol"]]
    # A formatter may have broken the lines otherwise.
    pattern = r"\s+".join(re.escape(word) for word in version["before"].split())
    if path.suffix == ".py":
        pattern = rf"(?<![\w.]){pattern}(?![\w.(\[])"
    elif path.suffix in (".yml", ".ps1", ".sh", ".txt"):
        pattern = rf"(?m:^) *{pattern}$"
    found = list(re.compile(pattern, re.MULTILINE).finditer(text, start, end))
    return Place(path, found[0].start(), found[0].end(), version["after"]) if len(found) == 1 else None


def copy(tree: Path, target: Path, environments: Path) -> Path:
    """A copy of the files that git tracks, as a separate repository. C(environments) is the tree whose virtual environments are used."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=tree, check=True, capture_output=True
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (tree / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, target / name)
    git = (
        "git",
        "-c",
        "init.defaultBranch=main",
        "-c",
        "user.name=check",
        "-c",
        "user.email=check@localhost",
        "-c",
        "commit.gpgSign=false",
    )
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--no-verify", "--message=copy")):
        subprocess.run([*git, *words], cwd=target, check=True)
    (target / ".cache" / "ansible_collections" / "nodebootstrap").mkdir(parents=True)
    (target / ".cache" / "ansible_collections" / "nodebootstrap" / "eks").symlink_to(target)
    (target / ".venv").symlink_to((environments / ".venv").resolve())
    for environment in (environments / ".cache").glob("venv-*"):
        (target / ".cache" / environment.name).symlink_to(environment.resolve())
    return target


_WRITES = count(1)


def write(path: Path, text: str) -> None:
    """Write a file with a time of its own: Python recognizes stale bytecode by the second of a change and the size."""
    path.write_text(text, encoding="utf-8")
    moment = time.time() - 100_000_000 + next(_WRITES) * 10
    os.utime(path, (moment, moment))
