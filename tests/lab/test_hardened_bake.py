# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image on a base that OpenSCAP has hardened: the bake reports what the hardening breaks; with the fixes, a node of the image joins."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.lab import Lab
from ansible_collections.nodebootstrap.eks.tests.lab.baking import KUBELET, baked, description, exists
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE, group, matches_group
from ansible_collections.nodebootstrap.eks.tests.lab.progress import docker
from ansible_collections.nodebootstrap.eks.tests.lab.test_hardened_join import HARDENED, SYSCTL
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tools.checking.steps import cores

from nodelab import images  # isort: skip

pytestmark = pytest.mark.docker

NEWEST = cores()[-1]

LOGINS = ("/etc/pam.d/common-auth", "/etc/pam.d/common-account")
CLOCK = "/etc/chrony/chrony.conf"


def fixed_files() -> list[dict[str, str]]:
    """Files of a description that fix what the hardening breaks."""
    command = ["run", "--rm", "--network", "none", "--entrypoint", "cat", images.image(images.HARDENED)]
    files = [{"path": CLOCK, "content": "server 169.254.169.123 prefer iburst\n"}]
    for path in LOGINS:
        lines = docker(*command, path).stdout.decode().splitlines(keepends=True)
        files.append({"path": path, "content": "".join(line for line in lines if "pam_tally2.so" not in line)})
    return files


@pytest.mark.matrix
def test_the_bake_reports_what_the_hardening_breaks(tmp_path: Path, golden_message: GoldenMessages) -> None:
    with baked(tmp_path, description("ubuntu"), NEWEST, images.HARDENED) as build:
        assert build.failed and not exists(build.tag)
        lines = [f"{one['severity']} {one['path']}: {one['message']}; {one['fix']} [{one['rule']}]" for one in build.report["findings"]]
        golden_message("\n".join(lines))


@pytest.mark.matrix
@pytest.mark.parametrize(("family", "case"), [("ubuntu", "ubuntu-unit"), ("al2023", "al2023")])
def test_a_node_of_the_fixed_image_joins_with_user_data_alone(lab: Lab, tmp_path: Path, family: str, case: str) -> None:
    image = description(family)
    fixed = {**image, "files": [*image["files"], *fixed_files()], "sysctls": {"net.ipv6.conf.all.forwarding": "1"}}
    with baked(tmp_path, fixed, NEWEST, images.HARDENED) as build:
        assert not build.failed, build.output
        assert build.report["findings"] == []
        user_data = render(lab.cluster(KUBELET), group(case)).document.text
        with lab.node(family, image=build.tag, user_data=user_data, files=SYSCTL) as node:
            node.wait_ready(PATIENCE)
            matches_group(node, case)
            assert {name: node.read(f"/proc/sys/{name}") for name in HARDENED} == HARDENED
            assert node.read("/proc/sys/net/ipv4/ip_forward") == b"1\n", "the role's file comes last"
