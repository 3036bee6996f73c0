# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role eks_node_image installs an image on a machine without network: real apt, stand-ins for packages and programs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nodelab import Node

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image import leftovers
from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.provenance import PROVENANCE
from ansible_collections.nodebootstrap.eks.tests.oracle.image_builders import (
    PORT,
    REPOSITORY,
    SERVED,
    VERSION,
    Bakery,
    archive,
    program,
    ubuntu_builder,
)
from ansible_collections.nodebootstrap.eks.tests.oracle.live_nodes import call
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.certificates import VALID

pytestmark = pytest.mark.docker

PROGRAMS: dict[str, tuple[str, str | bytes]] = {
    "aws_iam_authenticator": ("aws-iam-authenticator", program("authenticator")),
    "containerd": (
        "containerd-2.1.4-linux-amd64.tar.gz",
        archive({"bin/containerd": program("containerd github.com/containerd/containerd/v2 v2.1.4 abc"), "bin/ctr": program("ctr")}),
    ),
    "ecr_credential_provider": ("ecr-credential-provider", program("provider")),
    "kubelet": ("kubelet", program("Kubernetes v1.34.1")),
    "runc": ("runc.amd64", program("runc version 1.3.0")),
}
ON_CONTROLLER = "runc"
CANARY = "cAnArY-4711"

HOOKS = {"early": "test ! -e /usr/bin/kubelet", "late": "test -e /etc/systemd/system/kubelet.service"}
"""Roles that run before and after the installation."""

OF_THE_NODE = {"image.cloud_init_off", "image.cloud_init_source"}
"""cloud-init of the test nodes is off, and has no data source for EC2."""


def content(name: str) -> bytes:
    text = PROGRAMS[name][1]
    return text if isinstance(text, bytes) else text.encode()


def description(folder: Path) -> dict[str, Any]:
    programs: dict[str, dict[str, str]] = {
        name: {"url": f"http://127.0.0.1:{PORT}/{file}", "sha256": hashlib.sha256(content(name)).hexdigest()}
        for name, (file, _content) in PROGRAMS.items()
    }
    (folder / "runc.amd64").write_bytes(content(ON_CONTROLLER))
    programs[ON_CONTROLLER] = {"path": str(folder / "runc.amd64"), "sha256": programs[ON_CONTROLLER]["sha256"]}
    return {
        "family": "ubuntu",
        "kubernetes_version": "1.34",
        "programs": programs,
        "packages": [f"htop={VERSION}"],
        "repositories": [{"name": "local", "url": f"file://{REPOSITORY}", "unsigned": True}],
        "trust": VALID,
        "proxy": {"image": {"http": f"http://user:{CANARY}@proxy:3128"}},
        "files": [{"path": "/etc/token", "content": CANARY, "mode": "0600"}],
        "release": {"TEAM": "platform & friends"},
    }


@pytest.fixture
def node() -> Iterator[Node]:
    with ubuntu_builder() as started:
        started.write({f"{SERVED}/{file}": content for file, content in PROGRAMS.values()})
        yield started


