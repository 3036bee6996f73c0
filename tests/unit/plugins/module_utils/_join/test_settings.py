# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the flags and the configuration of a kubelet that exits are set, on the images of each family."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import settings as reading
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import Settings
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_node import KUBELET, FakeNode

UNIT, ENVIRONMENT = "/etc/systemd/system/kubelet.service", "/etc/eks/kubelet/environment"
MAIN, DROP_INS = "/etc/kubernetes/kubelet/config.json", "/etc/kubernetes/kubelet/config.json.d"
USER_DATA, FRAGMENT = "/var/lib/cloud/instance/user-data.txt", "/etc/eks/nodeadm.d/50-nodebootstrap.yaml"
NODE_CONFIG = "spec:\n  kubelet:\n    flags:\n      - --node-ip=10.9.9.9 # kept\n    config:\n      maxPods: 20\n"


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return FakeNode(tmp_path)


def al2023(node: FakeNode) -> None:
    node.unit(KUBELET, FragmentPath=UNIT, EnvironmentFiles=f"{ENVIRONMENT} (ignore_errors=no)")
    node.file(UNIT, "[Service]\n# ExecStart=/bin/no --old-flag=1\nExecStart=/usr/bin/kubelet $NODEADM_KUBELET_ARGS\n")
    words = f"--config={MAIN} --config-dir={DROP_INS} --node-ip=10.9.9.9 --node-labels=a=b --node-labels=c=d"
    node.file(ENVIRONMENT, f"NODEADM_KUBELET_ARGS={words}\nKUBELET_CONFIG_DROPIN_DIR_ALPHA=on")
    node.file(MAIN, json.dumps({"kind": "KubeletConfiguration", "cgroupDriver": "systemd"}))
    node.file(f"{DROP_INS}/40-nodeadm.conf", json.dumps({"maxPods": 20}))
    node.file("/usr/bin/kubelet", "")
    node.version = "1.36.3"


def read(node: FakeNode, has_nodeadm: bool = True) -> Settings:
    return reading.read_settings(node, KUBELET, has_nodeadm)


def test_the_flags_and_files_of_al2023(node: FakeNode) -> None:
    al2023(node)
    found = read(node)
    assert [(file.path, file.writer) for file in found.files] == [
        (ENVIRONMENT, "nodeadm"),
        (MAIN, "nodeadm"),
        (f"{DROP_INS}/40-nodeadm.conf", "nodeadm"),
    ]
    assert found.version == "1.36.3"
    assert found.flags == {
        "config": MAIN,
        "config-dir": DROP_INS,
        "node-ip": "10.9.9.9",
        "node-labels": ["a=b", "c=d"],
    }


