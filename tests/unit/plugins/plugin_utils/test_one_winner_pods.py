# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from the values in force: reservations from max pods, name servers from the service CIDR, expressions."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import toml, yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_config import node_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.kubelet_reading import in_force
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_one_winner import CLUSTER, document

M5_LARGE = {"family": "al2023", "instance": {"type": "m5.large"}}
"""29 pods by the formula of EKS."""
AUTO = {"reserved": {"kube": "auto"}}
TWO_HUNDRED = {
    "user data, config": {"user_data": document({"kubelet": {"config": {"maxPods": 200}}})},
    "user data, flag": {"user_data": document({"kubelet": {"flags": ["--max-pods=200"]}})},
    "user data, flag over config": {"user_data": document({"kubelet": {"config": {"maxPods": 200}, "flags": ["--max_pods=200"]}})},
    "user data, expression": {"user_data": document({"kubelet": {"maxPodsExpression": "max_pods + 171"}})},
    "nodeadm, expression": {"nodeadm": {"kubelet": {"maxPodsExpression": "max_pods + 171"}}},
    "override, config": {"override": document({"kubelet": {"config": {"maxPods": 200}}})},
    "override, flag": {"override": document({"kubelet": {"flags": ["--max-pods=200"]}}), "max_pods": 20},
    "override, expression": {"override": document({"kubelet": {"maxPodsExpression": "200"}}), "max_pods": 20},
    "theirs": {"user_data": document({"kubelet": {"flags": ["--max-pods=200"]}}), "max_pods": 20, "user_data_precedence": "theirs"},
    "ours": {"user_data": document({"kubelet": {"flags": ["--max-pods=20"]}}), "max_pods": 200, "user_data_precedence": "ours"},
    "override over theirs": {
        "user_data": document({"kubelet": {"flags": ["--max-pods=20"]}}),
        "override": document({"kubelet": {"config": {"maxPods": 200}}}),
    },
}


@pytest.mark.parametrize("group", TWO_HUNDRED.values(), ids=TWO_HUNDRED)
def test_computed_reservations_follow_the_pods_in_force(group: dict[str, Any]) -> None:
    documents = node_config(CLUSTER, M5_LARGE | group | AUTO)
    found = in_force(documents)
    assert found["kubeReserved"]["memory"] == "2455Mi"
    expressions = [one["spec"].get("kubelet", {}).get("maxPodsExpression") for one in documents]
    assert found.get("maxPods", "200" if any(expressions) else None) == "200"


@pytest.mark.parametrize("name", [name for name in TWO_HUNDRED if "expression" not in name])
def test_without_reservations_the_warning_names_the_pods_in_force(name: str) -> None:
    warnings = node_spec(CLUSTER, M5_LARGE | TWO_HUNDRED[name])["warnings"]
    [found] = [one for one in warnings if one["rule"] == "reserved.sized_for_other_max_pods"]
    assert mentions(found["message"], "200")
    assert found["path"] == {"override": "node_group.override", "user da": "node_group.user_data", "theirs": "node_group.user_data"}.get(
        name[:8] if name[:8] == "override" else name[:7], "node_group.max_pods"
    )


def test_an_unknown_number_of_pods_is_not_guessed(golden_message: GoldenMessages) -> None:
    group = M5_LARGE | AUTO | {"user_data": document({"kubelet": {"maxPodsExpression": "[1, 2].map(x, x)[0]"}})}
    error = error_of(node_config, CLUSTER, group)
    assert rules_and_paths(error) == ["reserved.unknown_capacity node_group.reserved.kube"]
    golden_message(error)


BOTTLEROCKET = {"family": "bottlerocket", "instance": {"type": "m5.large"}, "user_data": "[settings.kubernetes]\nmax-pods = 200\n"}


@pytest.mark.parametrize("rest", [{}, {"max_pods": 20, "user_data_precedence": "theirs"}])
def test_reservations_on_bottlerocket_follow_the_pods_in_force(rest: dict[str, Any]) -> None:
    text = render(CLUSTER, BOTTLEROCKET | AUTO | rest).document.text
    assert toml.parse(text)["settings"]["kubernetes"]["kube-reserved"]["memory"] == "2455Mi"


