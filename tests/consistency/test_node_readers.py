# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One reader per subject: what every file of the node half may do itself, and what only the file does that has it as its subject."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency import project

NODE = "plugins/module_utils"

MODULES = {
    "subprocess": {"_node/programs.py"},
    "socket": {"_node/http_client.py", "_node/health.py"},
    "http.client": {"_node/http_client.py"},
    # The proxies of the controller, for the Kubernetes API.
    "urllib.request": {"_kubernetes/credentials.py"},
    "yaml": {"_node/yaml_parser.py"},
}
"""Standard modules → the files that may import them."""

TEXTS = {
    "/etc/os-release": {"_node/host.py"},
    "/usr/lib/os-release": {"_node/host.py"},
    "cmdline": {"_node/host.py"},
    "environ": {"_node/host.py"},
    "journalctl": {"_node/journald.py"},
    "/etc/containerd/config.toml": {"_node/containerd_config.py", "_node/nodeadm_files.py", "_engine/image_script.py"},
    "registerWithTaints": {"_node/kubelet_config.py"},
    "register-with-taints": {"_node/kubelet_config.py"},
}
"""Whole text constants → the files that may contain them. Programs that are embedded as text are longer: they run without this package, at
boot or inside a transaction, and so have to bring everything with them."""

PARTS = {
    "/etc/eks/nodeadm.d": {"_node/nodeadm_files.py"},
    r"options\.SystemdCgroup": {"_join/containerd.py"},
    "instance-identity/document": {"_node/instance_identity.py"},
    "i-[0-9a": {"_node/instance_identity.py"},
    "-----END CERTIFICATE": {"_node/certificates.py"},
    "conf_dir": {"_join/containerd.py"},
    "-version.txt": {"_node/program_versions.py"},
    "--version": {"_node/program_versions.py", "_anywhere/packages.py"},
}
"""Parts of text constants → the files that may contain them, outside docstrings. For helm, C(--version) is that of a chart."""

CALLS = {
    "uname": {"_node/host.py", "_inspect/versions.py", "_kubernetes/holder.py"},
    "gethostname": set[str](),
    "find_server": {"_node/kubeconfig.py", "_inspect/cluster.py", "_engine/drift_asked.py", "_engine/image_script.py"},
}
"""Functions → the files that may use them. _inspect/versions.py reads the kernel and the architecture. node_info shows the server, and the
files of the engine compare it with the plan; none of them concludes from it which cluster the node belongs to."""

FLAGS = {"hostname-override", "cloud-provider", "kubeconfig"}
"""Flags of kubelet that only _node/kubelet_process.py looks up: it says what follows from them. For _kubernetes/credentials.py, kubeconfig
is an option of a module."""

LOOK_UPS = {"last", "values", "setting", "get"}
"""The functions that look up a flag."""

PROGRAMS: dict[tuple[object, ...], set[str]] = {
    ("systemctl", "show"): {"_node/systemd.py"},
    ("snap", "get"): {"_node/snapd.py"},
    ("containerd", "--config"): {"_node/containerd_config.py", "_engine/validation.py"},
}
"""The first words of an argument list → the files that may contain it. _engine/validation.py lets programs read files that are not in
place yet."""


def problems_in(name: str, source: str) -> Iterator[str]:
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            imported = []
        for module in imported:
            if name not in MODULES.get(module, {name}):
                yield f"{name}:{node.lineno}: imports {module}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and name not in TEXTS.get(node.value, {name}):
            yield f"{name}:{node.lineno}: contains {node.value!r}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            for part, files in PARTS.items():
                if part in node.value and name not in files:
                    yield f"{name}:{node.lineno}: contains {part!r}"
        if isinstance(node, ast.Attribute) and name not in CALLS.get(node.attr, {name}):
            yield f"{name}:{node.lineno}: uses {node.attr}"
        if isinstance(node, ast.Call) and name not in ("_node/kubelet_process.py", "_kubernetes/credentials.py"):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for flag in [item.value for item in node.args[:2] if isinstance(item, ast.Constant) and item.value in FLAGS]:
                if function in LOOK_UPS:
                    yield f"{name}:{node.lineno}: looks up {flag!r}"
        items = node.elts if isinstance(node, (ast.List, ast.Tuple)) else node.args if isinstance(node, ast.Call) else None
        if items is not None:
            words = tuple(item.value if isinstance(item, ast.Constant) else None for item in items[:2])
            if name not in PROGRAMS.get(words, {name}):
                yield f"{name}:{node.lineno}: runs {words}"


def test_each_subject_has_one_reader() -> None:
    names = {path.removeprefix(f"{NODE}/"): path for path in project.under(NODE, ".py")}
    readers = set().union(*MODULES.values(), *TEXTS.values(), *PARTS.values(), *CALLS.values(), *PROGRAMS.values())
    assert readers <= names.keys()
    project.none_of(problem for name, path in names.items() for problem in problems_in(name, project.text(path)))


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("import subprocess", 1),
        ("def f():\n    from http import client", 1),
        ("from http.client import HTTPConnection", 1),
        ("import socket", 1),
        ("def f():\n    import yaml", 1),
        ("open('/etc/os-release')", 1),
        ("run(['systemctl', 'show', name])", 1),
        ("run(('systemctl', 'restart', name))", 0),
        ("run(['snap', 'get', '-d', name])", 1),
        ("os.listdir('/etc/eks/nodeadm.d')", 1),
        ("f'/etc/eks/nodeadm.d/{name}'", 1),
        ("def f():\n    'Reads /etc/eks/nodeadm.d.'", 0),
        ("run('/usr/bin/kubelet', '--version')", 1),
        ("host.text('/etc/eks/containerd-version.txt')", 1),
        ("host.text('/etc/containerd/config.toml')", 1),
        ("name = last(flags, 'hostname-override') or os.uname()[1]", 2),
        ("server = kubeconfig.find_server(text)", 1),
        ("json.loads(client.get('dynamic/instance-identity/document'))", 1),
        ("re.compile('^ *conf_dir *=')", 1),
        ("host.run('containerd', '--config', path, 'config', 'dump')", 1),
        ("PROGRAM = 'import socket, subprocess\\nsystemctl show'", 0),
        ("from .._node import http_client, systemd", 0),
    ],
)
def test_a_second_reader_is_seen(source: str, count: int) -> None:
    assert len(list(problems_in("_engine/apply.py", source))) == count
