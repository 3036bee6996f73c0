# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift: every file and setting that counts is edited and deleted, and every unit disabled; the next run sees it and repairs it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from nodelab import Al2Node, Al2023Node, Node, UbuntuNode

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import effective_values
from ansible_collections.nodebootstrap.eks.tests.matrix import repeated
from ansible_collections.nodebootstrap.eks.tests.oracle.live_nodes import KUBELET_UNITS, STATE, applied, apply, fresh_node, plan, snapshot
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

GROUP: dict[str, Any] = {"labels": {"role": "web"}, "max_pods": 17, "kubelet": {"flags": {"v": "3"}}}
SNAP = "snap kubelet-eks"


def set_up(kind: str, request: pytest.FixtureRequest, **fields: Any) -> tuple[Any, dict[str, Any]]:
    """A healthy node of the kind, and its plan."""
    node = fresh_node(kind, request)
    content = plan(kind, **{**GROUP, **fields})
    applied(node, content)
    return node, content


def configz(node: Node) -> dict[str, Any]:
    """What the running kubelet says that it runs with."""
    answer = node.exec(["curl", "-sS", "--max-time", "60", "http://127.0.0.1:10248/configz"], check=True).stdout
    found: dict[str, Any] = json.loads(answer)["kubeletconfig"]
    return found


def record(node: Node) -> dict[str, Any]:
    """What the manifest has recorded of programs of the image."""
    found: dict[str, Any] = json.loads(node.read(f"{STATE}/manifest.json"))["effective"]
    return found


def files_of_programs(node: Node) -> list[str]:
    return [source for source, entry in record(node).items() if source.startswith("/") and entry is not None]


def edited(path: str, text: str) -> str:
    """The text with another value in effect."""
    if path.endswith(".crt"):
        return text + "# another\n"
    if path.endswith("kubeconfig"):
        return text.replace("https://", "https://other.")
    if path.endswith(".toml"):
        return text + '\n[drift]\nby = "a person"\n'
    if text.lstrip().startswith("{"):
        return json.dumps({**json.loads(text), "maxPods": 5, "clusterDNS": ["9.9.9.9"]})
    if path.endswith("/environment"):
        return text.replace("KUBELET_ARGS=", "KUBELET_ARGS=--max-pods=5 ") + "\nDRIFT=1\n"
    return re.sub(r"(KUBELET_(?:EXTRA_)?ARGS=)", r"\1--max-pods=5 ", text) + "\n[Service]\nTimeoutStopSec=77\n"


def settings(node: Node, paths: list[str]) -> dict[str, Any]:
    return {path: effective_values.parse(path, node.read(path)) for path in paths}


KINDS = ["al2 script", "ubuntu script", "al2023"]


CHANGES = [(kind, how) for how in ("edit", "delete") for kind in KINDS]


@pytest.mark.parametrize("change", repeated(CHANGES, *((kind, "edit") for kind in KINDS), ("al2023", "delete")), ids="-".join)
def test_what_programs_of_the_image_wrote_is_repaired(change: tuple[str, str], request: pytest.FixtureRequest) -> None:
    kind, how = change
    node, content = set_up(kind, request)
    paths = files_of_programs(node)
    assert len(paths) >= (4 if kind == "ubuntu script" else 6), paths
    right, running = settings(node, paths), configz(node)
    assert running["labels"]["role"] == "web" and running["maxPods"] == 17
    assert drift_round(node, content, paths, how) == set(paths) | ({SNAP} if kind.startswith("ubuntu") else set())
    assert settings(node, paths) == right and configz(node) == running
    assert not isinstance(node, UbuntuNode) or "max-pods" not in node.snap_settings()
    assert applied(node, content)["changed"] is False


def drift_round(node: Any, content: dict[str, Any], paths: list[str], how: str) -> set[str]:
    """Change the files, and settings of a snap, look and repair. Returns the sources that the run saw."""
    if how == "edit":
        node.write({path: (edited(path, node.read(path).decode()), int(node.stat(path)[0], 8)) for path in paths})
    else:
        node.exec(["rm", *paths], check=True)
    if isinstance(node, UbuntuNode):
        values = ["max-pods=5", "cluster-dns=9.9.9.9"] if how == "edit" else ["cluster-dns!", "args!"]
        node.exec(["snap", "set", "kubelet-eks", *values], check=True)
    before = snapshot(node)
    promised = applied(node, content, check=True)
    assert snapshot(node) == before and promised["changed"] is True
    done = applied(node, content)
    assert (done["actions"], done["diff"], done["drift"]) == (promised["actions"], promised["diff"], promised["drift"])
    assert done["healthy"] is True and KUBELET_UNITS[type(node)] in done["restarted"]
    if how == "edit":
        assert {"recorded", "found"} <= set(done["drift"][0]) and all(item["recorded"] != item["found"] for item in done["drift"])
        assert any("9.9.9.9" in entry["before"] and "9.9.9.9" not in entry["after"] for entry in done["diff"])
    return {item["source"] for item in done["drift"]}


