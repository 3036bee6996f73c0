# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors of container registries: what containerd is told of each, and that the specification is input again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import tomllib
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model import registries
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.plain import INVALID
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE, PEM

FOLDER = "/etc/containerd/certs.d"
LINUX: list[dict[str, Any]] = [
    {"family": "al2", "kubelet": {}},
    {"family": "al2", "strategy": "static", "max_pods": 20, "reserved": {"kube": {"cpu": "1"}}},
    {"family": "al2023"},
    {"family": "al2023", "mode": "managed"},
    {"family": "ubuntu"},
]
DEFAULT = {"capabilities": ["pull", "resolve"]}
# What is written, and what hosts.toml says below the URL. containerd itself reads the paths in tests/oracle/test_containerd.py.
ROWS: list[tuple[Any, dict[str, Any]]] = [
    ("https://m", {}),
    ("https://m/", {}),
    ("https://m/v2", {}),
    ("https://m/v2/", {}),
    ("https://m/proxy", {}),
    ("https://m/a/b/v2", {}),
    ("https://m/v2x/docker-hub", {}),
    ("https://m/xv2/docker-hub", {}),
    ("https://111122223333.dkr.ecr.eu-west-1.amazonaws.com/v2/docker-hub", {"override_path": True}),
    ("https://harbor.example.com:8443/v2/proxy/", {"override_path": True}),
    ("https://m/a/v2/b/c", {"override_path": True}),
    ({"url": "https://m/v2/docker-hub"}, {"override_path": True}),
    ({"url": "https://m/v2/docker-hub", "override_path": False}, {}),
    ({"url": "https://m/own", "override_path": True}, {"override_path": True}),
    ({"url": "https://m", "override_path": True}, {"override_path": True}),
    ({"url": "https://m", "skip_verify": True}, {"skip_verify": True}),
    ({"url": "https://m", "skip_verify": False}, {}),
    ({"url": "https://m", "capabilities": "pull"}, {"capabilities": ["pull"]}),
    ({"url": "https://m", "capabilities": ["resolve", "Pull", "push"]}, {"capabilities": ["resolve", "pull", "push"]}),
    ({"url": "https://m", "dial_timeout": "1m30s"}, {"dial_timeout": "1m30s"}),
    ({"url": "https://m", "ca": "/etc/pki/own.pem"}, {"ca": "/etc/pki/own.pem"}),
    ({"url": "https://m", "ca": PEM}, {"ca": f"{FOLDER}/docker.io/mirror-1.pem"}),
    ({"url": "https://m", "ca": [PEM, "/etc/own.pem"]}, {"ca": ["/etc/own.pem", f"{FOLDER}/docker.io/mirror-1.pem"]}),
]


def test_the_page_explains_every_field() -> None:
    page = (Path(__file__).parents[5] / "docs" / "mirrors-and-proxies.md").read_text(encoding="utf-8")
    table = page.split("| Field | Meaning |\n")[1].split("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(registries.mirrors.schema["items"]["properties"])


def files(group: dict[str, Any], mirrors: dict[str, Any]) -> dict[str, str]:
    containerd = {"containerd": {"registry_mirrors": mirrors}}
    return {file["path"]: file["content"] for file in node_files(COMPLETE, group | containerd) if file["path"].startswith(FOLDER)}


@pytest.mark.parametrize("group", LINUX, ids=lambda group: "-".join(map(str, list(group.values())[:2])))
def test_every_family_of_linux_writes_the_same_files(group: dict[str, Any]) -> None:
    if group.get("mode") == "managed":
        group = group | {"max_pods": 20}
    mirrors = {"docker.io": [{"url": "https://m/v2/docker-hub", "ca": PEM}], "_default": "http://all"}
    found = files(group, mirrors)
    assert found == files({"family": "al2023"}, mirrors)
    assert found.keys() == {f"{FOLDER}/docker.io/hosts.toml", f"{FOLDER}/docker.io/mirror-1.pem", f"{FOLDER}/_default/hosts.toml"}


@pytest.mark.parametrize(("given_mirror", "expected"), ROWS, ids=[str(row[0]) for row in ROWS])
def test_a_mirror_in_hosts_toml(given_mirror: Any, expected: dict[str, Any]) -> None:
    found = files({"family": "al2023"}, {"docker.io": given_mirror})
    url = given_mirror if isinstance(given_mirror, str) else given_mirror["url"]
    written = tomllib.loads(found[f"{FOLDER}/docker.io/hosts.toml"])
    assert written == {"server": "https://registry-1.docker.io", "host": {url: DEFAULT | expected}}
    own = "ca" in expected and "mirror-1" in str(expected["ca"])
    assert found.get(f"{FOLDER}/docker.io/mirror-1.pem") == (PEM if own else None)


def test_the_mirrors_keep_their_order_and_their_own_certificates() -> None:
    other = PEM.replace("MIIB", "MIIC")
    urls = ["https://z", "https://a", "https://m"]
    found = files({"family": "al2023"}, {"quay.io": [urls[0], {"url": urls[1], "ca": [PEM, other]}, {"url": urls[2], "ca": other}]})
    text = found.pop(f"{FOLDER}/quay.io/hosts.toml")
    assert sorted(urls, key=text.index) == urls
    assert found == {f"{FOLDER}/quay.io/mirror-2.pem": PEM + other, f"{FOLDER}/quay.io/mirror-3.pem": other}


def rules(group: dict[str, Any], *listed: Any) -> list[tuple[str, str]]:
    spec = node_spec(COMPLETE, group | {"containerd": {"registry_mirrors": {"docker.io": list(listed)}}})
    return [(problem["rule"], problem["path"].partition('"]')[2]) for problem in spec["warnings"]]


def test_warnings() -> None:
    slow = {"url": "https://m", "dial_timeout": "3s"}
    assert rules({"family": "al2023"}, slow) == []
    assert rules({"family": "al2"}, "https://n", slow) == [("containerd.ignored_dial_timeout", "[1].dial_timeout")]
    assert rules({"family": "al2023"}, {"url": "https://m", "ca": PEM}) == [("certificates.unreadable", "[0].ca")]
    unverified = {"url": "https://m", "ca": "/etc/own.pem", "skip_verify": True}
    assert rules({"family": "al2023"}, unverified) == [("containerd.unverified_mirror", "[0].skip_verify")]


_items = st.one_of(
    st.sampled_from(["https://m/v2/docker-hub", "http://m", "https://m/x"]),
    st.fixed_dictionaries(
        {"url": st.sampled_from(["https://m/v2/docker-hub", "https://m", "https://m/x/"])},
        optional={
            "override_path": st.booleans(),
            "ca": st.sampled_from([PEM, "/etc/ca.pem", [PEM, "/etc/ca.pem"]]),
            "skip_verify": st.booleans(),
            "capabilities": st.sampled_from([["pull"], "resolve", ["resolve", "pull"], ["pull", "resolve"]]),
            "dial_timeout": st.sampled_from(["3s", "1m30s"]),
        },
    ),
)


@given(_items)
def test_a_mirror_of_the_specification_is_input_again(item: Any) -> None:
    problems = Problems()
    (checked,) = registries.mirrors(item, "path", problems)
    mirror = registries.mirror_of(checked)
    assert not len(problems)
    (again,) = registries.mirrors(registries.plain_mirror(mirror), "path", problems)
    assert again is not INVALID and registries.mirror_of(again) == mirror
