# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold before anything of a node is touched: only reads, raises ApplyRefused with what is wrong and what to do."""

from __future__ import annotations

import os
import re
import shlex
import sys

from .._node import files
from .._node.errors import ApplyRefused

KUBECONFIGS = ("/var/lib/kubelet/kubeconfig", "/var/lib/kubelet/bootstrap-kubeconfig")

_SERVER = re.compile(r"""^[ \t]*(?:-[ \t]+)?["']?server["']?[ \t]*:[ \t]*["']?([^\s"'#,}]+)""", re.MULTILINE)
_FAMILIES = {("amzn", "2"): "al2", ("amzn", "2023"): "al2023", ("ubuntu", None): "ubuntu", ("bottlerocket", None): "bottlerocket"}


def check_python(version=sys.version_info):
    """Refuse a Python that is too old."""
    if tuple(version[:2]) < (3, 7):
        raise ApplyRefused(
            f"this node's Python is {version[0]}.{version[1]}, and 3.7 or newer is needed. On Amazon Linux 2: "
            "amazon-linux-extras install python3.8, then set ansible_python_interpreter: /usr/bin/python3.8"
        )


def check_system(uid=None, systemd="/run/systemd/system"):
    """Refuse a node without systemd, and anybody but root."""
    if (os.geteuid() if uid is None else uid) != 0:
        raise ApplyRefused("only root can set up a node: set become: true")
    if not os.path.isdir(systemd):
        raise ApplyRefused("systemd does not run on this machine: a node needs it to start containerd and kubelet. Is this a container?")


def os_release(paths=("/etc/os-release", "/usr/lib/os-release")):
    """The fields of os-release: a mapping, empty where there is no such file."""
    for path in paths:
        try:
            with open(path, encoding="utf-8", errors="replace") as handle:
                lines = handle.read().splitlines()
        except OSError:
            continue
        pairs = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
        return {name.strip(): _unquoted(value) for name, _unused, value in pairs}
    return {}


def _unquoted(value):
    try:
        return "".join(shlex.split(value))
    except ValueError:
        return value.strip()


def check_machine(plan, release):
    """Refuse a machine of another family. C(release): what C(os_release) found."""
    wanted = plan["os"]
    identity, version = release.get("ID", ""), release.get("VERSION_ID", "")
    if identity in wanted["ID"] and (not wanted["VERSION_ID"] or version in wanted["VERSION_ID"]):
        return
    name = release.get("PRETTY_NAME") or release.get("NAME") or "an unknown system"
    family = _FAMILIES.get((identity, version)) or _FAMILIES.get((identity, None))
    cure = f"Set family: {family} in its node group" if family and family != plan["family"] else "Give the host the node group that fits it"
    raise ApplyRefused(
        f"this machine runs {name} (os-release: ID={identity or '?'}, VERSION_ID={version or '?'}), and its node group of family "
        f"{plan['family']} is for {wanted['name']}. {cure}"
    )


def option(words, name):
    """The values of a flag among the words of a process, in both spellings, in order."""
    flag = "--" + name
    found = []
    for index, word in enumerate(words):
        if word.startswith(flag + "="):
            found.append(word[len(flag) + 1 :])
        elif word == flag and index + 1 < len(words):
            found.append(words[index + 1])
    return found


def server_of(kubeconfig):
    """The URL of the API server in a kubeconfig (bytes); None where it is a placeholder of an image or missing.

    Also of a damaged kubeconfig: whose node this is must not be taken for unknown because a line of it cannot be read.
    """
    match = _SERVER.search(kubeconfig.decode("utf-8", "replace"))
    return match.group(1) if match and re.match(r"https?://", match.group(1)) else None


def cluster_of_node(manifest, kubelet_words, read=None):
    """(name or None, endpoint) of the cluster that this node belongs to and where that is written; None for a fresh machine.

    C(kubelet_words): the words of the running kubelet.
    """
    read = read or files.read
    cluster = manifest.get("cluster")
    if cluster:
        return cluster.get("name"), cluster["endpoint"], "the manifest of nodebootstrap.eks"
    named = option(kubelet_words, "kubeconfig") + option(kubelet_words, "bootstrap-kubeconfig")
    for path in dict.fromkeys(KUBECONFIGS + tuple(path for path in named if path.startswith("/"))):
        try:
            current = read(path)
        except ApplyRefused:
            # Where somebody else's kubeconfig lies is not ours to judge, and we only look.
            current = None
        server = server_of(current.content) if current else None
        if server:
            return None, server, path
    return None


def check_cluster(plan, belongs, may_move):
    """Refuse a node of another cluster. C(belongs): what C(cluster_of_node) found. Returns whether the cluster changes.

    C(may_move) is called where it would, and answers whether it may. A plan of the way back may lack the endpoint; then the name decides.
    """
    if belongs is None:
        return False
    name, endpoint, where = belongs
    wanted = plan["cluster"]
    same = name in (None, wanted["name"]) and (not wanted["endpoint"] or _address(endpoint) == _address(wanted["endpoint"]))
    if same or may_move():
        return not same
    named = f"cluster {name} ({endpoint})" if name else f"the cluster at {endpoint}"
    ours = f"{wanted['name']} ({wanted['endpoint']})" if wanted["endpoint"] else wanted["name"]
    raise ApplyRefused(
        f"this node belongs to {named}, as {where} says, and its node group is for cluster {ours}. "
        "Drain it and remove it from the old cluster first; then set take_over: true (role: eks_node_take_over: true)"
    )


def _address(url):
    return re.sub(r":443\Z", "", url.strip().rstrip("/").lower())


def check_units(plan, units):
    """Refuse a machine whose image lacks a unit that the plan does not bring, or that masks one. C(units): {name: Unit}."""
    brought = {os.path.basename(file["path"]) for file in plan["files"]}
    for step in plan["steps"]:
        # The image's own script lays down units by itself.
        for name in step.get("units", ()) or [step[field] for field in ("unit", "containerd") if field in step]:
            unit = units.get(name)
            if unit is not None and unit.load == "masked":
                raise ApplyRefused(f"{name} is masked on this node: systemctl unmask {name}")
            if unit is not None and unit.load == "not-found" and name not in brought:
                raise ApplyRefused(f"{name} does not exist on this node: is its image an EKS image of {plan['os']['name']}?")
