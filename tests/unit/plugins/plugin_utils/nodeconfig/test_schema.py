# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The strict validator: one row a mistake, with the whole message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import schema
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import rule_and_path

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="

WHOLE: dict[str, Any] = {
    "cluster": {
        "name": "demo",
        "apiServerEndpoint": "https://EXAMPLE.gr7.us-west-2.eks.amazonaws.com",
        "certificateAuthority": CA,
        "cidr": "fd00:ec2::/108",
        "enableOutpost": True,
        "id": "11111111-2222-3333-4444-555555555555",
    },
    "containerd": {"config": "version = 3\n[grpc]\naddress = '/run/x'\n", "baseRuntimeSpec": {"process": {"rlimits": []}}},
    "instance": {
        "localStorage": {"strategy": "RAID0", "mountPath": "/mnt/x", "disabledMounts": ["Containerd", "PodLogs", "SOCI"]},
        "environment": {"default": {"HTTP_PROXY": "http://p:1", "E": "", "NL": "a\nb"}, "my-svc@1": {"A": "1"}},
        "network": {"nameservers": ["1.1.1.1", "fd00::1"], "domains": ["a.b", "~.", "~corp.example"]},
    },
    "kubelet": {
        "config": {"maxPods": 50, "evictionHard": {"memory.available": "5%"}},
        "flags": ["--node-labels=a=b,c=d", '--v="4 5"', "--register-with-taints=x=y:NoSchedule"],
        "maxPodsExpression": "max_pods > 110 ? 110 : (default_enis - 1) * (ips_per_eni - 1) + int(2.0)",
    },
    "featureGates": {"InstanceIdNodeName": True, "FastImagePull": False},
}


def problems_in(spec: Any, version: tuple[int, int] | None = None, show: Callable[[Problem], str] = str) -> list[str]:
    problems = Problems()
    schema.spec_problems(spec, "spec", problems, version)
    return [show(problem) for problem in problems]


def test_everything_right() -> None:
    assert problems_in(WHOLE) == []
    assert problems_in({}) == []
    assert problems_in({"kubelet": None, "instance": {"network": None}}) == []


def at(path: str, value: Any) -> dict[str, Any]:
    """{"a": {"b": value}} of "a.b"."""
    for name in reversed(path.split(".")):
        value = {name: value}
    return dict(value)