# --- name servers ------------------------------------------------------------------------------------------------------------------------

SERVERS = ["9.9.9.9"]
DNS = {
    "user data, config": {"user_data": document({"kubelet": {"config": {"clusterDNS": SERVERS}}})},
    "user data, flag": {"user_data": document({"kubelet": {"flags": ["--cluster-dns=9.9.9.9"]}})},
    "override, config": {"override": document({"kubelet": {"config": {"clusterDNS": SERVERS}}})},
    "override, flag": {"override": document({"kubelet": {"flags": ["--cluster-dns=9.9.9.9"]}})},
}


@pytest.mark.parametrize("precedence", [None, "ours", "theirs"])
@pytest.mark.parametrize("group", DNS.values(), ids=DNS)
def test_computed_name_servers_never_replace_those_of_the_user(group: dict[str, Any], precedence: str | None) -> None:
    given = {"family": "al2023", **group} | ({"user_data_precedence": precedence} if precedence else {})
    assert in_force(node_config(CLUSTER, given))["clusterDNS"] == SERVERS
    assert node_spec(CLUSTER, given)["warnings"] == []


@pytest.mark.parametrize("precedence", [None, "ours", "theirs"])
def test_computed_name_servers_never_replace_those_of_bottlerocket_user_data(precedence: str | None) -> None:
    group = {"family": "bottlerocket", "user_data": '[settings.kubernetes]\ncluster-dns-ip = "9.9.9.9"\n'}
    text = render(CLUSTER, group | ({"user_data_precedence": precedence} if precedence else {})).document.text
    assert toml.parse(text)["settings"]["kubernetes"]["cluster-dns-ip"] == "9.9.9.9"


@pytest.mark.parametrize(
    "group",
    [
        {"user_data": document({"cluster": {"cidr": "172.20.0.0/16"}}), "user_data_precedence": "theirs"},
        {"override": document({"cluster": {"cidr": "172.20.0.0/16"}})},
    ],
)
def test_name_servers_of_a_service_cidr_that_loses_are_not_written(group: dict[str, Any]) -> None:
    assert "clusterDNS" not in in_force(node_config(CLUSTER, {"family": "al2023", **group}))


# --- expressions -------------------------------------------------------------------------------------------------------------------------

EXPRESSION = {"kubelet": {"maxPodsExpression": "max_pods + 1"}}
NUMBER = {"kubelet": {"config": {"maxPods": 20}}}
DISAGREE = {
    "field and expression of user data": {"max_pods": 58, "user_data": document(EXPRESSION)},
    "expression of nodeadm and number of user data": {"nodeadm": EXPRESSION, "user_data": document(NUMBER)},
    "expression of nodeadm and flag of user data": {
        "nodeadm": EXPRESSION,
        "user_data": document({"kubelet": {"flags": ["--max-pods=20"]}}),
    },
    "two expressions": {"nodeadm": EXPRESSION, "user_data": document({"kubelet": {"maxPodsExpression": "max_pods + 2"}})},
}


@pytest.mark.parametrize("group", DISAGREE.values(), ids=DISAGREE)
def test_an_expression_that_disagrees_is_an_error(group: dict[str, Any], golden_message: GoldenMessages) -> None:
    error = error_of(node_config, CLUSTER, {"family": "al2023", **group})
    assert "user_data.conflict node_group.user_data" in rules_and_paths(error)
    golden_message(error)


def _pods(group: dict[str, Any]) -> tuple[Any, Any]:
    """The number and the expression that nodeadm reads."""
    documents = node_config(CLUSTER, {"family": "al2023", **group})
    expressions = [one["spec"].get("kubelet", {}).get("maxPodsExpression") for one in documents]
    return in_force(documents).get("maxPods"), next((one for one in reversed(expressions) if one), None)


def test_the_declared_winner_between_a_number_and_an_expression() -> None:
    field, number, _flag, two = DISAGREE.values()
    assert _pods(field | {"user_data_precedence": "ours"})[0] == "58"
    assert _pods(field | {"user_data_precedence": "theirs"}) == (None, "max_pods + 1")
    assert _pods(number | {"user_data_precedence": "theirs"})[0] == "20"
    assert _pods(two | {"user_data_precedence": "ours"}) == (None, "max_pods + 1")
    assert _pods(two | {"user_data_precedence": "theirs"}) == (None, "max_pods + 2")
    assert _pods({"max_pods": 58, "override": document(EXPRESSION)}) == (None, "max_pods + 1")
    assert _pods({"nodeadm": EXPRESSION, "override": document(NUMBER)})[0] == "20"


