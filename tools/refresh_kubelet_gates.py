# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write plugins/plugin_utils/_data/kubelet_gates.json and kubelet_defaults.json from Kubernetes' Go modules.

    python tools/refresh_kubelet_gates.py        # needs Go and the Go module proxy; reads source, compiles nothing of it

The minors are those of refresh_kubelet.py, which is run first: the fields' names come from its data.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from refresh_kubelet import FIRST, LAST, MINORS, PROGRAM, download, go_names, read_minor, write

# Packages that register feature gates in kubelet's process; a minor lacks some of them.
GATES = {
    "k8s.io/kubernetes": ("pkg/features",),
    "k8s.io/apiserver": ("pkg/features",),
    "k8s.io/client-go": ("features",),
    "k8s.io/component-base": ("logs", "logs/api/v1", "metrics/features", "zpages/features"),
}
# Packages whose names the gates above use.
NAMES = {"k8s.io/apiextensions-apiserver": ("pkg/features",), "k8s.io/controller-manager": ("pkg/features",)}
# client-go's gates are in kubelet's process from here on.
CLIENT_GO = 30

# What the Go expressions of defaults.go mean that are no literals.
CONSTANTS: dict[str, Any] = {
    "true": True,
    "false": False,
    "ports.KubeletPort": 10250,
    "qos.KubeletOOMScoreAdj": -999,
    "kubetypes.ResolvConfDefault": "/etc/resolv.conf",
    "kubeletconfigv1beta1.KubeletAuthorizationModeWebhook": "Webhook",
    "kubeletconfigv1beta1.NoneMemoryManagerPolicy": "None",
    "kubeletconfigv1beta1.NoneTopologyManagerPolicy": "none",
    "kubeletconfigv1beta1.ContainerTopologyManagerScope": "container",
    "kubeletconfigv1beta1.PromiscuousBridge": "promiscuous-bridge",
    "kubeletconfigv1beta1.WatchChangeDetectionStrategy": "Watch",
    "kubeletconfigv1beta1.NeverVerifyPreloadedImages": "NeverVerifyPreloadedImages",
    "DefaultNodeAllocatableEnforcement": ["pods"],
    "DefaultIPTablesMasqueradeBit": 14,
    "DefaultIPTablesDropBit": 15,
    "DefaultVolumePluginDir": "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
    "DefaultPodLogsDir": "/var/log/pods",
    "DefaultMemoryThrottlingFactor": None,  # of each minor, read from the file
    "DefaultMemoryReservationPolicy": "None",
    "MaxContainerBackOff": "5m0s",
    "DefaultEvictionHard": {
        "memory.available": "100Mi",
        "nodefs.available": "10%",
        "nodefs.inodesFree": "5%",
        "imagefs.available": "15%",
    },
}
UNITS = {"time.Second": "s", "time.Minute": "m", "time.Hour": "h", "time.Millisecond": "ms"}

_CALL = re.compile(r"(?:ptr\.To|utilpointer\.[A-Za-z0-9]+|pointer\.[A-Za-z0-9]+)(?:\[\w+\])?\((.*)\)")
_CAST = re.compile(r"u?int(?:32|64)\((.*)\)")
_DURATION = re.compile(r"&?metav1\.Duration\{Duration: (.*)\}")
_PRODUCT = re.compile(r"(\d+) \* (time\.\w+)")


def meaning(expression: str, source: str) -> Any:
    """The value that a Go expression of defaults.go stands for."""
    for wrapper in (_CALL, _CAST, _DURATION):
        if match := wrapper.fullmatch(expression):
            return meaning(match[1], source)
    if match := _PRODUCT.fullmatch(expression):
        return f"{match[1]}{UNITS[match[2]]}"
    if expression in UNITS:
        return f"1{UNITS[expression]}"
    if expression == "DefaultMemoryThrottlingFactor":
        found = re.search(r"DefaultMemoryThrottlingFactor\s+= ([0-9.]+)", source)
        assert found is not None
        return float(found[1])
    return CONSTANTS[expression] if expression in CONSTANTS else json.loads(expression)


