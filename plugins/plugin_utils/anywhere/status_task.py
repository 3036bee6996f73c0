# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a cluster stands: a table, and for what is not done the cause from both clusters. It needs the name and the work folder only.

With the inputs of a creation, it also knows which steps come next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Problem, SpecError
from ..formats import json
from . import names
from .acts import Plan
from .cause import find
from .cluster_file import read_file
from .cluster_plan import Read, plan_of
from .diagnostics_task import Write
from .run import Admin, status
from .status_page import page
from .validate import validate

WAIT = "nodebootstrap.eks.capi_wait"
NEEDED = ("cluster_file", "bootstrap_image", "repository", "cluster_api_version", "cert_manager_version")
"""The inputs of a creation without which the next steps are not known."""


def status_task(options: Mapping[str, Any], admin: Admin, *, read: Read, write: Write | None) -> dict[str, Any]:
    """Print the page, and return the status. Raises C(SpecError)."""
    lacking = [name for name in NEEDED if not options.get(name)]
    plan = _small_plan(options, read) if lacking else plan_of(options, read)
    result = status(plan, admin)
    if result.get("failed"):
        return result
    if lacking:
        # Without the rendered objects, a comparison would call everything complete.
        result |= {"steps": [], "stop": None, "lacking": lacking}
    result["causes"] = causes(plan, result, admin)
    admin.say(page(plan.name, result))
    path = options.get("status_file")
    if path and write is not None:
        plain = {name: value for name, value in result.items() if name != "changed"}
        write(path, f"{json.dump({'cluster': plan.name, **plain}, indent=1)}\n".encode())
        result["status_file"] = path
    return result


def _small_plan(options: Mapping[str, Any], read: Read) -> Plan:
    """The plan of the name that is given, or that the file of the cluster has."""
    name = options.get("name")
    if not name and options.get("cluster_file"):
        found = validate(read_file(options["cluster_file"], read))
        if found.cluster is None:
            raise SpecError(found.errors)
        name = found.cluster.name
    if not name:
        fix = "set eks_anywhere_cluster_name to the name, or eks_anywhere_cluster_file to the file of the cluster"
        raise SpecError([Problem("input.missing_field", "name", "is required without cluster_file", fix=fix)])
    return plan_of_name(name, options["work_dir"])


def plan_of_name(name: str, work_dir: str) -> Plan:
    """A plan that can only be observed."""
    return Plan(
        command="create",
        name=name,
        namespace=names.NAMESPACE,
        bootstrap_name=names.bootstrap_cluster(name),
        work_dir=f"{work_dir.rstrip('/')}/{name}",
        objects=(),
        network=(),
        providers=(),
        kind_config="",
        clusterctl_config="",
        config_text="",
        digest="",
    )


def causes(plan: Plan, result: Mapping[str, Any], admin: Admin) -> dict[str, Any]:
    """The first failing object of each cluster that answers, or None."""
    seen, found = result["observed"], {}
    folder = str(result["work_dir"])
    sides = (
        (plan.bootstrap_name, seen["bootstrap_side"], seen["bootstrap"] == "running", f"{plan.name}.kind.kubeconfig"),
        (plan.name, seen["target_side"], seen["has_kubeconfig"], names.kubeconfig_file(plan.name)),
    )
    for name, side, is_there, file in sides:
        if side is None or not is_there:
            continue
        path = f"{folder}/{file}"
        wanted = {"kubeconfig": path, "name": plan.name, "namespace": plan.namespace, "pods_from": [path]}
        answer = admin.call(WAIT, {"work_dir": folder, "wait_for": "available", "timeout": 0.0, "fail": False, **wanted})
        cause = None if answer.get("failed") else find(answer.get("evidence") or ())
        found[name] = None if cause is None else {**cause.plain(), "lines": cause.lines()}
    return found
