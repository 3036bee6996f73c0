# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action lint without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import Problems, SpecError
from ...lint.lint import lint
from .. import folder
from ..lint_user_data import options as checked_options
from .github import github
from .json_report import json_report
from .junit import junit
from .sarif import sarif
from .source import Source, counts, file_place
from .text import text

FORMATS: Mapping[str, Callable[[Sequence[Source]], str]] = {
    "text": text,
    "json": json_report,
    "sarif": sarif,
    "junit": junit,
    "github": github,
}
OPTIONS: dict[str, Any] = {
    "sources": {"type": "list", "elements": "path", "required": True},
    "family": {"type": "str"},
    "kubernetes_version": {"type": "str"},
    "format": {"type": "str", "default": "text", "choices": list(FORMATS)},
    "report": {"type": "path"},
}


def lint_task(options: Mapping[str, Any], *, check_mode: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Lint the sources, and write or print the report. The task fails if there is an error. Raises C(SpecError).

    say: prints the report.
    """
    problems = Problems()
    known = checked_options(options["family"], options["kubernetes_version"], problems)
    if not options["sources"]:
        fix = "list the files with user data; for the playbook lint, in eks_node_lint_sources"
        problems.add("input.missing_field", "sources", "is empty", fix=fix)
    contents = [_read(path, f"sources[{index}]", problems) for index, path in enumerate(options["sources"])]
    problems.raise_any()
    sources = []
    for path, content in zip(options["sources"], contents, strict=True):
        linted = lint(content, *known)
        sources.append(Source(path, linted.user_data, linted.findings))
    report = FORMATS[options["format"]](sources)
    changed = False
    if options["report"] is None:
        say(report.rstrip("\n"))
    elif not check_mode:
        changed = folder.write_file(options["report"], report.encode("utf-8"), "report")
    number = counts(sources)
    result: dict[str, Any] = {"changed": changed, "findings": [row for source in sources for row in _rows(source)], "counts": number}
    if number["error"]:
        plural = "" if number["error"] == 1 else "s"
        result |= {"failed": True, "msg": f"lint: {number['error']} error{plural} in user data"}
    return result


def _read(path: str, option: str, problems: Problems) -> bytes:
    try:
        return folder.read_content(path, option)
    except SpecError as error:
        problems.extend(error.problems)
        return b""


def _rows(source: Source) -> list[dict[str, Any]]:
    return [{"source": source.name, "line": file_place(source, finding.where).line, **finding.plain()} for finding in source.findings]
