# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action upgrade_group for a managed node group: the report, then the update of EKS, which is watched until its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..drain.api import ClusterApi
from ..drain.report import Report
from ..drain.text import summary
from . import managed
from .adapters import KubernetesApi
from .loop import RequestRefused, TemporaryError
from .model import Node
from .observe import read_node
from .options import settings, version_name
from .target import Target, target_of_image
from .task import Tools, UpgradeFailed, explained, find_blockers, result_of, show
from .world import NODES

_PATIENCE = 300.0
"""Seconds for which requests may fail while an update is watched. The update goes on without us."""

_REPORT_SECONDS = 30.0
"""How often the pods that keep a node from being drained are looked up."""


def upgrade_managed(options: Mapping[str, Any], group_client: Any, tools: Tools) -> dict[str, Any]:
    """Start the update of a managed node group, or continue to watch it.

    group_client: the node group, as in C(module_utils/_aws/node_groups.py).
    """
    return explained(_Managed(options, group_client, tools).run)


class _Managed:
    def __init__(self, options: Mapping[str, Any], group_client: Any, tools: Tools) -> None:
        self._options, self._aws, self._tools = options, group_client, tools
        self._name = options["managed_node_group"]
        self._api = KubernetesApi(tools.kubernetes, tools.kubernetes_error)
        self._cluster = ClusterApi(tools.kubernetes, tools.kubernetes_error)
        self._said = ""
        self._reported_at = 0.0
        self._blockers: list[str] = []

    def run(self) -> dict[str, Any]:
        tools = self._tools
        if self._options["state"] == "aborted":
            raise UpgradeFailed(f"EKS cannot cancel the update of a managed node group such as {self._name}; fix: wait for its end")
        try:
            group, running = self._aws.describe(), self._aws.running()
            _check_running(self._name, running)
            fields = {} if running is not None else self._fields(group)
            nodes = self._nodes()
            names = [node.name for node in nodes] if fields or running else []
            found = self._report(names, self._target(group, fields), list(group.get("subnets") or ()))
        except tools.aws_error as error:
            raise UpgradeFailed(f"{error}; nothing was changed") from None
        except (managed.CannotUpdate, TemporaryError, RequestRefused, tools.kubernetes_error) as error:
            raise UpgradeFailed(f"{error}; nothing was changed") from None
        pods = dict(zip(found.nodes, found.pods, strict=True))
        plan = managed.managed_plan(group, fields, nodes, pods, is_running=running is not None)
        written = show(plan, found, self._options, tools)
        result = result_of(plan, found, written)
        if tools.check_mode:
            is_refused = running is None and found.is_blocked
            return {**result, "changed": (bool(fields) and not is_refused) or written}
        if running is None and (not fields or self._options["state"] == "resumed"):
            return {
                **result,
                "outcome": "done",
                "msg": f"the managed node group {self._name} is up to date ({managed.shown_version(group)})",
            }
        if running is None and found.is_blocked:
            return {**result, "failed": True, "msg": f"{summary(found)}; nothing was changed; fix: correct what blocks, and run again"}
        return {**result, "changed": running is None or written, **self._update(running, fields, {node.name for node in nodes})}

    def _fields(self, group: Mapping[str, Any]) -> dict[str, Any]:
        wanted = version_name(self._options)
        if not wanted and group.get("amiType") == managed.CUSTOM:
            wanted = "$Latest"
        if wanted.startswith("$") and group.get("launchTemplate"):
            wanted = self._aws.numbers(group["launchTemplate"])[wanted]
        return managed.request_for(group, self._options, self._aws.cluster_version(), wanted)

    def _nodes(self) -> list[Node]:
        return [read_node(raw) for raw in self._api.list(NODES, labelSelector=f"{managed.LABEL}={self._name}")]

    def _target(self, group: Mapping[str, Any], fields: Mapping[str, Any]) -> Target:
        """The version of kubelet that new nodes will have. Without the permission to read an image, it is not known."""
        if group.get("amiType") != managed.CUSTOM:
            return Target(str(fields.get("version") or group.get("version") or ""))
        template = fields.get("launchTemplate") or {}
        if not template:
            return Target()
        try:
            return target_of_image(self._aws.image(template, template["version"]), self._tools.find_image)
        except self._tools.aws_error as error:
            return Target(unchecked=(f"the image of the launch template was not checked: {error}",))

    def _report(self, names: list[str], target: Target, subnets: list[str]) -> Report:
        return find_blockers(self._cluster, names, settings(self._options, self._tools.clock()), target, self._tools, subnets)

    # --- the update -----------------------------------------------------------------------------------------------------------------

    def _update(self, running: Mapping[str, Any] | None, fields: Mapping[str, Any], old: set[str]) -> dict[str, Any]:
        try:
            update = running or self._aws.start(fields)
        except self._tools.aws_error as error:
            return {"changed": False, "failed": True, "msg": f"EKS did not start the update: {error}"}
        self._tools.say(f"EKS: update {update['id']} of {self._name} {'is watched' if running else 'has started'}")
        began, failing_since = self._tools.clock(), 0.0
        while update.get("status") == "InProgress":
            self._tools.sleep(self._options["poll_interval"])
            try:
                update = self._aws.update(update["id"])
                self._progress(old, self._tools.clock() - began)
                failing_since = 0.0
            except (TemporaryError, RequestRefused, self._tools.kubernetes_error, self._tools.aws_error) as error:
                failing_since = failing_since or self._tools.clock()
                if self._tools.clock() - failing_since > _PATIENCE:
                    return {
                        "failed": True,
                        "msg": f"{error}; the update {update['id']} of EKS goes on without us; fix: run the playbook again to watch it",
                    }
        if update.get("status") == "Successful":
            return {"outcome": "done", "msg": f"EKS has updated {self._name} (update {update['id']})"}
        codes = [str(error.get("errorCode")) for error in update.get("errors") or []]
        return {"failed": True, "outcome": (codes or ["Unknown"])[0], "msg": managed.failure(update, self._blockers)}

    def _progress(self, old: set[str], seconds: float) -> None:
        """Say how many nodes are left, and which pods keep one from being drained, which EKS does not say."""
        nodes = self._nodes()
        left = sorted(node.name for node in nodes if node.name in old)
        new = [node for node in nodes if node.name not in old]
        draining = [node.name for node in nodes if node.name in old and node.is_cordoned]
        now = self._tools.clock()
        if draining and now - self._reported_at >= _REPORT_SECONDS:
            found = self._report(draining, Target(), [])
            self._reported_at = now
            self._blockers = [f"{one.pod} on {one.node}: {one.reason}" for one in found.findings if one.severity == "blocks" and one.pod]
        ready = sum(node.is_available for node in new)
        line = f"EKS: {ready} new nodes are Ready, {len(left)} old nodes are left"
        line += f", {', '.join(draining)} is drained" if draining else ""
        line += "".join(f"\n  {text}" for text in self._blockers[:5]) if draining else ""
        if line != self._said:
            self._tools.say(f"{line} ({seconds:.0f} s)")
            self._said = line


def _check_running(name: str, running: Mapping[str, Any] | None) -> None:
    if running is not None and running.get("type") != "VersionUpdate":
        raise managed.CannotUpdate(f"an update of the configuration of {name} is in progress ({running.get('id')}); fix: wait for its end")
