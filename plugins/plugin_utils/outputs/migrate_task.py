# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action migrate without Ansible: its options, and what one task does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from ..data import kubernetes_versions
from ..errors import Problem, Problems, SpecError
from ..kubernetes import parse_version
from ..migration import template
from ..migration.migrate import FAMILIES
from ..migration.model import Migration
from ..migration.next_steps import next_steps
from ..migration.template import Change
from ..sources.model import SourceText
from ..sources.node import source_text
from ..sources.read import read
from . import account_texts, folder, node_results, source_entries, source_files
from .migrate_user_data import checked
from .migration_page import html
from .migration_report import decisions_text, markdown, summary
from .publish_input import publish_input

OPTIONS: dict[str, Any] = {
    "sources": {"type": "list", "elements": "raw", "required": True},
    "nodes": node_results.OPTION,
    "cluster": {"type": "raw"},
    "family": {"type": "str", "default": "al2023"},
    "output_dir": {"type": "path", "default": "out"},
}
_OUTPUT = "output_dir"
_UNSAFE = re.compile(r"[^A-Za-z0-9._]+")
_LONGEST = 200
"""Characters of a file name without its ending. File systems allow 255 bytes."""


@dataclass(frozen=True)
class _Original:
    """User data to migrate.

    option: the entry that names it, such as C(sources[0]). name: in messages and reports. stem: of the names of the new files.
    path: of a file that is user data itself, otherwise None. host: of a node, otherwise None.
    """

    option: str
    name: str
    stem: str
    text: SourceText
    path: str | None = None
    host: str | None = None

    @property
    def place(self) -> str:
        """The path in messages. An entry can name several hosts."""
        return f"{self.option} ({self.host})" if self.host else self.option


@dataclass(frozen=True)
class _File:
    """One migrated user data. user_data: the path of the new user data. report, page: the paths of the report.

    changes: of the launch template that has it. steps: what to do next. publish: the path and the content of the variables of the playbook
    publish; None without a launch template.
    """

    original: _Original
    user_data: str
    report: str
    page: str
    migration: Migration
    changes: tuple[Change, ...]
    steps: tuple[str, ...]
    publish: tuple[str, str] | None

    def paths(self) -> list[str]:
        """The paths of all files, also without new user data."""
        return [self.user_data, self.report, self.page, *([self.publish[0]] if self.publish else [])]

    def contents(self) -> Iterator[tuple[str, str]]:
        """The files to write. Without new user data, an older file stays as it is."""
        if self.migration.user_data is not None:
            yield self.user_data, self.migration.user_data
            yield from (self.publish,) if self.publish else ()
        around = (self.changes, self.steps)
        yield self.report, markdown(self.original.name, self.migration, *around)
        yield self.page, html(self.original.name, self.original.text.data, self.migration, *around)


def migrate_task(
    options: Mapping[str, Any],
    *,
    check_mode: bool,
    diff: bool,
    say: Callable[[str], None],
    fetch: account_texts.Fetch,
    inventory: node_results.Inventory,
) -> dict[str, Any]:
    """Migrate the sources, and write the new user data and the reports. The task fails if something needs a decision.

    say: prints the result of each user data. Raises C(SpecError).
    """
    problems = Problems()
    if not options["sources"]:
        fix = "list the files with user data; for the playbook migrate, in eks_node_migrate_sources"
        problems.add("input.missing_field", "sources", "is empty", fix=fix)
    files = source_files.find(options["sources"], problems)
    entries = source_entries.entries(options["sources"], problems)
    nodes = node_results.select(entries, options["nodes"], inventory, problems)
    problems.raise_any()
    originals = [*_of_files(files.found), *_of_account(account_texts.texts(entries, fetch)), *_of_nodes(nodes)]
    found, not_migrated = _migrate(originals, options, problems)
    _check_names(found, options[_OUTPUT], problems)
    problems.raise_any()
    changes = [(file, path, before, text) for file in found for path, text in file.contents() if (before := _text(path)) != text]
    for _file, path, _before, text in () if check_mode else changes:
        folder.write_file(path, text.encode("utf-8"), _OUTPUT)
    for file in found:
        say(_shown(file))
    for row in not_migrated:
        say(f"{row['source']}: not migrated: {row['reason']}")
    result: dict[str, Any] = {
        "changed": bool(changes),
        "migrations": [_row(file) for file in found],
        "not_migrated": not_migrated,
        "unchecked_files": list(files.unchecked),
    }
    if diff:
        result["diff"] = [_diff(path, before, text) for file, path, before, text in changes if not file.original.text.is_secret]
    if number := sum(len(file.migration.report.decisions) for file in found):
        plural = "" if number == 1 else "s"
        result |= {"failed": True, "msg": f"migrate: {number} decision{plural} to make; they are printed above, and listed in the reports"}
    return result


def _of_files(files: Iterable[source_files.File]) -> Iterator[_Original]:
    for file in files:
        stem, texts = PurePath(file.path).stem, read(file.content)
        if texts is None:
            yield _Original(file.option, file.path, stem, SourceText("", file.content), file.path)
        for text in texts or ():
            name = f"{file.path}: {text.path}" if text.path else file.path
            yield _Original(file.option, name, _stem(f"{stem} {text.path}"), text)


def _of_account(found: Iterable[account_texts.AccountText]) -> Iterator[_Original]:
    for option, name, text in found:
        yield _Original(option, name, _stem(name), text)


