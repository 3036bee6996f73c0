# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action migrate without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from ..errors import Problems, SpecError
from ..migration.model import Migration
from . import folder
from .migrate_user_data import checked
from .migration_report import decisions_text, markdown, summary

OPTIONS: dict[str, Any] = {
    "sources": {"type": "list", "elements": "path", "required": True},
    "cluster": {"type": "raw"},
    "family": {"type": "str", "default": "al2023"},
    "output_dir": {"type": "path", "default": "out"},
}
_OUTPUT = "output_dir"


@dataclass(frozen=True)
class _File:
    """One migrated file. path: of the source. user_data: the path of the new user data. report: the path of the report."""

    path: str
    user_data: str
    report: str
    migration: Migration

    def contents(self) -> Iterator[tuple[str, str]]:
        """The files to write. Without new user data, an older file stays as it is."""
        if self.migration.user_data is not None:
            yield self.user_data, self.migration.user_data
        yield self.report, markdown(self.path, self.migration)


def migrate_task(options: Mapping[str, Any], *, check_mode: bool, diff: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Migrate the sources, and write the new user data and the reports. The task fails if something needs a decision.

    say: prints the result of each file. Raises C(SpecError).
    """
    problems = Problems()
    if not options["sources"]:
        fix = "list the files with user data; for the playbook migrate, in eks_node_migrate_sources"
        problems.add("input.missing_field", "sources", "is empty", fix=fix)
    _check_names(options["sources"], options[_OUTPUT], problems)
    found = list(_migrated(options, problems))
    problems.raise_any()
    changes = [(path, before, text) for file in found for path, text in file.contents() if (before := _text(path)) != text]
    for path, _before, text in () if check_mode else changes:
        folder.write_file(path, text.encode("utf-8"), _OUTPUT)
    for file in found:
        say(_shown(file))
    result: dict[str, Any] = {"changed": bool(changes), "migrations": [_row(file) for file in found]}
    if diff:
        result["diff"] = [_diff(*change) for change in changes]
    if number := sum(len(file.migration.report.decisions) for file in found):
        plural = "" if number == 1 else "s"
        result |= {"failed": True, "msg": f"migrate: {number} decision{plural} to make; they are printed above, and listed in the reports"}
    return result


def _migrated(options: Mapping[str, Any], problems: Problems) -> Iterator[_File]:
    for index, path in enumerate(options["sources"]):
        try:
            content = folder.read_content(path, f"sources[{index}]")
            found = checked(content, options["cluster"], options["family"], f"sources[{index}]")
        except SpecError as error:
            problems.extend(error.problems)
            continue
        user_data, report = _paths(path, options[_OUTPUT])
        yield _File(path, user_data, report, found)


def _paths(source: str, output: str) -> tuple[str, str]:
    name = PurePath(source).stem
    return str(PurePath(output, f"{name}.userdata")), str(PurePath(output, f"{name}.md"))


def _check_names(sources: Sequence[str], output: str, problems: Problems) -> None:
    """Report sources whose results would have the same name, or would replace a source."""
    read = {folder.absolute(path) for path in sources}
    first: dict[str, int] = {}
    for index, path in enumerate(sources):
        written = _paths(path, output)
        # Some file systems ignore case.
        name = folder.absolute(written[0]).casefold()
        if first.setdefault(name, index) != index:
            message = f"would be written to {written[0]}, as sources[{first[name]}]"
            problems.add("input.conflict", f"sources[{index}]", message, value=path, fix="rename one of the files")
        elif replaced := [one for one in written if folder.absolute(one) in read]:
            message = f"is {output}, and the migration would replace the source {replaced[0]}"
            problems.add("input.conflict", _OUTPUT, message, fix="use another directory")


def _text(path: str) -> str | None:
    content = folder.read(path)
    return None if content is None else content.decode("utf-8", "replace")


def _diff(path: str, before: str | None, after: str) -> dict[str, str]:
    return {"before_header": "(no file)" if before is None else path, "after_header": path, "before": before or "", "after": after}


def _shown(file: _File) -> str:
    lines = [f"{file.path}: {summary(file.migration)}"]
    if file.migration.user_data is not None:
        lines.append(f"  new user data: {file.user_data}")
    lines.append(f"  report: {file.report}")
    return "\n".join([*lines, *decisions_text(file.path, file.migration)])


def _row(file: _File) -> dict[str, Any]:
    found = file.migration
    return {
        "source": file.path,
        "user_data": file.user_data if found.user_data is not None else None,
        "report": file.report,
        "cluster": dict(found.cluster),
        "node_group": dict(found.node_group),
        "needs_decision": [one.plain() for one in found.report.decisions],
    }