@pytest.mark.parametrize(
    "group",
    [
        DISAGREE["expression of nodeadm and number of user data"] | {"user_data_precedence": "ours"},
        {"user_data": document(NUMBER), "override": document(EXPRESSION)},
    ],
)
def test_an_expression_that_cannot_win_is_rejected(group: dict[str, Any], golden_message: GoldenMessages) -> None:
    error = error_of(node_config, CLUSTER, {"family": "al2023", **group})
    assert rules_and_paths(error) == ["user_data.conflict node_group.user_data"]
    golden_message(error)


OVERRIDDEN = {
    "max pods": ({"max_pods": 58}, {"kubelet": {"config": {"maxPods": 20}}}, "maxPods", "node_group.max_pods"),
    "expression": ({"max_pods": 58}, EXPRESSION, "maxPodsExpression", "node_group.max_pods"),
    "label": ({"labels": {"a": "1"}}, {"kubelet": {"flags": ["--node-labels=a=2,b=3"]}}, "label a", "node_group.labels.a"),
    "taints": (
        {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        {"kubelet": {"config": {"registerWithTaints": [{"key": "b", "effect": "NoExecute"}]}}},
        "registerWithTaints",
        "node_group.taints",
    ),
    "cluster": ({}, {"cluster": {"name": "other"}}, "spec.cluster.name", "cluster.name"),
    "storage": (
        {"local_storage": {"strategy": "raid0"}},
        {"instance": {"localStorage": {"strategy": "Mount"}}},
        "localStorage.strategy",
        "node_group.local_storage.strategy",
    ),
    "containerd": (
        {"containerd": {"config": {"oom_score": 1}}},
        {"containerd": {"config": "oom_score = 2\n"}},
        "containerd.config.oom_score",
        "node_group.containerd.config.oom_score",
    ),
    "flag without a field": (
        {"kubelet": {"flags": {"node-ip": "10.0.0.1"}}},
        {"kubelet": {"flags": ["--node-ip=10.0.0.2"]}},
        "node-ip",
        "node-ip",
    ),
    "user data": ({"user_data": document(NUMBER)}, {"kubelet": {"config": {"maxPods": 7}}}, "maxPods", "node_group.user_data"),
}


@pytest.mark.parametrize(("group", "override", "changed", "source"), OVERRIDDEN.values(), ids=OVERRIDDEN)
def test_what_override_changes_is_a_warning_that_names_both_places(
    group: dict[str, Any], override: dict[str, Any], changed: str, source: str
) -> None:
    given = {"family": "al2023", **group, "override": document(override)}
    warnings = [one for one in node_spec(CLUSTER, given)["warnings"] if one["rule"] == "user_data.replaced_by_override"]
    [warning] = warnings
    assert warning["path"] == "node_group.override"
    assert changed in warning["message"]
    assert source in warning["message"]
    assert node_config(CLUSTER, given)[-1] == yaml.load(document(override))


def test_taints_of_override_replace_the_flag_of_the_fields() -> None:
    group, override, _changed, _source = OVERRIDDEN["taints"]
    documents = node_config(CLUSTER, {"family": "al2023", **group, "override": document(override)})
    assert "--register-with-taints" not in in_force(documents)


def test_an_override_that_says_the_same_is_no_warning() -> None:
    override = {"cluster": {"name": "demo"}, "kubelet": {"config": {"maxPods": 29, "podPidsLimit": 9}, "flags": ["--node-labels=a=1"]}}
    group = M5_LARGE | {"max_pods": 29, "labels": {"a": "1"}, "override": document(override)}
    assert node_spec(CLUSTER, group)["warnings"] == []


# --- documents that nodeadm reads in part, and spellings with the same meaning --------------------------------------------------------

TWO_DOCUMENTS = f"{document(NUMBER)}---\n{document(EXPRESSION)}"


@pytest.mark.parametrize(
    ("group", "path"),
    [
        ({"user_data": TWO_DOCUMENTS}, "node_group.user_data"),
        ({"user_data": f"# first\n---\n{document(NUMBER)}...\n{document(NUMBER)}"}, "node_group.user_data"),
        ({"override": TWO_DOCUMENTS}, "node_group.override"),
    ],
)
def test_several_node_configs_in_one_part_are_rejected(group: dict[str, Any], path: str, golden_message: GoldenMessages) -> None:
    error = error_of(node_config, CLUSTER, {"family": "al2023", **group})
    assert rules_and_paths(error) == [f"nodeconfig.several_documents {path}"]
    golden_message(error)


def test_markers_around_one_document_are_accepted() -> None:
    for text in (f"---\n{document(NUMBER)}", f"# a comment\n---\n{document(NUMBER)}...\n", f"{document(NUMBER)}---\n# end\n"):
        assert _pods({"user_data": text})[0] == "20"


HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}