def test_a_bake(node: Node, tmp_path: Path) -> None:
    bakery = Bakery(node, tmp_path)
    image = description(tmp_path)

    # Check mode on a new machine: everything would change, and nothing does. What is not installed yet has no findings.
    bakery.run("--check", "--diff", eks_node_image=image)
    expected = bakery.changed
    assert not any(map(node.exists, ("/etc/eks", "/usr/bin/kubelet", "/etc/apt/sources.list.d/local.sources")))

    # A download that was truncated: its program is not installed, and those after it are not, either.
    node.write({f"{SERVED}/kubelet": content("kubelet")[:-1]})
    failed = bakery.run("--tags", "install", fails=True, eks_node_image=image)
    assert mentions(failed, image["programs"]["kubelet"]["sha256"])
    assert not any(map(node.exists, ("/usr/bin/kubelet", "/etc/systemd/system/kubelet.service")))
    assert node.read("/usr/sbin/runc") == content(ON_CONTROLLER)

    # The next run continues.
    node.write({f"{SERVED}/kubelet": content("kubelet")})
    first = bakery.changed
    bakery.add_roles(HOOKS)
    hooks = {"eks_node_image_before_install": ["early"], "eks_node_image_after_install": ["late"]}
    shown = bakery.run("--tags", "install", "--diff", "-v", eks_node_image=image, **hooks)
    assert all(f"[{name} : Hook]" in shown for name in HOOKS) and CANARY not in shown
    assert {*first, *bakery.changed} == {*expected}
    for name, path in (("kubelet", "/usr/bin/kubelet"), ("runc", "/usr/sbin/runc")):
        assert (node.read(path), node.stat(path)) == (content(name), ("0755", "root:root"))
    assert node.read("/etc/eks/kubelet-version.txt") == b"Kubernetes v1.34.1\n"
    assert b"TEAM='platform & friends'\n" in node.read("/etc/eks/release")
    assert node.stat("/etc/token") == ("0600", "root:root")
    assert VALID.encode() in node.read("/etc/ssl/certs/ca-certificates.crt")
    assert node.exec(["dpkg", "--get-selections", "htop"]).stdout.split() == [b"htop", b"hold"]
    enabled = {name: node.property(f"{name}.service", "UnitFileState") for name in ("chrony", "containerd", "kubelet")}
    assert enabled == {"chrony": "enabled", "containerd": "enabled", "kubelet": "disabled"}

    # The second run changes nothing, also without the archives of the first one.
    node.exec(["rm", "-r", "/var/cache/eks-node-image"], check=True)
    bakery.run("--tags", "install", eks_node_image=image)
    assert bakery.changed == []

    # What remains is for the seal.
    bakery.run("--tags", "verify", fails=True, eks_node_image=image, eks_node_image_report=str(tmp_path))
    findings = json.loads((tmp_path / "builder.json").read_text(encoding="utf-8"))["findings"]
    assert {finding["rule"] for finding in findings} - {rule.id for rule in leftovers.RULES} == OF_THE_NODE


@pytest.mark.matrix
def test_a_sealed_image(node: Node, tmp_path: Path) -> None:
    bakery = Bakery(node, tmp_path)
    image = description(tmp_path)
    bakery.run("--tags", "install,seal", eks_node_image=image)
    provenance = json.loads(node.read(PROVENANCE))
    listed = {entry["path"]: entry["sha256"] for entry in provenance["files"]}
    assert listed["/usr/bin/kubelet"] == image["programs"]["kubelet"]["sha256"] and "/usr/bin/ctr" in listed
    assert ("htop", VERSION) in [(package["name"], package["version"]) for package in provenance["packages"]]
    found = call(node, "image_verify", profile="image")["findings"]
    assert {finding["rule"] for finding in found} == OF_THE_NODE

    # A second bake changes nothing.
    bakery.run("--tags", "install,seal", eks_node_image=image)
    assert bakery.changed == []


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"ansible_user": "daemon", "ansible_remote_tmp": "/tmp/daemon", "ansible_become": False}, "become: true"),
        ({"eks_node_image_lock": "inputs.lock"}, "eks_node_image_inputs"),
        ({"eks_node_image_lok": "inputs.lock"}, "eks_node_image_lok"),
    ],
    ids=["not-root", "lock-without-inputs", "unknown-variable"],
)
def test_what_a_bake_needs(node: Node, tmp_path: Path, variables: dict[str, Any], message: str) -> None:
    bakery = Bakery(node, tmp_path)
    assert mentions(bakery.run("--check", fails=True, eks_node_image=description(tmp_path), **variables), message)
    assert bakery.changed == []


def test_a_wrong_description_installs_nothing(node: Node, tmp_path: Path) -> None:
    bakery = Bakery(node, tmp_path)
    image = description(tmp_path)
    bakery.add_roles(HOOKS)
    hooks = {"eks_node_image_before_install": "early"}
    failed = bakery.run("--tags", "install", fails=True, eks_node_image={**image, "pakages": ["jq"]}, **hooks)
    assert mentions(failed, "image.pakages", "packages") and "[early : Hook]" not in failed

    # A file of the controller with another checksum.
    (tmp_path / "runc.amd64").write_text("another", encoding="utf-8")
    failed = bakery.run("--tags", "install", fails=True, eks_node_image=image)
    assert mentions(failed, "runc.amd64", hashlib.sha256(b"another").hexdigest(), image["programs"]["runc"]["sha256"])
    assert not any(map(node.exists, ("/etc/eks", "/usr/bin/kubelet", "/usr/bin/htop")))
