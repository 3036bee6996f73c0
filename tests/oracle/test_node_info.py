# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module node_info on nodes of each family: what it tells is what systemd, /proc and the files say."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from nodelab import Al2Node, Al2023Node, UbuntuNode, boot

from ansible_collections.nodebootstrap.eks.tests.matrix import repeated
from ansible_collections.nodebootstrap.eks.tests.oracle.ansible_calls import call
from ansible_collections.nodebootstrap.eks.tests.oracle.script_nodes import CLUSTER, DROP_IN, ENDPOINT, STATIC, text
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

CONFIG = "/etc/kubernetes/kubelet/kubelet-config.json"
CANARY = "cAnArY-7391"
PROXY = {"http": f"http://user:{CANARY}@proxy:3128", "https": f"http://user:{CANARY}@proxy:3128", "no_proxy": ["10.0.0.0/8"]}
NAME = "ip-10-0-0-5.eu-central-1.compute.internal"


def look(node: Any, folder: Path, *options: str) -> dict[str, Any]:
    result = call(node, folder, "node_info", "-a", "timeout=60", *options)
    assert result["changed"] is False and "node" in result, result
    assert CANARY not in json.dumps(result)
    found: dict[str, Any] = result["node"]
    return found


@pytest.mark.matrix
def test_amazon_linux_2_with_finished_files(al2_node: Al2Node, tmp_path: Path) -> None:
    fresh = look(al2_node, tmp_path, "--check")
    assert fresh["kubelet"]["pid"] is None and fresh["kubelet"]["argv"] is None and fresh["node_name"] is None
    configz = fresh["kubelet"]["configz"]
    assert configz["config"] is None and configz["problem"]
    assert fresh["cluster"]["server"] is None and fresh["cluster"]["name"] is None and fresh["ours"] is None

    al2_node.write({"/etc/nodelab/kubelet-healthy": ""})
    kubelet = {
        "config": {"podPidsLimit": 99},
        "flags": {"cluster-domain": "eks.local", "feature-gates": ["KubeletTracing=true", "NodeSwap=false"]},
    }
    labels, taints = {"team": "a", "life": "{instance_lifecycle}"}, [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    more = {"labels": labels, "taints": taints, "proxy": PROXY, "allow_secrets_in_user_data": True}
    done = al2_node.run_user_data(text("al2", **STATIC, kubelet=kubelet, **more))
    assert done.returncode == 0, done.stderr.decode()
    [record] = al2_node.kubelet_records()

    found = look(al2_node, tmp_path)
    seen = found["kubelet"]
    assert seen["unit"] == "kubelet.service" and str(seen["pid"]) == al2_node.property("kubelet.service", "MainPID")
    assert seen["argv"][-len(record["argv"]) :] == record["argv"]
    assert {"HTTP_PROXY", "PATH"} <= set(seen["environment"])
    assert seen["flags"]["feature-gates"] == ["KubeletTracing=true", "NodeSwap=false"]
    assert seen["flags"]["cluster-domain"] == "eks.local" and seen["flags"]["v"] == "2"
    written = json.loads(al2_node.read(CONFIG))
    assert seen["config"]["effective"] == written and written["podPidsLimit"] == 99
    assert seen["config"]["set_by_flags"]["clusterDomain"] == {"flag": "cluster-domain", "value": "eks.local", "in_files": "cluster.local"}
    assert [(file["path"], file["changed_since_start"], file["problem"]) for file in seen["config"]["files"]] == [(CONFIG, False, None)]
    assert seen["healthz"] == {"url": "http://127.0.0.1:10248/healthz", "ok": True, "status": 200, "problem": None}
    assert seen["configz"]["config"] is None and "Connection refused" in seen["configz"]["problem"]
    assert found["registration"] == {"labels": {"life": "on-demand", "team": "a"}, "taints": ["k=v:NoSchedule"]}
    assert found["proxies"]["kubelet"]["HTTP_PROXY"] == "http://********@proxy:3128"
    assert found["cluster"]["server"] == ENDPOINT and found["cluster"]["name"] == "demo" and found["node_name"] == NAME
    assert found["versions"]["kubelet"] == {"version": "1.30.14", "source": "/usr/bin/kubelet --version"}
    assert found["units"]["kubelet.service"]["state"] == "active" and found["units"]["kubelet.service"]["enabled"] == "enabled"
    assert found["units"]["kubelet.service"]["restarts"] == 0
    assert "Z" in found["units"]["kubelet.service"]["since"] and "nodeadm-run.service" not in found["units"]
    assert found["snap"] is None and found["nodeadm"] is None
    authority = {"path": "/etc/kubernetes/pki/ca.crt", "sha256": [hashlib.sha256(base64.b64decode("MIIB")).hexdigest()]}
    assert found["cluster"]["certificate_authority"] == authority and found["problems"] == []

    al2_node.write({CONFIG: json.dumps({**written, "maxPods": 30})})
    al2_node.exec(["systemctl", "kill", "--signal=KILL", "kubelet"], check=True)
    limit = time.monotonic() + 120
    while al2_node.property("kubelet.service", "NRestarts") != "1" and time.monotonic() < limit:
        time.sleep(0.2)
    again = look(al2_node, tmp_path)
    assert again["units"]["kubelet.service"]["restarts"] == 1 and again["kubelet"]["pid"] != seen["pid"]


def test_drop_ins_and_files_of_ours(al2_node: Al2Node, tmp_path: Path) -> None:
    kubelet = {"config": {"evictionHard": {"memory.available": "200Mi"}, "clusterDNS": ["10.100.0.11"]}}
    done = al2_node.run_user_data(text("al2", kubelet=kubelet))
    assert done.returncode == 0, done.stderr.decode()
    al2_node.kubelet_records()
    folder = DROP_IN.rpartition("/")[0]
    head = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
    digest = hashlib.sha256(b"1").hexdigest()
    al2_node.write(
        {
            f"{folder}/60-more.conf": json.dumps({**head, "evictionHard": {"nodefs.available": "7%"}, "cgroupRoot": None}),
            f"{folder}/70-no.json": json.dumps({**head, "maxPods": 1}),
            "/var/lib/nodebootstrap/manifest.json": json.dumps({"files": {path: {"sha256": digest} for path in ("/a", "/b", "/c")}}),
            "/a": "1",
            "/b": "2",
        }
    )
    found = look(al2_node, tmp_path)
    config = found["kubelet"]["config"]
    assert [file["path"] for file in config["files"]] == [CONFIG, DROP_IN, f"{folder}/60-more.conf"]
    assert [file["changed_since_start"] for file in config["files"]] == [False, False, True]
    effective = config["effective"]
    assert effective["evictionHard"] == {"memory.available": "200Mi", "nodefs.available": "7%", "nodefs.inodesFree": "5%"}
    assert effective["clusterDNS"] == ["10.100.0.11"] and "cgroupRoot" not in effective and effective["maxPods"] == 29
    assert found["ours"]["files"] == {"/a": "unchanged", "/b": "changed", "/c": "missing"}

    al2_node.write({f"{folder}/80-yaml.conf": "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 3\n"})
    with_yaml = look(al2_node, tmp_path)["kubelet"]["config"]
    assert with_yaml["files"][-1]["format"] == "yaml"
    has_yaml = al2_node.exec(["python3", "-c", "import yaml"]).returncode == 0
    assert with_yaml["effective"]["maxPods"] == 3 if has_yaml else "maxPods: 3" in with_yaml["files"][-1]["text"]


@pytest.mark.parametrize("strategy", repeated(["static", "bootstrap_script"], "bootstrap_script"))
def test_ubuntu(ubuntu_node: UbuntuNode, tmp_path: Path, strategy: str) -> None:
    fields: dict[str, Any] = STATIC if strategy == "static" else {"max_pods": 29}
    done = ubuntu_node.run_user_data(text("ubuntu", labels={"a": "b"}, **fields))
    assert done.returncode == 0, done.stderr.decode()
    [record] = ubuntu_node.kubelet_records()
    found = look(ubuntu_node, tmp_path)
    assert found["kubelet"]["unit"] == "snap.kubelet-eks.daemon.service"
    assert found["kubelet"]["argv"][-len(record["argv"]) :] == record["argv"]
    assert found["snap"] == ubuntu_node.snap_settings() and found["snap"]["node-ip"] == "10.0.0.5"
    assert found["registration"]["labels"] == {"a": "b"} and found["node_name"] == NAME and found["cluster"]["name"] == "demo"
    assert found["kubelet"]["config"]["effective"] == json.loads(ubuntu_node.read(CONFIG))


def test_amazon_linux_2023(tmp_path: Path) -> None:
    user_data = text("al2023", labels={"a": "b"}, kubelet={"config": {"podPidsLimit": 99}}, max_pods=29)
    drop_in = (
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  containerd:\n    config: |\n"
        f'      [plugins.x.auth]\n      password = "{CANARY}"\n  kubelet:\n    config:\n      podPidsLimit: 88\n'
    )
    files = {"/etc/eks/nodeadm.d/20-own.yaml": drop_in, "/etc/eks/kubelet-version.txt": "Kubernetes v1.30.9-eks-123\n"}
    with boot(Al2023Node, user_data, files=files) as (node, _unused):
        found = look(node, tmp_path)
        assert found["kubelet"]["pid"] and found["cluster"]["server"] == CLUSTER["endpoint"]
        assert found["versions"]["kubelet"] == {"version": "1.30.14", "source": "/usr/bin/kubelet --version"}
        [document] = found["nodeadm"]
        assert document["path"] == "/etc/eks/nodeadm.d/20-own.yaml" and "podPidsLimit: 88" in document["text"]
        assert found["kubelet"]["config"]["effective"]["podPidsLimit"] == 88 and found["registration"]["labels"] == {"a": "b"}
        assert found["units"]["nodeadm-run.service"]["state"] == "active" and found["os"]["id"] == "amzn"


def test_it_tells_what_it_may_not_read(al2_node: Al2Node, tmp_path: Path) -> None:
    """As another user than root it finds less, does not fail, and says why."""
    done = al2_node.run_user_data(text("al2", **STATIC))
    assert done.returncode == 0, done.stderr.decode()
    al2_node.kubelet_records()
    found = look(al2_node, tmp_path, "-e", "ansible_user=daemon", "-e", "ansible_remote_tmp=/tmp/daemon")
    assert found["os"]["id"] == "amzn" and found["kubelet"]["flags"]["config"] == CONFIG
    assert found["kubelet"]["environment"] == [] and found["cluster"]["server"] is None
    for path in (f"/proc/{found['kubelet']['pid']}/environ", "/var/lib/kubelet/kubeconfig"):
        assert any(mentions(problem, path, "Permission denied") for problem in found["problems"])
