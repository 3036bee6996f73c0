# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings of other checks on a node: its join, image_verify, and lint of the user data on its disk."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ..capacity import InstanceShape
from ..lint.lint import Linted, lint
from ..live.join import with_rules
from . import plain
from .observations import Facts, Observation, instance_of, kubelet_version, minor

HIDDEN = "********"
"""What doctor_info writes instead of a secret."""

_STAND_IN = "hidden-by-doctor-info"
"""Asterisks are an alias in YAML, and stand for files in a shell: a word is a value everywhere."""

_WAITING = "; this may change by itself, because the node may still be joining"


def join(facts: Facts) -> Iterator[Observation]:
    """Why the node has not joined, or is not ready."""
    found = facts.get("join")
    if not isinstance(found, dict) or not found.get("cause"):
        return
    explained = with_rules(found)
    message = plain.text(explained.get("message")) + ("" if found.get("final") else _WAITING)
    yield Observation(f"join.{plain.text(found['cause'])}", message, plain.text(explained.get("fix")))


def image(facts: Facts) -> Iterator[Observation]:
    """The findings of image_verify."""
    for row in plain.mappings(facts.get("findings")):
        path, message, fix = (plain.text(row.get(name)) for name in ("path", "message", "fix"))
        yield Observation(plain.text(row.get("rule")), f"{path}: {message}", fix)


def user_data(facts: Facts) -> Iterator[Observation]:
    """The findings of lint in the user data, as far as they do not depend on text that was hidden."""
    found = plain.mapping(facts, "user_data")
    text, path, version = found.get("text"), plain.text(found.get("path")), minor(kubelet_version(facts))
    if not isinstance(text, str) or not text:
        return
    is_redacted = found.get("redacted") is True
    if is_redacted:
        text = text.replace(HIDDEN, _STAND_IN)
    linted = _lint(text, plain.text(facts.get("family")) or None, None if version is None else (1, version), instance_of(facts))
    first_hidden = _first_hidden_lines(linted, text) if is_redacted else {}
    for finding in linted.findings:
        where = finding.where
        if where.line < first_hidden.get(where.part, where.line + 1):
            part = f", part {where.part + 1}" if where.part is not None and len(linted.user_data.parts) > 1 else ""
            yield Observation(finding.rule.id, f"{path}{part}, line {where.line}: {finding.message}", finding.fix)
    if first_hidden:
        message = f"{path}: values that may be secrets were removed on the node, so the lines after them were not checked"
        yield Observation("doctor.not_checked", message)


@lru_cache(maxsize=16)
def _lint(text: str, family: str | None, version: tuple[int, int] | None, instance: InstanceShape | None) -> Linted:
    """The nodes of a group have the same user data."""
    return lint(text, family, version, instance)


def _first_hidden_lines(linted: Linted, text: str) -> dict[int | None, int]:
    """Part → the first line that contains a hidden value. What lint says about the lines before it is true of the original, too.

    An encoded part is unreadable if any of its text is hidden, and so is the structure of the document.
    """
    found: dict[int | None, int] = {None: 1} if _STAND_IN in text else {}
    for part in linted.user_data.parts:
        lines = (number for number, line in enumerate(part.text.split("\n"), 1) if _STAND_IN in line)
        hidden = 1 if part.encoding and _STAND_IN in text else next(lines, None)
        if hidden is not None:
            found[part.index] = hidden
    return found
