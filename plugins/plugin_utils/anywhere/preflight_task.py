# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_preflight without Ansible and without files: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import preflight
from .check import CAPI, ENGINES, Wanted
from .cluster_file import Read, boot_address, read_cluster

MODULE = "nodebootstrap.eks.anywhere_machine_info"
OPTIONS: dict[str, Any] = {
    "cluster_file": {"type": "path", "required": True},
    "engine": {"type": "str", "choices": list(ENGINES), "default": CAPI},
    "work_dir": {"type": "str", "required": True},
    "registries": {"type": "list", "elements": "str"},
    "ports": {"type": "list", "elements": "int", "default": []},
    "skip_checks": {"type": "list", "elements": "str", "choices": list(preflight.NAMES), "default": []},
    "timeout": {"type": "float", "default": 10.0},
}

Run = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Runs a module on the admin machine, by its name and options."""


def preflight_task(options: Mapping[str, Any], run: Run, *, read: Read, say: Callable[[str], None]) -> dict[str, Any]:
    """Check an admin machine, and print a table. The task fails if a check failed. Raises C(SpecError)."""
    cluster, found = read_cluster(options["cluster_file"], read)
    wanted = Wanted(
        cluster,
        options["engine"],
        options["work_dir"].rstrip("/"),
        boot_address(found),
        None if options["registries"] is None else tuple(options["registries"]),
        tuple(options["ports"]),
    )
    skip = options["skip_checks"]
    answer = run(MODULE, {**preflight.request(wanted, skip), "timeout": options["timeout"]})
    if "machine" not in answer:
        return dict(answer)
    checks = preflight.check_all(answer["machine"], wanted, skip)
    say(preflight.report(checks))
    names = preflight.failed(checks)
    result: dict[str, Any] = {
        "changed": False,
        "checks": [one.plain() for one in checks],
        "counts": preflight.counts(checks),
        "failed_checks": names,
    }
    if names:
        result |= {"failed": True, "msg": f"anywhere_preflight: {len(names)} of {len(checks)} checks failed: {', '.join(names)}"}
    return result
