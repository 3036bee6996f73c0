# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that joined and then break: join_check finds the cause on each, and the fix that it proposes brings each back."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.fail_play import Ended, check
from ansible_collections.nodebootstrap.eks.tests.lab.failing import hand_written, journal
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE
from ansible_collections.nodebootstrap.eks.tests.lab.progress import LabError, say

pytestmark = pytest.mark.docker

UNIT = "kubelet.service"
ENVIRONMENT, DROP_IN = "/etc/eks/kubelet/environment", "/etc/kubernetes/kubelet/config.json.d/60-lab.conf"
HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
CNI = "/etc/cni/net.d/10-lab.conflist"
CA = "/etc/kubernetes/pki/ca.crt"

#: Seconds for which join_check waits: a final cause must end the wait long before.
LOOK = 120


@dataclass(frozen=True)
class Injected:
    """A fault of a node that had joined.

    cause, final: of the finding. says: words of the message. shown: regular expression, what the evidence quotes. damage: makes the fault.
    shows: waits until the fault shows. repair: does what the fix says. rules: of the problems that the rules of kubelet find.
    """

    cause: str
    says: tuple[str, ...]
    shown: str
    damage: Callable[[LabNode], None]
    shows: Callable[[LabNode], None]
    repair: Callable[[LabNode], None]
    final: bool = True
    rules: tuple[str, ...] = ()


def shell(script: str) -> Callable[[LabNode], None]:
    """Run a script on the node."""

    def run(node: LabNode) -> None:
        node.exec(["sh", "-ec", script], check=True)

    return run


def restart(node: LabNode) -> None:
    node.exec(["sh", "-c", f"systemctl reset-failed {UNIT}; systemctl restart --no-block {UNIT}"], check=True)


def also(*steps: Callable[[LabNode], None]) -> Callable[[LabNode], None]:
    def run(node: LabNode) -> None:
        for step in steps:
            step(node)

    return run


def config(**fields: Any) -> Callable[[LabNode], None]:
    """Add a drop-in to kubelet's configuration, as an administrator would, and restart kubelet."""
    return also(lambda node: node.write({DROP_IN: json.dumps({**HEAD, **fields})}), restart)


def without(path: str) -> Callable[[LabNode], None]:
    return also(shell(f"rm -f {path}"), restart)