@pytest.mark.parametrize(
    "content",
    [NODE_CONFIG.encode(), gzip.compress(NODE_CONFIG.encode(), mtime=0), json.dumps({"maxPods": 20, "a": "--node-ip=1"})],
    ids=["YAML", "gzip", "JSON"],
)
def test_the_node_config_from_which_nodeadm_writes(node: FakeNode, content: Any) -> None:
    al2023(node)
    place = reading.place_of_flag(read(node), "--node-ip", KUBELET)
    assert "the user data or in /etc/eks/nodeadm.d" in place.where and ENVIRONMENT in place.where, "it is not known which"
    path = node.root / USER_DATA.lstrip("/")
    path.parent.mkdir(parents=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    flag, field = reading.place_of_flag(read(node), "--node-ip", KUBELET), reading.place_of_field(read(node), "maxPods", KUBELET)
    assert field is not None
    for place, part, file in ((flag, "flags", ENVIRONMENT), (field, "config", f"{DROP_INS}/40-nodeadm.conf")):
        assert f"spec.kubelet.{part} of the NodeConfig in the user data ({USER_DATA})" in place.where and place.where.endswith(file)
        assert "replace the node" in place.then
    node.file(FRAGMENT, NODE_CONFIG)
    later = reading.place_of_flag(read(node), "--node-ip=10.9.9.9", KUBELET)
    assert FRAGMENT in later.where and "systemctl restart nodeadm-config nodeadm-run" in later.then, "the last one counts"
    assert reading.place_of_field(read(node), "evictionHard", KUBELET) is None
    computed = reading.place_of_field(read(node), "cgroupDriver", KUBELET)
    assert computed is not None and computed.where.startswith(MAIN), "nodeadm sets it by itself"
    assert "the NodeConfig in" not in computed.where and computed.then == later.then


def test_the_script_of_the_image_writes_a_drop_in_of_the_unit(node: FakeNode) -> None:
    extra = "/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf"
    config = "/etc/kubernetes/kubelet/kubelet-config.json"
    # systemd 219 has another name for the environment files.
    node.unit(KUBELET, FragmentPath=UNIT, DropInPaths=f"{extra} /etc/missing.conf", EnvironmentFile="/etc/env (ignore_errors=yes)")
    node.file(UNIT, f"ExecStart=/usr/bin/kubelet --cloud-provider aws \\\n    --config {config} \\\n    $KUBELET_EXTRA_ARGS\n")
    node.file(extra, "[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--container-runtime=docker --v 2'\n")
    node.file("/etc/env", "A=--max-pods=10\n")
    node.file(config, json.dumps({"evictionHard": {"memory.available": "100Mi"}}))
    node.file("/etc/eks/bootstrap.sh", "")
    found = read(node, has_nodeadm=False)
    assert found.flags == {"cloud-provider": "aws", "config": config, "container-runtime": "docker", "v": "2", "max-pods": "10"}
    place = reading.place_of_flag(found, "--container-runtime", KUBELET)
    assert "/etc/eks/bootstrap.sh in the user data" in place.where and extra in place.where
    assert reading.place_of_flag(found, "cloud-provider", KUBELET).where == UNIT
    assert reading.place_of_flag(found, "max-pods", KUBELET).where == "/etc/env"
    field = reading.place_of_field(found, "evictionHard", KUBELET)
    assert field is not None and config in field.where
    (node.root / "etc/eks/bootstrap.sh").unlink()
    assert reading.place_of_flag(read(node, has_nodeadm=False), "container-runtime", KUBELET).where == extra


def test_without_files_the_place_is_unknown(node: FakeNode) -> None:
    node.unit(KUBELET)
    found = read(node)
    assert found.files == () and found.version is None
    assert "systemctl cat" in reading.place_of_flag(found, "--x", KUBELET).where
    node.answers = False
    assert read(node).files == ()


def test_secrets_are_removed(node: FakeNode) -> None:
    al2023(node)
    node.file(f"{DROP_INS}/50.conf", json.dumps({"staticPodURLHeader": {"Authorization": ["Bearer cAnArY"]}, "x": "http://u:cAnArY@p"}))
    node.file(ENVIRONMENT, f"A=--config={MAIN} --config-dir={DROP_INS} --manifest-url-header=Authorization:cAnArY")
    assert "cAnArY" not in json.dumps(reading.rejected(read(node), KUBELET).plain())


def test_what_the_controller_gets(node: FakeNode) -> None:
    al2023(node)
    plain = json.loads(json.dumps(reading.rejected(read(node), KUBELET).plain()))
    assert plain["version"] == "1.36.3" and plain["cpus"] > 0
    assert plain["configs"] == [{"kind": "KubeletConfiguration", "cgroupDriver": "systemd"}, {"maxPods": 20}]
    assert {"maxPods", "--node-ip", "--config"} <= plain["places"].keys()


def test_fields_that_an_error_names(node: FakeNode) -> None:
    al2023(node)
    found = read(node)
    text = "MaxPods must be between cgroupDriver and maxpods, not maxPodsX"
    assert reading.fields_in(found, text) == ["maxPods", "cgroupDriver"]
