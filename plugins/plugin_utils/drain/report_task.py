# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action drain_report without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..outputs import folder
from ..outputs.page import report_format
from ..workloads.model import Node
from .api import ClusterApi
from .budgets import questions
from .finding import Scope, Settings, Subnet
from .json_report import json_report, plain_report
from .options import OPTIONS as SHARED_OPTIONS
from .options import chosen_nodes
from .page import html
from .report import Report, report
from .text import summary, text

FORMATS: Mapping[str, Callable[[Report], str]] = {"text": text, "json": json_report, "html": html}
OPTIONS: dict[str, Any] = {
    **SHARED_OPTIONS,
    "nodes": {"type": "list", "elements": "str", "default": []},
    "labels": {"type": "dict", "default": {}},
    "surge": {"type": "bool", "default": False},
    "target_version": {"type": "raw"},
    "dry_run_evictions": {"type": "bool", "default": True},
    "format": {"type": "str", "choices": list(FORMATS)},
    "report": {"type": "path"},
}

FindSubnets = Callable[[Iterable[Node]], "tuple[Subnet, ...] | str"]
"""Reads the subnets of nodes from EC2, or says why it cannot."""


def make_report(
    api: ClusterApi,
    settings: Settings,
    names: Iterable[str] = (),
    labels: Mapping[str, str] | None = None,
    *,
    find_subnets: FindSubnets | None = None,
    asks: bool = True,
    unchecked: Iterable[str] = (),
) -> Report:
    """Read the cluster and make the report. Changes nothing. Raises C(SpecError), or the error of the client.

    asks: whether the API server is asked with a dry run to evict the pods that have a PodDisruptionBudget. unchecked: what the caller could
    not find out.
    """
    cluster = api.cluster()
    chosen = chosen_nodes(cluster, names, labels or {})
    cluster = cluster._replace(unchecked=(*cluster.unchecked, *unchecked))
    subnets = find_subnets([cluster.nodes[name] for name in chosen]) if find_subnets is not None else ()
    if isinstance(subnets, str):
        cluster = cluster._replace(unchecked=(*cluster.unchecked, subnets))
        subnets = ()
    scope = Scope(cluster, chosen, settings, subnets)
    return report(scope._replace(answers=api.ask(questions(scope))) if asks else scope)


def report_task(
    options: Mapping[str, Any],
    settings: Settings,
    api: ClusterApi,
    find_subnets: FindSubnets | None,
    *,
    check_mode: bool,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Make the report, and write or print it. say: prints the report, or its summary if it is written to a file."""
    found = make_report(api, settings, options["nodes"], options["labels"], find_subnets=find_subnets, asks=options["dry_run_evictions"])
    shown = FORMATS[report_format(options["format"], options["report"])](found)
    changed = False
    if options["report"] is None:
        say(shown.rstrip("\n"))
    else:
        say(summary(found))
        if not check_mode:
            changed = folder.write_file(options["report"], shown.encode("utf-8"), "report")
    return {"changed": changed, **plain_report(found)}
