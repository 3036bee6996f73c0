# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

FOLDER = Path(data.__file__).parent / "_data"
FILES = sorted(FOLDER.glob("*.json"))
TABLES = [
    data.instance_types,
    data.kubelet_fields,
    data.kubelet_flags,
    data.kubernetes_versions,
    data.bottlerocket_settings,
    data.ecr_accounts,
    data.eks_anywhere,
]


def test_the_files_are_the_ones_that_the_library_reads() -> None:
    assert [file.stem for file in FILES] == [
        "bottlerocket_settings",
        "ecr_accounts",
        "eks_anywhere",
        "instance_types",
        "instance_types_overrides",
        "karpenter",
        "kubelet_defaults",
        "kubelet_fields",
        "kubelet_flags",
        "kubelet_gates",
        "kubernetes_versions",
        "rules",
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_has_a_source_and_a_date(file: Path) -> None:
    read = json.loads(file.read_text(encoding="utf-8"))
    assert len(read["source"]) > 20
    assert len(read["date"]) == 10 and read["date"] >= "2026-01-01"


def test_every_override_has_its_own_source_and_date() -> None:
    rows = json.loads((FOLDER / "instance_types_overrides.json").read_text(encoding="utf-8"))["rows"]
    assert sorted(rows) == ["i7ie.48xlarge", "i7ie.metal-48xl", "i8ge.48xlarge", "i8ge.metal-48xl"]
    assert all(row["source"] and row["date"] for row in rows.values())


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_tables_are_read_once_and_read_only(table: Any) -> None:
    assert table() is table()
    with pytest.raises(TypeError):
        table()["new"] = 1


def test_what_lies_deeper_is_read_only_too() -> None:
    with pytest.raises(TypeError):
        data.bottlerocket_settings()["kubernetes"]["settings"]["max-pods"] = "bool"
    with pytest.raises(TypeError):
        data.instance_types()["m5.large"]["vcpus"] = 4


def test_instance_types() -> None:
    types = data.instance_types()
    assert len(types) >= 1000
    m5_large = {"max_enis": 3, "ips_per_eni": 10, "vcpus": 2, "hypervisor": "nitro", "architecture": "x86_64", "memory": 8192}
    assert dict(types["m5.large"]) == m5_large
    assert types["i7ie.48xlarge"]["max_enis"] == 15
    assert types["i8ge.metal-48xl"]["max_enis"] == 24
    assert "m5.larg" not in types
    for name, row in types.items():
        assert row["max_enis"] >= 1 and row["ips_per_eni"] >= 1 and row["vcpus"] >= 1, name
        assert row["hypervisor"] in {"nitro", "xen", "metal"}, name
        assert row["architecture"] in {"x86_64", "arm64", None}, name
        assert row["memory"] >= 512, name


@pytest.mark.parametrize(
    ("family", "since", "until"),
    [
        ("al2", None, 32),
        ("al2023", None, None),
        ("bottlerocket", None, None),
        ("ubuntu", None, None),
        ("ubuntu-20.04", None, 29),
        ("ubuntu-22.04", 29, None),
        ("ubuntu-24.04", 31, None),
        ("ubuntu-26.04", 35, None),
        ("windows", None, None),
        ("windows-2019", None, None),
        ("windows-2022", 23, None),
        ("windows-2025", 35, None),
    ],
)
def test_families(family: str, since: int | None, until: int | None) -> None:
    row = data.kubernetes_versions()["families"][family]
    assert (row.get("since"), row.get("until")) == (since, until)
    assert ("instead" in row) is (since is not None or until is not None)


@pytest.mark.parametrize(
    ("switch", "minor"),
    [
        ("containerd_only", 24),
        ("in_tree_aws_removed", 27),
        ("config_dir_alpha", 28),
        ("config_dir", 30),
        ("fail_cgroup_v1", 35),
        ("pause_image_flag_removed", 35),
    ],
)
def test_switches(switch: str, minor: int) -> None:
    assert data.kubernetes_versions()["switches"][switch] == minor


def test_calendar() -> None:
    eks = data.kubernetes_versions()["eks"]
    assert list(eks) == [f"1.{minor}" for minor in range(30, 37)]
    assert eks["1.35"] == {"standard_support_ends": "2027-03-27", "extended_support_ends": "2028-03-27"}


# The eight addresses that AL2's own test of get-ecr-uri.sh expects, and regions opened since.
@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("eu-south-1", "590381155156.dkr.ecr.eu-south-1.amazonaws.com"),
        ("us-east-2", "602401143452.dkr.ecr.us-east-2.amazonaws.com"),
        ("eu-south-100", "602401143452.dkr.ecr.us-west-2.amazonaws.com"),
        ("us-gov-east-100", "013241004608.dkr.ecr.us-gov-west-1.amazonaws.com"),
        ("cn-north-100", "961992271922.dkr.ecr.cn-northwest-1.amazonaws.com.cn"),
        ("us-iso-west-100", "725322719131.dkr.ecr.us-iso-east-1.c2s.ic.gov"),
        ("us-isob-west-100", "187977181151.dkr.ecr.us-isob-east-1.sc2s.sgov.gov"),
        ("ap-east-2", "533267051163.dkr.ecr.ap-east-2.amazonaws.com"),
        ("ap-southeast-6", "333609536671.dkr.ecr.ap-southeast-6.amazonaws.com"),
        ("mx-central-1", "730335286997.dkr.ecr.mx-central-1.amazonaws.com"),
        ("", "602401143452.dkr.ecr.us-west-2.amazonaws.com"),
    ],
)
def test_ecr_host(region: str, host: str) -> None:
    assert data.ecr_host(region) == host


def test_every_region_and_account_is_well_formed() -> None:
    table = data.ecr_accounts()
    assert len(table["regions"]) == 43
    assert all(len(account) == 12 and account.isdigit() for account in table["regions"].values())
    assert all(row["fallback"] in table["regions"] for row in table["partitions"] if row["fallback"])


def test_a_partition_without_a_known_account(golden_message: GoldenMessages) -> None:
    with pytest.raises(SpecError) as caught:
        data.ecr_host("eusc-de-east-1")
    golden_message(caught.value)


@pytest.mark.parametrize(("version", "tag"), [(None, "3.10"), ("3.5", "3.5")])
def test_pause_image(version: str | None, tag: str) -> None:
    assert data.pause_image("us-west-2", version) == f"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/pause:{tag}"