@pytest.mark.parametrize("kind", repeated([*KINDS, "al2", "ubuntu"], "al2023", "ubuntu"))
def test_our_own_files_are_repaired_and_a_disabled_kubelet_is_enabled(kind: str, request: pytest.FixtureRequest) -> None:
    node, content = set_up(kind, request)
    # nodeadm starts kubelet at every boot.
    unit = "nodeadm-run.service" if kind == "al2023" else KUBELET_UNITS[type(node)]
    paths = [file["path"] for file in content["files"]]
    before = {path: (node.read(path), node.stat(path)) for path in paths}
    running, starts_at_boot = configz(node), node.property(unit, "UnitFileState")
    node.exec(["systemctl", "disable", unit], check=True)
    node.exec(["rm", *paths[::2]], check=True)
    node.write({path: before[path][0] + b"\n# edited\n" for path in paths[1::2]})
    applied(node, content)
    assert {path: (node.read(path), node.stat(path)) for path in paths} == before
    assert node.property(unit, "UnitFileState") == starts_at_boot == "enabled" and configz(node) == running
    assert applied(node, content)["changed"] is False

    node.exec(["systemctl", "disable", unit], check=True)
    done = applied(node, content)
    assert done["actions"] == [f"enable {unit}"] and node.property(unit, "UnitFileState") == "enabled"
    assert applied(node, content)["changed"] is False


def test_a_setting_that_was_added_to_the_snap_is_removed(ubuntu_node: UbuntuNode, request: pytest.FixtureRequest) -> None:
    node, content = set_up("ubuntu", request)
    node.exec(["snap", "set", "kubelet-eks", "max-pods=5"], check=True)
    done = applied(node, content)
    assert done["drift"] == [{"source": SNAP, "name": "max-pods", "recorded": None, "found": 5}]
    assert "max-pods" not in node.snap_settings() and configz(node)["maxPods"] == 17
    assert applied(node, content)["changed"] is False


REWRITTEN = {"al2 script": "/etc/kubernetes/kubelet/kubelet-config.json", "al2023": "/etc/kubernetes/kubelet/config.json"}


@pytest.mark.parametrize("kind", repeated(REWRITTEN, "al2 script"))
def test_another_order_is_no_drift_and_reports_change_nothing(kind: str, request: pytest.FixtureRequest) -> None:
    node, content = set_up(kind, request)
    path = REWRITTEN[kind]
    value = json.loads(node.read(path))
    node.write({path: json.dumps(dict(reversed(value.items())))})
    assert applied(node, content)["changed"] is False
    node.write({path: json.dumps({**value, "podPidsLimit": 7})})
    before = snapshot(node)
    reported = applied(node, content, drift="report")
    assert reported["changed"] is False and mentions(reported["warnings"], path, "podPidsLimit", "7")
    assert reported["drift"] == [{"source": path, "name": "podPidsLimit", "recorded": None, "found": 7}]
    assert applied(node, content, drift="ignore")["drift"] == [] and snapshot(node) == before
    held = applied(node, content, restart="never")
    assert held["restarted"] == [] and node.read(path) == json.dumps({**value, "podPidsLimit": 7}).encode()
    assert applied(node, content)["changed"] is True and json.loads(node.read(path)) == value


@pytest.mark.parametrize("kind", repeated(REWRITTEN, "al2023"))
def test_a_node_without_a_record_is_compared_with_its_group(kind: str, request: pytest.FixtureRequest) -> None:
    node, content = set_up(kind, request)

    def forget() -> None:
        manifest = json.loads(node.read(f"{STATE}/manifest.json"))
        del manifest["effective"]
        node.write({f"{STATE}/manifest.json": (json.dumps(manifest), 0o600)})

    forget()
    assert applied(node, content)["changed"] is False and record(node)
    forget()
    node.write({"/var/lib/kubelet/kubeconfig": node.read("/var/lib/kubelet/kubeconfig").replace(b"https://", b"https://other.")})
    assert applied(node, content, drift="report")["drift"] and "effective" not in json.loads(node.read(f"{STATE}/manifest.json"))
    done = applied(node, content)
    assert [item["name"] for item in done["drift"]] == ["server"] and b"other" not in node.read("/var/lib/kubelet/kubeconfig")
    assert record(node) and applied(node, content)["changed"] is False


