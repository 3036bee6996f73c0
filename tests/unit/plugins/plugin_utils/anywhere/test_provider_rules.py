# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules that EKS Anywhere applies after its first validation: Bare Metal as a whole, Bottlerocket, Snow, Flux; and proxies."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.validate import validate
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import DELETE, Change
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.valid_clusters import CLUSTER, PLANE, WORKERS
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import rule_and_path

DATACENTER, MACHINE, VSPHERE = "TinkerbellDatacenterConfig", "TinkerbellMachineConfig", "VSphereMachineConfig"
IN_PLACE = {"type": "InPlace"}
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}
BOTH: list[Change] = [(CLUSTER, f"{PLANE}.upgradeRolloutStrategy", IN_PLACE), (CLUSTER, f"{WORKERS}.0.upgradeRolloutStrategy", IN_PLACE)]
TYPE = "anywhere.rollout Cluster/dev.spec.workerNodeGroupConfigurations[0].upgradeRolloutStrategy.type"
URL = "https://example.com/images/"


def errors(provider: str, *changes: Change) -> list[str]:
    """Rule and path of every error."""
    return [rule_and_path(problem) for problem in validate(clusters.file(provider, *changes)).errors]


@pytest.mark.parametrize("name", ["ubuntu-1.34.gz", "ubuntu-1-34.gz", "ubuntu_1_34.gz", "ubuntu134.gz", "v1.34.1/ubuntu.gz"])
def test_the_url_of_an_image_has_the_version(name: str) -> None:
    assert errors("tinkerbell", (DATACENTER, "spec.osImageURL", URL + name)) == []


@pytest.mark.parametrize("name", ["ubuntu.gz", "ubuntu-1.33.gz", "ubuntu-34.gz"])
def test_the_url_of_an_image_with_another_version(name: str) -> None:
    assert errors("tinkerbell", (DATACENTER, "spec.osImageURL", URL + name)) == [f"anywhere.os_image {DATACENTER}/dev.spec.osImageURL"]


def test_workers_with_a_version_of_their_own_need_its_image() -> None:
    older: Change = (CLUSTER, f"{WORKERS}.0.kubernetesVersion", "1.33")
    assert errors("tinkerbell", older) == [f"anywhere.os_image {DATACENTER}/dev.spec.osImageURL"]
    assert errors("tinkerbell", older, (DATACENTER, "spec.osImageURL", f"{URL}1.33-and-1.34.gz")) == []


def test_every_machine_config_has_an_image_or_the_datacenter_has() -> None:
    none: Change = (DATACENTER, "spec.osImageURL", DELETE)
    places = [f"input.missing_field {MACHINE}/{name}.spec.osImageURL" for name in ("cp", "md")]
    assert errors("tinkerbell", none) == places
    assert errors("tinkerbell", none, (MACHINE, "spec.osImageURL", f"{URL}1.34.gz")) == places[1:]


def test_bottlerocket_brings_its_images() -> None:
    text = clusters.file("tinkerbell", (DATACENTER, "spec.osImageURL", DELETE)).replace("osFamily: ubuntu", "osFamily: bottlerocket")
    assert [rule_and_path(one) for one in validate(text).errors] == []


def test_operating_systems_do_not_differ() -> None:
    assert errors("tinkerbell", (MACHINE, "spec.osFamily", "redhat")) == [f"anywhere.os_family {MACHINE}/md.spec.osFamily"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (BOTH, []),
        (BOTH[:1], [TYPE]),
        (BOTH[1:], [TYPE]),
        ([BOTH[0], (CLUSTER, f"{WORKERS}.0.upgradeRolloutStrategy", ROLLING)], [TYPE]),
        ([(CLUSTER, f"{WORKERS}.0.upgradeRolloutStrategy", ROLLING)], []),
        (
            [*BOTH, (CLUSTER, f"{WORKERS}.0.autoscalingConfiguration", {"minCount": 1, "maxCount": 3})],
            ["anywhere.autoscaling Cluster/dev.spec.workerNodeGroupConfigurations[0].autoscalingConfiguration"],
        ),
    ],
)
def test_upgrades_in_place_are_for_all_groups(changes: list[Change], expected: list[str]) -> None:
    assert errors("tinkerbell", *changes) == expected


def test_upgrades_in_place_are_for_ubuntu() -> None:
    text = clusters.file("tinkerbell", *BOTH).replace("osFamily: ubuntu", "osFamily: redhat")
    rules = [rule_and_path(one) for one in validate(text).errors]
    assert rules == ["anywhere.rollout Cluster/dev.spec.controlPlaneConfiguration.upgradeRolloutStrategy.type", TYPE]