@pytest.mark.parametrize("family", ["al2", "al2023", "bottlerocket", "ubuntu"])
def test_the_head_of_a_kubelet_configuration_is_accepted(family: str) -> None:
    config = {"podPidsLimit": 1024}
    plain, headed = ({"family": family, "kubelet": {"config": one}} for one in (config, config | HEAD))
    assert render(CLUSTER, headed).document == render(CLUSTER, plain).document


def test_the_head_of_a_kubelet_configuration_is_accepted_in_documents() -> None:
    section = {"kubelet": {"config": {"podPidsLimit": 1024, **HEAD}}}
    for group in ({"nodeadm": section}, {"user_data": document(section)}, {"override": document(section)}):
        assert in_force(node_config(CLUSTER, {"family": "al2023", **group}))["podPidsLimit"] == "1024"


@pytest.mark.parametrize("key", HEAD)
def test_another_head_is_rejected(key: str, golden_message: GoldenMessages) -> None:
    error = error_of(render, CLUSTER, {"family": "al2", "kubelet": {"config": {key: "v1"}}})
    assert rules_and_paths(error) == [f"kubelet.written_by_collection node_group.kubelet.config.{key}"]
    golden_message(error)


def test_storage_strategies_are_accepted_in_every_case() -> None:
    section = {"instance": {"localStorage": {"strategy": "raid0"}}}
    for group in (
        {"nodeadm": section, "local_storage": {"strategy": "raid0"}},
        {"user_data": document(section), "local_storage": {"strategy": "raid0"}},
        {"override": document(section), "local_storage": {"strategy": "raid0"}},
    ):
        assert node_spec(CLUSTER, {"family": "al2023", **group})["warnings"] == []
    [written] = node_config(CLUSTER, {"family": "al2023", "nodeadm": section})
    assert written["spec"]["instance"]["localStorage"]["strategy"] == "RAID0"


@pytest.mark.parametrize("endpoint", ["https://local.example:6443", "https://local.example:443/"])
@pytest.mark.parametrize("family", ["al2", "al2023"])
def test_an_endpoint_on_outposts_with_a_port_is_rejected(endpoint: str, family: str, golden_message: GoldenMessages) -> None:
    cluster = CLUSTER | {"endpoint": endpoint, "outpost": True, "id": "0e1f2a3b", "region": "eu-west-1"}
    error = error_of(render, cluster, {"family": family})
    assert rules_and_paths(error) == ["cluster.outpost_port cluster.endpoint"]
    golden_message(error)
    render(cluster | {"endpoint": "https://local.example"}, {"family": family})
    render(CLUSTER | {"endpoint": endpoint}, {"family": family})


@pytest.mark.parametrize("place", ["user_data", "override"])
def test_an_endpoint_with_a_port_in_a_document_is_rejected(place: str) -> None:
    section = {"cluster": {"enableOutpost": True, "id": "0e1f2a3b", "apiServerEndpoint": "https://local.example:6443"}}
    group = {"family": "al2023", place: document(section), "user_data_precedence": "theirs"}
    assert rules_and_paths(error_of(render, CLUSTER, group)) == [f"cluster.outpost_port node_group.{place}.spec.cluster.apiServerEndpoint"]