MISTAKES = [
    (
        at("kublet", {}),
        "nodeconfig.unknown_field spec.kublet",
    ),
    (
        at("kubelet.Config", {}),
        "nodeconfig.unknown_field spec.kubelet.Config",
    ),
    (
        at("instance.localStorage.path", "/x"),
        "nodeconfig.unknown_field spec.instance.localStorage.path",
    ),
    (
        at("instance.network.nameServers", []),
        "nodeconfig.unknown_field spec.instance.network.nameServers",
    ),
    ([], "nodeconfig.wrong_type spec"),
    (at("kubelet", "x"), "nodeconfig.wrong_type spec.kubelet"),
    (at("cluster.name", 5), "nodeconfig.wrong_type spec.cluster.name"),
    (
        at("cluster.name", "a b"),
        "nodeconfig.invalid_value spec.cluster.name",
    ),
    (
        at("cluster.apiServerEndpoint", "example.com"),
        "nodeconfig.invalid_value spec.cluster.apiServerEndpoint",
    ),
    (
        at("cluster.certificateAuthority", "***"),
        "nodeconfig.invalid_value spec.cluster.certificateAuthority",
    ),
    (
        at("cluster.certificateAuthority", "aGVsbG8="),
        "nodeconfig.invalid_value spec.cluster.certificateAuthority",
    ),
    (
        at("cluster.cidr", "10.0.0.1/16"),
        "nodeconfig.invalid_value spec.cluster.cidr",
    ),
    (
        at("cluster.enableOutpost", "true"),
        "nodeconfig.wrong_type spec.cluster.enableOutpost",
    ),
    (at("cluster.id", "a\nb"), "nodeconfig.unsafe_text spec.cluster.id"),
    (at("containerd.config", {"version": 2}), "nodeconfig.wrong_type spec.containerd.config"),
    (at("containerd.baseRuntimeSpec", "x"), "nodeconfig.wrong_type spec.containerd.baseRuntimeSpec"),
    (
        at("containerd.baseRuntimeSpec", {"a": float("nan")}),
        "nodeconfig.wrong_type spec.containerd.baseRuntimeSpec.a",
    ),
    (
        at("instance.localStorage.strategy", "raid1"),
        "nodeconfig.unknown_value spec.instance.localStorage.strategy",
    ),
    (
        at("instance.localStorage.mountPath", "mnt"),
        "nodeconfig.invalid_value spec.instance.localStorage.mountPath",
    ),
    (
        at("instance.localStorage.disabledMounts", ["Kubelet"]),
        "nodeconfig.unknown_value spec.instance.localStorage.disabledMounts[0]",
    ),
    (
        at("instance.environment", {"A": "b"}),
        "nodeconfig.wrong_type spec.instance.environment.A",
    ),
    (
        at("instance.environment", {"default": {"A": 1}}),
        "nodeconfig.wrong_type spec.instance.environment.default.A",
    ),
    (
        at("instance.environment", {"default": {"A": None}}),
        "nodeconfig.empty spec.instance.environment.default.A",
    ),
    (
        at("instance.environment", {"default": {"A-B": "x"}}),
        "nodeconfig.invalid_name spec.instance.environment.default.A-B",
    ),
    (
        at("instance.environment", {"default": {"A": "\0"}}),
        "nodeconfig.unsafe_text spec.instance.environment.default.A",
    ),
    (
        at("instance.environment", {"kubelet.service": {}}),
        'nodeconfig.invalid_name spec.instance.environment["kubelet.service"]',
    ),
    (at("instance.environment", {"a/b": {}}), 'nodeconfig.invalid_name spec.instance.environment["a/b"]'),
    (
        at("instance.network.nameservers", "1.1.1.1"),
        "nodeconfig.wrong_type spec.instance.network.nameservers",
    ),
    (
        at("instance.network.nameservers", ["dns"]),
        "nodeconfig.invalid_value spec.instance.network.nameservers[0]",
    ),
    (
        at("instance.network.domains", ["a b"]),
        "nodeconfig.invalid_value spec.instance.network.domains[0]",
    ),
    (at("kubelet.config", []), "nodeconfig.wrong_type spec.kubelet.config"),
    (
        at("kubelet.config.kind", "x"),
        "nodeconfig.replaces_nodeadm spec.kubelet.config.kind",
    ),
    (
        at("kubelet.config.maxPodz", 3),
        "kubelet.unknown_field spec.kubelet.config.maxPodz",
    ),
    (
        at("kubelet.flags", "--v=2"),
        "nodeconfig.wrong_type spec.kubelet.flags",
    ),
    (at("kubelet.flags", [1]), "nodeconfig.wrong_type spec.kubelet.flags[0]"),
    (at("kubelet.flags", ["v=2"]), "nodeconfig.invalid_flag spec.kubelet.flags[0]"),
    (
        at("kubelet.flags", ["--v=2 --x=1"]),
        "nodeconfig.invalid_flag spec.kubelet.flags[0]",
    ),
    (at("kubelet.flags", ["--v='2"]), "nodeconfig.unsafe_text spec.kubelet.flags[0]"),
    (at("kubelet.flags", ["--v=\\2"]), "nodeconfig.unsafe_text spec.kubelet.flags[0]"),
    (
        at("kubelet.flags", ["--v=2\n"]),
        "nodeconfig.unsafe_text spec.kubelet.flags[0]",
    ),
    (
        at("kubelet.maxPodsExpression", "max_pod"),
        "nodeconfig.invalid_expression spec.kubelet.maxPodsExpression",
    ),
    (
        at("kubelet.maxPodsExpression", "max_pods *"),
        "nodeconfig.invalid_expression spec.kubelet.maxPodsExpression",
    ),
    (
        at("kubelet.maxPodsExpression", "max_pods - 5000"),
        "nodeconfig.invalid_expression spec.kubelet.maxPodsExpression",
    ),
    (
        at("kubelet.maxPodsExpression", "0"),
        "nodeconfig.invalid_expression spec.kubelet.maxPodsExpression",
    ),
    (
        at("kubelet.maxPodsExpression", "max_pods * 1.5"),
        "nodeconfig.invalid_expression spec.kubelet.maxPodsExpression",
    ),
    (
        at("featureGates", {"Foo": True}),
        "nodeconfig.unknown_feature_gate spec.featureGates.Foo",
    ),
    (
        at("featureGates", {"FastImagePull": "true"}),
        "nodeconfig.wrong_type spec.featureGates.FastImagePull",
    ),
]


