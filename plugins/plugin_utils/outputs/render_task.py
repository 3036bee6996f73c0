# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action render without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import Problems, SpecError
from . import batch, certificate_dates, folder, inventory, meaning
from .named_files import with_files

_INPUTS = ("node_groups", "eksctl_config")
_ALL_INPUTS = [(*_INPUTS, "sources", "inventory")]
_SOURCE: dict[str, Any] = {"cluster": {"type": "raw"}, "node_groups": {"type": "raw"}, "eksctl_config": {"type": "path"}}
_ONE_OF: dict[str, Any] = {"mutually_exclusive": [_INPUTS], "required_one_of": [_INPUTS]}
SOURCES: dict[str, Any] = {**_SOURCE, "sources": {"type": "list", "elements": "dict", "options": _SOURCE, **_ONE_OF}}
"""The options that name clusters with their node groups."""

OPTIONS: dict[str, Any] = {
    **SOURCES,
    "inventory": {"type": "bool"},
    "encoding": {"type": "str", "default": "plain", "choices": list(batch.ENCODINGS)},
    "files_dir": {"type": "path", "default": "."},
    "output_dir": {"type": "path", "default": "out"},
    "prune": {"type": "bool", "default": False},
    "fail_on_change": {"type": "bool", "default": False},
}
RULES: dict[str, Any] = {"required_one_of": _ALL_INPUTS}

_VARIABLES = {"node_groups": "eks_node_groups", "eksctl_config": "eks_node_eksctl_config", "sources": "eks_node_sources"}
"""The variables of the playbook that set the inputs."""

Hosts = Callable[[], Iterable[tuple[str, Mapping[str, Any]]]]
"""Returns the names of the hosts, each with the values of C(inventory.HOST_VARIABLES)."""


def check_inputs(options: Mapping[str, Any]) -> None:
    """Raise C(SpecError) if several inputs are given. Ansible's own message lists every option, whether given or not."""
    first, *others = [name for name in _ALL_INPUTS[0] if options.get(name) is not None] or [""]
    problems = Problems()
    if others:
        variables = ", ".join(_VARIABLES[name] for name in (first, *others) if name in _VARIABLES)
        fix = f"keep one of them (variables of the playbook: {variables})"
        problems.add("input.conflict", first, f"cannot be combined with {' and '.join(others)}", fix=fix)
    problems.raise_any()


def render_task(
    options: Mapping[str, Any], hosts: Hosts, *, limit: str | None, check_mode: bool, diff: bool, now: float
) -> tuple[dict[str, Any], SpecError | None]:
    """Render, and write the files unless C(check_mode) is set. Raises C(SpecError).

    limit: the value of C(--limit). now: seconds since the epoch, for the validity of certificates. Returns the result, and the error
    with which C(fail_on_change) lets the task fail.
    """
    folder.check_prune(options["prune"], limit)
    outputs, not_ours = batch.render_sources(_sources(options, hosts), options["encoding"])
    changes = folder.plan_changes(outputs, options["output_dir"], prune=options["prune"])
    table = [*batch.table(outputs, options["output_dir"], not_ours), *folder.notes(changes)]
    result = {**folder.result(changes), "table": table, "not_ours": not_ours, **batch.rows(outputs)}
    expiring = certificate_dates.warnings((output.rendered.spec for output in outputs), now)
    if expiring:
        result["warnings"] = [str(problem) for problem in expiring]
    if diff:
        found = meaning.meanings(changes)
        result["differences"] = meaning.plain(found)
        result["diff"] = [*folder.diffs(changes), *meaning.diffs(found, changes.folder)]
    if options["fail_on_change"] and changes.files:
        return result, SpecError(folder.refusals(changes))
    if not check_mode:
        folder.write(changes)
    return result, None


def _sources(options: Mapping[str, Any], hosts: Hosts) -> list[batch.Source]:
    if options["inventory"]:
        found = inventory.sources_of([inventory.Host(name, *(values[one] for one in inventory.HOST_VARIABLES)) for name, values in hosts()])
        return [replace(one, node_groups=[with_files(group, options["files_dir"]) for group in one.node_groups]) for one in found]
    return [folder.source(source, options["files_dir"]) for source in options["sources"] or [options]]