HOST = f"{VSPHERE}/cp.spec.hostOSConfiguration.bottlerocketConfiguration"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"kubernetes": {"allowedUnsafeSysctls": ["net.core.somaxconn"], "clusterDNSIPs": ["10.96.0.10"], "maxPods": 0}}, []),
        ({"kubernetes": {"allowedUnsafeSysctls": [""]}}, [f"anywhere.bottlerocket {HOST}.kubernetes.allowedUnsafeSysctls[0]"]),
        ({"kubernetes": {"clusterDNSIPs": ["10.96.0.300"]}}, [f"anywhere.bottlerocket {HOST}.kubernetes.clusterDNSIPs[0]"]),
        ({"kubernetes": {"clusterDNSIPs": "10.96.0.10"}}, [f"input.wrong_type {HOST}.kubernetes.clusterDNSIPs"]),
        ({"kubernetes": {"maxPods": -1}}, [f"anywhere.bottlerocket {HOST}.kubernetes.maxPods"]),
        ({"kubernetes": {"maxPods": True}}, [f"anywhere.bottlerocket {HOST}.kubernetes.maxPods"]),
        ({"kernel": {"sysctlSettings": {"": "1"}}}, [f"anywhere.bottlerocket {HOST}.kernel.sysctlSettings"]),
        ({"kernel": {"sysctlSettings": ["x"]}}, [f"input.wrong_type {HOST}.kernel.sysctlSettings"]),
        ({"boot": {"bootKernelParameters": {"": ["1"]}}}, [f"anywhere.bottlerocket {HOST}.boot.bootKernelParameters"]),
        ({"boot": {"bootKernelParameters": {"console": ["tty0"]}}}, []),
    ],
)
def test_settings_of_bottlerocket(config: dict[str, Any], expected: list[str]) -> None:
    changes: list[Change] = [
        (VSPHERE, "spec.osFamily", "bottlerocket"),
        (VSPHERE, "spec.users", [{"name": "ec2-user"}]),
        (VSPHERE, "spec.hostOSConfiguration", {"bottlerocketConfiguration": config}),
    ]
    assert errors("vsphere", *changes) == expected


def test_an_empty_configuration_of_bottlerocket_is_one() -> None:
    empty: Change = (VSPHERE, "spec.hostOSConfiguration", {"bottlerocketConfiguration": {}, "certBundles": []})
    assert errors("vsphere", empty) == [f"anywhere.only_bottlerocket {HOST}"]


@pytest.mark.parametrize(
    ("proxy", "is_valid"),
    [
        ("10.0.0.1:3128", True),
        ("proxy.lan:3128", True),
        ("[fd00::1]:3128", True),
        ("http://user:word@proxy.lan:3128", True),
        ("https://[fd00::1]:3128/", True),
        ("user:word@proxy.lan:3128", False),
        ("user@proxy.lan:3128", False),
        ("fd00::1:3128", False),
        ("http://proxy.lan", False),
        ("HTTP://proxy.lan:3128", False),
        (":3128", False),
    ],
)
def test_a_proxy_is_a_host_with_a_port_or_a_url(proxy: str, is_valid: bool) -> None:
    found = errors("docker", (CLUSTER, "spec.proxyConfiguration", {"httpProxy": proxy, "httpsProxy": "10.0.0.1:3128"}))
    assert found == ([] if is_valid else ["anywhere.proxy Cluster/dev.spec.proxyConfiguration.httpProxy"])


SNOW = "SnowMachineConfig"


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("instanceType", "sbe-c.large", []),
        ("instanceType", "sbe-g.4xlarge", []),
        ("instanceType", "m5.large", [f"input.unknown_value {SNOW}/cp.spec.instanceType"]),
        ("containersVolume", {"size": 8}, []),
        ("containersVolume", {"size": 7}, [f"input.out_of_range {SNOW}/cp.spec.containersVolume.size"]),
        ("containersVolume", {}, [f"input.out_of_range {SNOW}/cp.spec.containersVolume.size"]),
        ("nonRootVolumes", [{"size": 25}, {"size": 1}], [f"input.out_of_range {SNOW}/cp.spec.nonRootVolumes[1].size"]),
        ("osFamily", "bottlerocket", [f"input.missing_field {SNOW}/cp.spec.containersVolume"]),
    ],
)
def test_machines_of_snow(path: str, value: Any, expected: list[str]) -> None:
    assert errors("snow", (SNOW, f"spec.{path}", value)) == expected


def test_bottlerocket_on_snow_needs_a_large_volume() -> None:
    system: Change = (SNOW, "spec.osFamily", "bottlerocket")
    assert errors("snow", system, (SNOW, "spec.containersVolume", {"size": 25})) == []
    assert errors("snow", system, (SNOW, "spec.containersVolume", {"size": 24})) == [
        f"input.out_of_range {SNOW}/cp.spec.containersVolume.size"
    ]


def flux(**spec: Any) -> list[str]:
    """The errors of a cluster whose FluxConfig has these fields."""
    git = {"username": "git", "repositoryUrl": "ssh://git@example.com/a.git"}
    found = clusters.documents("docker", (CLUSTER, "spec.gitOpsRef", {"kind": "FluxConfig", "name": "f"}))
    found.append(clusters.document("FluxConfig", "f", {"git": git | spec.pop("git", {}), **spec}))
    return [rule_and_path(one) for one in validate(clusters.dump(found)).errors]


@pytest.mark.parametrize("branch", ["main", "team/a-b_c", "v1.2", "x"])
def test_the_name_of_a_branch(branch: str) -> None:
    assert flux(branch=branch) == []


@pytest.mark.parametrize("branch", ["a b", "a..b", "a~1", "/a", "a/", "a//b", "a.lock", ".a", "-a", "a\\b", "a.", "a@{b"])
def test_the_name_of_a_branch_that_git_refuses(branch: str) -> None:
    assert flux(branch=branch) == ["anywhere.flux FluxConfig/f.spec.branch"]


@pytest.mark.parametrize(("algorithm", "is_valid"), [("rsa", True), ("ecdsa", True), ("ed25519", True), ("dsa", False), ("RSA", False)])
def test_the_algorithm_of_a_key(algorithm: str, is_valid: bool) -> None:
    assert flux(git={"sshKeyAlgorithm": algorithm}) == ([] if is_valid else ["input.unknown_value FluxConfig/f.spec.git.sshKeyAlgorithm"])
