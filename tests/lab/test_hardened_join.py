# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes on a base that OpenSCAP has hardened join by user data, with the kernel settings of the hardening.

tests/oracle/test_hardened_base.py shows what the hardening changes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.joining import CASES, PATIENCE, group, matches_group
from ansible_collections.nodebootstrap.eks.tests.oracle.ansible_calls import call

from nodelab import images  # isort: skip

pytestmark = pytest.mark.docker

SYSTEMD = "/etc/systemd/system"
#: systemd-sysctl for the network settings alone: the others are those of the machine.
SYSCTL = {
    f"{SYSTEMD}/sysinit.target.d/50-network-settings.conf": "[Unit]\nWants=network-settings.service\n",
    f"{SYSTEMD}/network-settings.service": (
        "[Unit]\nDefaultDependencies=no\nBefore=sysinit.target\n"
        "[Service]\nType=oneshot\nExecStart=/usr/lib/systemd/systemd-sysctl --prefix=/net\n"
    ),
}
#: Settings of the profile that differ from those of a container.
HARDENED = {"net/ipv4/conf/all/send_redirects": b"0\n", "net/ipv4/conf/all/log_martians": b"1\n", "net/ipv4/conf/all/rp_filter": b"1\n"}
#: Rules of image_verify that the hardening breaks. They concern pods and logins: the node joins.
BROKEN = {"image.ip_forward", "image.no_ipv6_forwarding", "image.pam_module"}
#: What the findings ask for.
FIXES = {"/etc/sysctl.d/99-zz-node.conf": "net.ipv4.ip_forward = 1\nnet.ipv6.conf.all.forwarding = 1\n"}


@pytest.mark.matrix
@pytest.mark.parametrize("case", ["al2023", "ubuntu-bootstrap", "ubuntu-static"])
def test_a_node_on_a_hardened_base_joins_by_user_data(lab: Lab, case: str, tmp_path: Path) -> None:
    family, _fields, minor, real_nodeadm, _live = CASES[case]
    text = render(lab.cluster(minor), group(case)).document.text
    with lab.node(family, user_data=text, kubelet=minor, real_nodeadm=real_nodeadm, files=SYSCTL, suite=images.HARDENED) as node:
        node.wait_ready(PATIENCE)
        matches_group(node, case)
        assert {name: node.read(f"/proc/sys/{name}") for name in HARDENED} == HARDENED
        assert broken_rules(node, tmp_path) == BROKEN

        node.write(FIXES)
        node.exec(["systemctl", "restart", "network-settings.service"], check=True)
        node.exec(["sed", "-i", "/pam_tally2.so/d", "/etc/pam.d/common-auth", "/etc/pam.d/common-account"], check=True)
        assert broken_rules(node, tmp_path) == set()
        assert node.read("/proc/sys/net/ipv4/ip_forward") == b"1\n"
        node.wait_ready(PATIENCE)


def broken_rules(node: LabNode, folder: Path) -> set[str]:
    """The rules of BROKEN that a running node breaks."""
    result = call(node, folder, "image_verify", "-a", "profile=live timeout=60")
    assert result["problems"] == []
    return {finding["rule"] for finding in result["findings"]} & BROKEN
