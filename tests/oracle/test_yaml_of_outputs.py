# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every YAML or JSON document that user data and node files hold for nodeadm or kubelet, read by the reader inside them.

The reader is sigs.k8s.io/yaml in a small Go program (test_yaml_reader.py); one process reads thousands of documents. What it reads
must be what was meant: a string that looks like a number, a date or a truth value stays a string.
"""

from __future__ import annotations

import email
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_config import node_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.matrix import repeated
from ansible_collections.nodebootstrap.eks.tests.oracle import test_yaml_reader
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE, node_groups

go_reader = test_yaml_reader.go_reader
same = test_yaml_reader.same
Reader = test_yaml_reader.Reader
HOSTILE = list(
    dict.fromkeys([*test_yaml_reader.HOSTILE, "y", "08", "1e3", "0o17", "0x10", "1_000", "2026-11-21", "!!int 3", "a: &b", "*b"])
)

NODE_CONFIG = "application/node.eks.aws"
KUBECONFIG = "/var/lib/kubelet/kubeconfig"
STATIC = {"strategy": "static", "max_pods": 29, "instance": {"type": "m5.large"}}
VARIANTS: list[dict[str, Any]] = [
    {"family": "al2023"},
    {"family": "al2"},
    {"family": "ubuntu"},
    {"family": "al2", **STATIC},
    {"family": "ubuntu", **STATIC},
]
NAMES = ["al2023", "al2", "ubuntu", "al2 static", "ubuntu static"]

Documents = list[tuple[str, Any]]


def documents(cluster: dict[str, Any], group: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(text, what was meant) for every document of a node group. Raises C(SpecError)."""
    message = email.message_from_string(render(cluster, group).document.text)
    parts = [part for part in message.walk() if part.get_content_type() == NODE_CONFIG]
    # A part that is not ASCII comes in base64, which nodeadm undoes; ours is always ASCII.
    meant = node_config(cluster, group) if parts else []
    if not group.get("user_data"):
        yield from zip((str(part.get_payload()) for part in parts), meant, strict=True)
    for file in node_files(cluster, group):
        path, content = file["path"], file["content"]
        if path == KUBECONFIG:
            yield content, kubeconfig(cluster, group["family"])
        elif path.endswith((".json", "50-nodebootstrap.conf")) and content.startswith("{"):
            yield content, json.loads(content)
        elif path.endswith(".yaml") and len(meant) == 1:
            yield content, meant[0]


def kubeconfig(cluster: dict[str, Any], family: str) -> dict[str, Any]:
    program = "/usr/bin/aws-iam-authenticator" if family == "al2" else "aws-iam-authenticator"
    command = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": program,
        "args": ["token", "-i", cluster["name"], "--region", cluster["region"]],
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "kubernetes", "cluster": {"certificate-authority": "/etc/kubernetes/pki/ca.crt", "server": cluster["endpoint"]}}
        ],
        "contexts": [{"name": "kubelet", "context": {"cluster": "kubernetes", "user": "kubelet"}}],
        "current-context": "kubelet",
        "users": [{"name": "kubelet", "user": {"exec": command}}],
    }


def accepted(cluster: dict[str, Any], group: dict[str, Any]) -> Documents:
    """Its documents; none where the node group is refused."""
    try:
        return list(documents(cluster, group))
    except SpecError:
        return []


def read(found: Documents, go_reader: Reader) -> list[Any]:
    """What the reader makes of each; it must be what was meant."""
    answers = go_reader([text for text, _unused in found])
    for (text, meant), answer in zip(found, answers, strict=True):
        if "error" in answer and text.startswith("{"):
            # kubelet reads what begins with { as JSON, which may hold what YAML may not: keys of any length, characters in two escapes.
            answer["json"] = json.loads(text, parse_constant=pytest.fail)
        assert same(answer.get("json"), meant), f"Go reads {answer} from {text!r}"
    return [answer["json"] for answer in answers]


