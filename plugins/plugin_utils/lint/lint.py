# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks user data of any tool, with the rules and the checks of a render."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..capacity import InstanceShape
from ..kubelet_fields import Version
from ..readers.built_parts import Built, build
from ..readers.model import UserData
from ..readers.user_data import TOO_LONG, is_too_long, meaning_of, read
from . import bottlerocket, cloud_configs, node_configs, scripts, structure, windows
from .finding import Finding, ordered
from .report import Report
from .subject import Subject

_CHECKS: tuple[Callable[[Subject, Report], None], ...] = (
    structure.check,
    cloud_configs.check,
    scripts.check,
    node_configs.check,
    bottlerocket.check,
    windows.check,
)
_OF_STRUCTURE = (structure.check,)


@dataclass(frozen=True)
class Linted:
    """User data with its findings."""

    user_data: UserData
    findings: tuple[Finding, ...]


def lint(data: str | bytes, family: str | None = None, version: Version = None, instance: InstanceShape | None = None) -> Linted:
    """Every finding, sorted by place. It raises nothing.

    family, version, instance: of the nodes; the text tells the family in most cases.
    """
    user_data = read(data)
    is_whole = not is_too_long(user_data)
    built = build(user_data) if is_whole else None
    checked = user_data if built is None else built.user_data
    report = Report(checked)
    subject = Subject(checked, stored_size(data, user_data), family or user_data.family or _family(built), version, instance)
    for check in _CHECKS if is_whole else _OF_STRUCTURE:
        check(subject, report)
    if not is_whole:
        report.problems.add("user_data.not_checked", "", TOO_LONG)
    findings = report.findings()
    if built is not None:
        findings = ordered(replace(finding, where=built.place(finding.where)) for finding in findings)
    return Linted(user_data, findings)


def _family(built: Built | None) -> str | None:
    """The family that archives and templates tell."""
    return None if built is None else meaning_of(built.user_data.parts, None).family


def stored_size(data: str | bytes, user_data: UserData) -> int:
    """The bytes that EC2 stores: without base64 around them."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if user_data.layers[:1] != ("base64",):
        return len(raw)
    try:
        return len(base64.b64decode(raw))
    except (binascii.Error, ValueError):
        return len(raw)
