# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lints one file: user data itself, or a file of another tool that contains user data."""

from __future__ import annotations

from ...capacity import InstanceShape
from ...kubelet_fields import Version
from ...lint.finding import of_problem
from ...lint.launch_template import findings_in, findings_of
from ...lint.lint import lint
from ...readers.model import BEGIN
from ...sources.model import MetadataOptions, SourceText
from ...sources.read import read_all
from .source import Source, by_line, without_user_data


def sources_of(name: str, content: bytes, family: str | None, version: Version, instance: InstanceShape | None = None) -> list[Source]:
    """All user data in a file, with its findings. family: of nodes whose family the file does not say. version, instance: of the nodes."""
    items = read_all(content)
    if items is None:
        linted = lint(content, family, version, instance)
        found = Source(name, linted.user_data, linted.findings, data=content, family=linted.user_data.family or family)
        return [by_line(found)]
    sources = []
    for item in items:
        if isinstance(item, MetadataOptions):
            # Their place in the file is not that of the user data.
            found_in = findings_in(item)
            sources += [without_user_data(name, finding, path=item.path, origin=origin, is_file=True) for finding, origin in found_in]
        else:
            sources.append(source_of(name, item, family, version, instance))
    return sources


def source_of(
    name: str, text: SourceText, family: str | None, version: Version, instance: InstanceShape | None, *, is_file: bool = True
) -> Source:
    """One user data with its findings. is_file: whether the name is a path."""
    path = text.path if is_file else ""
    of_template = () if is_file else findings_of(text.settings)
    if text.problem is not None:
        # Reports show the path in the file beside its name.
        finding = of_problem(text.problem, BEGIN, path or ("the file" if is_file else "user data"))
        return without_user_data(name, finding, *of_template, path=path, origin=text.origin, is_file=is_file)
    known = text.family or family
    linted = lint(text.data, known, version, instance)
    found = linted.user_data.family or known
    findings = (*of_template, *linted.findings)
    return by_line(Source(name, linted.user_data, findings, path, text.origin, text.is_secret, is_file, text.data, found))