SED = """/bin/sed -i 's/"maxPods": [0-9]*/"maxPods": 5/' {path}"""
WRITERS = {
    "a script": ("/etc/systemd/system/kubelet.service.d/90-tune.conf", "/usr/local/bin/tune"),
    # Of a package or an image.
    "a command": ("/usr/lib/systemd/system/kubelet.service.d/90-tune.conf", None),
}
"""A drop-in of kubelet's unit, and the script that it runs. Without a script, the drop-in itself contains the command."""
CASES = [(kind, writer) for kind in REWRITTEN for writer in WRITERS]


@pytest.mark.parametrize("case", repeated(CASES, ("al2 script", "a script"), ("al2023", "a command")), ids="-".join)
def test_drift_that_comes_back_fails_and_names_the_writer(case: tuple[str, str], request: pytest.FixtureRequest) -> None:
    kind, writer = case
    node, content = set_up(kind, request, max_pods=None)
    path = REWRITTEN[kind]
    command = SED.format(path=path)
    unit, script = WRITERS[writer]
    if script is not None:
        node.write({script: (f"#!/bin/sh\n{command}\n", 0o755)})
    node.write({unit: f"[Service]\nExecStartPre={script or command}\n"})
    node.exec(["systemctl", "daemon-reload"], check=True)
    node.exec(["sh", "-c", command], check=True)
    failed = apply(node, content)
    assert failed.get("failed") and mentions(failed["msg"], path, "maxPods", "ExecStartPre", unit, script or ""), failed
    node.exec(["rm", unit, *([script] if script else [])], check=True)
    node.exec(["systemctl", "daemon-reload"], check=True)
    # The same value after a repair: this time it lasts, and the play says that it came back since.
    failed = apply(node, content)
    assert failed.get("failed") and mentions(failed["msg"], path, "maxPods")
    done = applied(node, content)
    assert done["changed"] is False and json.loads(node.read(path))["maxPods"] != 5


def test_a_value_that_the_program_of_the_image_sets_itself_is_accepted(al2023_node: Al2023Node, request: pytest.FixtureRequest) -> None:
    """Another instance type: nodeadm sets another number of pods at the next boot."""
    node, content = set_up("al2023", request, max_pods=None)
    node.write({"/etc/nodelab/vcpus": "8"})
    node.exec(["systemctl", "restart", "nodeadm-config.service", "nodeadm-run.service"], check=True)
    done = applied(node, content)
    assert [item["name"] for item in done["drift"]] == ["kubeReserved.cpu"] and mentions(done["warnings"], "kubeReserved.cpu")
    assert applied(node, content)["changed"] is False


def test_secrets_are_not_shown(al2_node: Al2Node, request: pytest.FixtureRequest) -> None:
    proxy = {"https": "http://user:canary-ours@proxy.example:3128"}
    node, content = set_up("al2 script", request, allow_secrets_in_user_data=True, proxy=proxy)
    path = "/etc/systemd/system/kubelet.service.d/10-kubelet-args.conf"
    node.write({path: node.read(path).replace(b"--v=2", b"--v=2 --token=canary-theirs")})
    done = applied(node, content)
    assert done["drift"] and "canary" not in json.dumps(done)


@pytest.mark.matrix
@pytest.mark.parametrize("kind", KINDS)
def test_each_file_alone(kind: str, request: pytest.FixtureRequest) -> None:
    node, content = set_up(kind, request)
    wrong = []
    for path in files_of_programs(node):
        right = settings(node, [path])
        for change in ("edit", "delete"):
            if change == "edit":
                node.write({path: (edited(path, node.read(path).decode()), int(node.stat(path)[0], 8))})
            else:
                node.exec(["rm", path], check=True)
            done = applied(node, content)
            if {item["source"] for item in done["drift"]} != {path} or settings(node, [path]) != right:
                wrong.append((path, change, done["drift"]))
            # A person may make the same change again: only then it counts as another program.
            applied(node, plan(kind, **{**GROUP, "max_pods": 18}))
            applied(node, content)
    assert wrong == []