def until(node: LabNode, what: str, holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > limit:
            raise LabError(f"{node.name}: not {what}\n{node.evidence()}")
        time.sleep(0.3)


def condition(node: LabNode, name: str) -> str:
    found = node.object() or {}
    return next((str(one["status"]) for one in found.get("status", {}).get("conditions", []) if one["type"] == name), "")


def until_condition(name: str, status: str) -> Callable[[LabNode], None]:
    return lambda node: until(node, f"{name} {status}", lambda: condition(node, name) == status)


def until_pressure(kind: str) -> Callable[[LabNode], None]:
    """A kubelet that has just started is not Ready yet, which is another cause."""
    return also(until_condition(kind, "True"), until_condition("Ready", "True"))


def until_logged(pattern: str) -> Callable[[LabNode], None]:
    """Wait until kubelet has logged something that no healthy kubelet logs."""

    def wait(node: LabNode) -> None:
        until(node, pattern, lambda: any(re.search(pattern, line) for _when, line in journal(node, 0)))

    return wait


def delete_node(node: LabNode) -> None:
    node.lab.api.call("DELETE", f"/api/v1/nodes/{node.name}")


def keep(path: str) -> Callable[[LabNode], None]:
    return shell(f"cp -p {path} {path}.kept")


def put_back(path: str) -> Callable[[LabNode], None]:
    return also(shell(f"cp -p {path}.kept {path}"), restart)


def edit_flags(script: str) -> Callable[[LabNode], None]:
    return also(keep(ENVIRONMENT), shell(f"sed -i -E '{script}' {ENVIRONMENT}"), restart)


ANOTHER_ADDRESS = 's/--node-ip=[^ "]*//; s/NODEADM_KUBELET_ARGS="?/&--node-ip=10.9.9.9 /'
FULL = """
mkdir -p /mnt/full && mount -t tmpfs -o size=4m tmpfs /mnt/full
cp -a /var/lib/kubelet/kubeconfig /mnt/full/
dd if=/dev/zero of=/mnt/full/core bs=64k count=100 2>/dev/null || true
mount --bind /mnt/full /var/lib/kubelet
"""

#: In every run of `make test`.
FIRST: dict[str, Injected] = {
    "deleted": Injected(
        "node_deleted", ("registers only once", "systemctl restart kubelet.service"), "Error updating node status|Successfully registered",
        delete_node, until_logged("Error updating node status, will retry"), restart,
    ),
    "cni": Injected(
        "invalid_cni_config", (CNI, "not valid JSON"), "cni config load failed",
        also(keep(CNI), shell(f"""printf '{{"name": "lab", "plugins": [' > {CNI}""")), until_condition("Ready", "False"),
        shell(f"cp -p {CNI}.kept {CNI}"), final=False,
    ),
    "port": Injected(
        "port_in_use", ("10250", "python3", "web.service"), "address already in use",
        also(shell(f"systemctl stop {UNIT}; systemd-run --quiet --unit=web python3 -m http.server 10250"), restart),
        until_logged("address already in use"),
        shell("systemctl stop web.service"),
    ),
    "address": Injected(
        "wrong_node_ip", ("10.9.9.9", ENVIRONMENT), "10.9.9.9",
        edit_flags(ANOTHER_ADDRESS), until_condition("Ready", "True"),
        put_back(ENVIRONMENT),
    ),
}  # fmt: skip

#: In the matrix.
MORE: dict[str, Injected] = {
    "cpu-manager-state": Injected(
        "stale_manager_state",
        ('configured policy "static" differs from state checkpoint policy "none"', "rm /var/lib/kubelet/cpu_manager_state"),
        "please drain this node", config(cpuManagerPolicy="static"), until_logged("please drain"),
        shell("rm /var/lib/kubelet/cpu_manager_state && systemctl restart kubelet.service"),
    ),
    "cgroup-root": Injected(
        "missing_cgroup", ("cgroupRoot", "nosuch", DROP_IN), "nosuch",
        config(cgroupRoot="/nosuch"), until_logged("invalid configuration"), without(DROP_IN),
    ),
    "reserved-cgroup": Injected(
        "missing_cgroup", ("kubeReservedCgroup", "/nosuch", DROP_IN), "Failed to enforce Kube Reserved",
        config(enforceNodeAllocatable=["pods", "kube-reserved"], kubeReservedCgroup="/nosuch"), until_logged("Failed to enforce"),
        without(DROP_IN),
    ),
    "empty-authority": Injected(
        "wrong_certificate_authority", (CA, "aws eks describe-cluster"), CA,
        also(keep(CA), shell(f": > {CA}"), restart), until_logged("command failed"), put_back(CA),
    ),
    "removed-provider": Injected(
        "invalid_flag", ("--cloud-provider", ENVIRONMENT), "aws",
        edit_flags("s/--cloud-provider=external/--cloud-provider=aws/"), until_logged("command failed"), put_back(ENVIRONMENT),
        rules=("kubelet.unknown_value",),
    ),
    "invalid-value": Injected(
        "invalid_config", ("imageGCHighThresholdPercent", DROP_IN, "also set imageGCLowThresholdPercent"), "imageGCHighThresholdPercent",
        config(imageGCHighThresholdPercent=75), until_logged("command failed"), without(DROP_IN),
        rules=("kubelet.inconsistent_fields",),
    ),
    "soft-eviction": Injected(
        "invalid_config", ("evictionSoft", DROP_IN), "grace period must be specified",
        config(evictionSoft={"memory.available": "200Mi"}), until_logged("grace period"), without(DROP_IN),
        rules=("kubelet.inconsistent_fields",),
    ),
    "out-of-memory": Injected(
        "kubelet_killed", ("12 MiB (MemoryMax)",), "killed",
        also(shell(
            f"mkdir -p /etc/systemd/system/{UNIT}.d; printf '[Service]\\nMemoryMax=12M\\n' > /etc/systemd/system/{UNIT}.d/99-lab.conf;"
            "systemctl daemon-reload"), restart),
        lambda node: until(node, "killed", lambda: node.property(UNIT, "NRestarts") != "0"),
        also(shell(f"rm /etc/systemd/system/{UNIT}.d/99-lab.conf; systemctl daemon-reload"), restart), final=False,
    ),
    "disk-pressure": Injected(
        "under_pressure", ("DiskPressure", "evictionHard"), "disk-pressure:NoSchedule",
        config(evictionHard={"nodefs.available": "99%"}), until_pressure("DiskPressure"), without(DROP_IN), final=False,
    ),
    "memory-pressure": Injected(
        "under_pressure", ("MemoryPressure",), "memory-pressure:NoSchedule",
        config(evictionSoft={"memory.available": "99.9%"}, evictionSoftGracePeriod={"memory.available": "1s"}),
        until_pressure("MemoryPressure"), without(DROP_IN), final=False,
    ),
    "too-much-reserved": Injected(
        "invalid_config",
        ("has a reservation of", DROP_IN),
        "invalid Node Allocatable configuration",
        config(evictionHard={"memory.available": "99%"}),
        until_logged("invalid Node Allocatable configuration"),
        without(DROP_IN),
    ),
    "full-disk": Injected(
        "disk_full", ("no space left on device", "/var/lib/kubelet"), "0 of 4 MiB",
        also(shell(f"systemctl stop {UNIT}"), shell(FULL), restart), until_logged("no space left"),
        also(shell(f"systemctl stop {UNIT}; rm /mnt/full/core; mount -o remount,size=8g /mnt/full"), restart),
    ),
}  # fmt: skip


GROUPS = [pytest.param(FIRST, id="first")] + [
    pytest.param({name: MORE[name] for name in list(MORE)[start : start + 4]}, id=f"more-{start // 4 + 1}", marks=pytest.mark.matrix)
    for start in range(0, len(MORE), 4)
]


@pytest.mark.parametrize("faults", GROUPS)
def test_join_check_finds_what_broke_later(lab: Lab, faults: dict[str, Injected]) -> None:
    with contextlib.ExitStack() as stack:
        nodes = {
            name: stack.enter_context(lab.node("al2023", user_data=hand_written(lab), kubelet="1.36", real_nodeadm=False))
            for name in faults
        }
        for name, node in nodes.items():
            node.wait_ready(PATIENCE)
            faults[name].damage(node)
        for name, node in nodes.items():
            faults[name].shows(node)
            say(f"{name}: the fault shows")
        passing = {name: node for name, node in nodes.items() if not faults[name].final}
        once = check(passing, wait_timeout=0)
        waited = check({name: node for name, node in nodes.items() if name not in passing}, wait_timeout=LOOK)
        problems = {name: against(fault, (waited if fault.final else once).ended(name)) for name, fault in faults.items()}
        wrong = {name: lines for name, lines in problems.items() if lines}
        assert not wrong, "\n".join(f"{name}:\n  " + "\n  ".join(lines) for name, lines in wrong.items())
        # kubelet has tried to update its Node since it was deleted, and has not registered again.
        assert all(nodes[name].object() is None for name in faults if name == "deleted")
        for name, node in nodes.items():
            faults[name].repair(node)
        again = check({name: node for name, node in nodes.items() if not name.endswith("pressure")}, wait_timeout=PATIENCE)
        assert again.code == 0, again.text


def against(fault: Injected, ended: Ended) -> list[str]:
    """Problems of an answer."""
    if not ended.failed:
        return ["it did not fail"]
    found: Mapping[str, Any] = ended.result
    problems = [f"it does not say {word!r}" for word in fault.says if word not in ended.message]
    if (found.get("cause"), found.get("final")) != (fault.cause, fault.final):
        problems.append(f"the cause is {found.get('cause')!r}, final {found.get('final')!r}")
    if not any(re.search(fault.shown, line) for line in found.get("evidence") or []):
        problems.append(f"no evidence like {fault.shown!r}")
    told = {problem["rule"] for problem in found.get("problems") or []}
    problems += [f"the rule {rule} is not named" for rule in fault.rules if rule not in told]
    if fault.final and found.get("waited", LOOK) >= LOOK:
        problems.append("what is final is not waited for")
    return [*problems, f"the message: {ended.message}"] if problems else []