def wherever(variant: dict[str, Any], value: str) -> Iterator[tuple[dict[str, Any], dict[str, Any], tuple[str | int, ...], Any]]:
    """(cluster, group, place in one of its documents, the value that must be there) for one hostile string in every kind of place."""
    modern = variant["family"] == "al2023"
    config: tuple[str | int, ...] = ("spec", "kubelet", "config") if modern else ()
    for key, item in (
        ("providerID", value),
        ("clusterDomain", value),
        ("volumePluginDir", value),
        ("staticPodURLHeader", {"x": [value], value: ["x"]}),
        ("nodeStatusUpdateFrequency", value),
    ):
        yield COMPLETE, {**variant, "kubelet": {"config": {key: item}}}, (*config, key), item
    evicted = {"memory.available": value}
    yield COMPLETE, {**variant, "kubelet": {"config": {"evictionHard": evicted}}}, (*config, "evictionHard", "memory.available"), value
    if modern:
        flags = ("spec", "kubelet", "flags")
        yield COMPLETE, {**variant, "labels": {"k": value}}, (*flags, 0), f"--node-labels=k={value}"
        yield (
            COMPLETE,
            {**variant, "taints": [{"key": value, "effect": "NoExecute"}]},
            (*flags, 0),
            f"--register-with-taints={value}=:NoExecute",
        )
        flag = f'--root-dir="{value}"' if any(char.isspace() for char in value) else f"--root-dir={value}"
        yield COMPLETE, {**variant, "kubelet": {"flags": {"root-dir": value}}}, (*flags, 0), flag
        environment = {"default": {"A": value, "B": "x"}}
        yield COMPLETE, {**variant, "nodeadm": {"instance": {"environment": environment}}}, ("spec", "instance", "environment"), environment
        yield {**COMPLETE, "name": value}, variant, ("spec", "cluster", "name"), value
    elif "strategy" in variant:
        yield {**COMPLETE, "name": value}, variant, ("users", 0, "user", "exec", "args", 2), value
        yield {**COMPLETE, "region": value}, variant, ("users", 0, "user", "exec", "args", 4), value


def at(tree: Any, place: tuple[str | int, ...]) -> Any:
    for step in place:
        try:
            tree = tree[step]
        except (KeyError, IndexError, TypeError):
            return None
    return tree


#: How many of the strings a variant accepts in some place at least. Fewer would make the test say little.
ENOUGH = {"al2023": 1400, "al2": 800, "ubuntu": 600, "al2 static": 600, "ubuntu static": 600}


@pytest.mark.parametrize("name", repeated(NAMES, "al2023", "ubuntu static"))
def test_hostile_strings_stay_what_they_are(name: str, go_reader: Reader) -> None:
    variant = VARIANTS[NAMES.index(name)]
    found: Documents = []
    checks: list[tuple[slice, tuple[str | int, ...], Any]] = []
    for value in HOSTILE:
        for cluster, group, place, meant in wherever(variant, value):
            own = accepted(cluster, group)
            if own:
                checks.append((slice(len(found), len(found) + len(own)), place, meant))
            found += own
    answers = read(found, go_reader)
    for where, place, meant in checks:
        assert any(same(at(answer, place), meant) for answer in answers[where]), (place, meant, answers[where])
    assert len(checks) >= ENOUGH[name], len(checks)


TEXTS = test_yaml_reader.TEXTS
FREE_TEXT = st.fixed_dictionaries(
    {},
    optional={
        "providerID": TEXTS,
        "staticPodURLHeader": st.dictionaries(TEXTS, st.lists(TEXTS, max_size=2), max_size=3),
        "registerWithTaints": st.just([{"key": "a", "effect": "NoSchedule"}]),
    },
).map(lambda config: {"kubelet": {"config": config}})


@pytest.mark.parametrize("name", repeated(NAMES, "al2023", "ubuntu static"))
def test_documents_of_any_node_group(name: str, go_reader: Reader) -> None:
    variant = VARIANTS[NAMES.index(name)]
    found: Documents = []

    @settings(settings.get_profile("part"))
    @given(st.lists(st.one_of(node_groups(variant["family"]), FREE_TEXT), min_size=5, max_size=10))
    def collect(groups: list[dict[str, Any]]) -> None:
        for group in groups:
            found.extend(accepted(COMPLETE, {**group, **variant}))

    collect()
    assert len(found) > settings.get_profile("part").max_examples / 10, "most groups are refused: the corpus says little"
    read(found, go_reader)


def test_the_comparison_can_fail(go_reader: Reader) -> None:
    for text, meant in (("a: y\n", {"a": "y"}), ("a: 08\n", {"a": "08"}), ("a: 1e3\n", {"a": "1e3"}), ("a: '1'\n", {"a": 1})):
        with pytest.raises(AssertionError) as caught:
            read([(text, meant)], go_reader)
        assert mentions(caught.value, "Go")
