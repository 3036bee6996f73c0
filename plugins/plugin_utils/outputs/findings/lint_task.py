# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action lint without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from ...errors import Problems
from ...explanation.outcome import machine
from .. import account_texts, folder, node_results, source_entries, source_files
from ..lint_user_data import instance_type_shape
from ..lint_user_data import options as checked_options
from ..page import report_format
from .fixes import fixed_file
from .github import github
from .html import html
from .json_report import json_report
from .junit import junit
from .node_sources import sources_of_node
from .sarif import sarif
from .source import Source, counts, file_place, with_lines_of_findings
from .sources import source_of, sources_of
from .text import text

FORMATS: Mapping[str, Callable[[Sequence[Source]], str]] = {
    "text": text,
    "json": json_report,
    "sarif": sarif,
    "junit": junit,
    "github": github,
}
OPTIONS: dict[str, Any] = {
    "sources": {"type": "list", "elements": "raw", "required": True},
    "family": {"type": "str"},
    "kubernetes_version": {"type": "str"},
    "instance_type": {"type": "str"},
    "format": {"type": "str", "choices": [*FORMATS, "html"]},
    "report": {"type": "path"},
    "compare_to": {"type": "path"},
    "fix": {"type": "bool", "default": False},
    "nodes": node_results.OPTION,
}


def lint_task(
    options: Mapping[str, Any],
    *,
    check_mode: bool,
    say: Callable[[str], None],
    fetch: account_texts.Fetch,
    inventory: node_results.Inventory = node_results.NO_INVENTORY,
) -> dict[str, Any]:
    """Lint the sources, and write or print the report. The task fails if there is an error. Raises C(SpecError).

    say: prints the report, or the findings as text if the report is written to a file.
    """
    problems = Problems()
    known = checked_options(options["family"], options["kubernetes_version"], problems)
    kind = options["instance_type"]
    instance = None if kind is None else instance_type_shape(kind, problems)
    if not options["sources"]:
        fix = "list the files with user data; for the playbook lint, in eks_node_lint_sources"
        problems.add("input.missing_field", "sources", "is empty", fix=fix)
    files = source_files.find(options["sources"], problems)
    entries = source_entries.entries(options["sources"], problems)
    nodes = node_results.select(entries, options["nodes"], inventory, problems)
    chosen = report_format(options["format"], options["report"])
    if options["compare_to"] is not None and chosen != "html":
        fix = "use format: html, or name the report with .html at the end"
        problems.add("input.conflict", "compare_to", f"has no effect on a report as {chosen}", fix=fix)
    problems.raise_any()
    fixed = [fixed_file(file, *known) for file in files.found] if options["fix"] else []
    found = [replace(file, content=one.content) for file, one in zip(files.found, fixed, strict=True)] if fixed else files.found
    linted = (source for file in found for source in sources_of(file.path, file.content, *known, instance))
    in_account = account_texts.texts(entries, fetch)
    of_account = (source_of(name, text, *known, instance, is_file=False) for _option, name, text in in_account)
    on_nodes = (source for node in nodes for source in sources_of_node(node.host, node.result, *known, instance))
    found_in = chain(linted, of_account, on_nodes)
    sources = [source if chosen == "html" else with_lines_of_findings(source) for source in found_in]
    if chosen == "html":
        others = {} if options["compare_to"] is None else _others(options["compare_to"], sources)
        report = html(sources, machine(instance, known[1]), others)
    else:
        report = FORMATS[chosen](sources)
    changed = any(one.corrected for one in fixed)
    if not check_mode:
        for one in fixed:
            one.write()
    say((report if options["report"] is None else text(sources)).rstrip("\n"))
    if options["report"] is not None and not check_mode:
        changed |= folder.write_file(options["report"], report.encode("utf-8"), "report")
    number = counts(sources)
    rows = [row for source in sources for row in _rows(source)]
    result: dict[str, Any] = {"changed": changed, "findings": rows, "counts": number, "unchecked_files": list(files.unchecked)}
    if options["fix"]:
        result |= {"fixed": [row for one in fixed for row in one.rows()], "diff": [one.diff() for one in fixed if one.corrected]}
    if number["error"]:
        plural = "" if number["error"] == 1 else "s"
        result |= {"failed": True, "msg": f"lint: {number['error']} error{plural} in user data"}
    return result


def _others(path: str, sources: Sequence[Source]) -> dict[int, source_files.File]:
    """The files with which the sources are compared, by index. Raises C(SpecError)."""
    problems = Problems()
    others = source_files.other_versions(path, [source.name for source in sources], problems)
    problems.raise_any()
    return others


def _rows(source: Source) -> list[dict[str, Any]]:
    name = {"source": source.name, "path": source.path or None}
    return [{**name, "line": file_place(source, finding.where).line, **finding.plain()} for finding in source.findings]
