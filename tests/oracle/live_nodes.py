# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans for laboratory nodes, and the modules run there as Ansible would run it, without the seconds of a controller."""

from __future__ import annotations

import base64
import copy
import io
import json
import tarfile
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import ansible
import pytest
from nodelab import Al2Node, Al2023Node, Node, UbuntuNode

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.tests.oracle.script_nodes import CLUSTER, STATIC

TOP = Path(__file__).resolve().parents[2]
CODE = "/run/applied"
MODULES = "ansible_collections.nodebootstrap.eks.plugins.modules"
ON_NODES = ("apply_plan", "image_seal", "image_verify")
STATE = "/var/lib/nodebootstrap"
HEALTHY = "/etc/nodelab/kubelet-healthy"
KUBELET_UNITS = {Al2Node: "kubelet.service", UbuntuNode: "snap.kubelet-eks.daemon.service", Al2023Node: "kubelet.service"}
MERGED = ("labels", "kubelet")

#: What the node group of every family starts from.
GROUPS: dict[str, dict[str, Any]] = {
    "al2": {"family": "al2", **STATIC},
    "al2 script": {"family": "al2"},
    "ubuntu": {"family": "ubuntu", **STATIC},
    "ubuntu script": {"family": "ubuntu"},
    "al2023": {"family": "al2023"},
}


def fresh_node(kind: str, request: pytest.FixtureRequest) -> Any:
    """A node of the family whose kubelet becomes healthy. C(kind): a key of GROUPS, or a family."""
    node = request.getfixturevalue(f"{kind.split()[0]}_node")
    node.exec(["systemctl", "reset-failed"])
    node.write({HEALTHY: ""})
    return node


def plan(kind: str, cluster: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """The plan of a node group as plain data."""
    return copy.deepcopy(node_plan(cluster or CLUSTER, {**GROUPS[kind], **fields}).plain())


def encoded(content: dict[str, Any]) -> str:
    return base64.b64encode(zlib.compress(json.dumps(content).encode())).decode()


def apply(
    node: Node, content: dict[str, Any], *, check: bool = False, diff: bool = True, wait_timeout: float = 300, **options: Any
) -> dict[str, Any]:
    """The module's result."""
    arguments = {"plan": encoded(content), "wait_timeout": wait_timeout, "_ansible_check_mode": check, "_ansible_diff": diff, **options}
    return call(node, "apply_plan", **arguments)


def call(node: Node, module: str, **arguments: Any) -> dict[str, Any]:
    """The result of a module on a node."""
    lay_code(node)
    node.write({f"{CODE}/arguments.json": (json.dumps({"ANSIBLE_MODULE_ARGS": arguments}), 0o600)})
    environment = {"PYTHONPATH": CODE, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    done = node.exec(["python3", "-m", f"{MODULES}.{module}", f"{CODE}/arguments.json"], environment=environment, timeout=1200)
    assert done.stderr == b"", done.stderr.decode()
    result: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (1 if result.get("failed") else 0)
    result.pop("invocation", None)
    return result


def lay_code(node: Node) -> None:
    """What the node runs, below C(CODE): copied once, so that Python compiles it once."""
    if not node.exists(CODE):
        node.exec(["tar", "-x", "-C", "/run"], input=_code(), check=True)


def applied(node: Node, content: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The result of a call that has to succeed."""
    result = apply(node, content, **options)
    assert not result.get("failed"), result["msg"] + "\n" + node.journal()[-3000:]
    return result


def snapshot(node: Node) -> str:
    """Everything that a call may change: files with owner, mode and digest, what is enabled, what runs since when."""
    trees = ["/etc", "/var/lib/kubelet", "/var/lib/nodebootstrap", "/var/lib/nodelab", "/run/nodebootstrap", "/run/eks"]
    found = node.exec(["find", *trees, "-printf", "%p %y %m %U:%G %s %l\n"]).stdout.decode()
    units = ["kubelet.service", "containerd.service", "snap.kubelet-eks.daemon.service", "sandbox-image.service", "nodeadm-run.service"]
    properties = "ActiveState,SubState,UnitFileState,InvocationID,NeedDaemonReload"
    shown = node.exec(["/usr/bin/systemctl", "show", "-p", properties, *units]).stdout.decode()
    return "\n".join(sorted(found.splitlines())) + "\n" + shown


@cache
def _code() -> bytes:
    """The collection's node-side code with Ansible's, as a tar archive."""
    packed = io.BytesIO()
    library = Path(str(ansible.__file__)).resolve().parent
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in [*sorted((TOP / "plugins/module_utils").rglob("*.py")), *(TOP / f"plugins/modules/{name}.py" for name in ON_NODES)]:
            archive.add(path, f"applied/ansible_collections/nodebootstrap/eks/{path.relative_to(TOP)}")
        names = ("__init__.py", "release.py", "_vendor/*.py", "module_utils/**/*.py", "_internal/**/*.py")
        for path in sorted(path for name in names for path in library.glob(name)):
            archive.add(path, f"applied/ansible/{path.relative_to(library)}")
    return packed.getvalue()
