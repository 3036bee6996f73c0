# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on a Bare Metal cluster as a whole: its operating systems, their images, and upgrades in place.

EKS Anywhere checks them after its first validation, when it has read the documents of all machines.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import Problems, joined
from .documents import Document, Documents
from .host_rules import BOTTLEROCKET
from .machine_rules import IN_PLACE, ROLLING
from .model import TINKERBELL, Cluster, Machines, WorkerGroup

_MACHINES = "TinkerbellMachineConfig"
_UBUNTU = "ubuntu"
_LEFT_OUT = str.maketrans("", "", "-._")


def check(documents: Documents, cluster: Cluster, problems: Problems) -> None:
    """Report what is wrong between the cluster, its datacenter and its machine configs."""
    if cluster.provider != TINKERBELL:
        return
    groups = list(_groups(documents, cluster))
    _check_families(groups, problems)
    _check_images(documents.find(TINKERBELL, cluster.datacenter.name), groups, problems)
    _check_in_place(cluster, groups, problems)


Group = tuple[Machines, Document, str]
"""A group with its machine config and its version of Kubernetes."""


def _groups(documents: Documents, cluster: Cluster) -> Iterator[Group]:
    """The groups whose machine config is in the file. Other rules report those without one."""
    for one in (cluster.control_plane, *cluster.workers):
        config = None if one.machine is None else documents.find(_MACHINES, one.machine.name)
        own = one.version if isinstance(one, WorkerGroup) else None
        if config is not None:
            yield one, config, own or cluster.version or ""


def _check_families(groups: list[Group], problems: Problems) -> None:
    """Report operating systems that differ. What is missing has a default, which depends on the release."""
    known = [(config, str(config.spec["osFamily"])) for _one, config, _version in groups if config.spec.get("osFamily")]
    for config, family in known[1:]:
        path = f"{config.path}.spec.osFamily"
        if family != known[0][1] and not problems.touches(path):
            message = f"is not the operating system of {known[0][0].path}, {known[0][1]}"
            problems.add("anywhere.os_family", path, message, value=family, fix="use one operating system for all machines of a cluster")


def _check_images(datacenter: Document | None, groups: list[Group], problems: Problems) -> None:
    shared = "" if datacenter is None else datacenter.spec.get("osImageURL") or ""
    for _one, config, version in groups:
        own = config.spec.get("osImageURL") or ""
        path = f"{config.path}.spec.osImageURL"
        if shared and datacenter is not None:
            path = f"{datacenter.path}.spec.osImageURL"
        url = own or shared
        if not url:
            # The images of Bottlerocket are part of the release.
            if config.spec.get("osFamily") not in (None, BOTTLEROCKET) and datacenter is not None and not problems.touches(path):
                fix = "add the URL of the image, or set osImageURL of the TinkerbellDatacenterConfig"
                problems.add("input.missing_field", path, f"is required for {config.spec['osFamily']}", fix=fix)
        elif version.translate(_LEFT_OUT) not in url.translate(_LEFT_OUT) and not problems.touches(path):
            message = f"does not contain the version of Kubernetes, {version}"
            allowed = f"a URL with {version} or {version.replace('.', '-')} in it"
            problems.add("anywhere.os_image", path, message, value=url, allowed=allowed)


def _check_in_place(cluster: Cluster, groups: list[Group], problems: Problems) -> None:
    """Report upgrades in place on other systems than Ubuntu, with an autoscaler, or for a part of the cluster only."""
    plane = _strategy(cluster.control_plane)
    for one, config, _version in groups:
        path = joined(one.path, "upgradeRolloutStrategy")
        if problems.touches(path):
            continue
        if _strategy(one) == IN_PLACE and config.spec.get("osFamily") not in (None, _UBUNTU):
            message = f"is for Ubuntu only, and {config.path} has {config.spec['osFamily']}"
            problems.add("anywhere.rollout", joined(path, "type"), message, value=IN_PLACE, allowed=ROLLING)
    known = [one for one, _config, _version in groups]
    for group in cluster.workers if cluster.control_plane in known else ():
        path = joined(group.path, "upgradeRolloutStrategy")
        if group not in known or problems.touches(path) or problems.touches(joined(cluster.control_plane.path, "upgradeRolloutStrategy")):
            continue
        if _strategy(group) != plane:
            message = f"is {_strategy(group)}, and the control plane has {plane}"
            problems.add("anywhere.rollout", joined(path, "type"), message, fix="use one strategy for the control plane and all workers")
        scaling = joined(group.path, "autoscalingConfiguration")
        if plane == IN_PLACE and group.maximum is not None and not problems.touches(scaling):
            problems.add("anywhere.autoscaling", scaling, "is not supported with upgrades in place", fix="remove one of the two")


def _strategy(machines: Machines) -> str:
    return ROLLING if machines.rollout is None else machines.rollout.kind
