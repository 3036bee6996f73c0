# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds commands: programs, words, and what package managers and systemctl are asked to do."""

from __future__ import annotations

import re
from collections.abc import Callable

from .model import Find, Match
from .script import RunCommand, ScriptView

_INSTALLERS = ("yum", "dnf", "apt", "apt-get")
_INSTALLS = ("install", "update", "upgrade", "dist-upgrade", "groupinstall", "reinstall")
_YES = re.compile(r"-[a-zA-Z]*y[a-zA-Z]*|--yes|--assume-yes|--assumeyes")
_URL = re.compile(r"(?:https?|ftp)://(?!169\.254\.169\.254|localhost|127\.0\.0\.1|\[?fd00:ec2|\[?::1)")
_FETCHES = (("pip", "install"), ("pip3", "install"), ("git", "clone"), ("snap", "install"))
_LINKERS = ("ln", "alternatives", "update-alternatives")
_KUBELET = {"kubelet", "kubelet.service"}
_STARTS = {"start", "restart", "try-restart", "reload-or-restart"}


def runs(*names: str) -> Find:
    """One of these programs, also behind xargs and the like."""

    def find(run: RunCommand) -> Match | None:
        return next((Match(program, run.line) for program in run.programs() if program in names), None)

    return find


def nested(names: str) -> re.Pattern[str]:
    """A program at the beginning of a command. names: a regular expression."""
    before = r"(?:^|[;&|(`]|\b(?:sudo|then|do|else|exec|command|nohup|time|!)\s)\s*(?:-\w+\s+){0,20}"
    return re.compile(rf"{before}((?:/usr/s?bin/|/s?bin/)?(?:{names}))(?![\w.-])", re.MULTILINE)


def has_word(*names: str) -> Find:
    """One of these words: the program or an argument."""

    def find(run: RunCommand) -> Match | None:
        return next((Match(word, run.line) for word in run.words if word in names), None)

    return find


def runs_or_installs(*names: str) -> Find:
    """One of these programs, or their installation."""
    is_run = runs(*names)

    def find(run: RunCommand) -> Match | None:
        if _is_installation(run):
            return next((Match(word, run.line) for word in run.words[1:] if word in names), None)
        return is_run(run)

    return find


def installs(*packages: str) -> Callable[[ScriptView, Match], bool]:
    """Whether the script itself installs one of these packages."""
    return lambda view, _match: any(_is_installation(run) and not set(packages).isdisjoint(run.words) for run in view.commands)


def links(name: str) -> Callable[[ScriptView, Match], bool]:
    """Whether the script itself makes a program of this name."""

    def makes(run: RunCommand) -> bool:
        return run.words[0] in _LINKERS and any(word.endswith(f"/{name}") for word in run.words)

    return lambda view, _match: any(map(makes, view.commands))


def _is_installation(run: RunCommand) -> bool:
    return run.words[0] in _INSTALLERS and any(word in _INSTALLS for word in run.words[1:])


def asks(run: RunCommand) -> Match | None:
    """A package manager that asks for confirmation."""
    words = run.words
    is_quiet = "update" in words and words[0].startswith("apt")
    if not _is_installation(run) or is_quiet or any(_YES.fullmatch(word) for word in words[1:]):
        return None
    return _begin(run)


def downloads(run: RunCommand) -> Match | None:
    """A command that needs the network."""
    words = run.words
    fetches = words[0] in ("curl", "wget") and any(_URL.match(word) for word in words[1:])
    others = words[:2] in _FETCHES or words[0] == "aws"
    return _begin(run) if fetches or others or _is_installation(run) else None


def starts_kubelet(run: RunCommand) -> Match | None:
    """A command that starts kubelet, or all of nodeadm."""
    words = set(run.words[1:])
    if run.words[:2] == ("nodeadm", "init"):
        return _begin(run)
    if run.words[0] not in ("systemctl", "service") or words.isdisjoint(_KUBELET):
        return None
    is_start = not words.isdisjoint(_STARTS) or {"enable", "--now"} <= words
    return Match(" ".join(run.words), run.line, run.words[0]) if is_start else None


def logs_in_with_cli_1(run: RunCommand) -> Match | None:
    """C(aws ecr get-login), which AWS CLI 2 does not have."""
    pairs = zip(run.words, run.words[1:], strict=False)
    return Match("aws ecr get-login", run.line, "get-login") if run.words[0] == "aws" and ("ecr", "get-login") in pairs else None


def contains(pattern: re.Pattern[str]) -> Find:
    """A word with a text, also if variables of the script are a part of it."""

    def find(run: RunCommand) -> Match | None:
        found = ((pattern.search(text), line) for text, line in run.texts())
        return next((Match(one[0], line) for one, line in found if one is not None), None)

    return find


def _begin(run: RunCommand) -> Match:
    return Match(" ".join(run.words[:2]), run.line, run.words[0])
