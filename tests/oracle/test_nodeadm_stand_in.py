# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes' stand-in for nodeadm, which imports nothing of the library, does in each of the 434 rows what the real one did."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import tomllib

from ansible_collections.nodebootstrap.eks.tests.oracle import nodeadm_rows
from ansible_collections.nodebootstrap.eks.tests.oracle.nodeadm_rows import CASES, RECORDED, STARTED, row_id

# Programs of the nodes lie in a folder of their own.
sys.path.insert(0, str(Path(__file__).resolve().parent / "docker" / "rootfs" / "opt" / "nodelab"))

import nodeadm_config
import nodeadm_files

TABLE = "/etc/eks/eni-max-pods.txt"

# reason → rows that nodeadm refuses and the stand-in takes
MORE_LENIENT = {
    "Python's email takes an unquoted boundary with / or =": ["mime_unquoted_slashes_boundary", "mime_boundary_equals_unquoted"],
    "Python's email reads any Content-Type of a part": ["mime_part_bad_content_type"],
    "Python's email takes a line that only begins with the boundary for text": ["mime_shell_line_like_boundary"],
}
LENIENT = {name for names in MORE_LENIENT.values() for name in names}

#: Written by the real one as well; the record says nothing about it.
NOT_RECORDED = {"/etc/containerd/base-runtime-spec.json"}


def without_nothing(value: Any) -> Any:
    """Empty sections left out; TOML by what it says."""
    if isinstance(value, str) and "\n" in value and "=" in value:
        try:
            return tomllib.loads(value)
        except tomllib.TOMLDecodeError:
            return value
    if not isinstance(value, dict):
        return value
    return {key: inner for key, inner in ((key, without_nothing(inner)) for key, inner in value.items()) if inner not in ({}, [], "", None)}


def merged(case: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(nodeadm_config, "imds", lambda _path: nodeadm_rows.user_data(case))
    for name, content in nodeadm_rows.drop_ins(case).items():
        folder.joinpath(name).write_bytes(content)
    spec: dict[str, Any] = nodeadm_config.read(["imds://user-data", f"file://{folder}"])
    nodeadm_config.check(spec)
    return spec


@pytest.mark.parametrize("case", CASES, ids=row_id)
def test_it_merges_as_the_real_one(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not case["check"]["ok"] and case["id"] not in LENIENT:
        with pytest.raises(nodeadm_config.ConfigError):
            merged(case, tmp_path, monkeypatch)
        return
    found = merged(case, tmp_path, monkeypatch)
    if case["id"] in LENIENT:
        assert not case["check"]["ok"], "not more lenient than nodeadm: remove the row from MORE_LENIENT"
    else:
        assert without_nothing(found) == without_nothing(case["merged"])


class Machine:
    """What the stand-in asks and writes."""

    def __init__(self, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
        instance = RECORDED["instance"]
        self.written: dict[str, str] = {}
        self.facts = {
            "instance-id": instance["instance_id"],
            "instance-type": case["instance_type"],
            "local-ipv4": instance["local_ipv4"],
            "hostname": instance["private_dns_name"],
            "mac": "0a:00:00:00:00:05",
            "network/interfaces/macs/0a:00:00:00:00:05/ipv6s": nodeadm_rows.IPV6,
            "placement/availability-zone": instance["availability_zone"],
            "placement/region": instance["region"],
        }
        self.files = {
            "/etc/eks/kubelet-version.txt": f"v{case['kubelet_version']}\n",
            "/etc/eks/containerd-version.txt": f"containerd github.com/containerd/containerd/v2 {case['containerd_version']}\n",
            "/etc/nodelab/vcpus": f"{nodeadm_rows.VCPUS}\n",
            TABLE: (Path(nodeadm_files.__file__).parent / "families/al2023/root").joinpath(TABLE[1:]).read_text(),
        }
        monkeypatch.setattr(nodeadm_files, "imds", lambda path: self.facts[path.removeprefix("meta-data/")].encode())
        monkeypatch.setattr(nodeadm_files, "content", self.files.get)
        monkeypatch.setattr(nodeadm_files, "write", self.written.__setitem__)
        monkeypatch.setattr(nodeadm_files.subprocess, "run", self.run)

    def run(self, argv: list[str], **_options: Any) -> None:
        assert argv == ["systemctl", "daemon-reload"]


@pytest.mark.parametrize("case", STARTED, ids=row_id)
def test_it_writes_the_files_of_the_real_one(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = merged(case, tmp_path, monkeypatch)
    machine = Machine(case, monkeypatch)
    if not case["init"]["ok"]:
        with pytest.raises(nodeadm_config.ConfigError):
            nodeadm_files.write_all(spec)
        return
    nodeadm_files.write_all(spec)
    flags = case["merged"]["kubelet"].get("flags", [])
    found = {path: nodeadm_rows.meaning(path, text, flags) for path, text in machine.written.items() if path not in NOT_RECORDED}
    assert in_any_order(found) == in_any_order(nodeadm_rows.files(case))


def in_any_order(files: dict[str, Any]) -> dict[str, Any]:
    """The order of registries in the list of credential providers means nothing."""
    path = "/etc/eks/image-credential-provider/config.json"
    for provider in files[path]["providers"]:
        provider["matchImages"].sort()
    return files


def test_the_list_names_rows() -> None:
    assert {case["id"] for case in CASES} >= LENIENT