@pytest.mark.parametrize(("spec", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes(spec: Any, message: str) -> None:
    assert problems_in(spec, show=rule_and_path) == [message]


def test_toml_is_read(golden_message: GoldenMessages) -> None:
    (message,) = problems_in(at("containerd.config", "not toml ["))
    golden_message(message)


def test_all_mistakes_at_once() -> None:
    assert len(problems_in({"cluster": {"name": 5, "cidr": "x"}, "kubelet": {"flags": ["x", 1]}, "x": 1})) == 5


DOCUMENTS = [
    (None, "nodeconfig.wrong_document doc"),
    ({"apiVersion": schema.API_VERSION}, "nodeconfig.missing_field doc"),
    ({"apiVersion": "v1", "kind": "NodeConfig"}, "nodeconfig.wrong_document doc.apiVersion"),
    (
        {"apiVersion": schema.API_VERSION, "kind": "NodeConfig", "status": {}},
        "nodeconfig.unknown_field doc.status",
    ),
    (
        {"apiVersion": schema.API_VERSION, "kind": "NodeConfig", "metadata": "x"},
        "nodeconfig.wrong_type doc.metadata",
    ),
]


@pytest.mark.parametrize(("document", "message"), DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_documents(document: Any, message: str) -> None:
    problems = Problems()
    assert not schema.document_problems(document, "doc", problems)
    assert [rule_and_path(problem) for problem in problems] == [message]


def test_a_whole_document() -> None:
    problems = Problems()
    assert schema.document_problems(
        {"apiVersion": schema.API_VERSION, "kind": "NodeConfig", "metadata": None, "spec": WHOLE}, "doc", problems
    )
    assert len(problems) == 0


ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters())),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(st.text(st.characters()), st.integers(), st.none()), inner, max_size=3)
    ),
)
PATHS = [f"{section}.{name}" for section, field in schema.SPEC.fields.items() for name in (field.fields or {"x": None})]
PATHS += [f"instance.{name}.{inner}" for name, field in schema.SPEC.fields["instance"].fields.items() for inner in field.fields]


@given(st.sampled_from(PATHS), ANYTHING)
def test_no_input_brings_an_exception(path: str, value: Any) -> None:
    problems_in(at(path, value))


def test_deep_input_brings_no_exception() -> None:
    deep: Any = 1
    for _unused in range(5000):
        deep = {"a": deep}
    for path in ("containerd.baseRuntimeSpec", "kubelet.config"):
        assert any(row.startswith("nodeconfig.too_deep ") for row in problems_in(at(path, deep), show=rule_and_path))


@pytest.mark.parametrize("expression", ["max_pods - 100", "size([1, 2])", "max_pods < 0 ? 1 / 0 : 3"])
def test_an_expression_that_gives_a_number_somewhere_is_taken(expression: str) -> None:
    problems = Problems()
    schema.spec_problems({"kubelet": {"maxPodsExpression": expression}}, "spec", problems)
    assert list(problems) == []