def read_defaults(program: Path, kubernetes: Path, names: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Field → its default in one minor: C(value), C(zero) where a zero stands for the default too, C(gate) on which it depends."""
    file = kubernetes / "pkg/kubelet/apis/config/v1beta1/defaults.go"
    source = file.read_text(encoding="utf-8")
    told = json.loads(subprocess.run([program, "defaults", file], check=True, capture_output=True).stdout)
    found = {}
    for go, row in told.items():
        if not row["value"] or go not in names:
            continue
        found[names[go]] = {"value": meaning(row["value"], source), "zero": row["when"] != "nil"}
        if row.get("gate"):
            found[names[go]]["gate"] = row["gate"]
    return found


def read_gates(program: Path, minor: int, patch: int, folder: Path) -> dict[str, Any]:
    """Feature gate → its state in one minor."""
    places = []
    kubernetes = Path(download("k8s.io/kubernetes", f"v1.{minor}.{patch}", folder))
    imports = "".join(path.read_text(encoding="utf-8") for path in sorted((kubernetes / "pkg/features").glob("*_features.go")))
    for prefix, table in (("", GATES), ("names:", NAMES)):
        for module, packages in table.items():
            if (prefix and f'"{module}/' not in imports) or (module == "k8s.io/client-go" and minor < CLIENT_GO):
                continue
            version = f"v1.{minor}.{patch}" if module == "k8s.io/kubernetes" else f"v0.{minor}.{patch}"
            source = Path(download(module, version, folder))
            places += [f"{prefix}{module}/{package}={source / package}" for package in packages if (source / package).is_dir()]
    found: dict[str, Any] = json.loads(subprocess.run([program, "gates", str(minor), *places], check=True, capture_output=True).stdout)
    return found


def spans(minors: dict[int, Any]) -> list[tuple[int, int, Any]]:
    """Neighbouring minors with the same value as (first, last, value)."""
    found: list[tuple[int, int, Any]] = []
    for minor, value in sorted(minors.items()):
        if found and found[-1][1] == minor - 1 and found[-1][2] == value:
            found[-1] = (found[-1][0], minor, value)
        else:
            found.append((minor, minor, value))
    return found


def main() -> None:
    """Refresh both files."""
    gates: dict[str, dict[int, Any]] = {}
    needs: dict[str, dict[int, Any]] = {}
    defaults: dict[str, dict[int, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "program"
        subprocess.run(["go", "build", "-o", str(program), "."], check=True, cwd=PROGRAM)
        (folder / "go.mod").write_text("module refresh\n\ngo 1.22\n", encoding="utf-8")
        for minor, patch in MINORS.items():
            if minor == FIRST:
                continue
            for gate, state in read_gates(program, minor, patch, folder).items():
                gates.setdefault(gate, {})[minor] = [state["stage"], state["default"], state["locked"]]
                if state.get("needs"):
                    needs.setdefault(gate, {})[minor] = sorted(state["needs"])
            fields, _unused = read_minor(minor, patch, folder)
            kubernetes = Path(download("k8s.io/kubernetes", f"v1.{minor}.{patch}", folder))
            for field, row in read_defaults(program, kubernetes, go_names(fields)).items():
                defaults.setdefault(field, {})[minor] = row
    head = {"date": datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(), "first": FIRST + 1, "last": LAST}
    versions = f"v1.{FIRST + 1}.{MINORS[FIRST + 1]} to v1.{LAST}.{MINORS[LAST]}"
    source = f"Go modules k8s.io/kubernetes {versions}, and k8s.io/apiserver, client-go and component-base of the same release: "
    rows = {gate: [[first, last, *state] for first, last, state in spans(minors)] for gate, minors in sorted(gates.items())}
    needed = {gate: [[first, last, one] for first, last, one in spans(minors)] for gate, minors in sorted(needs.items())}
    write(
        "kubelet_gates.json",
        {
            "source": f"{source}the maps of feature gates",
            **head,
            "columns": ["first minor", "last minor", "stage", "default", "locked"],
            "needs": needed,
        },
        "gates",
        rows,
    )
    write(
        "kubelet_defaults.json",
        {"source": f"Go module k8s.io/kubernetes {versions}, pkg/kubelet/apis/config/v1beta1/defaults.go", **head},
        "fields",
        {
            field: [{"since": first, "until": last, **row} for first, last, row in spans(minors)]
            for field, minors in sorted(defaults.items())
        },
    )


if __name__ == "__main__":
    main()
