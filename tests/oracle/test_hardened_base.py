# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A base that OpenSCAP has hardened: which rules it fixed, what image_verify finds because of it, and whether the fixes work.

The stand-ins are listed in docker/hardening/scan.py.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodelab import UbuntuNode, engine, images

from ansible_collections.nodebootstrap.eks.tests.oracle.ansible_calls import call
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

pytestmark = pytest.mark.docker

MIN_FIXED = 50

#: Both nodes have logs, because they have booted. An image has not.
IGNORED = ("image.logs", "image.journal")

SUDO = ("runuser", "-u", "ubuntu", "--", "sudo", "-n", "true")


@pytest.fixture(scope="module")
def hardened() -> Iterator[UbuntuNode]:
    with UbuntuNode.start(suite=images.HARDENED) as node:
        yield node


def verify(node: UbuntuNode, folder: Path) -> list[dict[str, str]]:
    """What image_verify finds on a machine as an image."""
    options = {"profile": "image", "timeout": 60, "ignore": IGNORED}
    result = call(node, folder, "image_verify", "-a", json.dumps(options))
    assert not result.get("failed") and result["family"] == "ubuntu" and result["problems"] == []
    findings: list[dict[str, str]] = result["findings"]
    return findings


def key(finding: dict[str, str]) -> tuple[str, str]:
    return finding["rule"], finding["path"]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str]]:
    """What image_verify finds on the same machine without hardening."""
    with UbuntuNode.start() as plain:
        assert plain.exec(SUDO).returncode == 0
        return {key(finding) for finding in verify(plain, tmp_path_factory.mktemp("plain"))}


@pytest.mark.matrix
def test_openscap_fixes_rules_and_breaks_none() -> None:
    results = images.scan_results()
    before, after = results["before"], results["after"]
    fixed = [rule for rule in before if before[rule] == "fail" and after[rule] == "pass"]
    engine.say(f"hardened base: {len(fixed)} rules went from fail to pass: {', '.join(fixed)}")
    others = [
        f"{rule} ({before[rule]}, {results['remediate'][rule]}, {after[rule]})"
        for rule in before
        if after[rule] not in ("pass", "notapplicable")
    ]
    engine.say(f"hardened base: rules that do not pass (before, during and after the remediation): {', '.join(others)}")
    engine.say(f"hardened base: results before {dict(Counter(before.values()))}, after {dict(Counter(after.values()))}")
    assert before.keys() == after.keys()
    assert len(fixed) >= MIN_FIXED
    assert [rule for rule in before if before[rule] == "pass" != after[rule]] == []


@pytest.mark.matrix
def test_image_verify_finds_what_the_hardening_breaks_and_its_fixes_work(
    hardened: UbuntuNode, known: set[tuple[str, str]], tmp_path: Path, golden_message: GoldenMessages
) -> None:
    caused = [finding for finding in verify(hardened, tmp_path) if key(finding) not in known]
    golden_message("\n".join(f"{one['severity']} {one['path']}: {one['message']}; {one['fix']} [{one['rule']}]" for one in caused))
    refused = hardened.exec(SUDO)
    assert refused.returncode != 0 and b"Module is unknown" in refused.stderr

    hardened.write({"/etc/sysctl.d/99-zz-node.conf": "net.ipv4.ip_forward = 1\nnet.ipv6.conf.all.forwarding = 1\n"})
    hardened.exec(["sed", "-i", "/pam_tally2.so/d", "/etc/pam.d/common-auth", "/etc/pam.d/common-account"], check=True)
    hardened.exec(["tee", "-a", "/etc/chrony/chrony.conf"], "server 169.254.169.123 prefer iburst\n", check=True)
    assert [finding for finding in verify(hardened, tmp_path) if key(finding) not in known] == []
    assert hardened.exec(SUDO).returncode == 0
