# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write plugins/plugin_utils/_data/kubelet_fields.json and kubelet_flags.json from Kubernetes' Go modules.

    python tools/refresh_kubelet.py        # needs Go and the Go module proxy; reads source, compiles nothing of it

A new minor is one line in MINORS.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "plugins" / "plugin_utils" / "_data"
PROGRAM = Path(__file__).parent / "kubelet_fields"

# Minor → patch. The oldest is there only to tell what the next one removed.
MINORS = {23: 17, 24: 17, 25: 16, 26: 15, 27: 16, 28: 15, 29: 15, 30: 14, 31: 14, 32: 13, 33: 13, 34: 4, 35: 4, 36: 3}
FIRST, LAST = min(MINORS), max(MINORS)

SIGNALS = [
    *(f"{place}.{what}" for place in ("nodefs", "imagefs", "containerfs") for what in ("available", "inodesFree")),
    "memory.available",
    "allocatableMemory.available",
    "pid.available",
]
RESERVABLE = ["cpu", "memory", "ephemeral-storage", "pid"]
COUNT, PORT, PERCENT = {"minimum": 0}, {"minimum": 0, "maximum": 65535}, {"minimum": 0, "maximum": 100}

# What kubelet checks beyond types (k8s.io/kubernetes, pkg/kubelet/apis/config/validation and pkg/kubelet/eviction).
CHECKS: dict[str, dict[str, Any]] = {
    "kind": {"enum": ["KubeletConfiguration"]},
    "apiVersion": {"enum": ["kubelet.config.k8s.io/v1beta1"]},
    "authorization.mode": {"enum": ["AlwaysAllow", "Webhook"]},
    "cgroupDriver": {"enum": ["cgroupfs", "systemd"]},
    "configMapAndSecretChangeDetectionStrategy": {"enum": ["Get", "Cache", "Watch"]},
    "containerLogMaxFiles": {"minimum": 2},
    "containerLogMaxSize": {"format": "quantity"},
    "containerLogMaxWorkers": {"minimum": 1},
    "clusterDNS[]": {"format": "ip"},
    "cpuManagerPolicy": {"enum": ["none", "static"]},
    "enforceNodeAllocatable[]": {
        "enum": ["none", "pods", "system-reserved", "system-reserved-compressible", "kube-reserved", "kube-reserved-compressible"]
    },
    "eventBurst": COUNT,
    "eventRecordQPS": COUNT,
    "evictionHard": {"keys": SIGNALS},
    "evictionHard[]": {"format": "threshold"},
    "evictionMinimumReclaim": {"keys": SIGNALS},
    "evictionMinimumReclaim[]": {"format": "threshold"},
    "evictionSoft": {"keys": SIGNALS},
    "evictionSoft[]": {"format": "threshold"},
    "evictionSoftGracePeriod": {"keys": SIGNALS},
    "evictionSoftGracePeriod[]": {"format": "duration"},
    "hairpinMode": {"enum": ["hairpin-veth", "promiscuous-bridge", "none"]},
    # kubelet also takes the name of a host, and the empty text.
    "healthzBindAddress": {"format": "ip"},
    "healthzPort": PORT,
    "imageGCHighThresholdPercent": PERCENT,
    "imageGCLowThresholdPercent": PERCENT,
    "imagePullCredentialsVerificationPolicy": {
        "enum": ["NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify"]
    },
    "iptablesDropBit": {"minimum": 0, "maximum": 31},
    "iptablesMasqueradeBit": {"minimum": 0, "maximum": 31},
    "kubeAPIBurst": COUNT,
    "kubeAPIQPS": COUNT,
    "kubeReserved": {"keys": RESERVABLE},
    "kubeReserved[]": {"format": "quantity"},
    "logging.format": {"enum": ["text", "json"]},
    "maxOpenFiles": COUNT,
    "maxParallelImagePulls": {"minimum": 1},
    # kubelet takes 0 too, and then runs nothing.
    "maxPods": {"minimum": 1},
    "memoryManagerPolicy": {"enum": ["None", "Static"]},
    "memoryReservationPolicy": {"enum": ["None", "TieredReservation"]},
    "memorySwap.swapBehavior": {"enum": ["", "NoSwap", "LimitedSwap", "UnlimitedSwap"]},
    "nodeLeaseDurationSeconds": COUNT,
    "nodeStatusMaxImages": {"minimum": -1},
    "oomScoreAdj": {"minimum": -1000, "maximum": 1000},
    "podsPerCore": COUNT,
    "port": {"minimum": 1, "maximum": 65535},
    "readOnlyPort": PORT,
    "registerWithTaints[]": {"required": ["key", "effect"]},
    "registerWithTaints[].key": {"format": "label_key"},
    "registerWithTaints[].value": {"format": "label_value"},
    "registerWithTaints[].effect": {"enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"]},
    "registryBurst": COUNT,
    "registryPullQPS": COUNT,
    "systemReserved": {"keys": RESERVABLE},
    "systemReserved[]": {"format": "quantity"},
    "topologyManagerPolicy": {"enum": ["none", "best-effort", "restricted", "single-numa-node"]},
    "topologyManagerScope": {"enum": ["container", "pod"]},
    "tlsMinVersion": {"enum": ["VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"]},
}

