# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What our tables accept and what we write, the strict decoder of that Kubernetes minor takes (kubelet_decoder.py has the decoder)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_fields import kubelet_config_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.versions import family_version_problem
from ansible_collections.nodebootstrap.eks.tests.oracle.kubelet_decoder import Decoder, build, minors

HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
MINORS = sorted(minors())
Node = Mapping[str, Any]


@pytest.fixture(scope="session")
def decoder() -> Decoder:
    return build()


def document(config: Mapping[str, Any]) -> str:
    """A configuration as a file. Null takes a field away: kubelet's drop-ins have it so, and finished files are written so."""
    return json.dumps({**without_nulls(config), **HEAD})


def without_nulls(value: Any) -> Any:
    return {key: without_nulls(one) for key, one in value.items() if one is not None} if isinstance(value, dict) else value


def accepts(config: Mapping[str, Any], minor: int) -> bool:
    """Whether our tables accept a configuration."""
    problems = Problems()
    kubelet_config_problems(config, (1, minor), "config", problems)
    return not problems


def leaves(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Every node of the table below this one with its path; a list's item is [] and a map's value {key} in it."""
    for name, field in node.get("fields", {}).items():
        yield (*path, name), field
        yield from leaves(field, (*path, name))
    if "items" in node:
        step = "[]" if node["type"] == "list" else f"{{{node.get('keys', ['a'])[0]}}}"
        yield (*path, step), node["items"]
        yield from leaves(node["items"], (*path, step))


TABLE: Node = {"type": "struct", "fields": data.kubelet_fields()["fields"]}
LEAVES = [(path, node) for path, node in leaves(TABLE) if path[0] not in HEAD]


def nested(path: tuple[str, ...], value: Any) -> Any:
    """A configuration with one value in it."""
    for step in reversed(path):
        value = [value] if step == "[]" else {step.strip("{}"): value}
    return value


# Every type of JSON, numbers around every limit, and text in every form that a field may want.
SAMPLES: list[Any] = [
    None, True, False, 0, 1, 2, -1, 50, 110, 2**31 - 1, 2**31, -(2**31) - 1, 2**32, 2**63 - 1, 2**63, 2**64, 1.5, 1.0, 1e300, {}, [],
    [[]], [None], ["a"], {"a": "b"}, {"a": None}, {"memory.available": "1Gi"}, {"cpu": "100m"}, {"a": True}, {"a": 1}, "", "a", "true", "1",
    "30s", "1h5m", "1.5h", "-1m", "+0", "0", ".5s", "5", "5 s", "1d", "300ms", "1µs", "9223372036s", "9223372037s", "100Mi", "1Gi", "2e3",
    "1Me3", "10%", "100m", "-1", "1.5Gi", "1e999", "1k", "10.0.0.1", "::1", "10.0.0.0/8", "Webhook", "systemd", "none", "static", "text",
    "NoSchedule", "VersionTLS12", "kubelet.config.k8s.io/v1beta1", "2026-01-01T00:00:00Z", "é\U0001f600", "a" * 3000,
]  # fmt: skip


def test_what_the_tables_accept_the_decoder_takes(decoder: Decoder) -> None:
    questions = [(minor, nested(path, value)) for minor in MINORS for path, _unused in LEAVES for value in SAMPLES]
    accepted = [(minor, config) for minor, config in questions if accepts(config, minor)]
    answers = decoder((minor, document(config)) for minor, config in accepted)
    refused = [(minor, config, answer) for (minor, config), answer in zip(accepted, answers, strict=True) if answer]
    assert not refused, refused[:20]
    assert len(accepted) > 10_000


def test_tables_and_decoder_know_the_same_fields_in_each_minor(decoder: Decoder) -> None:
    questions = [(minor, path) for minor in MINORS for path, _unused in LEAVES if path[-1] != "[]" and path[-1][0] != "{"]
    answers = decoder((minor, json.dumps({**nested(path, None), **HEAD})) for minor, path in questions)
    unlike = [
        (minor, path, answer)
        for (minor, path), answer in zip(questions, answers, strict=True)
        if ("unknown field" in answer) != bool(rules(nested(path, None), minor) & UNKNOWN)
    ]
    assert not unlike, unlike[:20]


UNKNOWN = {"kubelet.unknown_field", "kubelet.field_not_in_version"}


def rules(config: Mapping[str, Any], minor: int) -> set[str]:
    problems = Problems()
    kubelet_config_problems(config, (1, minor), "config", problems)
    return {problem.rule for problem in problems}


def test_the_decoder_is_one_that_refuses(decoder: Decoder) -> None:
    wrong: list[tuple[int, str]] = [
        (30, document({"maxpods": 5})),
        (30, document({"nosuch": 5})),
        (30, document({"maxPods": "5"})),
        (30, document({"runtimeRequestTimeout": "soon"})),
        (29, document({"containerLogMaxWorkers": 2})),
        (30, '{"kind": "KubeletConfiguration", "maxPods": 5}'),
        (30, document({"maxPods": 5})[:-1] + ', "maxPods": 6}'),
        (30, "maxPods: ["),
    ]
    assert [bool(answer) for answer in decoder(wrong)] == [True] * len(wrong)
    assert decoder([(30, document({"containerLogMaxWorkers": 2})), (30, "")]) == ["", 'no kind "" in ""']


def values(node: Node) -> st.SearchStrategy[Any]:
    """Mostly what a node of the table wants, sometimes anything else."""
    kind = node["type"]
    anything = st.sampled_from(SAMPLES)
    if kind == "list":
        return st.one_of(st.lists(values(node["items"]), max_size=3), anything)
    if kind == "map":
        keys = st.one_of(st.sampled_from(node.get("keys", ["a"])), st.text(max_size=5))
        return st.one_of(st.dictionaries(keys, values(node["items"]), max_size=3), anything)
    if kind == "struct":
        return st.one_of(st.fixed_dictionaries({}, optional={name: values(inner) for name, inner in node["fields"].items()}), anything)
    if kind in {"bool", "int32", "int64", "uint32", "nanoseconds", "float64", "duration_or_nanoseconds"}:
        return st.one_of(st.booleans(), st.integers(-(2**65), 2**65), st.integers(0, 200), st.floats(allow_nan=False), anything)
    near = st.text("0123456789.eE+-KMGTPinumkµshd% ", max_size=8)
    return st.one_of(near, st.text(max_size=8), anything)


CONFIGS = st.lists(
    st.tuples(
        st.sampled_from(MINORS),
        st.lists(st.sampled_from(sorted(TABLE["fields"].keys() - HEAD.keys())), max_size=4, unique=True).flatmap(
            lambda names: st.fixed_dictionaries({name: values(TABLE["fields"][name]) for name in names})
        ),
    ),
    min_size=20,
    max_size=40,
)


@given(CONFIGS)
def test_any_configuration(decoder: Decoder, configs: list[tuple[int, dict[str, Any]]]) -> None:
    accepted = [(minor, config) for minor, config in configs if accepts(config, minor)]
    for (minor, config), answer in zip(accepted, decoder((minor, document(config)) for minor, config in accepted), strict=True):
        assert not answer, f"1.{minor} says {answer!r} of {config}"


# --- What we write ---------------------------------------------------------------------------------------------------------------

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
WAYS = [("al2", "static"), ("al2", "bootstrap_script"), ("ubuntu", "static"), ("ubuntu", "bootstrap_script"), ("al2023", None)]
FIRST_DROP_IN = {"al2": 29, "ubuntu": 30}
_FIELD = re.compile(r"node_group\.kubelet\.config\.([A-Za-z0-9]+)")


def full(node: Node, minor: int, path: tuple[str, ...] = ()) -> Any:
    """A value of a node of the table, with every field of this minor in it."""
    if node["type"] == "struct":
        known = {k: v for k, v in node["fields"].items() if v.get("since", 0) <= minor <= v.get("until", minor) and k not in HEAD}
        return {name: full(inner, minor, (*path, name)) for name, inner in known.items()}
    if node["type"] == "list":
        return [full(node["items"], minor, (*path, "[]"))]
    if node["type"] == "map":
        return {key: full(node["items"], minor, (*path, f"{{{key}}}")) for key in node.get("keys", ["a"])}
    values_of = [value for value in [*node.get("enum", ()), *SAMPLES[1:]] if value not in ("", {}, [])]
    return next(value for value in values_of if accepts_at(path, value, minor))


def accepts_at(path: tuple[str, ...], value: Any, minor: int) -> bool:
    """Whether the tables accept a value there, whatever its neighbours (an item of a list may want some)."""
    problems = Problems()
    kubelet_config_problems(nested(path, value), (1, minor), "config", problems)
    return not [problem for problem in problems if "is missing" not in problem.message]


def written(family: str, strategy: str | None, minor: int, **more: Any) -> tuple[str, int]:
    """The kubelet configuration that a node group with every field becomes, and how many of the user's fields are in it."""
    cluster = {
        "name": "demo",
        "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
        "certificate_authority": CA,
        "service_cidr": "10.100.0.0/16",
        "region": "eu-west-1",
        "kubernetes_version": f"1.{minor}",
    }
    config = full(TABLE, minor)
    config |= {"shutdownGracePeriod": "30s", "shutdownGracePeriodCriticalPods": "10s"}
    config |= {"imageGCHighThresholdPercent": 90, "imageGCLowThresholdPercent": 80, **more}
    group = {"family": family, "instance": {"type": "m5.large"}, "max_pods": 29, "reserved": {"kube": "auto", "system": {"cpu": "100m"}}}
    group |= {"strategy": strategy} if strategy else {}
    while True:
        try:
            files = node_files(cluster, {**group, "kubelet": {"config": config}})
            break
        except SpecError as error:
            # Families refuse some fields, for reasons of their own: those are left out, and the rest must be written.
            refused = {_FIELD.match(problem.path)[1] for problem in error.problems if _FIELD.match(problem.path)}
            if not refused & config.keys():
                raise
            config = {name: value for name, value in config.items() if name not in refused}
    config = {name: value for name, value in config.items() if value is not None}
    return configuration(files, family, strategy), len(config)


def configuration(files: list[dict[str, str]], family: str, strategy: str | None) -> str:
    """kubelet's configuration among the files of a node."""
    if family == "al2023":
        [text] = [file["content"] for file in files if file["path"] == "/etc/eks/nodeadm.d/50-nodebootstrap.yaml"]
        config = yaml.safe_load(text)["spec"]["kubelet"]["config"]
        return document(config)  # nodeadm adds the head
    name = "kubelet-config.json" if strategy == "static" else "50-nodebootstrap.conf"
    [text] = [file["content"] for file in files if file["path"].startswith("/etc/kubernetes/kubelet/") and file["path"].endswith(name)]
    return text


def runs(family: str, strategy: str | None, minor: int) -> bool:
    """Whether a family runs this minor and the strategy writes a configuration for it."""
    since = FIRST_DROP_IN[family] if strategy == "bootstrap_script" else 0
    return minor >= since and family_version_problem(family, None, (1, minor)) is None


@pytest.mark.parametrize(("family", "strategy"), WAYS)
def test_what_we_write(decoder: Decoder, family: str, strategy: str | None) -> None:
    chosen = [minor for minor in MINORS if runs(family, strategy, minor)]
    texts = [written(family, strategy, minor) for minor in chosen]
    answers = decoder((minor, text) for minor, (text, _unused) in zip(chosen, texts, strict=True))
    assert {minor: answer for minor, answer in zip(chosen, answers, strict=True) if answer} == {}
    assert min(count for _unused, count in texts) > 60, "nearly all of kubelet's fields are in what was decoded"
    broken = [(minor, text.replace("{", '{"nosuch": 1,', 1)) for minor, (text, _unused) in zip(chosen, texts, strict=True)]
    assert all("nosuch" in answer for answer in decoder(broken))


@pytest.mark.parametrize("family", ["al2", "ubuntu"])
def test_null_is_no_duration_in_a_finished_file(decoder: Decoder, family: str) -> None:
    durations = {path[0]: None for path, node in LEAVES if len(path) == 1 and node["type"] == "duration"}
    nothing: dict[str, Any] = {**durations, "authentication": {"webhook": {"cacheTTL": None}}}
    text, _unused = written(family, "static", 30, **nothing)
    assert len(durations) > 10 and decoder([(30, text)]) == [""]
    assert not durations.keys() & json.loads(text).keys() and json.loads(text)["authentication"]["webhook"] == {"enabled": True}
