# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an image: golden files of every family, and what they do not show."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.fields import FAMILIES, IMAGE, PROGRAMS
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.plan import image_plan
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image.descriptions import BUILDERS, full, minimal, source

GOLDEN = Path(__file__).resolve().parents[4] / "golden" / "image_plans"
CASES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    **{f"{family}-minimal": (minimal(family), BUILDERS[family]) for family in FAMILIES},
    **{f"{family}-full": (full(family), BUILDERS[family]) for family in FAMILIES},
    "rocky": ({**minimal("al2023"), "programs": {"nodeadm": source("nodeadm"), "containerd": source("containerd.tgz")}}, BUILDERS["rocky"]),
}


def text(case: str) -> str:
    """The golden file of a case."""
    return json.dumps(image_plan(*CASES[case]), indent=1, ensure_ascii=False) + "\n"


def write() -> None:
    """Write the golden files anew."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        (GOLDEN / f"{case}.json").write_text(text(case), encoding="utf-8")


def test_every_case_has_its_file_and_every_file_its_case() -> None:
    assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(CASES)


@pytest.mark.parametrize("case", CASES)
def test_plan(case: str) -> None:
    assert text(case) == (GOLDEN / f"{case}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_full_description_has_every_field(family: str) -> None:
    given = full(family)
    for fields, found in ((IMAGE, given), (PROGRAMS, given["programs"])):
        expected = {name for name, kind in fields.items() if family in kind.schema.get("families", FAMILIES)}
        assert expected == found.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_input_stays_as_it_is_and_its_order_does_not_matter(family: str) -> None:
    given = full(family)
    before = copy.deepcopy(given)
    plan = image_plan(dict(reversed(given.items())), BUILDERS[family])
    assert given == before
    assert plan == image_plan(given, BUILDERS[family])


def test_a_file_of_the_user_replaces_ours() -> None:
    unit = {"path": "/etc/systemd/system/kubelet.service", "content": "[Service]\n"}
    given = {**minimal("al2023"), "programs": {"kubelet": source("kubelet")}, "files": [unit]}
    found = [file for file in image_plan(given, BUILDERS["al2023"])["files"] if file["path"] == unit["path"]]
    assert found == [{**unit, "mode": "0644"}]


def test_a_setting_of_the_user_replaces_ours() -> None:
    plan = image_plan(full("ubuntu"), BUILDERS["ubuntu"])
    [lines] = [file["content"].splitlines() for file in plan["files"] if file["path"].startswith("/etc/sysctl.d/")]
    assert [line for line in lines if line.startswith(("vm.max_map_count", "net.core"))] == [
        "net.core.somaxconn = 1024",
        "vm.max_map_count = 1048576",
    ]


def test_downloads_with_the_same_base_name_have_different_files() -> None:
    images = [{"name": f"example.com/{digit}:1", "archive": source("image.tar", digit)} for digit in "12"]
    plan = image_plan({**minimal("al2023"), "images": images}, BUILDERS["al2023"])
    assert [image["file"] for image in plan["images"]] == ["1" * 12 + "-image.tar", "2" * 12 + "-image.tar"]


def test_a_checksum_in_capital_letters_is_the_same() -> None:
    plan = image_plan({**minimal("al2023"), "programs": {"kubelet": source("kubelet", "A")}}, BUILDERS["al2023"])
    assert plan["downloads"][0]["sha256"] == "a" * 64


def test_secrets_in_a_proxy_are_readable_only_by_root() -> None:
    plan = image_plan(full("al2023"), BUILDERS["al2023"])
    found = {file["path"]: file["mode"] for file in plan["files"] if "proxy:3128" in file["content"]}
    assert len(found) == 4 and set(found.values()) == {"0600"}
    assert "build:3128" not in json.dumps(plan["files"])
