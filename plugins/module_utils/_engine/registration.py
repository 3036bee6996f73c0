# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels and taints: kubelet tells them to the cluster once, when it registers. Afterwards only the cluster can change them."""

from __future__ import annotations

import json
import os
import re

from .._node import files
from .._node.errors import ApplyRefused
from .._node.placeholders import PLACEHOLDER, PLACEHOLDERS
from .preflight import option

_OF_EKS = re.compile(r"([a-z0-9-]+\.)*(eks\.amazonaws\.com|nvidia\.com)/")


def registered(plan, manifest, belongs, kubelet_words, read=None):
    """What the node registered with: {"labels": …, "taints": [...]}, None for a node that never registered.

    C(belongs): the cluster of the node, None for a fresh one. C(kubelet_words): words of the running kubelet; they and its files tell of
    a node that we did not set up, and labels that EKS adds by itself are left out then.
    """
    if manifest.get("registered"):
        return manifest["registered"]
    if belongs is None or not kubelet_words:
        return None
    labels = {}
    for text in option(kubelet_words, "node-labels"):
        labels.update(item.strip().partition("=")[::2] for item in text.split(",") if item.strip())
    flags = option(kubelet_words, "register-with-taints")
    taints = [taint for taint in flags[-1].split(",") if taint] if flags else _configured_taints(kubelet_words, read or files.read)
    wanted = plan["registration"]["labels"]
    # nodeadm unites labels and taints of several sources, and only one of them is ours.
    others = plan["family"] == "al2023"
    labels = {key: value for key, value in labels.items() if key in wanted or not (others or _OF_EKS.match(key))}
    if others:
        keys = {_key(taint) for taint in plan["registration"]["taints"]}
        taints = [taint for taint in taints if _key(taint) in keys]
    return {"labels": labels, "taints": taints}


def has_served(kubelet_words, root="/var/lib/kubelet"):
    """Whether there is on this node what only a cluster gives: pods, or a signed certificate to serve with."""
    root = (option(kubelet_words, "root-dir") or [root])[-1]
    certificates = (option(kubelet_words, "cert-dir") or [os.path.join(root, "pki")])[-1]
    pods = os.path.join(root, "pods")
    return os.path.lexists(os.path.join(certificates, "kubelet-server-current.pem")) or (os.path.isdir(pods) and bool(os.listdir(pods)))


def _key(taint):
    return re.split("[=:]", taint)[0]


def _configured_taints(words, read):
    """Taints of kubelet's configuration files; a later file replaces the list."""
    paths = option(words, "config")
    for folder in option(words, "config-dir"):
        try:
            paths += sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".conf"))
        except OSError:
            continue
    taints = []
    for path in paths:
        try:
            current = read(path) if path.startswith("/") else None
            document = json.loads(current.content.decode("utf-8")) if current else {}
        except (ApplyRefused, ValueError):
            continue
        found = document.get("registerWithTaints") if isinstance(document, dict) else None
        if isinstance(found, list):
            taints = [_taint(item) for item in found if isinstance(item, dict)]
    return taints


def _taint(item):
    value = f"={item['value']}" if item.get("value") else ""
    return f"{item.get('key')}{value}:{item.get('effect')}"


def difference(before, wanted):
    """What would have to change on a registered node: {"labels": {key: value or None to remove}, "taints": {"set", "remove"}}, or None."""
    labels = {key: value for key, value in wanted["labels"].items() if not _same(before["labels"].get(key), value)}
    labels.update((key, None) for key in before["labels"] if key not in wanted["labels"])
    old, new = [_normal(taint) for taint in before["taints"]], [_normal(taint) for taint in wanted["taints"]]
    taints = {
        "set": [taint for taint in wanted["taints"] if _normal(taint) not in old],
        "remove": [taint for taint in before["taints"] if _normal(taint) not in new],
    }
    if not labels and not any(taints.values()):
        return None
    return {"labels": labels, "taints": taints}


def united(earlier, change):
    """All that was to be patched since the node registered, the later change first. C(earlier), C(change): as C(difference), or None.

    Nobody tells the node whether the controller's patch went through, so every run with reconcile asks for all of it again.
    """
    if not earlier or not change:
        return change or earlier or None
    gone = {_place(taint) for taint in change["taints"]["set"] + change["taints"]["remove"]}
    taints = {
        kind: [taint for taint in earlier["taints"][kind] if _place(taint) not in gone] + change["taints"][kind]
        for kind in ("set", "remove")
    }
    return {"labels": dict(earlier["labels"], **change["labels"]), "taints": taints}


def _place(taint):
    """What can hold one taint only: key and effect."""
    return _key(taint), taint.rpartition(":")[2]


def _normal(taint):
    # KEY:EFFECT and KEY=:EFFECT are the same.
    return re.sub(r"=:", ":", taint)


def _same(before, wanted):
    """Whether a label has its value; where placeholders stand, anything of their form."""
    if before is None or before == wanted:
        return before == wanted
    parts = PLACEHOLDER.split(wanted)
    pattern = "".join(PLACEHOLDERS[part][1] if index % 2 else re.escape(part) for index, part in enumerate(parts))
    return re.match(pattern + r"\Z", before) is not None


def refuse(change):
    """Raise ApplyRefused: labels and taints of a registered node cannot be changed from the node."""
    what = [f"label {key}" + (" (removed)" if value is None else f"={value}") for key, value in sorted(change["labels"].items())]
    places = {_place(taint) for taint in change["taints"]["set"]}
    gone = [taint for taint in change["taints"]["remove"] if _place(taint) not in places]
    what += [f"taint {_normal(taint)}" for taint in change["taints"]["set"]] + [f"taint {_normal(taint)} (removed)" for taint in gone]
    raise ApplyRefused(
        f"this node is registered already, and kubelet tells labels and taints only when it registers: {', '.join(what)} would have no "
        "effect. Set reconcile: true with credentials for the cluster (role: eks_node_reconcile: true), or replace the node"
    )


def patch(change, kubelet_words, identity, hostname=None):
    """What the controller has to patch, placeholders filled in."""
    name = (option(kubelet_words, "hostname-override") or [hostname or os.uname()[1]])[-1]
    labels = {key: value if value is None else identity.label(value) for key, value in change["labels"].items()}
    return {"node": name.lower(), "labels": labels, "taints": change["taints"]}