FLAG_TYPES = {
    "StringVar": "string",
    "BoolVar": "bool",
    "Int32Var": "int",
    "Int64Var": "int",
    "DurationVar": "duration",
    "IPVar": "ip",
    "StringSliceVar": "list",
    "NewMapStringBool": "map_bool",
    "NewMapStringString": "map",
    "NewMapStringStringNoSplit": "map",
    "NewLangleSeparatedMapStringString": "thresholds",
    "NewColonSeparatedMultimapStringString": "list",
    "VerbosityLevelPflag": "int",
    "RegisterWithTaintsVar": "taints",
    "ReservedMemoryVar": "list",
}
# Flags that no call with a literal name and type registers, and the flags of klog until 1.25.
KLOG = """
    add-dir-header alsologtostderr log-backtrace-at log-dir log-file log-file-max-size logtostderr one-output skip-headers
    skip-log-headers stderrthreshold
"""
EXTRA_FLAGS: dict[str, dict[str, Any]] = {
    "help": {"type": "bool"},
    "version": {"type": "string"},
    "v": {"type": "int"},
    "log-flush-frequency": {"type": "duration"},
    "node-labels": {"type": "map"},
    **{name: {"type": "string", "until": 25} for name in KLOG.split()},
}
# What to do where a flag is gone; where kubelet's configuration has the field, the message says so by itself.
INSTEAD = {
    "container-runtime": "remove it: containerd is the only runtime, and container-runtime-endpoint sets its socket",
    "network-plugin": "remove it: the container runtime calls CNI plugins",
    "network-plugin-mtu": "remove it: the VPC CNI sets the MTU (AWS_VPC_ENI_MTU)",
    "cni-bin-dir": "remove it: containerd's configuration names the folder",
    "cni-conf-dir": "remove it: containerd's configuration names the folder",
    "cni-cache-dir": "remove it: the container runtime calls CNI plugins",
    "pod-infra-container-image": (
        "remove it: the container runtime starts the pause container (on al2 and ubuntu, containerd.pause_image names its image)"
    ),
    "keep-terminated-pod-volumes": "remove it: kubelet always removes the volumes of terminated pods",
    "dynamic-config-dir": "remove it: dynamic configuration was removed from Kubernetes",
    "cloud-config": "remove it: the external cloud provider does not read a file on the node",
    "docker-endpoint": "remove it: dockershim was removed from Kubernetes",
    "image-pull-progress-deadline": "remove it: containerd has its own limit, image_pull_progress_timeout",
    "experimental-dockershim-root-directory": "remove it: dockershim was removed from Kubernetes",
}
# Values that stand for something another minor no longer has: the AWS provider inside kubelet was removed in 1.27.
FLAG_VALUES = {"cloud-provider": [{"value": "external"}, {"value": ""}, {"value": "aws", "until": 26}]}

FLAG_FORMATS = {"node-ip": "node_ip"}
"""Flags that are text to the flag library, and that kubelet parses itself."""


def download(module: str, version: str, folder: Path) -> str:
    """Where the Go module cache holds a module."""
    command = ["go", "mod", "download", "-json", f"{module}@{version}"]
    told = subprocess.run(command, check=True, capture_output=True, cwd=folder, env={**os.environ, "GOFLAGS": "-mod=mod"})
    return str(json.loads(told.stdout)["Dir"])


