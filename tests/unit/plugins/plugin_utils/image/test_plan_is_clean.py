# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A base system with everything that a plan installs gives image_verify nothing to report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.verify import verify
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.fields import FAMILIES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.plan import image_plan
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._image.clean_trees import ELF_X86, UNITS, Tree, program
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image.descriptions import BUILDERS, full

VERSIONS = {"/usr/bin/kubelet": "Kubernetes v1.32.3", "/usr/bin/containerd": "containerd github.com/containerd/containerd v1.7.27 abc"}
OS_RELEASE = {family: f'ID={BUILDERS[family]["id"]}\nVERSION_ID="{BUILDERS[family]["version_id"]}"\n' for family in FAMILIES}

#: What a plain system and the packages of a plan contain.
BASE: dict[str, str | bytes] = {
    "/usr/bin/bash": ELF_X86,
    "/usr/bin/aws": program(),
    "/usr/bin/unpigz": program(),
    "/usr/bin/containerd": program(VERSIONS["/usr/bin/containerd"]),
    "/usr/sbin/iptables": program(),
    "/etc/machine-id": "",
    "/etc/fstab": "UUID=1 / xfs defaults 0 0\n",
    "/etc/cloud/cloud.cfg": "datasource_list: [Ec2, None]\ncloud_final_modules:\n- scripts-user\n",
    "/proc/self/mountinfo": "1 0 0:1 / / rw - xfs /dev/root rw\n",
    # A hardening profile, whose settings come before ours, and the file that Debian reads last but one.
    "/etc/sysctl.d/60-hardening.conf": "kernel.panic = 0\nnet.ipv4.ip_forward = 0\n",
    "/etc/sysctl.conf": "vm.overcommit_memory = 2\n",
    f"{UNITS}/chronyd.service": "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
    f"{UNITS}/chrony.service": "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
    f"{UNITS}/containerd.service": "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
    f"{UNITS}/cloud-final.service": "[Unit]\nAfter=multi-user.target\n[Service]\nExecStart=/bin/true\n",
}


def installed(plan: dict[str, Any]) -> Tree:
    """The base with the programs, files and enabled units of a plan."""
    tree = Tree({**BASE, "/etc/os-release": OS_RELEASE[plan["family"]]})
    for download in plan["downloads"]:
        if download["kind"] == "file":
            path = download["dest"]
            tree.files[path] = program(VERSIONS[path]) if path in VERSIONS else ELF_X86
            tree.modes[path] = int(download["mode"], 8)
    for file in plan["files"]:
        tree.files[file["path"]] = file["content"]
        tree.modes[file["path"]] = int(file["mode"], 8)
    for service in plan["services"]:
        paths = [f"{folder}/{service['name']}" for folder in ("/etc/systemd/system", UNITS)]
        path = next(path for path in paths if path in tree.files)
        wanted = re.findall(r"^WantedBy=(.*)$", str(tree.files[path]), flags=re.MULTILINE)
        if service["enabled"]:
            assert wanted
            tree.links |= {f"/etc/systemd/system/{target}.wants/{service['name']}": path for target in wanted}
    return tree


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_reported(tmp_path: Path, family: str) -> None:
    found = verify(installed(image_plan(full(family), BUILDERS[family])).build(tmp_path), "image", "1.32")
    assert (found.findings, found.problems, found.family) == ([], [], family)
