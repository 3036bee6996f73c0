# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks user data of any tool, with the rules and the checks of a render."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass

from ..capacity import InstanceShape
from ..kubelet_fields import Version
from ..readers.model import UserData
from ..readers.user_data import TOO_LONG, is_too_long, read
from . import bottlerocket, cloud_configs, node_configs, scripts, structure, windows
from .finding import Finding
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
    report = Report(user_data)
    subject = Subject(user_data, stored_size(data, user_data), family or user_data.family, version, instance)
    for check in _CHECKS if not is_too_long(user_data) else _OF_STRUCTURE:
        check(subject, report)
    if is_too_long(user_data):
        report.problems.add("user_data.not_checked", "", TOO_LONG)
    return Linted(user_data, report.findings())


def stored_size(data: str | bytes, user_data: UserData) -> int:
    """The bytes that EC2 stores: without base64 around them."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if user_data.layers[:1] != ("base64",):
        return len(raw)
    try:
        return len(base64.b64decode(raw))
    except (binascii.Error, ValueError):
        return len(raw)