def read_minor(minor: int, patch: int, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields and the flags of one minor."""
    modules = {f"k8s.io/{name}": download(f"k8s.io/{name}", f"v0.{minor}.{patch}", folder) for name in ("kubelet", "component-base", "api")}
    kubernetes = Path(download("k8s.io/kubernetes", f"v1.{minor}.{patch}", folder))
    base = Path(modules["k8s.io/component-base"])
    folders = [kubernetes / "cmd/kubelet/app/options", kubernetes / "pkg/kubelet/config", base / "logs/api/v1", base / "logs"]

    def run(*arguments: str) -> Any:
        return json.loads(subprocess.run([folder / "program", *arguments], check=True, capture_output=True).stdout)

    fields = run("fields", *(f"{path}={where}" for path, where in modules.items()))
    return fields, run("flags", *(str(one) for one in folders if one.is_dir()))


def merged(nodes: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """One node out of the same node of several minors; the newest says what type it is."""
    newest = nodes[max(nodes)]
    result: dict[str, Any] = {"type": newest["type"]}
    unlike = {minor: node["type"] for minor, node in nodes.items() if node["type"] != newest["type"]}
    if unlike:
        result["before"] = {"type": unlike[max(unlike)], "until": max(unlike)}
    if min(nodes) > FIRST:
        result["since"] = min(nodes)
    if max(nodes) < LAST:
        result["until"] = max(nodes)
    if newest.get("go"):
        result["go"] = newest["go"]
    if "items" in newest:
        result["items"] = merged({minor: node["items"] for minor, node in nodes.items() if node["type"] == newest["type"]})
    if "fields" in newest:
        of = {minor: node.get("fields", {}) for minor, node in nodes.items()}
        names = sorted({name for fields in of.values() for name in fields})
        result["fields"] = {name: merged({minor: fields[name] for minor, fields in of.items() if name in fields}) for name in names}
    return result


def trimmed(node: dict[str, Any], since: int = FIRST, until: int = LAST) -> None:
    """Drop what a parent says already."""
    for child in [*node.get("fields", {}).values(), *([node["items"]] if "items" in node else [])]:
        trimmed(child, node.get("since", since), node.get("until", until))
        if child.get("since") == node.get("since", since):
            child.pop("since", None)
        if child.get("until") == node.get("until", until):
            child.pop("until", None)


def check(tree: dict[str, Any], path: str, rules: dict[str, Any]) -> None:
    """Attach rules to the node that a path of CHECKS names; a path that leads nowhere is an error."""
    node = tree
    for name in path.replace("[]", ".[]").split("."):
        node = node["items"] if name == "[]" else node["fields"][name]
    node.update(rules)


def go_names(tree: dict[str, Any], prefix: str = "", path: str = "") -> dict[str, str]:
    """Go path of each field → its path in the configuration; removes the Go names from the tree."""
    found = {}
    for name, node in tree.get("fields", {}).items():
        go, own = f"{prefix}{node.pop('go', name)}", f"{path}{name}"
        found[go] = own
        found.update(go_names(node, f"{go}.", f"{own}."))
    if "items" in tree:
        go_names(tree["items"])
    return found


def flag_table(minors: dict[int, dict[str, Any]], fields: dict[str, str]) -> dict[str, Any]:
    """Flag → type, minors, and the configuration field it sets."""
    table: dict[str, Any] = {}
    for name in sorted({name for flags in minors.values() for name in flags} | set(EXTRA_FLAGS)):
        known = [minor for minor, flags in minors.items() if name in flags]
        row: dict[str, Any] = {}
        if known:
            flag = minors[max(known)][name]
            row["type"] = FLAG_TYPES.get(flag["kind"], "string")
            if min(known) > FIRST:
                row["since"] = min(known)
            if max(known) < LAST:
                row["until"] = max(known)
            field = fields.get(flag.get("field", "").removesuffix(".Duration"))
            if field:
                row["config"] = field
        row.update(EXTRA_FLAGS.get(name, {}))
        if name in INSTEAD:
            row["instead"] = INSTEAD[name]
        if name in FLAG_VALUES:
            row["values"] = FLAG_VALUES[name]
        if name in FLAG_FORMATS:
            row["format"] = FLAG_FORMATS[name]
        table[name] = row
    return table


def write(name: str, head: dict[str, Any], key: str, rows: dict[str, Any]) -> None:
    """One row a line, so that a refresh shows as a diff that can be read."""
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
    body = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in rows.items())
    text = "\n".join(["{", *lines, f'  "{key}": {{', body, "  }", "}", ""])
    (DATA / name).write_text(text, encoding="utf-8")
    print(f"{name}: {len(rows)} rows, {len(text)} bytes")


def main() -> None:
    """Refresh both files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["go", "build", "-o", str(folder / "program"), "."], check=True, cwd=PROGRAM)
        (folder / "go.mod").write_text("module refresh\n\ngo 1.22\n", encoding="utf-8")
        read = {minor: read_minor(minor, patch, folder) for minor, patch in MINORS.items()}
    tree = merged({minor: fields for minor, (fields, _unused) in read.items()})
    trimmed(tree)
    fields = go_names(tree)
    for path, rules in CHECKS.items():
        check(tree, path, rules)
    head = {"date": datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(), "first": FIRST + 1, "last": LAST}
    versions = f"v0.{FIRST}.{MINORS[FIRST]} to v0.{LAST}.{MINORS[LAST]}"
    write("kubelet_fields.json", {"source": f"Go module k8s.io/kubelet {versions}, config/v1beta1", **head}, "fields", tree["fields"])
    flags = flag_table({minor: flags for minor, (_unused, flags) in read.items()}, fields)
    write("kubelet_flags.json", {"source": "Go module k8s.io/kubernetes, same versions, cmd/kubelet/app/options", **head}, "flags", flags)


if __name__ == "__main__":
    main()