def _of_nodes(nodes: Iterable[node_results.NodeResult]) -> Iterator[_Original]:
    for option, host, result in nodes:
        yield _Original(option, host, _stem(host), source_text(host, result), host=host)


def _stem(name: str) -> str:
    """A safe file name without its ending: C(launch template web, version 2) becomes C(launch-template-web-version-2)."""
    return _UNSAFE.sub("-", name).strip("-.")[:_LONGEST]


def _migrate(originals: Sequence[_Original], options: Mapping[str, Any], problems: Problems) -> tuple[list[_File], list[dict[str, str]]]:
    """The migrated user data, and what is not migrated, with the reason.

    Most directories, plans and accounts also have user data of other families. So what cannot be migrated is only a problem if its
    entry names nothing else.
    """
    files: list[_File] = []
    not_migrated = []
    named = [original.option for original in originals]
    for original in originals:
        try:
            _check_family(original)
            found = checked(original.text.data, options["cluster"], options["family"], original.place)
        except SpecError as error:
            is_other = all(_is_of_another_kind(one, original) for one in error.problems)
            if is_other and named.count(original.option) > 1:
                not_migrated.append({"source": original.name, "reason": error.problems[0].message})
            else:
                own = original.text.problem
                problems.extend(replace(one, path=original.place) if one == own else one for one in error.problems)
            continue
        files.append(_file(original, found, options))
    return files, not_migrated


def _is_of_another_kind(problem: Problem, original: _Original) -> bool:
    """Whether there is nothing to migrate. A node that could not be read may have something to migrate."""
    is_known = problem.rule not in ("doctor.unreachable", "doctor.failed", "doctor.not_checked")
    return problem.rule == "user_data.wrong_kind" or (problem == original.text.problem and is_known)


def _file(original: _Original, found: Migration, options: Mapping[str, Any]) -> _File:
    """The result with the changes of the launch template, the next steps, and the variables of the playbook publish."""
    base, cluster, settings = str(PurePath(options[_OUTPUT], original.stem)), options["cluster"] or {}, original.text.settings
    version = parse_version(cluster.get("kubernetes_version"))
    needed = template.variant(settings, None if version is None else f"{version[0]}.{version[1]}")
    families = template.Families(found.report.family_before, found.report.family_after)
    changes = () if settings is None else template.changes(settings, families, needed)
    path, name = f"{base}.publish.yml", original.text.launch_template
    steps = next_steps(found, needed, chooses_image=bool((settings or {}).get("ImageId")), publish=path if name else None)
    publish = (path, publish_input(name, options.get("region"), path, found, cluster, changes, settings or {})) if name else None
    return _File(original, f"{base}.userdata", f"{base}.md", f"{base}.html", found, changes, tuple(steps), publish)


def _check_family(original: _Original) -> None:
    """Raise C(SpecError) for what the file does not contain, and for user data that its file assigns to a new family."""
    text = original.text
    if text.problem is not None:
        raise SpecError([text.problem])
    if text.family in FAMILIES:
        name = kubernetes_versions()["families"][text.family]["name"]
        raise SpecError([Problem("user_data.wrong_kind", original.place, f"is user data of {name} already", fix="remove it from the list")])


def _check_names(files: Sequence[_File], output: str, problems: Problems) -> None:
    """Report results that would have the same name, or would replace a source."""
    read_paths = {folder.absolute(file.original.path) for file in files if file.original.path is not None}
    first: dict[str, _Original] = {}
    for file in files:
        original = file.original
        # Some file systems ignore case.
        same = first.setdefault(folder.absolute(file.user_data).casefold(), original)
        if same is not original:
            message = f"{original.name} would be written to {file.user_data}, as {same.name} of {same.option}"
            fix = "rename one of the two, or migrate it to another directory"
            problems.add("input.conflict", original.option, message, fix=fix)
        elif replaced := [one for one in file.paths() if folder.absolute(one) in read_paths]:
            message = f"is {output}, and the migration would replace the source {replaced[0]}"
            problems.add("input.conflict", _OUTPUT, message, fix="use another directory")


def _text(path: str) -> str | None:
    content = folder.read(path)
    return None if content is None else content.decode("utf-8", "replace")


def _diff(path: str, before: str | None, after: str) -> dict[str, str]:
    return {"before_header": "(no file)" if before is None else path, "after_header": path, "before": before or "", "after": after}


def _shown(file: _File) -> str:
    lines = [f"{file.original.name}: {summary(file.migration)}"]
    if file.migration.user_data is not None:
        lines.append(f"  new user data: {file.user_data}")
        lines += [f"  to publish it: {file.publish[0]}"] if file.publish else []
    lines.append(f"  report: {file.report}, {file.page}")
    return "\n".join([*lines, *decisions_text(file.original.name, file.migration)])


def _row(file: _File) -> dict[str, Any]:
    found = file.migration
    return {
        "source": file.original.name,
        "user_data": file.user_data if found.user_data is not None else None,
        "report": file.report,
        "page": file.page,
        "cluster": dict(found.cluster),
        "node_group": dict(found.node_group),
        "needs_decision": [one.plain() for one in found.report.decisions],
        "launch_template": [one.plain() for one in file.changes],
        "publish": file.publish[0] if file.publish and found.user_data is not None else None,
        "next_steps": list(file.steps),
    }
