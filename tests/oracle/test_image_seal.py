# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""image_seal on a container with systemd, journald with a journal on disk, cloud-init, mounts and links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from nodelab import CloudInitNode

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.seal import PROVENANCE
from ansible_collections.nodebootstrap.eks.tests.oracle.live_nodes import call
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

LEFTOVERS = {
    "/root/.bash_history": "aws configure\n",
    "/home/admin/.ssh/authorized_keys": "ssh-ed25519 A packer\n",
    "/var/tmp/script_4711.sh": "x",
    "/var/cache/eks-node-image/inputs.lock": "{}",
    "/var/log/secure": "x",
    "/var/lib/nodebootstrap/manifest.json": "{}",
}
PERSISTENT = {"/etc/systemd/journald.conf.d/10-disk.conf": "[Journal]\nStorage=persistent\n"}


@pytest.fixture(scope="module")
def node() -> Iterator[CloudInitNode]:
    with CloudInitNode.start(files=PERSISTENT) as started:
        yield started


def seal(node: CloudInitNode, **options: Any) -> dict[str, Any]:
    return call(node, "image_seal", root="/", **options)


def findings(node: CloudInitNode) -> set[str]:
    found = call(node, "image_verify", profile="image")["findings"]
    return {f"{one['rule']} {one['path']}" for one in found}


def test_a_machine_that_was_not_installed_as_an_image_is_refused(node: CloudInitNode) -> None:
    result = seal(node)
    assert result["failed"] and mentions(result["msg"], PROVENANCE)


def test_a_sealed_machine_has_no_leftovers_and_stays_so(node: CloudInitNode) -> None:
    node.exec(["mkdir", "-p", "/srv/outside", "/home/linked", "/var/log/volume"], check=True)
    node.exec(["mount", "-t", "tmpfs", "none", "/var/log/volume"], check=True)
    node.write({**LEFTOVERS, PROVENANCE: '{"collection": {}}', "/srv/outside/authorized_keys": "A", "/var/log/volume/a": "A"})
    node.exec(["ln", "-s", "/srv/outside", "/home/linked/.ssh"], check=True)
    node.exec(["systemctl", "mask", "--runtime", "systemd-random-seed.service"])
    before = findings(node)
    assert {path for path in LEFTOVERS if not any(path.startswith(one.split()[1]) for one in before)} == set()
    assert {one.split()[0] for one in before} >= {"image.machine_id", "image.journal", "image.host_keys"}

    expected = seal(node, _ansible_check_mode=True)
    assert findings(node) == before
    result = seal(node)
    assert not result.get("failed"), result["msg"]
    assert result["removed"] == expected["removed"] and result["changed"] is True
    rules = {removal["rule"] for removal in result["removed"]}
    assert rules >= {"image.machine_id", "image.journal", "image.host_keys", "image.authorized_keys", "image.shell_history", "image.logs"}
    removed = {one for one in before if one.split()[0] in rules and "/home/linked" not in one}
    assert findings(node) == before - removed
    assert node.read("/etc/machine-id") == b""
    assert node.read("/srv/outside/authorized_keys") == b"A" and node.read("/var/log/volume/a") == b"A"

    # journald and the other programs of the machine go on.
    for number in range(50):
        node.exec(["systemd-run", "--wait", "-q", "echo", f"line {number}"] if number < 3 else ["logger", "x" * 4000])
    node.exec(["journalctl", "--sync"])
    again = seal(node)
    assert (again["changed"], again["removed"]) == (False, [])


def test_a_machine_on_which_kubelet_runs_is_refused(node: CloudInitNode) -> None:
    node.write({PROVENANCE: '{"collection": {}}', "/var/log/secure": "x"})
    node.exec(["systemd-run", "-q", "--unit=kubelet-stand-in", "bash", "-c", "exec -a /usr/bin/kubelet sleep 600"], check=True)
    result = seal(node)
    assert result["failed"] and mentions(result["msg"], "kubelet")
    assert node.read("/var/log/secure") == b"x"
